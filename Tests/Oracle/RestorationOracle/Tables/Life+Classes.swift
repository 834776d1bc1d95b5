// Imports nothing.

/// Runs that can read a part of the state: the objects whose classes have no key have a table of their own.
extension Life {
  // MARK: - Beginning

  /// Launches where some classes of protection have no key.
  ///
  /// - Parameters:
  ///   - away: The classes without a key.
  ///   - protection: The class of what names none.
  package mutating func launch(
    _ object: Object, away: Set<Protection>, protection: Protection, make: Factory, _ known: Knowledge
  ) -> Outcome {
    end()
    self.protection = protection
    // Who could read nothing may have edited anything: all waits.
    let isDark = away.contains(protection) || !away.isEmpty && pending.contains { !$0.isBeside }
    guard !away.isEmpty, !isDark, stored != nil else {
      self.away = []
      return launch(object, isLocked: isDark, make: make, known)
    }
    var inner = Life()
    (inner.stored, inner.protection, inner.away) = (stored, protection, away)
    var outcome = inner.launch(object, isLocked: false, make: make, known)
    self.away = away
    objects = inner.launched
    for id in objects.keys { (objects[id]!.standing, objects[id]!.wasFound) = (nil, false) }
    (root, lastObject, isLocked, hasRestored, earlierRuns) = (inner.root, inner.lastObject, true, true, pending.count)
    readable = [inner]
    readable[0].launched = [:]
    besideIDs = unreadable()
    beginBeside()
    var unseen = Outcome()
    if let root {
      restore(root, below: nil, Turn(kind: .launch), make: { _, _ in nil }, known, &unseen)
      for id in subtree(root) {
        setBaseline(id)
        let row = inner.launched[id]?.standing?.row
        objects[id]!.standing?.learnt = row.flatMap { inner.table.rows[$0]?.key.model }
      }
    }
    unite(known)
    divide()
    outcome.waiting = Set(stored?.rows.values.map(\.protection) ?? []).intersection(away)
    outcome.isPartly = !outcome.waiting.isEmpty || !pending.isEmpty
    return outcome
  }

  private mutating func beginBeside() {
    table = Table()
    (table.isBeside, table.topProtection) = (true, protection)
  }

  /// The objects whose classes have no key, and all below them.
  private func unreadable() -> Set<Int> {
    var found: Set<Int> = []
    var waiting = [root].compactMap(\.self).map { ($0, false) }
    let kept = Set(order(withKept: true)).subtracting(order())
    while let (id, isBelow) = waiting.popLast() {
      let protection = kept.contains(id) ? objects[id]!.standing?.protection : objects[id]!.protection
      let isBeside = isBelow || besideIDs.contains(id) || protection.map(away.contains) ?? false
      if isBeside { found.insert(id) }
      waiting += objects[id]!.children.map { ($0, isBeside) }
    }
    return found
  }

  /// Takes out the objects whose state is not to lie where it was found.
  mutating func detachUnreadable() {
    let beside = unreadable()
    for id in beside {
      // What they name does not get into the part that others can read.
      if let row = objects[id]!.standing?.row, let former = stored?.rows[row] {
        table[row].key.model = former.key.model
      }
      stand(id, nil)
    }
    objects = objects.filter { !beside.contains($0.key) }
    for id in objects.keys { objects[id]!.children.removeAll(where: beside.contains) }
  }

  // MARK: - Dividing

  /// Gives the run that could read its part of the objects.
  mutating func divide() {
    guard !readable.isEmpty else { return }
    var inner = readable[0]
    for id in unreadable().subtracting(besideIDs).sorted() {
      besideIDs.insert(id)
      if let row = inner.objects[id]?.standing?.row, let own = objects[id]!.standing?.row {
        table[own].hidden.insert(row)
      }
      come(id, inner.objects[id]?.standing)
    }
    // Of two siblings with one place one has it, whatever their classes.
    var reached: Set<Int> = []
    var waiting = [root].compactMap(\.self)
    while let id = waiting.popLast() {
      reached.insert(id)
      waiting += siblings(below: id).map(\.child)
    }
    let kept = Set(order(withKept: true)).subtracting(order())
    let onScreen = Set(root.map { subtree($0) } ?? [])
    for id in onScreen.subtracting(reached) where inner.objects[id]?.standing != nil { inner.stand(id, nil) }
    var divided: [Int: Object] = [:]
    for (id, object) in objects where !besideIDs.contains(id) && (reached.contains(id) || !onScreen.contains(id)) {
      var own = object
      (own.standing, own.wasFound) = (inner.objects[id]?.standing, inner.objects[id]?.wasFound ?? false)
      own.isShadowed = kept.contains(id)
      own.children.removeAll { besideIDs.contains($0) || onScreen.contains($0) && !reached.contains($0) }
      divided[id] = own
    }
    for (id, object) in inner.objects where divided[id] == nil && object.standing != nil {
      var gone = object
      (gone.parent, gone.children) = (nil, [])
      divided[id] = gone
    }
    (inner.objects, inner.root, inner.lastObject) = (divided, root, lastObject)
    readable[0] = inner
  }

