#include "test_process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// Runs before `main`, which reads the variable.
__attribute__((constructor)) void test_process_settle(void) {
  char width[24];
  snprintf(width, sizeof width, "%ld", 2 * sysconf(_SC_NPROCESSORS_ONLN));
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}

int test_process_fork(void) { return fork(); }

int test_process_end(int child) {
  int status = 0;
  for (int i = 0; i < 3000; i++) {
    if (waitpid(child, &status, WNOHANG) == child) return status;
    usleep(10000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return status;
}

bool test_process_is_address_sanitized(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return true;
#endif
#endif
  return false;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif

#if !defined(HAS_SANITIZER)
// Takes the place of the C library's. Swift Testing takes a backtrace of every error that is thrown, a seventh of the time of
// tests that throw thousands, and shows none of them. The backtrace of a crash is made in another way.
int backtrace(void **frames, int count) {
  (void)frames;
  (void)count;
  return 0;
}
#endif
