// Kills the process that it is loaded into (LD_PRELOAD) at a chosen system call, and cuts its disk's power, for tests.
//
// KILL_SWITCH is "[WORDS/]CALL:N:WHEN": at the N-th CALL (from 1) the process sends itself SIGKILL, before the call, after it, or,
// for writes, after half of the bytes ("torn"). CALL is one of openat, pwrite, fsync, fdatasync, linkat, renameat2, unlinkat,
// fallocate, ftruncate, or "log": the line with WORDS itself. With WORDS a call counts only from a line of the program's log that
// holds them to the next line that doesn't (but for "capturing", which goes on beside everything): the log tells the phases. KILL_SWITCH_LOG names a file that gets one line, the value
// of KILL_SWITCH, just before the kill, so that a test can count the kills that landed. KILL_SWITCH_ARM names a file: until it is
// there, no call counts. Only calls on files count, not on the terminal. KILL_SWITCH_NOW names a file too: once it is there, the
// next write of whatever kind is the last.
//
// With POWER_CUT the kill is a power cut: see power-cut.c.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "power-cut.h"

enum moment { BEFORE, AFTER, TORN };

static char words[64];
static char wanted[64];
static long wanted_count;
static enum moment wanted_moment;
static long seen;
static int is_in_phase = 1;
// One call at a time, so that nothing is written while the disk is put into its state after the cut.
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void read_switch(void) {
  power_begin();
  const char *value = getenv("KILL_SWITCH");
  if (!value || strlen(value) >= 120) return;
  char copy[128];
  strcpy(copy, value);
  char *call = strrchr(copy, '/');
  if (call) {
    *call++ = 0;
    strncpy(words, copy, sizeof words - 1);
    is_in_phase = 0;
  } else {
    call = copy;
  }
  char *moment = strrchr(call, ':');
  if (!moment) return;
  *moment++ = 0;
  char *count = strrchr(call, ':');
  if (!count) return;
  *count++ = 0;
  strncpy(wanted, call, sizeof wanted - 1);
  wanted_count = strtol(count, 0, 10);
  wanted_moment = strcmp(moment, "after") == 0 ? AFTER : strcmp(moment, "torn") == 0 ? TORN : BEFORE;
}

static void die(int is_counted) {
  const char *log = getenv("KILL_SWITCH_LOG");
  const char *value = getenv("KILL_SWITCH");
  if (log && value && is_counted) {
    long file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file >= 0) {
      syscall(SYS_write, file, value, strlen(value));
      syscall(SYS_write, file, "\n", 1);
    }
  }
  power_cut();
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

static int is_there(const char *variable) {
  const char *path = getenv(variable);
  return path && syscall(SYS_access, path, F_OK) == 0;
}

static int is_armed(void) { return !getenv("KILL_SWITCH_ARM") || is_there("KILL_SWITCH_ARM"); }

// Whether this is the call to die at.
static int is_hit(const char *name) {
  if (wanted_count == 0 || !is_in_phase || strcmp(wanted, name) != 0 || !is_armed()) return 0;
  return ++seen == wanted_count;
}

#define AROUND(name, call, afterwards) AROUND_PREPARED(name, , call, afterwards)

#define AROUND_PREPARED(name, before, call, afterwards)  \
  pthread_mutex_lock(&disk);                             \
  int hit = is_hit(name);                                \
  if (hit && wanted_moment == BEFORE) die(1);             \
  before;                                                \
  __typeof__(call) result = call;                        \
  int error = errno;                                     \
  afterwards;                                            \
  if (hit) die(1);                                        \
  pthread_mutex_unlock(&disk);                           \
  errno = error;                                         \
  return result

int fsync(int descriptor) {
  AROUND("fsync", (int)syscall(SYS_fsync, descriptor), if (result == 0) power_did_sync(descriptor));
}

int fdatasync(int descriptor) {
  AROUND("fdatasync", (int)syscall(SYS_fdatasync, descriptor), if (result == 0) power_did_sync(descriptor));
}

int linkat(int from, const char *name, int to, const char *new_name, int flags) {
  AROUND("linkat", (int)syscall(SYS_linkat, from, name, to, new_name, flags), );
}

int renameat2(int from, const char *name, int to, const char *new_name, unsigned flags) {
  AROUND_PREPARED(
      "renameat2", power_will_replace(from, name); power_will_replace(to, new_name),
      (int)syscall(SYS_renameat2, from, name, to, new_name, flags), );
}

int unlinkat(int directory, const char *name, int flags) {
  AROUND_PREPARED(
      "unlinkat", power_will_replace(directory, name), (int)syscall(SYS_unlinkat, directory, name, flags), );
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  AROUND("fallocate", (int)syscall(SYS_fallocate, descriptor, mode, offset, length), );
}

int ftruncate(int descriptor, off_t length) {
  AROUND("ftruncate", (int)syscall(SYS_ftruncate, descriptor, length), );
}

int openat(int directory, const char *name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  int mode = va_arg(arguments, int);
  va_end(arguments);
  struct stat status;
  int is_new = (flags & O_TMPFILE) == O_TMPFILE ||
               ((flags & O_CREAT) && fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0);
  AROUND("openat", (int)syscall(SYS_openat, directory, name, flags, mode), power_did_open(result, is_new, (flags & O_ACCMODE) != O_RDONLY));
}

static ssize_t pwrite_somewhere(int descriptor, const void *bytes, size_t count, off_t offset) {
  pthread_mutex_lock(&disk);
  int hit = is_hit("pwrite");
  if (hit && wanted_moment == BEFORE) die(1);
  if (hit && wanted_moment == TORN) count = count / 2;
  ssize_t result = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
  int error = errno;
  if (hit) die(1);
  pthread_mutex_unlock(&disk);
  errno = error;
  return result;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite_somewhere(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite_somewhere(descriptor, bytes, count, offset);
}

// The log's lines, which are written whole, tell the phases.
static void read_log(int descriptor, const void *bytes, size_t count) {
  struct stat status;
  if (!words[0] || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  pthread_mutex_lock(&disk);
  int holds_words = memmem(bytes, count, words, strlen(words)) != 0;
  if (holds_words || !memmem(bytes, count, "capturing", 9)) is_in_phase = holds_words;
  if (holds_words && is_hit("log")) {
    if (wanted_moment == AFTER) syscall(SYS_write, descriptor, bytes, count);
    die(1);
  }
  pthread_mutex_unlock(&disk);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (is_there("KILL_SWITCH_NOW")) {
    pthread_mutex_lock(&disk);
    die(0);
  }
  read_log(descriptor, bytes, count);
  return syscall(SYS_write, descriptor, bytes, count);
}