  /// Divides once more, where a look has met objects anew.
  mutating func divideAgain() {
    guard mustDivide else { return }
    mustDivide = false
    divide()
  }

  /// The state of an object lies beside from now on: it takes what it has along.
  private mutating func come(_ id: Int, _ former: Standing?) {
    guard objects[id]!.standing != nil, let former else { return }
    // While it names no model, it goes on with that which it has learnt, where its record goes along.
    if objects[id]!.model == nil, let model = readable[0].table.rows[former.row]?.key.model {
      objects[id]!.standing!.learnt = model
      if !former.own.isEmpty { table[objects[id]!.standing!.row].key.model = model }
    }
    if former.own.isEmpty, let baseline = former.baseline {
      objects[id]!.standing!.baseline = baseline
      return
    }
    objects[id]!.standing!.baseline = nil
    objects[id]!.standing!.met = former.own.isEmpty ? former.met : nil
    objects[id]!.standing!.isUnedited = former.isUnedited
    let records = readable[0].table.rows[former.row]?.records.filter { former.own.contains($0.number) } ?? []
    guard var record = records.last else { return }
    // Its record goes along, until it has another one to write.
    (record.number, record.save, record.isFirst) = (table.nextNumber(), nextSave, former.isUnedited)
    let row = objects[id]!.standing!.row
    table[row].records = Table.ordered(table[row].records + [record])
    (objects[id]!.standing!.own, objects[id]!.standing!.saved) = ([record.number], former.saved)
    written.insert(record.number)
  }

  /// Nothing waits in the rows that have gone as their objects left them.
  mutating func forgetEmptyHidden() {
    let there = readable[0].table.rows
    for row in table.rows.keys { table[row].hidden.formIntersection(there.keys) }
  }

  /// Brings the rows of objects into the classes that those say.
  mutating func protectRows() {
    let placed = Set(order())
    for id in order(withKept: true) {
      // What one without a place says of its class is not asked for.
      if placed.contains(id) { objects[id]!.standing!.protection = objects[id]!.protection }
      let standing = objects[id]!.standing!
      let above = table[standing.row].key.place.parent
      let wanted = above == nil ? protection : standing.protection ?? table.inherited(below: above)
      table.protect(standing.row, wanted, held: held)
      if !readable.isEmpty { table[standing.row].isWay = !besideIDs.contains(id) }
    }
  }

  // MARK: - Saving

  /// Whether the run could read a part of the state, and no unlock has come since.
  package var isPartlyRead: Bool { !readable.isEmpty }

  /// What is stored has been set.
  mutating func noteDisk() {
    if !readable.isEmpty { readable[0].stored = stored }
  }

  /// Saves what could not be read beside the rest, and then the rest.
  mutating func savePartly(_ known: Knowledge, isAcknowledged: Bool) -> Outcome {
    var outcome = Outcome()
    divide()
    look(known, &outcome)
    divideAgain()
    // Which rows objects have left, and whether something in them stays.
    var unseen = Outcome()
    readable[0].capture(known, &unseen)
    forgetEmptyHidden()
    write(known, isAcknowledged, &outcome)
    let other = readable[0].save(known, isAcknowledged: isAcknowledged)
    if isAcknowledged { stored = readable[0].stored }
    outcome.hasChanged = outcome.hasChanged || other.hasChanged
    outcome.hasWritten = outcome.hasWritten || other.hasWritten
    outcome.notEncoded.formUnion(other.notEncoded)
    outcome.beyondEight.formUnion(other.beyondEight)
    return outcome
  }

  // MARK: - The unlock

  /// Whether an unlock restores something: something waits, or was edited beside.
  package var waitsForUnlock: Bool {
    guard isLocked, !readable.isEmpty else { return isLocked }
    let waits = !(stored.map { Set($0.rows.values.map(\.protection)) } ?? []).isDisjoint(with: away)
    // Objects that have no place are not saved.
    return waits || !pending.isEmpty || table.rows.values.contains(where: \.hasContent)
      || !unreadable().isDisjoint(with: order(withKept: true))
  }

  /// The device is unlocked, and nothing waits for that: one table goes on.
  package mutating func goOnUnlocked() {
    guard let inner = readable.first else { return }
    let all = objects
    self = inner
    (away, launched) = ([], [:])
    // With those that have no place.
    objects = all
    for id in objects.keys {
      (objects[id]!.standing, objects[id]!.wasFound) = (
        inner.objects[id]?.standing, inner.objects[id]?.wasFound ?? false
      )
    }
    held = Set(objects.values.compactMap { $0.standing?.row })
  }

