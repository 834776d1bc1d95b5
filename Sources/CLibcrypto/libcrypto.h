// The parts of libcrypto 3 that the `Sealing` module calls.
#ifndef STATE_RESTORATION_LIBCRYPTO_H
#define STATE_RESTORATION_LIBCRYPTO_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#endif
