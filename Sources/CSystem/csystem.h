// The Linux calls and constants that Swift's Glibc module lacks, or imports only as variadic functions, as thin
// static inline functions. Nothing here decides anything: every function is one call.
#ifndef STATE_RESTORATION_CSYSTEM_H
#define STATE_RESTORATION_CSYSTEM_H

// Not with _GNU_SOURCE: it gives `fd_set` another field name than Swift's Glibc module has, and a program that loads both
// modules then fails to compile, depending on which was built first. What it would declare stands below instead.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

extern int fallocate(int descriptor, int mode, off_t offset, off_t length);
extern int renameat2(
    int old_directory, const char *old_name, int new_directory, const char *new_name, unsigned int flags);

// From the kernel's stable interface (asm-generic/fcntl.h, linux/fcntl.h, linux/fs.h); glibc hides them likewise.
#ifndef O_PATH
#define O_PATH 010000000
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif
#ifndef F_SETSIG
#define F_SETSIG 10
#endif
#ifndef F_SETLEASE
#define F_SETLEASE 1024
#endif

// asm-generic/mman-common.h, since Linux 5.14; not in every glibc's header.
static const int csystem_MADV_POPULATE_WRITE = 23;

static inline int csystem_openat(int directory, const char *name, int flags, mode_t mode) {
  return openat(directory, name, flags, mode);
}

// fcntl(F_GETFD).
static inline int csystem_descriptor_flags(int descriptor) {
  return fcntl(descriptor, F_GETFD);
}

// fcntl(F_DUPFD_CLOEXEC): another descriptor of the same open file, at least so high.
static inline int csystem_duplicate(int descriptor, int least) {
  return fcntl(descriptor, F_DUPFD_CLOEXEC, least);
}

// fcntl(F_SETSIG): the signal that says that another process waits for a lease's end.
static inline int csystem_set_lease_signal(int descriptor, int signal) {
  return fcntl(descriptor, F_SETSIG, signal);
}

// fcntl(F_SETLEASE).
static inline int csystem_set_lease(int descriptor, int type) {
  return fcntl(descriptor, F_SETLEASE, type);
}

// getdents64, for which not every C library has a function.
static inline long csystem_getdents(int descriptor, void *buffer, size_t size) {
  return syscall(SYS_getdents64, descriptor, buffer, size);
}

static inline int csystem_flock(int descriptor, int operation) {
  return flock(descriptor, operation);
}

static inline int csystem_fallocate(int descriptor, int mode, off_t offset, off_t length) {
  return fallocate(descriptor, mode, offset, length);
}

static inline int csystem_renameat2(
    int old_directory, const char *old_name, int new_directory, const char *new_name, unsigned int flags) {
  return renameat2(old_directory, old_name, new_directory, new_name, flags);
}

static inline int csystem_fstatat(int directory, const char *name, struct stat *result, int flags) {
  return fstatat(directory, name, result, flags);
}

static inline int csystem_fstat(int descriptor, struct stat *result) {
  return fstat(descriptor, result);
}

// The magic number of the file system that holds the descriptor, or -1 with errno.
static inline long csystem_file_system_magic(int descriptor) {
  struct statfs result;
  if (fstatfs(descriptor, &result) != 0) return -1;
  return (long)result.f_type;
}

// prctl with one argument; the other arguments are zero.
static inline int csystem_prctl(int option, unsigned long argument) {
  return prctl(option, argument, 0UL, 0UL, 0UL);
}

// Overwrites what the calls just made have left on the stack, and in the registers through which memcpy moves a key:
// those get to the stack as well, when the dynamic linker binds the next function.
__attribute__((noinline)) static void csystem_wipe_traces(void) {
  volatile unsigned char used[32768];
  for (size_t index = 0; index < sizeof used; index++) used[index] = 0;
  void *(*volatile copy)(void *, const void *, size_t) = memcpy;
  for (size_t count = 16; count <= 256; count *= 2) copy((void *)used, (const void *)(used + 512), count);
}

enum {
  csystem_O_NOFOLLOW = O_NOFOLLOW,
  csystem_O_DIRECTORY = O_DIRECTORY,
  csystem_O_PATH = O_PATH,
  csystem_RENAME_NOREPLACE = RENAME_NOREPLACE,
  csystem_AT_EMPTY_PATH = AT_EMPTY_PATH,
  csystem_PR_SET_DUMPABLE = PR_SET_DUMPABLE,
  csystem_PR_GET_DUMPABLE = PR_GET_DUMPABLE,
};

#endif
