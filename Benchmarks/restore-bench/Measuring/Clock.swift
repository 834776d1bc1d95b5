import Glibc

/// What a measurement is counted in.
enum Clock: String, Sendable {
  /// The thread's own processor time: for work that waits for nothing.
  case processor = "thread CPU time"
  /// Time as it passes: for work that waits for a disk.
  case wall = "wall time"

  /// The time now, in nanoseconds.
  var now: Double {
    var time = timespec()
    unsafe clock_gettime(self == .processor ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
