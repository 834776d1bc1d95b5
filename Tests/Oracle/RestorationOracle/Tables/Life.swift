// Imports nothing.

/// A live object.
package struct Object: Hashable, Sendable {
  package var identifier: String
  package var tag: String
  package var model: String?
  package var isPresented = false
  /// The class of protection that it names; nil for its parent's.
  package var protection: Protection?
  package var value: Value
  package var parent: Int?
  package var children: [Int] = []
  /// Whether the user has changed it, or what it holds, since a look saw it.
  package var isTouched = false
  /// Whether the last turn that gave to everything, or a late one, has found a row for it.
  var wasFound = false
  /// Of a run that could read a part of the state: whether its place is another one's, whose state lies beside.
  var isShadowed = false
  /// What the object has to do with the table; nil before it is met.
  var standing: Standing?

  package init(
    identifier: String, tag: String, model: String? = nil, value: Value = Value([]), parent: Int? = nil,
    isPresented: Bool = false, protection: Protection? = nil
  ) {
    self.protection = protection
    (self.identifier, self.tag, self.model, self.value) = (identifier, tag, model, value)
    (self.parent, self.isPresented) = (parent, isPresented)
  }
}

/// What a live object was given and wrote.
struct Standing: Hashable, Sendable {
  var row: Int
  /// The row of its parent, and its key, when it was met last.
  var parentRow: Int?
  var tag: String
  var model: String?
  var hasNamedModel: Bool
  /// The records that it was given or wrote itself.
  var own: [Int] = []
  /// The values of those.
  var saved: Value?
  /// Its values at the end of the turn in which it met unread records.
  var baseline: Value?
  /// Whether a turn that restores found a row for it.
  var wasFound = false
  /// Its values when a look met it, if it came by itself.
  var met: Value?
  /// Whether it came by itself and has not been edited since.
  var isUnedited = true
  /// Rows that it left as it showed another model.
  var left: Set<Int> = []
  /// Records that it could have been given, behind the newest.
  var superseded: Set<Int> = []
  /// Whether it wrote a record in this run that is not first.
  var hasWritten = false
  /// Whether it was given a record in this run.
  var wasGiven = false
  /// The row that it gave up as it named its first model: those of the live objects below it come along.
  var gaveUp: Int?
  /// The row below which late objects look: that which a turn has found for it, also when it gave that up.
  var foundRow: Int?
  /// Whether the program has asked for its row, and nothing fitted.
  var wasAsked = false
  /// Whether it came by itself, and nobody has asked for its row since.
  var cameByItself = false
  /// Whether its values could not be encoded in the last save that tried.
  var isNotEncoded = false
  /// The model of the row that it was given before its state lay beside.
  var learnt: String?
  /// The class of protection that it named when it had a place last.
  var protection: Protection?
  /// Whether restoring left its row out after a crash: nothing is given there or below it in this run.
  var isLeftOut = false
}

/// What a turn did, or a save.
package struct Outcome: Hashable, Sendable {
  package var hasChanged = false
  /// Whether a record was written.
  package var hasWritten = false
  /// The paths at which nothing was made after a crash.
  package var leftOut: Set<[String]> = []
  /// The paths of conflicts, and how many records are superseded there.
  package var superseded: [[String]: Int] = [:]
  /// The paths of objects that could not be encoded.
  package var notEncoded: Set<[String]> = []
  /// The paths of rows that exceeded eight records.
  package var beyondEight: Set<[String]> = []
  /// Two siblings with one place.
  package var duplicates: Set<[String]> = []
  /// The paths of rows that were evicted.
  package var evicted: [[String]] = []
  /// Whether a part of the state waits for an unlock, and the classes of stored rows that do.
  package var isPartly = false
  package var waiting: Set<Protection> = []
}

