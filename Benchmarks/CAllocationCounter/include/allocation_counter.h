#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

/// The number of calls of malloc, calloc and realloc since the program began, on all threads; 0 where they are not counted.
long allocation_counter_count(void);

/// Begins to follow the calling thread's allocations: from now on its memory counts from zero.
void allocation_counter_follow(void);

/// The number of the followed thread's calls of malloc, calloc and realloc.
long allocation_counter_followed_count(void);

/// The most bytes that the followed thread had at once, beyond those it had when the following began.
long allocation_counter_followed_peak(void);

/// Whether allocations are counted in this build: not under a sanitizer, and not with another C library.
int allocation_counter_counts(void);

#endif
