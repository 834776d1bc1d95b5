internal import FoundationEssentials
internal import RestorationArchive

/// What live objects had when a locked launch first saw them, to tell what the user has touched since.
///
/// Objects are compared with what they had, so that an edit counts even where nothing observes it, and an object that is
/// merely asked again, or only got another child, does not. One that turns up later is compared with what it had then.
struct LockedSighting: Sendable {
  private var first: [CaptureBatch.Key: [UInt8]] = [:]
  /// What the app-level state was; nil as long as the delegate has not said.
  private var firstApplication: [UInt8]?
  private var tables = CodingTables()
  /// The objects that were touched.
  private(set) var touched: Set<CaptureBatch.Key> = []
  /// Whether the app-level state was touched.
  private(set) var isApplicationTouched = false
  /// Whether a hierarchy was seen.
  private(set) var isWatching = false
  /// Whether objects have turned up since.
  private var hasNewcomers = false
  /// Whether hierarchies before this one were touched since the launch.
  private var wasTouchedBefore = false

  /// Whether anything was touched since the launch, or has turned up.
  var isTouched: Bool { !touched.isEmpty || hasNewcomers || isApplicationTouched || wasTouchedBefore }

  /// Sees nothing yet: whatever is captured counts as touched.
  init() {}

  /// Sees a hierarchy as it was launched, or as it took the place of another one that was seen before.
  init(_ batch: CaptureBatch, after earlier: LockedSighting) {
    isWatching = true
    wasTouchedBefore = earlier.isTouched
    isApplicationTouched = earlier.isApplicationTouched
    for record in batch.records { first[record.key] = encoded(batch.entries(of: record)) }
    firstApplication = batch.application.map { encoded($0) }
  }

  /// Sees the containers anew that a program has filled in the turn in which it learnt that the device is locked: what that
  /// changed in them, such as which child is selected, is no edit of the user's.
  mutating func settle(_ batch: CaptureBatch) {
    let filled = Set(batch.placements.compactMap(\.parent))
    for record in batch.records where filled.contains(record.key) && !touched.contains(record.key) {
      if first[record.key] != nil { first[record.key] = encoded(batch.entries(of: record)) }
    }
  }

  /// Takes out of a capture what nobody has touched, and marks what has turned up and was not touched since.
  mutating func sift(_ batch: inout CaptureBatch) {
    let captured = batch
    let presented = presented(in: batch)
    batch.records = captured.records.compactMap { record in
      guard !touched.contains(record.key) else { return record }
      let entries = encoded(captured.entries(of: record))
      if first[record.key] == entries { return nil }
      guard isWatching, !presented.contains(record.key), first.updateValue(entries, forKey: record.key) == nil else {
        touched.insert(record.key)
        return record
      }
      hasNewcomers = true
      var newcomer = record
      newcomer.flags.insert(.untouched)
      return newcomer
    }
    guard let application = batch.application else { return }
    if !isApplicationTouched, isWatching {
      let entries = encoded(application)
      let before = firstApplication ?? entries
      firstApplication = before
      if before == entries {
        batch.application = nil
        return
      }
    }
    isApplicationTouched = true
  }

  /// What a capture has met for the first time and is presented, with what is below it: that is the user's doing.
  private func presented(in batch: CaptureBatch) -> Set<CaptureBatch.Key> {
    var presented: Set<CaptureBatch.Key> = []
    for record in batch.records where record.flags.contains(.hasRole) && first[record.key] == nil {
      let role = record.entries.first { $0.key == ReservedKey.role }?.value as? RestorationRole
      if role == .presented { presented.insert(record.key) }
    }
    guard !presented.isEmpty else { return [] }
    // Parents are placed before their children.
    for placement in batch.placements {
      if let parent = placement.parent, presented.contains(parent) { presented.insert(placement.key) }
    }
    return presented
  }

  /// The values as bytes to compare, without the role, which the container decides; what can't be encoded compares as empty.
  private mutating func encoded(_ entries: [RestorationArchive.Entry]) -> [UInt8] {
    (try? RecordEncoder().encode(entries.filter { $0.key != ReservedKey.role }, tables: &tables)) ?? []
  }
}