/// A running program over what is on the disk: the tables Find, Give, Save and Leave.
package struct Life: Hashable, Sendable {
  /// What is stored; nil when nothing was.
  package var stored: Table?
  /// What earlier runs stored while the device was locked, in order.
  package var pending: [Table] = []

  /// The state of the run: what was loaded, with the rows of the live objects.
  package var table = Table()
  package var objects: [Int: Object] = [:]
  package var root: Int?
  /// Whether the run was launched on a locked device and has not been unlocked since.
  package var isLocked = false
  /// The class of protection of what names none.
  package var protection = Protection.complete
  /// Of a run that could read a part of the state: the classes that have no key, and the run as it has that part; this one has
  /// all objects, and in its table what can't be read.
  var away: Set<Protection> = []
  var readable: [Life] = []
  /// The objects whose state can't be read, and all below them.
  var besideIDs: Set<Int> = []
  /// Whether one of them has become an object whose state can be read.
  var mustDivide = false
  /// The objects that have their state while an unlock gives all others theirs.
  var readableIDs: Set<Int> = []
  /// The objects as they are once a launch has given them their state.
  var launched: [Int: Object] = [:]
  /// Whether the run has restored something; until it has, nobody is met before a save looks.
  var hasRestored = false
  /// The rows that it has loaded: late objects are given those.
  var loadedRows: Set<Int> = []
  private var lateRows: Set<Int>?
  /// The rows below which they were then.
  var loadedParents: [Int: Int] = [:]
  /// The records that they had then.
  var loadedRecords: [Int: Set<Int>] = [:]
  /// Rows that an unlock finds for nobody, as they are there only for the objects that have them.
  var liveOnly: Set<Int> = []
  /// The object that came late last, if nothing fitted it.
  private var askedInVain: Int?
  /// Those of them whose records objects were given: nobody who comes late is given them.
  var spentRows: Set<Int> = []
  /// Those of them that were closed.
  var closedRows: Set<Int> = []
  /// Whether the last turn that gave to everything has tried those once more.
  private var hasRetried = false
  /// How many runs had stored something while locked before this one.
  var earlierRuns = 0
  var lastObject = 0

  /// An object that a turn has given something.
  struct Given: Hashable, Sendable {
    var id: Int
    var key: Key
    /// Rows with nothing but *first* records that become one with its row, as it has a record that is not *first*.
    var blank: [Int]
    /// The row that it had before, which becomes one with its row.
    var brought: Int?
  }

  var given: [Given] = []

  /// Where restoring died before a locked run.
  private struct Death: Hashable, Sendable {
    var row: Int
    /// The position of the record, the oldest first; nil where the row has none.
    var record: Int?
  }

  private var deaths: [Death] = []

  private enum Leaving { case closed, changed, namedModelWithEdits }

  package init() {}

  /// The rows of live objects.
  var held: Set<Int> = []
  /// The records that this run wrote.
  var written: Set<Int> = []

  mutating func stand(_ id: Int, _ standing: Standing?) {
    if let former = objects[id]!.standing { held.remove(former.row) }
    objects[id]!.standing = standing
    if let standing { held.insert(standing.row) }
  }

  /// What the factories make for a row at a path; nil if they make nothing.
  package typealias Factory = (_ path: [String], _ row: Row) -> Object?

  // MARK: - The user

  package mutating func add(_ object: Object) -> Int {
    lastObject += 1
    objects[lastObject] = object
    if let parent = object.parent {
      objects[parent]!.children.append(lastObject)
      objects[parent]!.isTouched = true
    } else {
      root = lastObject
    }
    return lastObject
  }

  package func path(_ id: Int) -> [String] {
    (objects[id]!.parent.map { path($0) } ?? []) + [objects[id]!.identifier]
  }

  package func subtree(_ id: Int) -> [Int] { [id] + objects[id]!.children.flatMap { subtree($0) } }

  /// Takes an object and all below it off the screen.
  package mutating func remove(_ id: Int) {
    if let parent = objects[id]!.parent {
      objects[parent]!.children.removeAll { $0 == id }
      objects[parent]!.isTouched = true
    }
    objects[id]!.parent = nil
    if id == root { root = nil }
  }

  package mutating func move(_ id: Int, to parent: Int) {
    remove(id)
    objects[id]!.parent = parent
    objects[parent]!.children.append(id)
    objects[parent]!.isTouched = true
  }

  func hasUnsavedChanges(_ id: Int) -> Bool {
    guard let object = objects[id], let standing = object.standing else { return false }
    if !standing.own.isEmpty { return standing.saved != object.value }
    // An edit that could not be written, or nobody can tell.
    if !standing.isUnedited || standing.isNotEncoded { return true }
    return (standing.baseline ?? standing.met).map { $0 != object.value } ?? false
  }

  func key(_ id: Int, below parentRow: Int?) -> Key {
    let object = objects[id]!
    return Key(place: Place(parent: parentRow, identifier: object.identifier), tag: object.tag, model: object.model)
  }

  // MARK: - Looking

  /// Meets all objects: new ones, those that show another model, those that left.
  package mutating func look(_ known: Knowledge, _ outcome: inout Outcome) {
    var reached: Set<Int> = []
    // The rows that objects have left in this look.
    var left: [Int: Set<Int>] = [:]
    func below(_ id: Int, isKept: Bool, at path: [String]) {
      reached.insert(id)
      let before = objects[id]!.standing?.left ?? []
      if !isKept { meet(id, known) }
      objects[id]!.isTouched = false
      left[id] = objects[id]!.standing?.left.subtracting(before)
      let siblings = Dictionary(uniqueKeysWithValues: siblings(below: id).map { ($0.child, $0.isKept) })
      for child in objects[id]!.children {
        let isKept = siblings[child]
        if isKept != false { outcome.duplicates.insert(path + [objects[child]!.identifier]) }
        guard let isKept else {
          leaveOthers(subtree: child, known)
          release(subtree: child)
          continue
        }
        // Where it is stored.
        let name = isKept ? former(child, below: id) : nil
        below(child, isKept: isKept, at: path + [name ?? objects[child]!.identifier])
      }
    }
    if let root { below(root, isKept: false, at: [objects[root]!.identifier]) }
    let onScreen = Set(root.map { subtree($0) } ?? [])
    // Where an object shows something else its row stays whole, with what was below it.
    var whole = Set(reached.flatMap { left[$0] ?? [] })
    var gone = objects.keys.filter { !reached.contains($0) && objects[$0]!.standing != nil }.sorted()
    while let index = gone.firstIndex(where: { objects[$0]!.standing!.parentRow.map(whole.contains) ?? false }) {
      let id = gone.remove(at: index)
      whole.insert(objects[id]!.standing!.row)
      noteLive(objects[id]!.standing!.row)
      stand(id, nil)
    }
    for id in gone {
      let standing = objects[id]!.standing!
      stand(id, nil)
      leave(standing, .closed, known)
    }
    objects = objects.filter { onScreen.contains($0.key) }
  }

  /// Objects without a place that show other models leave their rows all the same.
  private mutating func leaveOthers(subtree id: Int, _ known: Knowledge) {
    for id in subtree(id) {
      guard let standing = objects[id]!.standing, leaves(objects[id]!, standing, id) == .changed else { continue }
      leave(standing, .changed, known)
    }
  }

  /// Nobody has the rows of an object and those below it any more; they stay as they are.
  mutating func release(subtree id: Int) {
    for id in subtree(id) where objects[id]!.standing != nil { stand(id, nil) }
  }

  /// Meets an object whose parent was met.
  private mutating func meet(_ id: Int, _ known: Knowledge) {
    let object = objects[id]!
    let parent = object.parent.flatMap { objects[$0]!.standing }
    if let standing = object.standing {
      if let former = standing.parentRow, parent?.left.contains(former) ?? false {
        // Its parent shows another model: its row stays below that one's.
        comeByItself(id, leaving: standing.row, known)
        lieByClass(id)
      } else if let why = leaves(object, standing, id) {
        // A row that stays has gone along with a new name.
        if why == .namedModelWithEdits { table.move(standing.row, to: key(id, below: parent?.row).place) }
        leave(standing, why, known)
        // Those below one that names its first model come along, and its values are an edit.
        comeByItself(id, leaving: why == .changed ? standing.row : nil, known)
        if why == .changed { lieByClass(id) }
        objects[id]!.standing!.isUnedited = why == .changed
        if why == .namedModelWithEdits {
          (objects[id]!.standing!.gaveUp, objects[id]!.standing!.foundRow) = (standing.row, standing.foundRow)
          objects[id]!.standing!.isLeftOut = standing.isLeftOut
        }
      } else if standing.model != object.model {
        table[standing.row].key.model = object.model
      }
    } else {
      comeByItself(id, leaving: nil, known)
    }
    objects[id]!.standing!.parentRow = parent?.row
    objects[id]!.standing!.model = object.model
    objects[id]!.standing!.hasNamedModel = objects[id]!.standing!.hasNamedModel || object.model != nil
  }

  /// An object that comes anew is met as if it were new, also where its state has lain beside.
  private mutating func lieByClass(_ id: Int) {
    let object = objects[id]!
    guard !(object.parent.map(besideIDs.contains) ?? false), !(object.protection.map(away.contains) ?? false) else {
      return
    }
    if besideIDs.remove(id) != nil { mustDivide = true }
  }

  /// Whether an object leaves its row because it shows another model, or has another class.
  private func leaves(_ object: Object, _ standing: Standing, _ id: Int) -> Leaving? {
    guard object.tag == standing.tag else { return .changed }
    guard object.model != standing.model else { return nil }
    guard !standing.hasNamedModel, let row = table.rows[standing.row] else { return .changed }
    // One that could be read has learnt its model there.
    let other = besideIDs.contains(id) ? nil : readable.first
    let learnt = other.flatMap { $0.objects[id]?.standing?.row }.flatMap { other?.table.rows[$0]?.key.model }
    if let model = row.key.model ?? standing.learnt ?? learnt { return model == object.model ? nil : .changed }
    return hasUnsavedChanges(id) ? .namedModelWithEdits : nil
  }

  /// An object leaves its row for good, or as it shows something else.
  private mutating func leave(_ standing: Standing, _ why: Leaving, _ known: Knowledge) {
    let row = standing.row
    guard table.rows[row] != nil else { return }
    noteLive(row)
    table[row].isPresent = false
    switch why {
    case .closed:
      table.removeRecords(of: row, .closed) { record in
        standing.own.contains(record.number) || standing.superseded.contains(record.number)
          || standing.cameByItself && !standing.wasAsked && known.canGive(record)
      }
    case .changed, .namedModelWithEdits:
      // Its class stays: what waits there was written by an object of that.
      table[row].key.model = standing.model ?? table[row].key.model
    }
  }

  /// A row that an object had until now was live in the last save that was written.
  private mutating func noteLive(_ row: Int) {
    let last = isLocked ? pending.count > earlierRuns ? pending.last!.save : 0 : stored?.save ?? 0
    if let live = table.rows[row]?.lastLive { table[row].lastLive = max(live, last) }
  }

  private mutating func comeByItself(_ id: Int, leaving former: Int?, _ known: Knowledge) {
    let key = key(id, below: objects[id]!.parent.flatMap { objects[$0]!.standing?.row })
    let left = objects[id]!.standing?.left ?? []
    if let row = objects[id]!.standing?.row { noteLive(row) }
    stand(id, nil)
    let row = table.exact(key, held: held, known) ?? table.insert(key, protection: objects[id]!.protection)
    var standing = Standing(
      row: row, parentRow: key.place.parent, tag: key.tag, model: key.model, hasNamedModel: key.model != nil)
    standing.met = objects[id]!.value
    standing.cameByItself = true
    standing.left = left.union([former].compactMap(\.self))
    standing.left.remove(row)
    stand(id, standing)
  }

  // MARK: - Saving

  /// Saves what has changed.
  ///
  /// What the disk has afterwards is in ``stored``, or in ``pending``.
  package mutating func save(_ known: Knowledge, isAcknowledged: Bool = true) -> Outcome {
    var outcome = Outcome()
    if !readable.isEmpty { return savePartly(known, isAcknowledged: isAcknowledged) }
    look(known, &outcome)
    write(known, isAcknowledged, &outcome)
    return outcome
  }

  /// Writes the values that have changed; where that fails, the next save that succeeds has them.
  mutating func write(_ known: Knowledge, _ isAcknowledged: Bool, _ outcome: inout Outcome) {
    (table.save, table.version) = (nextSave, known.version)
    let save = table.save
    commit(known, &outcome)
    let isUnchanged = isLocked ? isSameAsPending() : stored.map { isSame($0, table.revealed()) } ?? false
    outcome.hasChanged = !isUnchanged || (!isLocked && !pending.isEmpty)
    if !isLocked, let time = stored?.times[stored!.save], known.isDue(since: time) { outcome.hasChanged = true }
    guard outcome.hasChanged, isAcknowledged else { return }
    table.times[save] = known.now
    for id in order(withKept: true) { table[objects[id]!.standing!.row].lastLive = save }
    // Nobody knows whether the user has closed what is hidden.
    if !away.isEmpty, let last = stored?.save {
      for row in table.rows.keys where table[row].isAway && table[row].lastLive == last { table[row].lastLive = save }
    }
    var disk = table.revealed()
    disk.removed = []
    guard isLocked else {
      (stored, pending) = (disk, [])
      return
    }
    // What was written beside stays until the unlock, if with nothing in it.
    let hasOwn = disk.isBeside && pending.count > earlierRuns
    pending = Array(pending.prefix(earlierRuns))
    if hasOwn || disk.rows.values.contains(where: \.hasContent) { pending.append(disk) }
  }

  var nextSave: Int { max(stored?.save ?? 0, table.save) + 1 }

  /// Brings the table up to date with the live objects.
  mutating func commit(_ known: Knowledge, _ outcome: inout Outcome) {
    table.noteOrders()
    defer { table.formerOrders.value = [:] }
    // What left with nothing unread in it is gone before rows become one.
    sweep()
    moveKeys(known, renewing: true)
    for id in order() { settlePlace(of: objects[id]!.standing!, known) }
    protectRows()
    for id in order() { writeRecord(id, known, &outcome) }
    let saved = Set(order())
    for id in order(withKept: true) where !saved.contains(id) && objects[id]!.standing!.isNotEncoded {
      outcome.notEncoded.insert(table.path(ofRow: objects[id]!.standing!.row))
    }
    for id in order(withKept: true) {
      let standing = objects[id]!.standing!
      table[standing.row].isPresent = true
      if saved.contains(id) { table[standing.row].isPresented = objects[id]!.isPresented }
      table.arrange(siblings(below: id).map { objects[$0.child]!.standing!.row }, below: standing.row)
    }
    sweep()
    evict(known, &outcome)
  }

  /// The children of an object that have places, in order.
  ///
  /// One whose row has the identifier already has it before others, else the first. Another one that has a row of the parent's
  /// is kept: its row keeps its identifier, which nobody else gets then.
  func siblings(below id: Int) -> [(child: Int, isKept: Bool)] {
    let children = objects[id]!.children
    let identifiers = children.map { objects[$0]!.identifier }
    guard Set(identifiers).count < children.count || children.contains(where: { isKept($0, below: id) }) else {
      return children.map { ($0, objects[$0]!.isShadowed) }
    }
    var holders: [String: Int] = [:]
    var claimants: [String: [Int]] = [:]
    for (child, name) in zip(children, identifiers) {
      if former(child, below: id) == name { holders[name] = child } else { claimants[name, default: []].append(child) }
    }
    var refused = claimants.flatMap { holders[$0] == nil ? $1.dropFirst() : $1[...] }
    while let child = refused.popLast() {
      guard let name = former(child, below: id), holders[name] == nil else { continue }
      holders[name] = child
      refused += claimants[name] ?? []
    }
    var owners: [String: Int] = [:]
    var found: [(child: Int, isKept: Bool)] = []
    for (child, name) in zip(children, identifiers) {
      if owners[name] == nil, holders[name] ?? child == child {
        owners[name] = child
        found.append((child, objects[child]!.isShadowed))
      } else if let name = former(child, below: id), owners[name] == nil, holders[name] ?? child == child {
        owners[name] = child
        found.append((child, true))
      }
    }
    return found
  }

  /// The identifier of a child's row, if that is below the parent's.
  private func former(_ child: Int, below id: Int) -> String? {
    guard let place = objects[child]!.standing.flatMap({ table.rows[$0.row]?.key.place }),
      let parent = objects[id]!.standing, place.parent == parent.row || place.parent == parent.gaveUp
    else { return nil }
    return place.identifier
  }

  private func isKept(_ child: Int, below id: Int) -> Bool {
    former(child, below: id).map { $0 != objects[child]!.identifier } ?? false
  }

  /// The live objects that are saved, parents first; with those that are kept, if they are asked for.
  func order(withKept: Bool = false) -> [Int] {
    func below(_ id: Int, isKept: Bool) -> [Int] {
      (isKept && !withKept ? [] : [id]) + siblings(below: id).flatMap { below($0.child, isKept: $0.isKept) }
    }
    return root.map { below($0, isKept: false).filter { objects[$0]!.standing != nil } } ?? []
  }

  /// The rows of objects that moved, were renamed, or named a model get their keys, all at once; then rows unite.
  private mutating func moveKeys(_ known: Knowledge, renewing: Bool) {
    for id in order() {
      let standing = objects[id]!.standing!
      let key = key(id, below: standing.parentRow)
      if table[standing.row].key.place != key.place {
        table.move(standing.row, to: key.place)
      }
    }
    // Those that keep their identifiers move along with a parent that has given its row up.
    let placed = Set(order())
    for id in order(withKept: true) where !placed.contains(id) {
      guard let parent = objects[id]!.parent.flatMap({ objects[$0]!.standing }), parent.gaveUp != nil else { continue }
      let place = table[objects[id]!.standing!.row].key.place
      if place.parent == parent.gaveUp {
        table.move(objects[id]!.standing!.row, to: Place(parent: parent.row, identifier: place.identifier))
      }
    }
    table.forgetEmptyPlaces()
    for id in order() {
      let standing = objects[id]!.standing!
      var key = key(id, below: standing.parentRow)
      key.model = key.model ?? table[standing.row].key.model
      while let other = table.exact(key, held: held, known), table.rows[other] != nil {
        table.unite(standing.row, with: other, held: held, known)
        table[standing.row].key.model = key.model
        guard renewing, !standing.own.isEmpty else { continue }
        for index in table[standing.row].records.indices
        where standing.own.contains(table[standing.row].records[index].number) {
          table[standing.row].records[index].save = table.save
        }
        table[standing.row].records = Table.ordered(table[standing.row].records)
      }
    }
  }

  /// The row of an object takes its class, and its model if it names one.
  private mutating func adopt(_ id: Int, _ key: Key) {
    let row = objects[id]!.standing!.row
    table[row].key.tag = key.tag
    table[row].key.model = key.model ?? table[row].key.model
  }

  private mutating func writeRecord(_ id: Int, _ known: Knowledge, _ outcome: inout Outcome) {
    var standing = objects[id]!.standing!
    let value = objects[id]!.value
    // Of a run that could read a part of the state: what that has is written there.
    if !readable.isEmpty, !besideIDs.contains(id) { return }
    var newest: Value?
    standing.isNotEncoded = !known.unencodable.isDisjoint(with: value.items)
    objects[id]!.standing!.isNotEncoded = standing.isNotEncoded
    guard !standing.isNotEncoded else {
      outcome.notEncoded.insert(table.path(ofRow: standing.row))
      return
    }
    if standing.own.isEmpty {
      if let baseline = standing.baseline {
        guard baseline != value else { return }
        standing.isUnedited = false
      } else if let met = standing.met, met != value {
        standing.isUnedited = false
      }
      guard makeRoom(standing, id, &outcome) else { return }
    } else {
      newest = table[standing.row].records.last { standing.own.contains($0.number) }?.value
      guard standing.saved != value else { return }
      // Joined values may be those of the newest record.
      standing.isUnedited = standing.isUnedited && newest == value
      let own = standing.own
      table.removeRecords(of: standing.row, .replaced) { own.contains($0.number) }
    }
    let number = table.nextNumber()
    table[standing.row].records.append(
      Record(
        number: number, save: table.save, version: known.version, value: value, isFirst: standing.isUnedited))
    table.open(upTo: standing.row)
    adopt(id, key(id, below: standing.parentRow))
    (standing.own, standing.saved) = ([number], value)
    standing.hasWritten = standing.hasWritten || !standing.isUnedited
    objects[id]!.standing = standing
    written.insert(number)
    // Joined values may be those of the newest record.
    if newest != value { outcome.hasWritten = true }
  }

  /// Whether a row has room for one more record; those go first that nobody misses.
  private mutating func makeRoom(_ standing: Standing, _ id: Int, _ outcome: inout Outcome) -> Bool {
    while table[standing.row].records.count >= 8 {
      let records = table[standing.row].records
      let surplus =
        records.first { $0.isFirst && written.contains($0.number) }
        ?? records.first { standing.superseded.contains($0.number) } ?? records.first { written.contains($0.number) }
      outcome.beyondEight.insert(path(id))
      guard let surplus else { return false }
      table.removeRecords(of: standing.row, .eight) { $0.number == surplus.number }
    }
    return true
  }

  /// The rows of other models in an object's place are absent.
  private mutating func settlePlace(of standing: Standing, _ known: Knowledge) {
    guard let model = table[standing.row].key.model else { return }
    for other in table.rows(at: table[standing.row].key.place) where !held.contains(other) {
      let tag = known.today(table[other].key.tag)
      guard let shown = table[other].key.model, shown != model, known.lineage(of: standing.tag).contains(tag) else {
        continue
      }
      table[other].isPresent = false
    }
  }

  /// Absent rows without records in or below them go.
  private mutating func sweep() {
    for row in table.rows.keys.sorted() where table.rows[row] != nil {
      guard !table[row].isPresent, !table.hasRecords(inOrBelow: row), held.isDisjoint(with: table.subtree(row)) else {
        continue
      }
      table.remove(row, .closed)
    }
  }

  /// Absent rows beyond 64 go, first those that were live longest ago.
  private mutating func evict(_ known: Knowledge, _ outcome: inout Outcome) {
    func isBelowAbsent(_ row: Int) -> Bool {
      guard let parent = table[row].key.place.parent else { return false }
      return !table[parent].isPresent || isBelowAbsent(parent)
    }
    var absent = table.rows.keys.filter { !table[$0].isPresent && !isBelowAbsent($0) }
      .sorted { (table[$0].lastLive, $0) < (table[$1].lastLive, $1) }
    while absent.count > 64 {
      let row = absent.removeFirst()
      outcome.evicted.append(table.path(ofRow: row))
      table.remove(row, .evicted)
    }
  }

  /// Whether two tables say the same, but for the saves in which rows were live last; those count where a row is live that was
  /// not when the table was written.
  private func isSame(_ one: Table, _ other: Table) -> Bool {
    guard one.rows.count == other.rows.count else { return false }
    for (number, row) in other.rows {
      guard var former = one.rows[number] else { return false }
      if held.contains(number), former.lastLive < one.save { return false }
      former.lastLive = row.lastLive
      guard former == row else { return false }
    }
    return true
  }

  private func isSameAsPending() -> Bool {
    if pending.count > earlierRuns { return isSame(pending[earlierRuns], table) }
    return !table.rows.values.contains(where: \.hasContent)
  }

  // MARK: - Giving

  /// The records that an object can be given; one that comes late, of those alone that were loaded or are its own.
  private func candidates(_ row: Int, retrying: Bool, joins: Bool, _ known: Knowledge) -> [Record] {
    let found = table.candidates(row, retrying: retrying, joins: joins, known)
    guard lateRows != nil else { return found }
    let own = objects.values.first { $0.standing?.row == row }?.standing?.own ?? []
    return found.filter { own.contains($0.number) || loadedRecords[row]?.contains($0.number) ?? false }
  }

  /// Gives an object what is stored for it.
  private mutating func give(
    _ id: Int, below parentRow: Int?, retrying: Bool, _ known: Knowledge, _ outcome: inout Outcome
  ) {
    let key = key(id, below: parentRow)
    let former = objects[id]!.standing
    let joins = known.joins(key.tag)
    let current = former == nil ? nil : objects[id]!.value
    let hasCurrent = hasUnsavedChanges(id) || former.map { $0.own.isEmpty && $0.baseline == nil } ?? false
    let isKept = lateRows != nil && objects[id]!.isTouched
    if let former, readableIDs.contains(id) {
      keep(id, former, below: parentRow, retrying: retrying, known, &outcome)
      return
    }
    // Below the row that was found for its parent: that may be another one than it was.
    let isHere = former.map { lateRows != nil || table.rows[$0.row]?.key.place == key.place } ?? true
    let keeps = former != nil && !joins && (isKept || hasUnsavedChanges(id) || former!.hasWritten)
    if let former, keeps, isHere {
      let found = former.hasWritten && lateRows == nil ? table.find(key, held: held, retrying: retrying, known) : []
      given.append(Given(id: id, key: key, blank: blank(found, besides: former.row, key.model)))
      table[former.row].key.model = table[former.row].key.model ?? key.model
      let candidates = candidates(former.row, retrying: retrying, joins: joins, known)
      supersede(id, candidates.filter { !table.isFirst($0, in: former.row) }, &outcome)
      objects[id]!.standing!.parentRow = parentRow
      objects[id]!.standing!.cameByItself = false
      if lateRows == nil { objects[id]!.standing!.isLeftOut = table[former.row].isClosed }
      if loadedRows.contains(former.row) { objects[id]!.standing!.foundRow = former.row }
      // A row whose model is gone, and in which it has written nothing, has no place.
      objects[id]!.wasFound = !former.own.isEmpty || !known.isGone(table[former.row], in: table)
      return
    }
    stand(id, nil)
    // One that can join keeps the row in which it has written.
    let own = joins && isHere ? former.flatMap { $0.own.isEmpty ? nil : $0.row } : nil
    let found =
      own.map { [$0] }
      ?? table.find(key, held: held.union(liveOnly), retrying: retrying, known).filter { row in
        lateRows.map { $0.contains(row) && loadedParents[row] == key.place.parent } ?? true
      }
    let gone = found.prefix { $0 != former?.row && known.isGone(table[$0], in: table) }
    for row in gone { table.remove(row, .gone) }
    let isFound = found.count > gone.count
    let row = found.dropFirst(gone.count).first ?? former?.row ?? table.insert(key, protection: objects[id]!.protection)
    var standing =
      former
      ?? Standing(row: row, parentRow: parentRow, tag: key.tag, model: key.model, hasNamedModel: key.model != nil)
    (standing.row, standing.parentRow, standing.model) = (row, parentRow, key.model)
    standing.cameByItself = false
    (standing.wasFound, standing.foundRow) = (isFound, isFound ? row : nil)
    if isFound { objects[id]!.wasFound = true }
    stand(id, standing)
    if retrying { table[row].isClosed = false }
    let named = Key(place: key.place, tag: key.tag, model: key.model ?? table[row].key.model)
    let isGiven =
      !(table[row].isClosed || lateRows != nil && closedRows.contains(row))
      && candidates(row, retrying: retrying, joins: joins, known).contains { !$0.isFirst && known.decodes($0) }
    let others =
      !isGiven
      ? []
      : own == nil
        ? found.dropFirst(gone.count).filter { table.rows[$0] != nil }
        : lateRows == nil ? table.find(key, held: held.subtracting([row]), retrying: retrying, known) : []
    // The row that it had, if what is in there is its own.
    let brought = former.flatMap { former in
      former.row == row || former.own.isEmpty && !table[former.row].records.isEmpty ? nil : former.row
    }
    given.append(Given(id: id, key: key, blank: blank(others, besides: row, named.model), brought: brought))
    // The class is stored only with a record.
    table[row].key.model = named.model
    settlePlace(of: objects[id]!.standing!, known)
    objects[id]!.standing!.isLeftOut = table[row].isClosed || lateRows != nil && closedRows.contains(row)
    if objects[id]!.standing!.isLeftOut { return }
    var candidates = candidates(row, retrying: retrying, joins: joins, known)
    if keeps {
      supersede(id, candidates.filter { !table.isFirst($0, in: row) && !former!.own.contains($0.number) }, &outcome)
      return
    }
    if joins {
      if let former, !isHere, former.row != row {
        candidates += table[former.row].records.filter { former.own.contains($0.number) }
      }
      join(id, Table.ordered(candidates.filter(known.decodes)), with: hasCurrent ? current : nil)
      return
    }
    let position = candidates.firstIndex(where: known.decodes)
    guard let position else { return }
    let (newest, older) = (candidates[position], candidates[(position + 1)...])
    objects[id]!.value = newest.value
    objects[id]!.standing!.own = [newest.number]
    objects[id]!.standing!.saved = newest.value
    objects[id]!.standing!.baseline = nil
    objects[id]!.standing!.isUnedited = newest.isFirst
    supersede(id, older.filter { !table.isFirst($0, in: row) }, &outcome)
    let first = Set(older.filter { table.isFirst($0, in: row) }.map(\.number))
    table.removeRecords(of: row, .notFirst) { first.contains($0.number) }
    release(id)
  }

  /// Ends a turn that gives, parents first: rows that share a key with that of an object become one with it; and, where a record
  /// is given that is not *first*, present ones with nothing but *first* records, of its model or of none.
  mutating func unite(_ known: Knowledge) {
    for turn in given {
      guard let row = objects[turn.id]?.standing?.row else { continue }
      var key = turn.key
      key.place = table[row].key.place
      let model = key.model ?? table[row].key.model
      let brought = turn.brought.flatMap { table.rows[$0] != nil && !held.contains($0) ? $0 : nil }
      let found = table.find(key, held: held, retrying: false, known).filter { $0 != brought }
      for other in [brought].compactMap(\.self) + found where table.rows[other] != nil {
        let found = table[other]
        let hasKey = table.hasKey(found, Key(place: key.place, tag: key.tag, model: model), known)
        guard hasKey || other == brought || turn.blank.contains(other) else { continue }
        table.unite(row, with: other, held: held, known)
        table[row].key.model = model
        // The row that the object had was live last.
        if other == brought { table[row].isClosed = table[row].isClosed && found.isClosed }
        let isSettled =
          other == brought ? objects[turn.id]!.standing!.wasGiven : !hasKey || turn.blank.contains(other)
        // One that can join is given them at the next launch.
        guard isSettled, !known.joins(key.tag), let oldest = table[row].records.first else { continue }
        let numbers = Set(found.records.map(\.number))
        table.removeRecords(of: row, .notFirst) { record in
          numbers.contains(record.number) && record.number != oldest.number && known.canGive(record)
        }
        if numbers.contains(oldest.number), known.canGive(oldest) {
          objects[turn.id]!.standing!.superseded.insert(oldest.number)
        }
      }
    }
    given = []
  }

  /// Of rows that were found, present ones with nothing but *first* records, of a model or of none.
  private func blank(_ found: [Int], besides row: Int, _ model: String?) -> [Int] {
    found.filter { other in
      let found = table[other]
      return other != row && found.isPresent && [nil, model].contains(found.key.model)
        && found.records.allSatisfy(\.isFirst)
    }
  }

  /// Joins all records that can be given, oldest first, and last the values that the object has and has not saved.
  mutating func join(_ id: Int, _ given: [Record], with current: Value?) {
    let own = objects[id]!.standing!.own
    let records = current == nil ? given : given.filter { !own.contains($0.number) }
    guard let newest = records.last else { return }
    let values = records.map(\.value) + [current].compactMap(\.self)
    let joined = Value(values.flatMap(\.items).distinct, filling: values.map(\.filling).max() ?? 0)
    objects[id]!.value = joined
    objects[id]!.standing!.own = (own + records.map(\.number)).distinct
    // Joined values are no record's: the next save writes them, in the place of all that were joined.
    objects[id]!.standing!.saved = values.count == 1 ? joined : nil
    objects[id]!.standing!.baseline = nil
    objects[id]!.standing!.isUnedited = newest.isFirst && joined == newest.value
    release(id)
  }

  /// Records that were given are quarantined no more.
  private mutating func release(_ id: Int) {
    objects[id]!.standing!.wasGiven = true
    let standing = objects[id]!.standing!
    for index in table[standing.row].records.indices
    where standing.own.contains(table[standing.row].records[index].number) {
      if table[standing.row].records[index].isQuarantined { table[standing.row].isClosed = false }
      table[standing.row].records[index].isQuarantined = false
    }
  }

  mutating func supersede(_ id: Int, _ records: some Sequence<Record>, _ outcome: inout Outcome) {
    let others = Set(records.map(\.number)).subtracting(objects[id]!.standing!.own)
    objects[id]!.standing!.superseded = others
    if !others.isEmpty { outcome.superseded[path(id)] = others.count }
  }

  /// Notes that nobody who comes late is given a row: its object has its records, or there are none.
  private mutating func spend(_ id: Int) {
    guard let standing = objects[id]!.standing, standing.wasFound, let row = table.rows[standing.row] else { return }
    if row.records.isEmpty || !standing.own.isEmpty { spentRows.insert(standing.row) }
  }

  /// Whether something is stored for an object that a factory made; else it is not used.
  private func fits(
    _ object: Object, _ path: [String], _ place: Place, _ turn: Turn, _ known: Knowledge, _ outcome: inout Outcome
  ) -> Bool {
    let key = Key(place: place, tag: object.tag, model: object.model)
    let found = table.find(key, held: held, retrying: turn.isRetry, known).first { !known.isGone(table[$0], in: table) }
    guard let found, turn.isRetry || !table[found].isClosed && !(turn.kind == .late && closedRows.contains(found))
    else {
      if found != nil { outcome.leftOut.insert(path) }
      return false
    }
    return true
  }

  struct Turn {
    enum Kind { case launch, unlock, again, late }
    var kind: Kind
    var isRetry = false
  }

  /// Gives an object and all below it what is stored; makes objects for rows that have none.
  mutating func restore(
    _ id: Int, below parentRow: Int?, _ turn: Turn, make: Factory, _ known: Knowledge, _ outcome: inout Outcome
  ) {
    give(id, below: parentRow, retrying: turn.isRetry, known, &outcome)
    spend(id)
    let row = objects[id]!.standing!.row
    let isBlocked = objects[id]!.standing!.isLeftOut
    let candidates = table.candidates(row, retrying: turn.isRetry, joins: known.joins(objects[id]!.tag), known)
    // The report has the reason of the newest record.
    let isQuarantined =
      objects[id]!.standing!.own.isEmpty && candidates.isEmpty && !turn.isRetry
      && table[row].records.last?.isQuarantined == true
    if isBlocked || isQuarantined { outcome.leftOut.insert(path(id)) }
    var restored: [Int] = []
    var seen: Set<String> = []
    var existing: [String: Int] = [:]
    for child in objects[id]!.children.reversed() { existing[objects[child]!.identifier] = child }
    // Of two that are called the same the one that has a row of the place.
    for child in objects[id]!.children {
      if let place = objects[child]!.standing.flatMap({ table.rows[$0.row]?.key.place }), place.parent == row,
        place.identifier == objects[child]!.identifier
      {
        existing[place.identifier] = child
      }
    }
    // An object stands where the row stands of which one is made in its place.
    var leads: [String: Int] = [:]
    for child in table[row].children where leads[table.name(child)] == nil {
      leads[table.name(child)] = table.made(at: table[child].key.place).first
    }
    for child in table[row].children where table.rows[child] != nil {
      let place = table[child].key.place
      guard seen.insert(place.identifier).inserted else { continue }
      if let existing = existing[place.identifier] {
        restored.append(existing)
        let first = table.made(at: place).first.map { table[$0] }
        restore(existing, below: row, turn, make: make, known, &outcome)
        let standing = objects[existing]!.standing!
        if !standing.wasFound, !turn.isRetry, let first, first.isClosed, !known.isGone(first, in: table) {
          outcome.leftOut.insert(path(existing))
        }
        if standing.wasFound, !isBlocked, !readableIDs.contains(existing) {
          // One that was there before has the role that it had.
          let brought = given.last { $0.id == existing }?.brought
          objects[existing]!.isPresented = table[brought ?? standing.row].isPresented
        }
        continue
      }
      for made in table.made(at: place) where !held.contains(made) && !isBlocked {
        if known.isGone(table[made], in: table) {
          table.remove(made, .gone)
          continue
        }
        if table[made].isClosed || turn.kind == .late && closedRows.contains(made), !turn.isRetry {
          outcome.leftOut.insert(path(id) + [place.identifier])
        } else if var object = make(path(id) + [place.identifier], table[made]),
          fits(object, path(id) + [place.identifier], place, turn, known, &outcome)
        {
          object.parent = id
          object.isPresented = table[made].isPresented
          let new = add(object)
          restored.append(new)
          restore(new, below: row, turn, make: make, known, &outcome)
          // The role is that of the row that it was found.
          objects[new]!.isPresented = table[objects[new]!.standing!.row].isPresented
          if turn.kind != .late { setBaseline(new) }
        }
        break
      }
    }
    let found = Set(restored)
    for child in objects[id]!.children where !found.contains(child) {
      guard seen.insert(objects[child]!.identifier).inserted else { continue }
      restored.append(child)
      restore(child, below: row, turn, make: make, known, &outcome)
    }
    // Where nothing was found, nothing is put in order.
    guard turn.kind != .late || objects[id]!.standing!.wasFound else { return }
    // What was never saved has no place yet but the container's.
    let order = Dictionary(
      uniqueKeysWithValues: table[objects[id]!.standing!.row].children.enumerated().map { ($1, $0) })
    func saved(_ child: Int) -> Int? {
      let standing = objects[child]!.standing!
      guard objects[child]!.wasFound || !standing.own.isEmpty else { return nil }
      guard let own = order[standing.row] else { return nil }
      return leads[table.name(standing.row)].flatMap { order[$0] } ?? own
    }
    let standing = restored.filter { saved($0) != nil }.sorted { saved($0)! < saved($1)! }
    let hasPlace = Set(standing)
    objects[id]!.children = standing + objects[id]!.children.filter { !hasPlace.contains($0) }
  }

  /// An object that was given nothing has its values from now on, if unread records are there.
  mutating func setBaseline(_ id: Int) {
    guard let standing = objects[id]!.standing, standing.own.isEmpty else { return }
    let mayBeUnread = isLocked || standing.wasFound
    objects[id]!.standing!.baseline = mayBeUnread ? objects[id]!.value : nil
    objects[id]!.standing!.met = objects[id]!.value
  }

  // MARK: - A run

  /// Ends the process; what is stored stays.
  package mutating func end() {
    (table, objects, root, isLocked, held, written, hasRestored) = (Table(), [:], nil, false, [], [], false)
    (readable, besideIDs, readableIDs, launched) = ([], [], [], [:])
    deaths = []
  }

  /// Launches with a hierarchy of objects, by their parents; the first is the root.
  package mutating func launch(
    _ object: Object, isLocked locked: Bool, retrying: Bool = false, make: Factory, _ known: Knowledge
  ) -> Outcome {
    end()
    isLocked = locked
    earlierRuns = pending.count
    _ = add(object)
    guard isLocked || stored != nil || !pending.isEmpty else { return Outcome() }
    if !isLocked { load(known) }
    return restoreAll(Turn(kind: .launch, isRetry: retrying), make: make, known)
  }

  /// What is stored, with what earlier runs stored while locked.
  mutating func load(_ known: Knowledge) {
    table = stored ?? Table()
    table.topProtection = protection
    for row in table.children(of: nil) { table[row].protection = protection }
    table.united.value = [:]
    table.hide(away)
    table.noteLaterOfWeaker()
    table.uniteAll(held: [], known)
    for run in pending { _ = table.merge(run, keys: [:], known) }
  }

  private mutating func restoreAll(_ turn: Turn, make: Factory, _ known: Knowledge) -> Outcome {
    var outcome = Outcome()
    guard let root else { return outcome }
    noteLoaded()
    hasRetried = turn.isRetry
    if turn.isRetry { closedRows = [] }
    for id in objects.keys { objects[id]!.wasFound = false }
    restore(root, below: nil, turn, make: make, known, &outcome)
    for id in subtree(root) where objects[id]!.standing?.own.isEmpty == true && objects[id]!.standing?.baseline == nil {
      setBaseline(id)
    }
    unite(known)
    launched = away.isEmpty ? [:] : objects
    if !away.isEmpty { detachUnreadable() }
    // The turn ends with a look.
    if !isLocked { capture(known, &outcome) }
    return outcome
  }

  /// Notes the rows and records that a turn has loaded: late objects are given those.
  mutating func noteLoaded() {
    (hasRestored, loadedRows, spentRows) = (true, Set(table.rows.keys), [])
    loadedParents = table.rows.compactMapValues(\.key.place.parent)
    loadedRecords = table.rows.mapValues { Set($0.records.map(\.number)) }
    closedRows = loadedRows.filter { table[$0].isClosed }
  }

  /// The device is unlocked: what this run stored is merged into what is stored, and everything is given.
  package mutating func unlock(make: Factory, _ known: Knowledge) -> Outcome {
    var outcome = Outcome()
    guard isLocked, let root else { return outcome }
    if !readable.isEmpty { return unlockPartly(make: make, known) }
    // What has changed is written into the table, as by a save.
    look(known, &outcome)
    (table.save, table.version) = (nextSave, known.version)
    commit(known, &outcome)
    table.times[table.save] = known.now
    for id in order(withKept: true) { table[objects[id]!.standing!.row].lastLive = table.save }
    // What lies below two siblings with one place is met anew, as they are.
    let kept = Set(order(withKept: true)).subtracting(order())
    for id in kept { release(subtree: id) }
    let own = table
    let removed = own.removed
    let keys = Dictionary(
      uniqueKeysWithValues: order().map { id in
        (objects[id]!.standing!.row, key(id, below: objects[id]!.standing!.parentRow))
      })
    let disk = pending
    pending = Array(pending.prefix(earlierRuns))
    load(known)
    pending = disk
    // The run has written its own after that.
    for death in deaths where table.rows[death.row] != nil {
      table.die(at: death.row, record: death.record)
    }
    let hasDied = !deaths.isEmpty
    deaths = []
    let mapping = table.merge(own, keys: keys, known)
    liveOnly = mapping.liveOnly
    defer { liveOnly = [] }
    if hasDied {
      // The mark is on the disk before anything goes on, with all that is merged.
      var disk = table
      disk.removed = []
      (stored, pending) = (disk, [])
    }
    table.removed += removed.map { one in
      var one = one
      one.row = mapping.rows[one.row] ?? one.row
      return one
    }
    written = Set(written.compactMap { mapping.records[$0] })
    for id in objects.keys.sorted() {
      guard var standing = objects[id]!.standing else { continue }
      standing.apply(mapping)
      objects[id]!.standing = standing
    }
    held = Set(objects.values.compactMap { $0.standing?.row })
    isLocked = false
    noteLoaded()
    for id in objects.keys { objects[id]!.wasFound = false }
    let met = order().filter { objects[$0]!.standing!.baseline != nil }
    restore(root, below: nil, Turn(kind: .unlock), make: make, known, &outcome)
    settleUnlock(of: met, known, &outcome)
    return outcome
  }

  /// Ends the turn of an unlock: objects for which nothing unread was stored after all are edited, or they are not.
  mutating func settleUnlock(of met: [Int], _ known: Knowledge, _ outcome: inout Outcome) {
    for id in met {
      guard let standing = objects[id]?.standing, standing.own.isEmpty, standing.baseline != nil, !standing.wasFound,
        table[standing.row].records.isEmpty
      else { continue }
      // Nothing unread is there after all.
      if hasUnsavedChanges(id) { objects[id]!.standing!.isUnedited = false }
      objects[id]!.standing!.baseline = nil
    }
    unite(known)
    capture(known, &outcome)
  }

  /// Gives an object that comes late, and all below it, what is stored.
  package mutating func restoreLate(_ id: Int, make: Factory, _ known: Knowledge) -> Outcome {
    var outcome = Outcome()
    guard !isLocked, hasRestored else { return outcome }
    takeExactRow(id, known)
    followUnited()
    if let row = rowBelowWhichToLook(id, known) {
      lateRows = loadedRows.subtracting(spentRows)
      restore(id, below: row, Turn(kind: .late, isRetry: hasRetried), make: make, known, &outcome)
      if !objects[id]!.standing!.wasFound { askedInVain = id }
      unite(known)
      lateRows = nil
    }
    // The turn ends with a look, whatever became of the object.
    capture(known, &outcome)
    if askedInVain == id { objects[id]?.standing?.wasAsked = true }
    askedInVain = nil
    return outcome
  }

  /// One that a look has met, and that is called otherwise since, asks for the row of exactly its key.
  private mutating func takeExactRow(_ id: Int, _ known: Knowledge) {
    guard let standing = objects[id]!.standing, objects[id]!.isTouched, leaves(objects[id]!, standing, id) == nil,
      let parent = objects[id]!.parent.flatMap({ objects[$0]!.standing?.row })
    else { return }
    let key = key(id, below: parent)
    guard table[standing.row].key.place != key.place, let exact = table.exact(key, held: held, known) else { return }
    table.move(standing.row, to: key.place)
    table.unite(standing.row, with: exact, held: held, known)
  }

  /// Goes on with the rows with which loaded ones have become one; such a row is spent where all of them are.
  ///
  /// What lay below one of those is found at the next launch.
  private mutating func followUnited() {
    let united = table.united.value
    func now(_ row: Int) -> Int { united[row].map(now) ?? row }
    let gone = loadedRows.filter { united[$0] != nil }.sorted()
    guard !gone.isEmpty else { return }
    let unspent = Set(loadedRows.subtracting(spentRows).map(now))
    for row in gone {
      if loadedParents[now(row)] == nil { loadedParents[now(row)] = loadedParents[row] }
      if loadedRecords[now(row)] == nil { loadedRecords[now(row)] = loadedRecords[row] }
      loadedParents[row] = nil
    }
    loadedRows = Set(loadedRows.map(now))
    spentRows = loadedRows.subtracting(unspent)
    closedRows = Set(closedRows.map(now))
  }

  /// The row below which there may be one for an object that comes late; nil where nobody looks.
  private mutating func rowBelowWhichToLook(_ id: Int, _ known: Knowledge) -> Int? {
    guard let parent = objects[id]!.parent, isGivenHere(parent, known), !isBelowLeftOut(parent), !objects[id]!.wasFound,
      objects[id]!.standing?.wasAsked != true
    else { return nil }
    let row = objects[parent]!.standing!.foundRow!
    let key = key(id, below: row)
    let rows = table.rows(at: key.place).filter { loadedRows.contains($0) && loadedParents[$0] == row }
    // One that a look has met searches the row of exactly its key alone.
    if let standing = objects[id]!.standing { return rows.isEmpty || spentRows.contains(standing.row) ? nil : row }
    // One that was there, and is not any more, has left, with all below it that has records of its own: no look tells which
    // of them left first.
    let onScreen = Set(root.map { subtree($0) } ?? [])
    let off = objects.keys.sorted().filter { !onScreen.contains($0) }
    for gone in off {
      guard let standing = objects[gone]!.standing, rows.contains(standing.row) else { continue }
      let inside = Set(table.subtree(standing.row))
      let leftBefore = off.filter { objects[$0]!.standing.map { inside.contains($0.row) } ?? false }
      for below in (subtree(gone) + leftBefore).distinct {
        guard let standing = objects[below]!.standing else { continue }
        stand(below, nil)
        let isElsewhere = !inside.contains(standing.row)
        if below == gone || isElsewhere || !standing.own.isEmpty || spentRows.contains(standing.row) {
          leave(standing, .closed, known)
        }
      }
    }
    let found = table.find(key, held: held, retrying: false, known).filter { row in
      rows.contains(row) && (table[row].isPresent || table.hasRecords(inOrBelow: row))
    }
    guard found.allSatisfy(spentRows.contains) else { return row }
    askedInVain = found.isEmpty && !rows.allSatisfy(spentRows.contains) ? id : nil
    return nil
  }

  /// Whether restoring has found a row for an object, which fits it and those above it as they are now.
  private func isGivenHere(_ id: Int, _ known: Knowledge) -> Bool {
    func fits(_ id: Int) -> Bool {
      let object = objects[id]!
      guard let standing = object.standing else { return true }
      if leaves(object, standing, id) == .changed { return false }
      guard standing.wasFound, let row = table.rows[standing.row] else { return true }
      let model = row.key.model
      return known.lineage(of: object.tag).contains(known.today(row.key.tag))
        && (model == nil || object.model == nil || model == object.model)
    }
    var next = Optional(id)
    while let one = next {
      guard fits(one) else { return false }
      next = objects[one]!.parent
    }
    return objects[id]!.standing?.foundRow.map { table.rows[$0] != nil } ?? false
  }

  private func isBelowLeftOut(_ id: Int) -> Bool {
    objects[id]!.standing?.isLeftOut == true || objects[id]!.parent.map { isBelowLeftOut($0) } == true
  }

  /// Restores again what is stored, after a save.
  package mutating func restoreAgain(
    retrying: Bool, isAcknowledged: Bool = true, make: Factory, _ known: Knowledge
  ) -> Outcome {
    guard !isLocked, root != nil else { return Outcome() }
    let saved = save(known, isAcknowledged: isAcknowledged)
    guard isAcknowledged else { return saved }
    for id in objects.keys { stand(id, nil) }
    load(known)
    return restoreAll(Turn(kind: .again, isRetry: retrying), make: make, known)
  }

  /// Restoring died at a row, or at a record of it.
  ///
  /// A locked run learns it with what is stored.
  ///
  /// - Parameter record: The position of the record, the oldest first; nil where the row has none.
  package mutating func die(at row: Int, record: Int?, _ known: Knowledge) {
    guard !isLocked else { return deaths.append(Death(row: row, record: record)) }
    guard var table = loaded(known), table.rows[row] != nil else { return }
    table.die(at: row, record: record)
    // The mark is written with what was saved while locked.
    (stored, pending) = (table, [])
  }

  /// What is known to be stored, of a locked run what was there before it; nil when there is nothing.
  package func loaded(_ known: Knowledge) -> Table? {
    guard stored != nil || !pending.isEmpty else { return nil }
    var other = self
    if isLocked { other.pending = Array(pending.prefix(earlierRuns)) }
    other.load(known)
    return other.table
  }

  /// The row at a path, of live objects and below them of those that restoring makes objects for.
  package func row(at path: [String]) -> Int? {
    guard let root, path.first == objects[root]!.identifier else { return nil }
    var (object, row) = (root as Int?, objects[root]!.standing?.row)
    for name in path.dropFirst() {
      object = object.flatMap { objects[$0]!.children.first { objects[$0]!.identifier == name } }
      row =
        object.map { objects[$0]!.standing?.row }
        ?? row.flatMap { table.made(at: Place(parent: $0, identifier: name)).first }
    }
    return row
  }

  /// A turn of a locked run ends: it looks at what has changed.
  package mutating func endTurn(_ known: Knowledge) {
    guard isLocked, root != nil else { return }
    var outcome = Outcome()
    divide()
    capture(known, &outcome)
    divideAgain()
    guard !readable.isEmpty else { return }
    readable[0].capture(known, &outcome)
    forgetEmptyHidden()
  }

  /// Does what a save does, but for the disk.
  mutating func capture(_ known: Knowledge, _ outcome: inout Outcome) {
    look(known, &outcome)
    let last = table.save
    table.save = nextSave
    commit(known, &outcome)
    // What is written by the next one is newer.
    if !table.rows.values.contains(where: { $0.records.contains { $0.save > last } }) { table.save = last }
  }

  /// Removes rows at a path in and below which nothing is live.
  package mutating func forget(_ path: [String], _ known: Knowledge) -> Bool {
    var outcome = Outcome()
    capture(known, &outcome)
    guard let parent = row(at: path.dropLast()), let identifier = path.last else { return false }
    let rows = table.rows(at: Place(parent: parent, identifier: identifier))
      .filter { held.isDisjoint(with: table.subtree($0)) }
    for row in rows { table.remove(row, .forgotten) }
    return !rows.isEmpty
  }

  /// Everything that is stored is deleted; the program goes on.
  package mutating func discard() {
    for id in objects.keys { stand(id, nil) }
    (table, stored, pending, written, earlierRuns, hasRestored) = (Table(), nil, [], [], 0, false)
    table.topProtection = protection
  }

  /// The object at a path; of two with one place the first.
  package func object(at path: [String]) -> Int? {
    guard let root, path.first == objects[root]!.identifier else { return nil }
    return path.dropFirst().reduce(root as Int?) { id, name in
      id.flatMap { objects[$0]!.children.first { objects[$0]!.identifier == name } }
    }
  }

  /// The program keeps what an object has, and none of the superseded records.
  package mutating func settle(_ id: Int, _ known: Knowledge) {
    guard let standing = objects[id]!.standing else { return }
    table.removeRecords(of: standing.row, .settled) { standing.superseded.contains($0.number) }
  }
}

