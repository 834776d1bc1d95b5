internal import DataProtection
internal import RestorationArchive

/// The state of the objects whose class of protection has no key now, while that of others is read and written as ever.
///
/// What they edit is saved beside what nobody can read, as in a run that began on a locked device. Objects below one of these
/// belong to them, whatever their own class.
struct StateBeside: Sendable {
  /// The classes that have no key.
  let classes: Set<ProtectionClass>
  /// What their objects have edited.
  var table: Table
  /// Whether the disk has that; nil when nothing was saved of it.
  var durability: Durability?
  /// The classes that objects name themselves.
  private var named: [CaptureBatch.Key: ProtectionClass] = [:]
  /// The parents of all objects, by their keys.
  private var parents: [CaptureBatch.Key: CaptureBatch.Key] = [:]
  private var children: [CaptureBatch.Key: Set<CaptureBatch.Key>] = [:]
  /// The objects whose state lies here.
  private(set) var keys: Set<CaptureBatch.Key> = []

  /// Begins with nothing.
  init(classes: Set<ProtectionClass>, table: Table) {
    self.classes = classes
    self.table = table
  }

  /// Divides a capture: what the table of the readable state gets, and what this one gets.
  ///
  /// This one gets the places of all objects, as its own lie below others, and the values of its own alone.
  ///
  /// - Returns: Both, and the objects whose state lies here from now on.
  mutating func divide(
    _ batch: CaptureBatch
  ) -> (readable: CaptureBatch, beside: CaptureBatch, come: Set<CaptureBatch.Key>) {
    let before = keys
    for placement in batch.placements { move(placement) }
    for record in batch.records { named[record.key] = record.protection }
    let changed = Set(batch.placements.map(\.key)).union(batch.records.map(\.key))
    for key in changed { update(from: key) }
    let gone = batch.removals + batch.releases + batch.outgrown
    var (readable, beside) = (batch, batch)
    readable.placements.removeAll { keys.contains($0.key) }
    readable.records.removeAll { keys.contains($0.key) }
    readable.targets = batch.targets.filter { !keys.contains($0.key) }
    for index in readable.orders.indices { readable.orders[index].children.removeAll(where: keys.contains) }
    readable.orders.removeAll { keys.contains($0.parent) }
    // Those whose class has become one of these: their state leaves the file that others can read.
    let come = keys.subtracting(before)
    readable.removals = batch.removals.filter { !before.contains($0) } + come.sorted(by: >)
    beside.removals = batch.removals
    table.ownKeys = keys
    beside.leftGifts = []
    beside.removedRows = []
    for index in beside.placements.indices {
      // Rows of the readable state are none of this table.
      beside.placements[index].given = batch.isMeeting ? .nothing : nil
    }
    for index in beside.records.indices where !keys.contains(beside.records[index].key) {
      beside.records[index].row = nil
      beside.records[index].entries = []
    }
    for key in gone { forget(key) }
    return (readable, beside, come)
  }

  /// Forgets every live object, so that the next capture of everything meets them anew.
  mutating func letGoOfAll() {
    table.letGoOfAll()
    (named, parents, children, keys) = ([:], [:], [:], [])
  }

  private mutating func move(_ placement: CaptureBatch.Placement) {
    if let former = parents[placement.key] { children[former]?.remove(placement.key) }
    parents[placement.key] = placement.parent
    if let parent = placement.parent { children[parent, default: []].insert(placement.key) }
  }

  /// Finds out whether the state of an object, and of those below it, lies here from now on: until the unlock, whatever it says of its
  /// class later.
  private mutating func update(from key: CaptureBatch.Key) {
    var waiting = [key]
    while let next = waiting.popLast() {
      let isAbove = parents[next].map(keys.contains) ?? false
      let isOwn = named[next].map(classes.contains) ?? false
      guard isAbove || isOwn, keys.insert(next).inserted else { continue }
      waiting += children[next] ?? []
    }
  }

  private mutating func forget(_ key: CaptureBatch.Key) {
    if let parent = parents.removeValue(forKey: key) { children[parent]?.remove(key) }
    children[key] = nil
    named[key] = nil
    keys.remove(key)
  }
}
