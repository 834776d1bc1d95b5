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
    MonotonicTime(microseconds: time.microseconds + duration.wholeMicroseconds)
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

extension Duration {
  /// Whole microseconds between none and thirty years.
  var wholeMicroseconds: UInt64 { UInt64(min(max(self / .microseconds(1), 0), 1e15)) }

  /// A limit for libsystemd, where zero stands for its own default.
  var busMicroseconds: UInt64 { max(wholeMicroseconds, 1) }
}