  /// The device is unlocked: everything is loaded anew, with all that waits; objects that have their state keep it.
  mutating func unlockPartly(make: Factory, _ known: Knowledge) -> Outcome {
    var outcome = savePartly(known, isAcknowledged: true)
    guard let root else { return outcome }
    var own = table
    own.removed = []
    let kept = Set(order(withKept: true)).subtracting(order())
    for id in kept { release(subtree: id) }
    let keys = Dictionary(
      uniqueKeysWithValues: order().map { id in
        (objects[id]!.standing!.row, key(id, below: objects[id]!.standing!.parentRow))
      })
    let inner = readable[0]
    let disk = pending
    (readable, away) = ([], [])
    pending = Array(pending.prefix(earlierRuns))
    load(known)
    pending = disk
    let united = table.united.value
    func now(_ row: Int) -> Int { united[row].map(now) ?? row }
    let ways = Dictionary(
      objects.keys.compactMap { id -> (Int, Int)? in
        guard !besideIDs.contains(id), let way = objects[id]!.standing?.row, let row = inner.objects[id]?.standing?.row
        else { return nil }
        return (way, now(row))
      }
    ) { first, _ in first }
    let edited = besideIDs.filter { objects[$0]?.standing?.isNotEncoded ?? false }
      .compactMap { objects[$0]?.standing?.row }
    let mapping = table.merge(own, keys: keys, ways: ways, edited: Set(edited), known)
    liveOnly = mapping.liveOnly
    defer { liveOnly = [] }
    written = inner.written.union(written.compactMap { mapping.records[$0] })
    readableIDs = []
    for id in objects.keys.sorted() {
      if besideIDs.contains(id) {
        guard var standing = objects[id]!.standing else { continue }
        standing.apply(mapping)
        objects[id]!.standing = standing
      } else {
        objects[id]!.standing = inner.objects[id]?.standing
        guard objects[id]!.standing != nil else { continue }
        objects[id]!.standing!.row = now(objects[id]!.standing!.row)
        objects[id]!.standing!.parentRow = objects[id]!.standing!.parentRow.map(now)
        readableIDs.insert(id)
      }
    }
    // Two siblings with one place are met anew, as they are.
    for id in kept { release(subtree: id) }
    let met = order().filter { besideIDs.contains($0) && objects[$0]!.standing!.baseline != nil }
    besideIDs = []
    held = Set(objects.values.compactMap { $0.standing?.row })
    isLocked = false
    noteLoaded()
    for id in objects.keys { objects[id]!.wasFound = false }
    restore(root, below: nil, Turn(kind: .unlock), make: make, known, &outcome)
    readableIDs = []
    settleUnlock(of: met, known, &outcome)
    return outcome
  }

  /// An object that has its state already keeps it, and its row; what was saved beside in earlier runs is superseded, or joined.
  mutating func keep(
    _ id: Int, _ former: Standing, below parentRow: Int?, retrying: Bool, _ known: Knowledge, _ outcome: inout Outcome
  ) {
    let key = key(id, below: parentRow)
    given.append(Given(id: id, key: key, blank: []))
    objects[id]!.standing!.parentRow = parentRow
    objects[id]!.wasFound = true
    let joins = known.joins(key.tag)
    let candidates = table.candidates(former.row, retrying: retrying, joins: joins, known)
    let others = candidates.filter { !former.own.contains($0.number) }
    if joins {
      let found = Table.ordered(others.filter(known.decodes))
      let hasOwn = !former.own.isEmpty || hasUnsavedChanges(id)
      if !found.isEmpty { join(id, found, with: hasOwn ? objects[id]!.value : nil) }
      return
    }
    supersede(id, others.filter { !table.isFirst($0, in: former.row) }, &outcome)
  }
}

extension Table {
  /// No row is hidden: the part that has them was not written.
  mutating func forgetHidden() {
    for row in rows.keys { rows[row]!.hidden = [] }
  }

  /// Of rows below one, of which some are only ways, those that tell of the order: the last that has something to say, and those before
  /// it.
  func telling(_ children: [Int], _ edited: Set<Int>) -> ArraySlice<Int> {
    let last = children.lastIndex { !self[$0].isWay && (edited.contains($0) || hasRecords(inOrBelow: $0)) }
    return children[...(last ?? -1)]
  }

  /// The order of siblings of which some were written beside: each of these stands behind the one that it stood behind.
  mutating func arrangeBeside(
    _ children: [Int], of run: Table, _ edited: Set<Int>, _ mapping: Mapping, below target: Int
  ) {
    var last: Int?
    for child in run.telling(children, edited) {
      guard let row = mapping.rows[child], self[target].children.contains(row) else {
        // What stood there has been closed since; another one may stand in its place.
        let name = run[child].key.place.identifier
        last = self[target].children.first { self[$0].key.place.identifier == name } ?? last
        continue
      }
      if !run[child].isWay, last.map({ name($0) != name(row) }) ?? true {
        let group = self[target].children.filter { name($0) == name(row) }
        self[target].children.removeAll { group.contains($0) }
        let index = last.flatMap { last in self[target].children.lastIndex { name($0) == name(last) } }
        self[target].children.insert(contentsOf: group, at: index.map { $0 + 1 } ?? 0)
      }
      last = row
    }
  }
}
