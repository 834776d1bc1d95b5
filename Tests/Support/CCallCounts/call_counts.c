#define _GNU_SOURCE
#include "call_counts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/provider.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_bool is_counting;
static atomic_long counts[CALL_KINDS][2];

void call_counts_begin(void) { atomic_store(&is_counting, true); }

void call_counts_note(enum call_kind kind) {
  if (!atomic_load(&is_counting)) return;
  // The thread that the process began with, whatever runs on it.
  bool is_main = syscall(SYS_gettid) == getpid();
  atomic_fetch_add(&counts[kind][is_main], 1);
}

long call_counts_take(enum call_kind kind, bool is_main_thread) {
  return atomic_exchange(&counts[kind][is_main_thread], 0);
}

// A function of a library, which is called by ours of the same name.
#define COUNTED(kind, result, name, parameters, arguments) \
  result name parameters {                                 \
    static result(*real) parameters;                       \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name);  \
    call_counts_note(kind);                                \
    return real arguments;                                 \
  }

// Everything of libcrypto that `Sealing` calls, but for freeing, wiping and comparing.
COUNTED(CALL_CRYPTO, EVP_CIPHER *, EVP_CIPHER_fetch, (OSSL_LIB_CTX * c, const char *n, const char *p), (c, n, p))
COUNTED(CALL_CRYPTO, EVP_MAC *, EVP_MAC_fetch, (OSSL_LIB_CTX * c, const char *n, const char *p), (c, n, p))
COUNTED(CALL_CRYPTO, EVP_KDF *, EVP_KDF_fetch, (OSSL_LIB_CTX * c, const char *n, const char *p), (c, n, p))
COUNTED(CALL_CRYPTO, OSSL_LIB_CTX *, OSSL_LIB_CTX_new, (void), ())
COUNTED(CALL_CRYPTO, OSSL_PROVIDER *, OSSL_PROVIDER_load, (OSSL_LIB_CTX * c, const char *n), (c, n))
COUNTED(CALL_CRYPTO, int, EVP_CipherInit_ex2,
        (EVP_CIPHER_CTX * c, const EVP_CIPHER *t, const unsigned char *k, const unsigned char *i, int e,
         const OSSL_PARAM p[]),
        (c, t, k, i, e, p))
COUNTED(CALL_CRYPTO, int, EVP_CipherUpdate,
        (EVP_CIPHER_CTX * c, unsigned char *o, int *l, const unsigned char *i, int n), (c, o, l, i, n))
COUNTED(CALL_CRYPTO, int, EVP_EncryptUpdate,
        (EVP_CIPHER_CTX * c, unsigned char *o, int *l, const unsigned char *i, int n), (c, o, l, i, n))
COUNTED(CALL_CRYPTO, int, EVP_DecryptUpdate,
        (EVP_CIPHER_CTX * c, unsigned char *o, int *l, const unsigned char *i, int n), (c, o, l, i, n))
COUNTED(CALL_CRYPTO, int, EVP_EncryptFinal_ex, (EVP_CIPHER_CTX * c, unsigned char *o, int *l), (c, o, l))
COUNTED(CALL_CRYPTO, int, EVP_DecryptFinal_ex, (EVP_CIPHER_CTX * c, unsigned char *o, int *l), (c, o, l))
COUNTED(CALL_CRYPTO, int, EVP_MAC_init, (EVP_MAC_CTX * c, const unsigned char *k, size_t n, const OSSL_PARAM p[]),
        (c, k, n, p))
COUNTED(CALL_CRYPTO, int, EVP_MAC_update, (EVP_MAC_CTX * c, const unsigned char *d, size_t n), (c, d, n))
COUNTED(CALL_CRYPTO, int, EVP_MAC_final, (EVP_MAC_CTX * c, unsigned char *o, size_t *l, size_t n), (c, o, l, n))
COUNTED(CALL_CRYPTO, int, EVP_KDF_derive, (EVP_KDF_CTX * c, unsigned char *k, size_t n, const OSSL_PARAM p[]),
        (c, k, n, p))
COUNTED(CALL_CRYPTO, int, EVP_PKEY_derive, (EVP_PKEY_CTX * c, unsigned char *k, size_t *n), (c, k, n))

// Every call with which `FileSystem` changes something.
COUNTED(CALL_WRITE, int, fsync, (int d), (d))
COUNTED(CALL_WRITE, int, fdatasync, (int d), (d))
COUNTED(CALL_WRITE, int, fallocate, (int d, int m, off_t o, off_t l), (d, m, o, l))
COUNTED(CALL_WRITE, int, fchmod, (int d, mode_t m), (d, m))
COUNTED(CALL_WRITE, int, fchmodat, (int d, const char *n, mode_t m, int f), (d, n, m, f))
COUNTED(CALL_WRITE, int, linkat, (int d, const char *n, int e, const char *m, int f), (d, n, e, m, f))
COUNTED(CALL_WRITE, int, mkdirat, (int d, const char *n, mode_t m), (d, n, m))
COUNTED(CALL_WRITE, int, renameat2, (int d, const char *n, int e, const char *m, unsigned f), (d, n, e, m, f))
COUNTED(CALL_WRITE, int, unlinkat, (int d, const char *n, int f), (d, n, f))
COUNTED(n <= 8 ? CALL_NOTE : CALL_WRITE, ssize_t, pwrite, (int d, const void *b, size_t n, off_t o), (d, b, n, o))
COUNTED(CALL_READ, ssize_t, pread, (int d, void *b, size_t n, off_t o), (d, b, n, o))

int openat(int directory, const char *name, int flags, ...) {
  static int (*real)(int, const char *, int, ...);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "openat");
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = va_arg(arguments, int);
  va_end(arguments);
  // Opening for writing alone changes nothing; making a file does.
  bool makes = (flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE;
  call_counts_note(makes ? CALL_WRITE : CALL_READ);
  return real(directory, name, flags, mode);
}
