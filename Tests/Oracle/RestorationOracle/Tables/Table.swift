// Imports nothing.

/// The values of an object as one save wrote them.
package struct Record: Hashable, Sendable {
  /// Tells the record from all others of its table.
  package var number: Int
  /// The number of its save, which decides what is newer.
  package var save: Int
  package var version: Int
  package var value: Value
  /// Whether its object came by itself and has not been edited since.
  package var isFirst = false
  package var isQuarantined = false
  package var isDamaged = false
}

/// Where objects are: below a row, under an identifier.
package struct Place: Hashable, Sendable {
  /// The parent's row; nil for the root.
  package var parent: Int?
  package var identifier: String
}

/// Whose state a row holds.
package struct Key: Hashable, Sendable {
  package var place: Place
  package var tag: String
  package var model: String?
}

/// The state of what one key names.
package struct Row: Hashable, Sendable {
  package var key: Key
  /// Oldest first.
  package var records: [Record] = []
  package var isPresent = true
  package var isPresented = false
  /// The number of the last save that wrote something while the row was live.
  package var lastLive = 0
  /// Whether restoring died at the row, or at a record of it, and nothing was written in or below it since.
  package var isClosed = false
  /// The rows below it, in the order of siblings.
  package var children: [Int] = []
  /// The class of protection of the part that it is in.
  package var protection = Protection.complete
  /// Whether that has no key, or that of a row above it.
  var isAway = false
  /// Of a run that could read a part of the state: whether the row is only the way to others, as its object's own state is
  /// elsewhere.
  var isWay = false
  /// Rows of the part that could be read, which its object has left, as its class has no key; something in or below them can't be
  /// read, and comes to this row at the unlock.
  var hidden: Set<Int> = []

  /// Whether it has something to write.
  var hasContent: Bool { !records.isEmpty || !hidden.isEmpty }
}

/// Why a record is no longer there.
package enum Removal: Hashable, Sendable {
  /// Its object was given or wrote it, and wrote its values anew.
  case replaced
  /// Its object left for good.
  case closed
  /// A first record, and another one was given.
  case notFirst
  /// Its model object is deleted, or it is too old.
  case gone
  /// More than eight records of one row.
  case eight
  /// Too many absent rows, or too many bytes in them.
  case evicted
  case settled, forgotten
}

