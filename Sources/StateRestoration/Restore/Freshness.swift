internal import FoundationEssentials

/// Ages of state and the times they are counted from.
enum Freshness {
  /// The time to record with state that has an age limit.
  ///
  /// Rounded down to a sixteenth of the limit, so that capturing the same state again does not count as a change.
  static func stamp(_ date: Date, limit: Duration) -> Date {
    let step = seconds(limit) / 16
    guard step > 0 else { return date }
    let time = date.timeIntervalSinceReferenceDate
    return Date(timeIntervalSinceReferenceDate: (time / step).rounded(.down) * step)
  }

  /// A duration in seconds.
  static func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  /// Why state is too old; nil when it isn't.
  ///
  /// A clock that was set back makes nothing expire.
  static func expiry(of savedAt: Date, limit: Duration, now: Date) -> NotRestoredReason? {
    let age = now.timeIntervalSince(savedAt)
    let limit = seconds(limit)
    return age > limit ? .expired(age: age, limit: limit) : nil
  }
}
