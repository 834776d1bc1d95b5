#include <stdbool.h>

/// Settles how a process runs tests; linking the module is enough.
///
/// Tests run side by side, twice as many as there are cores, unless the environment says another number. Without a limit
/// Swift Testing starts all at once, and a limit of time then measures the queue; later toolchains have this limit.
void test_process_settle(void);

/// Whether the process was built with the address sanitizer.
bool test_process_is_address_sanitized(void);

/// Forks: the child returns 0, and has none of the other threads; see `fork(2)`. Swift has no such function.
int test_process_fork(void);

/// Waits for a child, not for ever; one that takes longer is killed. The status as of `waitpid(2)`.
int test_process_end(int child);
