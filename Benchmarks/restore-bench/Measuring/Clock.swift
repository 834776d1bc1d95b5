import Glibc

/// What a measurement is counted in.
enum Clock: String, Sendable {
  /// The thread's own processor time: for work that waits for nothing.
  case processor = "thread CPU time"
  /// The processor time of all threads together: for work that is done on several.
  case process = "CPU time of all threads"
  /// Time as it passes: for work that waits for a disk.
  case wall = "wall time"

  /// The time now, in nanoseconds.
  var now: Double {
    var time = timespec()
    let clock =
      switch self {
      case .processor: CLOCK_THREAD_CPUTIME_ID
      case .process: CLOCK_PROCESS_CPUTIME_ID
      case .wall: CLOCK_MONOTONIC
      }
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