extension Standing {
  mutating func apply(_ mapping: Table.Mapping) {
    row = mapping.rows[row] ?? row
    parentRow = parentRow.map { mapping.rows[$0] ?? $0 }
    foundRow = foundRow.map { mapping.rows[$0] ?? $0 }
    own = own.map { mapping.records[$0] ?? $0 }
    left = Set(left.compactMap { mapping.rows[$0] }).subtracting([row])
    superseded = []
  }
}

extension Table {
  /// Where rows and records of a table are in another one.
  struct Mapping {
    var rows: [Int: Int] = [:]
    var records: [Int: Int] = [:]
    /// Rows that are there only as their objects are.
    var liveOnly: Set<Int> = []
  }

  /// Unites all rows that share a key.
  mutating func uniteAll(held: Set<Int>, _ known: Knowledge) {
    uniteChildren(of: nil, held: held, newestStays: true, known)
    var open = children(of: nil)
    while let row = open.popLast() {
      uniteChildren(of: row, held: held, newestStays: true, known)
      open += self[row].children
    }
  }

  /// Restoring died at a row, or at a record of it.
  mutating func die(at row: Int, record: Int?) {
    if let record, self[row].records.indices.contains(record) { self[row].records[record].isQuarantined = true }
    self[row].isClosed = true
  }

