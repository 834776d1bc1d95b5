// The kernel's key retention service (keyrings(7)), whose system calls glibc does not wrap. Every function is one call.
#ifndef STATE_RESTORATION_CKEYRING_H
#define STATE_RESTORATION_CKEYRING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// From the kernel's stable interface (linux/keyctl.h).
enum {
  ckeyring_session = -3,        // KEY_SPEC_SESSION_KEYRING
  ckeyring_user_session = -5,   // KEY_SPEC_USER_SESSION_KEYRING
  ckeyring_process = -2,        // KEY_SPEC_PROCESS_KEYRING
};

static inline int32_t ckeyring_add(
    const char *type, const char *description, const void *payload, size_t size, int32_t keyring) {
  return (int32_t)syscall(SYS_add_key, type, description, payload, size, keyring);
}

// KEYCTL_SEARCH: the key of that type and description in a keyring.
static inline int32_t ckeyring_search(int32_t keyring, const char *type, const char *description) {
  return (int32_t)syscall(SYS_keyctl, 10L, (long)keyring, type, description, 0L);
}

// KEYCTL_READ: the number of bytes that the key has.
static inline long ckeyring_read(int32_t key, void *buffer, size_t size) {
  return syscall(SYS_keyctl, 11L, (long)key, buffer, size);
}

// KEYCTL_SETPERM.
static inline int ckeyring_set_permissions(int32_t key, uint32_t permissions) {
  return (int)syscall(SYS_keyctl, 5L, (long)key, (unsigned long)permissions);
}

// KEYCTL_SET_TIMEOUT, in seconds.
static inline int ckeyring_set_timeout(int32_t key, unsigned int seconds) {
  return (int)syscall(SYS_keyctl, 15L, (long)key, (unsigned long)seconds);
}

// KEYCTL_REVOKE.
static inline int ckeyring_revoke(int32_t key) { return (int)syscall(SYS_keyctl, 3L, (long)key); }

// KEYCTL_UNLINK.
static inline int ckeyring_unlink(int32_t key, int32_t keyring) {
  return (int)syscall(SYS_keyctl, 9L, (long)key, (long)keyring);
}

#endif
