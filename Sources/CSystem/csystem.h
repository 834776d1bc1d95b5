// The Linux calls and constants that Swift's Glibc module lacks, as thin static inline functions.
#ifndef STATE_RESTORATION_CSYSTEM_H
#define STATE_RESTORATION_CSYSTEM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>

static inline int csystem_fallocate(int descriptor, int mode, off_t offset, off_t length) {
  return fallocate(descriptor, mode, offset, length);
}

#endif
