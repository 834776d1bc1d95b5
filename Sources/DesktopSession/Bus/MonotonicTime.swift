import Glibc

/// A moment of the clock that libsystemd counts by; it stands still while the machine sleeps.
struct MonotonicTime: Comparable, Sendable {
  /// Microseconds since some beginning.
  var microseconds: UInt64

  /// This moment.
  static var now: MonotonicTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(microseconds: UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000)
  }

  static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.microseconds < right.microseconds }

  static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
    let added = max(duration / .microseconds(1), 0)
    return MonotonicTime(microseconds: time.microseconds + (added < 1e15 ? UInt64(added) : 1_000_000_000_000_000))
  }

  /// The time from another moment to this one; zero when that is later.
  func since(_ other: MonotonicTime) -> Duration {
    .microseconds(Int64(microseconds > other.microseconds ? microseconds - other.microseconds : 0))
  }

  /// The milliseconds that `poll` is to wait for this moment; it wakes after it, never before.
  func pollTimeout(from now: MonotonicTime) -> Int32 {
    microseconds <= now.microseconds ? 0 : Int32(clamping: (microseconds - now.microseconds + 999) / 1000)
  }
}
