// Kills the process that it is loaded into (LD_PRELOAD) at a chosen system call, for tests.
//
// KILL_SWITCH is "CALL:N:WHEN": at the N-th CALL (from 1) the process sends itself SIGKILL, before the call, after it, or, for
// writes, after half of the bytes ("torn"). CALL is one of openat, pwrite, fsync, fdatasync, linkat, renameat2, unlinkat,
// fallocate, or "log=WORDS": a write() whose bytes hold WORDS, by which a phase that makes no system call of its own can be
// hit. KILL_SWITCH_LOG names a file that gets one line, "CALL:N:WHEN", just before the kill, so that a test can count
// the kills that landed. KILL_SWITCH_ARM names a file: until it is there, no call counts. Only calls on files count, not on the terminal.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum moment { BEFORE, AFTER, TORN };

static char wanted[64];
static long wanted_count;
static enum moment wanted_moment;
static atomic_long seen;

__attribute__((constructor)) static void read_switch(void) {
  const char *value = getenv("KILL_SWITCH");
  if (!value || strlen(value) >= 120) return;
  char copy[128];
  strcpy(copy, value);
  char *moment = strrchr(copy, ':');
  if (!moment) return;
  *moment++ = 0;
  char *count = strrchr(copy, ':');
  if (!count) return;
  *count++ = 0;
  strncpy(wanted, copy, sizeof wanted - 1);
  wanted_count = strtol(count, 0, 10);
  wanted_moment = strcmp(moment, "after") == 0 ? AFTER : strcmp(moment, "torn") == 0 ? TORN : BEFORE;
}

static void die(void) {
  const char *log = getenv("KILL_SWITCH_LOG");
  const char *value = getenv("KILL_SWITCH");
  if (log && value) {
    long file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file >= 0) {
      syscall(SYS_write, file, value, strlen(value));
      syscall(SYS_write, file, "\n", 1);
    }
  }
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

// Whether this is the call to die at.
static int is_hit(const char *name) {
  if (wanted_count == 0 || strcmp(wanted, name) != 0) return 0;
  const char *arm = getenv("KILL_SWITCH_ARM");
  if (arm && syscall(SYS_access, arm, F_OK) != 0) return 0;
  return atomic_fetch_add(&seen, 1) + 1 == wanted_count;
}

#define AROUND(name, call)                               \
  int hit = is_hit(name);                                \
  if (hit && wanted_moment == BEFORE) die();             \
  __typeof__(call) result = call;                        \
  if (hit) die();                                        \
  return result

int fsync(int descriptor) {
  AROUND("fsync", (int)syscall(SYS_fsync, descriptor));
}

int fdatasync(int descriptor) {
  AROUND("fdatasync", (int)syscall(SYS_fdatasync, descriptor));
}

int linkat(int from, const char *name, int to, const char *new_name, int flags) {
  AROUND("linkat", (int)syscall(SYS_linkat, from, name, to, new_name, flags));
}

int renameat2(int from, const char *name, int to, const char *new_name, unsigned flags) {
  AROUND("renameat2", (int)syscall(SYS_renameat2, from, name, to, new_name, flags));
}

int unlinkat(int directory, const char *name, int flags) {
  AROUND("unlinkat", (int)syscall(SYS_unlinkat, directory, name, flags));
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  AROUND("fallocate", (int)syscall(SYS_fallocate, descriptor, mode, offset, length));
}

int openat(int directory, const char *name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  int mode = va_arg(arguments, int);
  va_end(arguments);
  AROUND("openat", (int)syscall(SYS_openat, directory, name, flags, mode));
}

static ssize_t pwrite_somewhere(int descriptor, const void *bytes, size_t count, off_t offset) {
  int hit = is_hit("pwrite");
  if (hit && wanted_moment == BEFORE) die();
  if (hit && wanted_moment == TORN) count = count / 2;
  ssize_t result = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
  if (hit) die();
  return result;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite_somewhere(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite_somewhere(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (wanted_count && strncmp(wanted, "log=", 4) == 0 && memmem(bytes, count, wanted + 4, strlen(wanted + 4))) {
    struct stat status;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        atomic_fetch_add(&seen, 1) + 1 == wanted_count) {
      if (wanted_moment == AFTER) syscall(SYS_write, descriptor, bytes, count);
      die();
    }
  }
  return syscall(SYS_write, descriptor, bytes, count);
}