/// All state of a window: rows by their numbers.
package struct Table: Hashable, Sendable {
  package var rows: [Int: Row] = [:]
  package var save = 0
  /// The version of the program that wrote it last.
  package var version = 1
  /// When saves were, by their numbers.
  package var times: [Int: Int] = [:]
  package var lastNumber = 0
  /// The class of protection of the row at the top.
  var topProtection = Protection.complete
  /// Of a run while the device was locked: whether it could read a part of the state.
  package var isBeside = false
  /// The rows that have become one with others, by their numbers.
  var united = Derived<[Int: Int]>([:])
  /// How the places below rows stood before a look brought the table up to date.
  var formerOrders = Derived<[Int: [FormerChild]]>([:])
  /// What was removed from this table, and why.
  package var removed: [Removed] = []
  /// The rows of each place, so that a thousand siblings are no thousand comparisons each.
  private var places = Derived<[Place: [Int]]>([:])

  /// A row as it stood below another one.
  struct FormerChild: Sendable {
    var row: Int
    var name: String
  }

  package struct Removed: Hashable, Sendable {
    package var record: Record
    package var row: Int
    package var why: Removal
  }

  package init() {}

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  subscript(_ row: Int) -> Row {
    get { rows[row]! }
    _modify { yield &rows[row]! }
  }

  var root: Int? { rows.keys.filter { rows[$0]?.key.place.parent == nil }.min() }

  func children(of parent: Int?) -> [Int] {
    parent.map { rows[$0]?.children ?? [] } ?? rows.keys.filter { rows[$0]?.key.place.parent == nil }.sorted()
  }

  /// Something was written in a row: objects are made there, and in those above it, again.
  mutating func open(upTo row: Int) {
    var next = Optional(row)
    while let one = next {
      self[one].isClosed = false
      next = self[one].key.place.parent
    }
  }

  func rows(at place: Place) -> [Int] { places.value[place] ?? [] }

  /// A row and all below it, parents first.
  func subtree(_ row: Int) -> [Int] { [row] + self[row].children.flatMap { subtree($0) } }

  func hasRecords(inOrBelow row: Int) -> Bool { subtree(row).contains { self[$0].hasContent || self[$0].isAway } }

  mutating func insert(_ key: Key, protection: Protection? = nil) -> Int {
    let number = nextNumber()
    rows[number] = Row(key: key)
    rows[number]!.protection = protection ?? inherited(below: key.place.parent)
    places.value[key.place, default: []].append(number)
    if let parent = key.place.parent { self[parent].children.append(number) }
    return number
  }

  /// Says whether a row is hidden.
  mutating func setAway(_ row: Int, _ isAway: Bool) {
    guard self[row].isAway != isAway else { return }
    self[row].isAway = isAway
    let place = self[row].key.place
    if isAway { places.value[place]?.removeAll { $0 == row } } else { places.value[place, default: []].append(row) }
  }

  /// Removes a row and all below it; what is hidden can't be removed, nor the way to it.
  mutating func remove(_ row: Int, _ why: Removal) {
    guard !hidesSomething(inOrBelow: row) else { return }
    if let parent = self[row].key.place.parent { rows[parent]?.children.removeAll { $0 == row } }
    for below in subtree(row) {
      removeRecords(of: below, why) { _ in true }
      forget(below)
    }
  }

  private mutating func forget(_ row: Int) {
    guard let place = rows.removeValue(forKey: row)?.key.place else { return }
    places.value[place]?.removeAll { $0 == row }
  }

  mutating func removeRecords(of row: Int, _ why: Removal, where isRemoved: (Record) -> Bool) {
    removed += self[row].records.filter(isRemoved).map { Removed(record: $0, row: row, why: why) }
    self[row].records.removeAll(where: isRemoved)
  }

  /// Hangs a row below another one.
  mutating func move(_ row: Int, to place: Place) {
    if let parent = self[row].key.place.parent, parent != place.parent {
      rows[parent]?.children.removeAll { $0 == row }
    }
    if let parent = place.parent, !self[parent].children.contains(row) { self[parent].children.append(row) }
    places.value[self[row].key.place]?.removeAll { $0 == row }
    if !self[row].isAway { places.value[place, default: []].append(row) }
    self[row].key.place = place
  }

  // MARK: - Find

  /// The rows that an object fits, best first; none of those that other live objects have.
  func find(_ key: Key, held: Set<Int>, retrying: Bool, _ known: Knowledge) -> [Int] {
    let lineage = known.lineage(of: key.tag)
    let found = rows(at: key.place).filter { number in
      let row = self[number]
      guard !held.contains(number), lineage.contains(known.today(row.key.tag)) else { return false }
      if row.key.model == key.model { return true }
      return key.model == nil ? row.isPresent : row.key.model == nil && row.isPresent
    }
    func rank(_ number: Int) -> [Int] {
      let row = self[number]
      let gives =
        (retrying || !row.isClosed)
        && candidates(number, retrying: retrying, joins: known.joins(key.tag), known).contains { !$0.isFirst }
      let (isPresent, isExact) = (row.isPresent ? 1 : 0, hasKey(row, key, known) ? 1 : 0)
      // An object without a model may learn it from the state that its place had last.
      let first = key.model == nil ? [isPresent, gives ? 1 : 0] : [gives ? 1 : 0, isExact]
      return first + [
        isPresent, key.model == nil && gives ? row.lastLive : isExact, isExact, row.lastLive,
        row.records.last?.save ?? 0,
        number,
      ]
    }
    return found.sorted { rank($1).lexicographicallyPrecedes(rank($0)) }
  }

  /// The records that can be given now, in the order in which they are tried: the newest first, and those that are *first* after
  /// all others, the oldest of them before.
  ///
  /// A retry gives quarantined ones where nothing newer lies beside them but *first* ones, or to be joined.
  func candidates(_ number: Int, retrying: Bool, joins: Bool, _ known: Knowledge) -> [Record] {
    let row = self[number]
    let found = row.records.filter { record in
      let hasNewer = row.records.contains { $0.save > record.save && !isFirst($0, in: number) }
      return known.canGive(record, retrying: retrying && (joins || !hasNewer))
    }
    return found.filter { !isFirst($0, in: number) }.reversed() + found.filter { isFirst($0, in: number) }
  }

  /// Whether a record counts as *first* in Give: the oldest of its row hides nothing.
  func isFirst(_ record: Record, in row: Int) -> Bool {
    record.isFirst && self[row].records.first?.number != record.number
  }

  func hasKey(_ row: Row, _ key: Key, _ known: Knowledge) -> Bool {
    row.key.place == key.place && known.today(row.key.tag) == key.tag && row.key.model == key.model
  }

  /// The row of exactly a key that no live object has.
  func exact(_ key: Key, held: Set<Int>, _ known: Knowledge) -> Int? {
    rows(at: key.place).filter { !held.contains($0) && hasKey(self[$0], key, known) }
      .max { (self[$0].isPresent ? 1 : 0, self[$0].lastLive, $0) < (self[$1].isPresent ? 1 : 0, self[$1].lastLive, $1) }
  }

  // MARK: - Uniting

  /// Makes two rows one; the second is gone afterwards.
  mutating func unite(_ row: Int, with other: Int, held: Set<Int>, _ known: Knowledge) {
    let (kept, gone) = (self[row], self[other])
    united.value[other] = row
    if !held.contains(row), kept.protection.rawValue < gone.protection.rawValue {
      self[row].protection = gone.protection
    }
    self[row].records = Self.ordered(gone.records + kept.records)
    self[row].hidden.formUnion(gone.hidden)
    self[row].isPresent = kept.isPresent || gone.isPresent
    if kept.lastLive < gone.lastLive { self[row].isPresented = gone.isPresented }
    self[row].lastLive = max(kept.lastLive, gone.lastLive)
    // A row that an object has is the one that was live last.
    let isOlder = kept.lastLive < gone.lastLive && !held.contains(row)
    self[row].isClosed = isOlder ? gone.isClosed : kept.isClosed
    // What can't be read can't be moved: it follows once it can, when the two have one key.
    let staying = gone.children.filter { self[$0].isAway }
    if staying.isEmpty {
      if let parent = gone.key.place.parent { replace(other, by: held.contains(row) ? row : nil, below: parent) }
      forget(other)
    } else {
      (self[other].records, self[other].hidden, self[other].isPresent) = ([], [], false)
      (self[other].key.tag, self[other].key.model, self[other].children) = (kept.key.tag, kept.key.model, staying)
      setAway(other, true)
    }
    for child in gone.children where !staying.contains(child) {
      move(child, to: Place(parent: row, identifier: self[child].key.place.identifier))
    }
    uniteChildren(of: row, held: held, known)
  }

  /// Takes a row out of the order of its siblings; that of an object that it has become one with there stands for both.
  private mutating func replace(_ row: Int, by other: Int?, below parent: Int) {
    var children = rows[parent]?.children ?? []
    if let other, let index = children.firstIndex(of: row), let present = children.firstIndex(of: other),
      index < present
    {
      children.remove(at: present)
      children[index] = other
    }
    rows[parent]?.children = children.filter { $0 != row }
  }

  /// Unites the rows below a row that share a key.
  ///
  /// - Parameter newestStays: Whether the one that was live last stays; else the one that came first.
  mutating func uniteChildren(of row: Int?, held: Set<Int>, newestStays: Bool = false, _ known: Knowledge) {
    func isNewer(_ one: Int, _ other: Int) -> Bool {
      (self[one].lastLive, self[one].records.last?.save ?? 0, one)
        > (self[other].lastLive, self[other].records.last?.save ?? 0, other)
    }
    var seen: [Key: Int] = [:]
    for child in children(of: row) where rows[child] != nil && !self[child].isAway {
      var key = self[child].key
      key.tag = known.today(key.tag)
      guard let first = seen[key], !(held.contains(first) && held.contains(child)) else {
        seen[key] = child
        continue
      }
      let secondStays = held.contains(child) || newestStays && !held.contains(first) && isNewer(child, first)
      unite(secondStays ? child : first, with: secondStays ? first : child, held: held, known)
      seen[key] = secondStays ? child : first
    }
  }

  /// Records by the numbers of their saves; of one save, as they come.
  static func ordered(_ records: [Record]) -> [Record] {
    records.enumerated().sorted { ($0.element.save, $0.offset) < ($1.element.save, $1.offset) }.map(\.element)
  }

  // MARK: - Order

  /// The order of siblings: some rows below a row in an order, and with each the others of its place; those of each other place
  /// stand together, behind the place that they stood behind.
  ///
  /// A place that has other rows than before stands where it stood.
  mutating func arrange(_ ordered: [Int], below row: Int) {
    let present = self[row].children.map(name)
    let names = ordered.map(name).distinctOfMany
    let isOrdered = Set(names)
    var followers: [String: [String]] = [:]
    var first: [String] = []
    var seen: Set<String> = []
    var last: String?
    let isPresent = Set(present)
    let former = placesAsTheyStood(below: row).filter(isPresent.contains)
    for names in [former, present] {
      last = nil
      // A place stands where the first of its rows stands.
      for name in names.distinctOfMany {
        if isOrdered.contains(name) {
          last = name
        } else if seen.insert(name).inserted {
          if let last { followers[last, default: []].append(name) } else { first.append(name) }
        }
      }
    }
    var rows: [String: [Int]] = [:]
    for child in self[row].children { rows[name(child), default: []].append(child) }
    self[row].children = (first + names.flatMap { [$0] + (followers[$0] ?? []) }).flatMap { rows[$0] ?? [] }
  }

  /// The place of a row among its siblings; a hidden row has a place of its own.
  func name(_ child: Int) -> String { self[child].isAway ? "\(child)" : self[child].key.place.identifier }

  /// Notes how the places below all rows stand.
  mutating func noteOrders() {
    formerOrders.value = rows.compactMapValues { row in
      row.children.isEmpty ? nil : row.children.map { FormerChild(row: $0, name: name($0)) }
    }
  }

  /// Places without rows have stood nowhere, whatever comes into them from other rows.
  mutating func forgetEmptyPlaces() {
    for (row, former) in formerOrders.value {
      let children = Set(rows[row]?.children ?? [])
      let present = Set(children.map(name))
      formerOrders.value[row] = former.filter { present.contains($0.name) || children.contains($0.row) }
    }
  }

  /// The places below a row as they stood; a row that is called otherwise stands where it stood.
  private func placesAsTheyStood(below row: Int) -> [String] {
    let children = Set(self[row].children)
    return (formerOrders.value[row] ?? []).map { children.contains($0.row) ? name($0.row) : $0.name }
  }

  /// The row of a place that restoring makes an object for: of those that are present the one that was live last.
  func made(at place: Place) -> [Int] {
    rows(at: place).filter { self[$0].isPresent }.sorted { (self[$1].lastLive, $1) < (self[$0].lastLive, $0) }
  }
}

/// What follows from the rest of a value, and is no part of it.
struct Derived<Value: Sendable>: Hashable, Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }

  static func == (one: Self, other: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}

func pair<A, B>(_ one: A?, _ other: B?) -> (A, B)? {
  guard let one, let other else { return nil }
  return (one, other)
}

extension Table {
  /// The rows in one line.
  package var text: String { children(of: nil).map { text(of: $0) }.joined(separator: " ") }

  private func text(of number: Int) -> String {
    let row = self[number]
    let records = row.records.map { record in
      record.value.items.map(String.init).joined(separator: "+") + (record.version > 1 ? "v\(record.version)" : "")
        + (record.isFirst ? "F" : "") + (record.isQuarantined ? "!" : "")
    }
    return (row.isPresent ? "" : "~") + (row.isAway ? "?" : "") + (row.isWay ? "/" : "")
      + "\(row.key.place.identifier):\(row.key.tag)" + (row.protection == .complete ? "" : "@\(row.protection)")
      + (row.key.model.map { "‹\($0)›" } ?? "") + "[\(records.joined(separator: ", "))]"
      + (row.children.isEmpty ? "" : "(\(row.children.map { text(of: $0) }.joined(separator: " ")))")
  }
}
