internal import RestorationArchive

/// The table *Find*: the rows of an object's place that fit it, the best first.
///
/// The one function for it, used by restoring, for late objects and by merging.
enum Find {
  /// The facts about one row of the place.
  struct Row: Sendable {
    /// Its class, under today's tag, and its model.
    var identity: Identity
    /// Whether it has a record that can be given and is not *first*.
    var canBeGiven: Bool
    /// Whether its object left, or shows another model now.
    var isAbsent = false
    /// When an object last had it, in any growing measure; nil when one had it in the last save.
    var lastLive: Double?
    /// The number of the save that wrote its newest record.
    var newestSave: UInt32 = 0
    /// Its number, which decides when nothing else does.
    var number: UInt32 = 0

    /// Whether an object had it later than another one.
    fileprivate func wasLive(after other: Self) -> Bool {
      let (live, otherLive) = (lastLive ?? .infinity, other.lastLive ?? .infinity)
      return (live, newestSave, number) > (otherLive, other.newestSave, other.number)
    }
  }

  /// Whether a row fits an object: an absent row fits only objects of its model, or without one as it is itself.
  static func fits(_ row: Identity, isAbsent: Bool, _ asker: Asker) -> Bool {
    if isAbsent, row.model != asker.identity.model { return false }
    return asker.mismatch(with: row) == nil
  }

  /// The positions of the rows that fit, in the order in which they are tried.
  ///
  /// Rows with a record that can be given and is not *first* come before all others; then the row of exactly the object's key;
  /// then present ones before absent ones; then the one that was live last; then the one with the newest record. An object that
  /// names no model may learn it from what was on the screen last: for it present rows come before absent ones, before everything
  /// else, and of those that can be given the one that was live last comes before that of exactly its key.
  static func order(_ rows: [Row], for asker: Asker) -> [Int] {
    let fitting = rows.indices.filter { fits(rows[$0].identity, isAbsent: rows[$0].isAbsent, asker) }
    guard fitting.count > 1 else { return fitting }
    let isUnnamed = asker.identity.model == nil
    return fitting.sorted { first, second in
      let (one, other) = (rows[first], rows[second])
      if isUnnamed, one.isAbsent != other.isAbsent { return !one.isAbsent }
      if one.canBeGiven != other.canBeGiven { return one.canBeGiven }
      if isUnnamed, one.canBeGiven, one.lastLive != other.lastLive { return one.wasLive(after: other) }
      let (isExact, otherIsExact) = (one.identity == asker.identity, other.identity == asker.identity)
      if isExact != otherIsExact { return isExact }
      if one.isAbsent != other.isAbsent { return !one.isAbsent }
      return one.wasLive(after: other)
    }
  }

  /// The position of the row whose object is made: of present rows the one that was live last; nil when all are absent.
  static func made(_ rows: [Row]) -> Int? {
    rows.indices.filter { !rows[$0].isAbsent }.max { rows[$1].wasLive(after: rows[$0]) }
  }

  /// The position of the row that was live last; nil when there is none.
  static func newest(_ rows: [Row]) -> Int? {
    rows.indices.max { rows[$1].wasLive(after: rows[$0]) }
  }
}
