// Counts calls of malloc, calloc and realloc in the program that links it.
#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

/// The number of calls so far, on all threads; 0 for ever where they cannot be counted.
long allocation_counter_count(void);

#endif
