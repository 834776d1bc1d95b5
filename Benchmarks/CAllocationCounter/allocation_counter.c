#include "allocation_counter.h"

#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATION_COUNTER_OFF
#endif
#endif

#if !defined(__GLIBC__)
#define ALLOCATION_COUNTER_OFF
#endif

static long count;
static _Thread_local struct {
  int on;
  long count;
  long live;
  long peak;
} followed;

long allocation_counter_count(void) {
  return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

void allocation_counter_follow(void) {
  followed.on = 1;
  followed.count = 0;
  followed.live = 0;
  followed.peak = 0;
}

long allocation_counter_followed_count(void) {
  return followed.count;
}

long allocation_counter_followed_peak(void) {
  followed.on = 0;
  return followed.peak;
}

#if defined(ALLOCATION_COUNTER_OFF)

int allocation_counter_counts(void) {
  return 0;
}

#else

#include <malloc.h>

int allocation_counter_counts(void) {
  return 1;
}

// A program's own malloc takes the place of the C library's in every library it loads. Swift cannot define it.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void __libc_free(void *pointer);

static void *counted(void *pointer) {
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  if (followed.on) {
    followed.count += 1;
    followed.live += (long)malloc_usable_size(pointer);
    if (followed.live > followed.peak) followed.peak = followed.live;
  }
  return pointer;
}

static void forget(void *pointer) {
  if (followed.on) followed.live -= (long)malloc_usable_size(pointer);
}

void *malloc(size_t size) {
  return counted(__libc_malloc(size));
}

void *calloc(size_t number, size_t size) {
  return counted(__libc_calloc(number, size));
}

void *realloc(void *pointer, size_t size) {
  forget(pointer);
  return counted(__libc_realloc(pointer, size));
}

void free(void *pointer) {
  forget(pointer);
  __libc_free(pointer);
}
#endif
