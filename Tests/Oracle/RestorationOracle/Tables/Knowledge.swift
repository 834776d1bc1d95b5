// Imports nothing: what the tables know of a program.

/// The values of an object.
///
/// Two are the same values if they hold the same items in the same number of bytes.
package struct Value: Hashable, Sendable {
  package var items: [Int]
  /// How many bytes of filling the object saves with them.
  package var filling = 0

  package init(_ items: [Int], filling: Int = 0) { (self.items, self.filling) = (items, filling) }
}

/// One of a program's classes.
package struct ClassFacts: Sendable {
  package var tag: String
  package var formerly: [String] = []
  /// The tag of its superclass.
  package var superclass: String?
  /// Whether its objects join the states of several runs.
  package var joins = false
  /// Whether the program knows which of their model objects are deleted.
  package var checksModels = false
  /// After how many seconds their state is too old.
  package var freshFor: Int?
}

/// What decides whether a state can be given: the program of a run, and the state of the device.
package struct Knowledge: Sendable {
  package var classes: [ClassFacts] = []
  /// The version of all states that the program writes.
  package var version = 1
  /// Model objects that are deleted.
  package var goneModels: Set<String> = []
  /// Items whose values fail to decode.
  package var refused: Set<Int> = []
  /// Items whose values fail to encode.
  package var unencodable: Set<Int> = []
  /// The time, in seconds.
  package var now = 0
  /// The time at which the run restored last, to which ages are counted.
  package var restoredAt = 0

  package init() {}

  /// Today's tag of a class that was saved under any of its tags.
  func today(_ tag: String) -> String { classes.first { $0.formerly.contains(tag) }?.tag ?? tag }

  /// The tags of a class and its superclasses.
  func lineage(of tag: String) -> [String] {
    var found = [tag]
    while let superclass = classes.first(where: { $0.tag == found.last })?.superclass { found.append(superclass) }
    return found
  }

  func joins(_ tag: String) -> Bool { classes.first { $0.tag == tag }?.joins ?? false }

  /// Whether a row goes: its model object is deleted, or it is too old.
  ///
  /// A row ages from the last save in which it was live.
  func isGone(_ row: Row, in table: Table) -> Bool {
    guard let facts = classes.first(where: { $0.tag == today(row.key.tag) }) else { return false }
    if let limit = facts.freshFor, let live = table.times[row.lastLive], restoredAt - live > limit { return true }
    return facts.checksModels && row.key.model.map { goneModels.contains($0) } ?? false
  }

  /// Whether a save without a change is written all the same, so that what is live does not look old: once a sixteenth of the
  /// shortest limit has passed.
  func isDue(since time: Int) -> Bool {
    classes.compactMap(\.freshFor).min().map { (now - time) * 16 >= $0 } ?? false
  }

  /// Whether a record can be given now, as far as is known without decoding it.
  ///
  /// A quarantined one only if restoring is asked to retry it.
  func canGive(_ record: Record, retrying: Bool = false) -> Bool {
    record.version <= version && !record.isDamaged && (retrying || !record.isQuarantined)
  }

  /// Whether a record's values decode: Give alone tries it.
  func decodes(_ record: Record) -> Bool { refused.isDisjoint(with: record.value.items) }
}
