// Imports nothing.

/// The classes of protection that pages name, the weakest first.
package enum Protection: Int, CaseIterable, Hashable, Sendable {
  /// Always readable.
  case none
  /// Readable from the first unlock after a start on.
  case first
  /// Readable only while the device is unlocked.
  case complete

  /// The name in scripts.
  package var name: String {
    switch self {
    case .none: "none"
    case .first: "first"
    case .complete: "complete"
    }
  }

  package init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}

extension Table {
  /// Hides the rows whose classes have no key, and all below them: nobody knows anything of them but that they are there.
  mutating func hide(_ away: Set<Protection>) {
    var waiting = children(of: nil).map { ($0, false) }
    while let (row, isBelow) = waiting.popLast() {
      let isAway = isBelow || away.contains(self[row].protection)
      if isAway { setAway(row, true) }
      waiting += self[row].children.map { ($0, isAway) }
    }
  }

  /// The same table with all that was hidden.
  func revealed() -> Table {
    guard rows.values.contains(where: \.isAway) else { return self }
    var table = self
    for row in rows.keys.sorted() where rows[row]!.isAway { table.setAway(row, false) }
    return table
  }

  /// Whether something below a row, or the row itself, is hidden.
  func hidesSomething(inOrBelow row: Int) -> Bool { subtree(row).contains { self[$0].isAway } }

  /// Brings the row of an object into the class that the object says.
  ///
  /// Rows without an object go along where the class gets stronger.
  mutating func protect(_ row: Int, _ protection: Protection, held: Set<Int>) {
    let former = self[row].protection
    guard former != protection else { return }
    self[row].protection = protection
    guard former.rawValue < protection.rawValue else { return }
    var waiting = self[row].children
    while let child = waiting.popLast() {
      guard !self[child].isAway, !held.contains(child), self[child].protection == former else { continue }
      self[child].protection = protection
      waiting += self[child].children
    }
  }

  /// Where a run that could not read a row had another one of a weaker class in its place, that counts as live last.
  mutating func noteLaterOfWeaker() {
    let places = Dictionary(grouping: rows.keys.filter { !rows[$0]!.isAway }) { rows[$0]!.key.place }
    for found in places.values where found.count > 1 {
      let present = found.filter { self[$0].isPresent }
      let live = present.filter { self[$0].lastLive == save }
      guard let weakest = live.min(by: { self[$0].protection.rawValue < self[$1].protection.rawValue }) else {
        continue
      }
      let weaker = found.filter { self[$0].protection.rawValue <= self[weakest].protection.rawValue }
      let first = weaker.map { self[$0].lastLive }.min() ?? save
      for row in present where self[row].protection.rawValue > self[weakest].protection.rawValue {
        if self[row].lastLive == save { self[row].lastLive = first - 1 }
      }
    }
  }

  /// The class of a row below another one, or of the one at the top.
  func inherited(below parent: Int?) -> Protection { parent.flatMap { rows[$0]?.protection } ?? topProtection }
}
