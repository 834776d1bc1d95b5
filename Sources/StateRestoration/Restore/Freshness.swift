internal import FoundationEssentials

/// Ages of state and the times they are counted from.
enum Freshness {
  /// Whether the time of the last save is so old that a save without a change has to renew it, as it is the age of
  /// everything that is there: a sixteenth of the shortest limit.
  static func isDue(_ savedAt: Date, limit: Duration, now: Date) -> Bool {
    now.timeIntervalSince(savedAt) >= seconds(limit) / 16
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
