#include "allocation_counter.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATION_COUNTER_OFF
#endif
#endif

static long count;

long allocation_counter_count(void) {
  return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

// A program's own malloc takes the place of the C library's in every library it loads. Swift cannot define it.
#if defined(__GLIBC__) && !defined(ALLOCATION_COUNTER_OFF)
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);

void *malloc(size_t size) {
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  return __libc_realloc(pointer, size);
}
#endif
