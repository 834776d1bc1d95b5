#include <stdbool.h>

/// Settles how a process runs tests; linking the module is enough.
///
/// Tests run side by side, twice as many as there are cores, unless the environment says another number. Without a limit
/// Swift Testing starts all at once, and a limit of time then measures the queue; later toolchains have this limit.
void test_process_settle(void);

/// Whether the process was built with the address sanitizer.
bool test_process_is_address_sanitized(void);
