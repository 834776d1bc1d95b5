internal import FoundationEssentials

/// The live objects whose classes have an age limit: their state is as old as the last save in which they were there.
///
/// They are captured again, though nothing in them has changed, when the time that is recorded with them moves on, which it
/// does in steps of a sixteenth of the limit. Else a screen that is open every day would grow too old for its class, and
/// text typed below it an hour ago would go with it.
@MainActor struct StateAges {
  private struct Group {
    var stamp: Date
    var keys: Set<CaptureBatch.Key>
  }

  /// By the limits, of which there are few.
  private var groups: [Duration: Group] = [:]

  /// Notes an object that was captured, with the time that is recorded with it.
  mutating func note(_ key: CaptureBatch.Key, limit: Duration, stamp: Date) {
    groups[limit, default: Group(stamp: stamp, keys: [])].keys.insert(key)
  }

  /// The objects with which another time is to be recorded than before.
  ///
  /// - Parameters:
  ///   - now: The time; asked only when there are limits.
  ///   - isThere: Whether an object is still there; it is forgotten if not.
  mutating func due(at now: () -> Date, isThere: (CaptureBatch.Key) -> Bool) -> [CaptureBatch.Key] {
    guard !groups.isEmpty else { return [] }
    let now = now()
    var due: [CaptureBatch.Key] = []
    for (limit, group) in groups {
      let stamp = Freshness.stamp(now, limit: limit)
      guard stamp != group.stamp else { continue }
      let keys = group.keys.filter(isThere)
      groups[limit] = keys.isEmpty ? nil : Group(stamp: stamp, keys: keys)
      due += keys
    }
    return due
  }
}
