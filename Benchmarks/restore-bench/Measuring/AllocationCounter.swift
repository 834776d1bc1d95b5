import CAllocationCounter

/// The number of calls of `malloc` and its kin since the program began, on all threads.
///
/// The C library's functions are replaced in this program by ones that count and hand on to it.
enum AllocationCounter {
  /// The number so far.
  static var count: Int { allocation_counter_count() }
}
