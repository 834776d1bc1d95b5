internal import FoundationShim
internal import RestorationArchive

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
  /// Its age is the time from when an object had it last to the last save, and from that to now. Within one start of the
  /// machine the second is what the machine's own clock says, which nobody can set: state that was saved before the time of day
  /// was known is not old because of that. A clock that was set back makes nothing expire.
  ///
  /// - Parameters:
  ///   - savedAt: When an object had the state last; nil if one had it in the last save.
  ///   - saved: The circumstances of the last save.
  ///   - now: Those of now.
  static func expiry(
    of savedAt: Date?, in saved: RestorationArchive.Context, limit: Duration, now: RestorationArchive.Context
  ) -> RestorationReport.NotRestoredReason? {
    let sinceSave =
      !saved.boot.isEmpty && saved.boot == now.boot
      ? Double(now.bootSeconds) - Double(saved.bootSeconds) : now.timeSaved.timeIntervalSince(saved.timeSaved)
    let beforeSave = savedAt.map { saved.timeSaved.timeIntervalSince($0) } ?? 0
    let age = max(beforeSave, 0) + max(sinceSave, 0)
    let limit = seconds(limit)
    return age > limit ? .expired(age: age, limit: limit) : nil
  }
}
