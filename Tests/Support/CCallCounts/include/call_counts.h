#include <stdbool.h>

/// What is counted, wherever in the process it is called: linking this module puts it in front of the libraries.
enum call_kind {
  /// A call of libcrypto that computes something, or fetches what computes.
  CALL_CRYPTO,
  /// A call that changes the file system.
  CALL_WRITE,
  /// A write of at most eight bytes into a file that is there: a note for the next launch, which waits for nothing.
  CALL_NOTE,
  /// A call that opens or reads a file.
  CALL_READ,
  /// What the program itself counts: its own encoding.
  CALL_ENCODE,
  CALL_KINDS
};

/// Begins to count.
void call_counts_begin(void);

/// Counts one call of the program's own.
void call_counts_note(enum call_kind kind);

/// How many calls were made since they were last taken, on the main thread of the process or on all others.
long call_counts_take(enum call_kind kind, bool is_main_thread);