  /// The row at the end of a way from the top: at each step an identifier, a class under today's tag, and a model.
  func row(at steps: [(identifier: String, tag: String?, model: String?)], _ known: Knowledge) -> Int? {
    var found: Int?
    for step in steps {
      let rows = rows(at: Place(parent: found, identifier: step.identifier))
      found = rows.first { known.today(self[$0].key.tag) == step.tag && self[$0].key.model == step.model }
      guard found != nil else { return nil }
    }
    return found
  }

  /// The row at a path that restoring makes an object for.
  func row(at path: some Sequence<String>) -> Int? {
    var found: Int?
    for (index, identifier) in path.enumerated() {
      guard index == 0 || found != nil else { return nil }
      guard let row = made(at: Place(parent: found, identifier: identifier)).first else { return nil }
      found = row
    }
    return found
  }

  /// Adds what a run stored while the device was locked.
  ///
  /// - Parameters:
  ///   - keys: The keys of rows that are live.
  ///   - ways: Where rows are that are only the way to others, as far as that is known.
  ///   - edited: Rows of objects with values that could not be written.
  mutating func merge(
    _ run: Table, keys: [Int: Key], ways: [Int: Int] = [:], edited: Set<Int> = [], _ known: Knowledge
  ) -> Mapping {
    var mapping = Mapping()
    let first = save
    var ofRun = known
    ofRun.version = run.version
    let united = united.value
    func now(_ row: Int) -> Int { united[row].map(now) ?? row }
    func place(_ row: Int) -> Place {
      let place = run[row].key.place
      return Place(parent: place.parent.map { mapping.rows[$0]! }, identifier: place.identifier)
    }
    func add(_ number: Int) {
      let row = run[number]
      let named = keys[number] ?? row.key
      let key = Key(place: place(number), tag: known.today(named.tag), model: named.model ?? row.key.model)
      let taken = Set(mapping.rows.values)
      let hidden = row.hidden.map(now).filter { rows[$0] != nil }.sorted()
      var found =
        ways[number].map { $0 }
        ?? (!row.hasContent && row.isPresent
          ? find(key, held: taken, retrying: false, ofRun).first : exact(key, held: [], known))
      for other in hidden {
        if let row = found {
          if row != other { unite(row, with: other, held: [], known) }
        } else {
          move(other, to: key.place)
          (self[other].key, self[other].isPresented, found) = (key, row.isPresented, other)
        }
      }
      if row.isWay {
        if found == nil, !run.hasRecords(inOrBelow: number) { return }
        let target =
          found ?? insert(Key(place: key.place, tag: named.tag, model: key.model), protection: row.protection)
        if found == nil { self[target].isPresent = false }
        mapping.rows[number] = target
        for child in row.children { add(child) }
        arrangeBeside(row.children, of: run, edited, mapping, below: target)
        return
      }
      // A row that has nothing, leads nowhere and tells of no order is not added.
      let hasSiblings = row.key.place.parent.map { run[$0].children.count > 1 } ?? false
      // Of one that was written beside, what could be read tells the order.
      let isTelling = run.isBeside ? run.hasRecords(inOrBelow: number) : !row.children.isEmpty || hasSiblings
      let isBeforeOthers =
        run.isBeside
        && (row.key.place.parent.map { run[$0].isWay && run.telling(run[$0].children, edited).contains(number) }
          ?? false)
      let hasNothing = found == nil && !row.hasContent && !isTelling && !isBeforeOthers
      if hasNothing, keys[number] == nil { return }
      // The class of rows is that of their records.
      let target =
        found ?? insert(Key(place: key.place, tag: named.tag, model: key.model), protection: row.protection)
      if self[target].protection.rawValue < row.protection.rawValue { self[target].protection = row.protection }
      if !row.records.isEmpty { self[target].key.tag = row.key.tag }
      mapping.rows[number] = target
      // One that is only there for the order, or for its object.
      if run.isBeside, !isTelling, !edited.contains(number) {
        if hasNothing { mapping.liveOnly.insert(target) }
        for child in row.children { add(child) }
        return
      }
      if hasNothing { mapping.liveOnly.insert(target) }
      for record in row.records {
        var record = record
        let number = nextNumber()
        mapping.records[record.number] = number
        record.number = number
        record.save += first
        self[target].records.append(record)
        open(upTo: target)
      }
      self[target].records = Table.ordered(self[target].records)
      self[target].isPresent = row.isPresent
      self[target].isPresented = row.isPresented
      // One that its object left before the run saved was live later than all that is stored.
      let wasLive = row.lastLive > 0 || !row.isPresent
      self[target].lastLive = max(self[target].lastLive, wasLive ? row.lastLive + first : 0)
      for child in row.children { add(child) }
      if !row.children.isEmpty { arrange(row.children.compactMap { mapping.rows[$0] }.distinctOfMany, below: target) }
    }
    for root in run.children(of: nil) { add(root) }
    // What was live when the run saved last was live as well when something else was saved after that.
    let time = times[first] ?? 0
    for (save, own) in run.times { times[first + save] = save == run.save ? max(own, time) : own }
    save += run.save
    return mapping
  }
}

extension Array where Element: Equatable {
  /// The elements without repetitions, in order.
  ///
  /// There are few, and comparing two ends where they differ: that is quicker than hashing all of them.
  var distinct: [Element] {
    guard count > 1 else { return self }
    var found: [Element] = []
    for element in self where !found.contains(element) { found.append(element) }
    return found
  }
}

extension Array where Element: Hashable {
  /// The same, of thousands of elements that are hashed quickly.
  var distinctOfMany: [Element] {
    guard count > 16 else { return distinct }
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
