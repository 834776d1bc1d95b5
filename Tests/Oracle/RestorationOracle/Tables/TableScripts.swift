// Imports nothing.

/// Random scripts over the tables alone, and what must hold after each of their steps.
package struct TableScripts {
  private var random: UInt64
  private var life = Life()
  private var known = Knowledge()
  private var version = 1
  private var lastItem = 0
  private var hidden: Set<String> = []
  private var replaced: [String: String] = [:]
  private var isUnnamedFirst = false

  /// The steps so far.
  package private(set) var steps: [String] = []

  // What the user has seen.
  private var owners: [Int: Owner] = [:]
  private var shown: [Int: Set<Int>] = [:]
  private var closing: Set<Int> = []
  private var closed: Set<Int> = []
  private var shared: Set<Int> = []
  private var before: Set<Value> = []
  private var explained: Set<Value> = []

  private struct Owner {
    var classes: Set<String>
    var models: Set<String>
  }

  private init(gene: UInt64) { random = gene }

  /// Numbers that stand for random steps.
  package static func genes(seed: UInt64, count: Int) -> [UInt64] {
    var maker = TableScripts(gene: seed)
    maker.random = maker.next()
    return (0...count).map { _ in maker.next() }
  }

  /// Plays the steps of some numbers; returns the steps and a violation, if there is one.
  package static func play(_ genes: [UInt64]) -> (steps: [String], violation: String?) {
    var scripts = TableScripts(gene: 0)
    let violation = scripts.run(genes)
    return (scripts.steps, violation)
  }

  /// The numbers of a shorter script that has a violation as well.
  package static func shorten(_ genes: [UInt64]) async -> [UInt64] {
    await shortened(genes) { play($0).violation != nil }
  }

  private mutating func next() -> UInt64 {
    random &+= 0x9E37_79B9_7F4A_7C15
    var z = random
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  private mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  // MARK: - The program

  static func knowledge(version: Int) -> Knowledge {
    var known = Knowledge()
    known.version = version
    let note = ["memo", "note", "editor"]
    known.classes = [
      ClassFacts(tag: note[version - 1], formerly: Array(note[..<(version - 1)]), checksModels: true),
      ClassFacts(tag: "special", superclass: note[version - 1], checksModels: true),
      ClassFacts(tag: "diary", joins: true), ClassFacts(tag: "plain"),
    ]
    if version < 3 { known.classes.append(ClassFacts(tag: "card")) }
    return known
  }

  static func canonical(_ tag: String) -> String { ["memo", "editor"].contains(tag) ? "note" : tag }

  private func make(_ path: [String], _ row: Row) -> Object? {
    let identifier = path.last!
    guard !hidden.contains(identifier) else { return nil }
    if let kind = replaced[identifier] { return Object(identifier: identifier, tag: tag(kind), model: row.key.model) }
    let tag = known.today(row.key.tag)
    guard known.classes.contains(where: { $0.tag == tag }) else { return nil }
    return Object(identifier: identifier, tag: tag, model: isUnnamedFirst ? nil : row.key.model)
  }

  private func tag(_ kind: String) -> String {
    kind == "note" ? known.classes[0].tag : kind == "card" && version == 3 ? "plain" : kind
  }

  // MARK: - Steps

  private func screen() -> [Int] { life.root.map { life.subtree($0) } ?? [] }

  private mutating func anyObject(orRoot: Bool) -> Int? {
    let all = orRoot ? screen() : Array(screen().dropFirst())
    return all.isEmpty ? nil : all[below(all.count)]
  }

  private mutating func newValue() -> Value {
    lastItem += 1
    return Value([lastItem])
  }

  private mutating func run(_ genes: [UInt64]) -> String? {
    for (index, gene) in genes.enumerated() {
      random = gene
      if index == 0 {
        if let violation = launch(isLocked: below(6) == 0, retrying: false) { return violation }
      } else if let violation = step() ?? check() {
        return violation
      }
    }
    return nil
  }

  private mutating func step() -> String? {
    switch below(60) {
    case 0..<11:
      guard let parent = anyObject(orRoot: true) else { return nil }
      let identifier = "abcde".map(String.init)[below(5)]
      if below(12) > 0, life.objects[parent]!.children.contains(where: { life.objects[$0]!.identifier == identifier }) {
        return nil
      }
      let kind = ["plain", "note", "special", "diary", "card"][below(5)]
      let model = below(2) == 0 ? nil : ["A", "B"][below(2)]
      var object = Object(identifier: identifier, tag: tag(kind), model: model, parent: parent)
      let isFilled = below(2) == 0
      if isFilled { object.value = newValue() }
      let id = life.add(object)
      steps.append("push \(life.path(id)) \(kind) \(model ?? "-")\(isFilled ? " = \(lastItem)" : "")")
      if below(4) == 0 { return late(id) }
    case 11..<15:
      guard let id = anyObject(orRoot: false) else { return nil }
      steps.append("close \(life.path(id))")
      close(id)
    case 15..<27:
      guard let id = anyObject(orRoot: true) else { return nil }
      var value = newValue()
      if known.joins(life.objects[id]!.tag) { value.items = life.objects[id]!.value.items + value.items }
      life.objects[id]!.value = value
      if below(12) == 0 { known.unencodable.insert(lastItem) }
      if below(12) == 0 { known.refused.insert(lastItem) }
      steps.append("edit \(life.path(id)) = \(value.items)\(known.refused.contains(lastItem) ? " refused" : "")")
    case 27..<29:
      guard let id = anyObject(orRoot: false) else { return nil }
      let identifier = "abcde".map(String.init)[below(5)]
      let siblings = life.objects[life.objects[id]!.parent!]!.children
      guard below(12) == 0 || !siblings.contains(where: { life.objects[$0]!.identifier == identifier }) else {
        return nil
      }
      steps.append("rename \(life.path(id)) to \(identifier)")
      life.objects[id]!.identifier = identifier
    case 29..<31:
      guard let id = anyObject(orRoot: false), let parent = anyObject(orRoot: true), !life.subtree(id).contains(parent)
      else { return nil }
      let identifier = life.objects[id]!.identifier
      let siblings = life.objects[parent]!.children
      guard below(12) == 0 || !siblings.contains(where: { life.objects[$0]!.identifier == identifier }) else {
        return nil
      }
      steps.append("move \(life.path(id)) below \(life.path(parent))")
      life.move(id, to: parent)
    case 31..<35:
      guard let id = anyObject(orRoot: true) else { return nil }
      let model = [nil, "A", "B"][below(3)]
      let isFilled = below(2) == 0
      shared.formUnion(life.objects[id]!.value.items)
      for child in life.subtree(id) { shared.formUnion(life.objects[child]!.value.items) }
      // What was closed in the same look stays below the row that is left.
      shared.formUnion(closing)
      life.objects[id]!.model = model
      if isFilled { life.objects[id]!.value = newValue() }
      steps.append("\(life.path(id)) shows \(model ?? "-")\(isFilled ? " = \(lastItem)" : "")")
    case 35:
      guard let id = anyObject(orRoot: true) else { return nil }
      steps.append("reverse \(life.path(id))")
      life.objects[id]!.children.reverse()
    case 36:
      let model = ["A", "B"][below(2)]
      known.goneModels.formSymmetricDifference([model])
      steps.append("toggle \(model)")
    case 37..<45: return save()
    case 45:
      steps.append("failing save")
      _ = life.save(known, isAcknowledged: false)
      // The next save writes it.
      noteOwners()
    case 46..<49:
      guard life.isLocked else { return nil }
      steps.append("unlock")
      return turn { $0.unlock(make: $1, $2) }
    case 49..<51:
      guard let id = anyObject(orRoot: false) else { return nil }
      return late(id)
    case 51:
      guard !life.isLocked else { return nil }
      steps.append("restore again")
      if let violation = save() { return violation }
      return turn { $0.restoreAgain(retrying: false, make: $1, $2) }
    case 52:
      guard let table = life.stored, let row = table.rows.keys.sorted().randomOne(below(1000)) else { return nil }
      let path = table.path(ofRow: row)
      guard table.row(at: path) == row, path.count > 1 else { return nil }
      var life = life
      life.die(at: row, record: below(2) == 0 ? 0 : nil, known)
      self.life.stored = life.stored
      steps.append("die at \(path)")
      return launch(isLocked: false, retrying: false)
    case 53:
      guard let id = anyObject(orRoot: true) else { return nil }
      steps.append("keep \(life.path(id))")
      life.settle(id, known)
    case 54:
      guard !life.table.rows.isEmpty else { return nil }
      let rows = life.table.rows.keys.sorted()
      let path = life.table.path(ofRow: rows[below(rows.count)])
      guard path.count > 1 else { return nil }
      steps.append("forget \(path)")
      noteSeen()
      _ = life.forget(path, known)
    case 55:
      guard let id = anyObject(orRoot: false), below(6) == 0 else { return nil }
      steps.append("\(life.path(id)) shows 70 models")
      shared.formUnion(life.objects[id]!.value.items)
      for child in life.subtree(id) { shared.formUnion(life.objects[child]!.value.items) }
      for number in 0..<70 {
        life.objects[id]!.model = "\(number)"
        life.objects[id]!.value = newValue()
        if let violation = save() { return violation }
      }
    case 56:
      guard let root = life.root, below(4) == 0 else { return nil }
      let identifier = life.objects[root]!.children.first.map { life.objects[$0]!.identifier } ?? "a"
      for _ in 0..<11 {
        if let violation = launch(isLocked: true, retrying: false) { return violation }
        let id = life.add(Object(identifier: identifier, tag: "plain", parent: life.root!))
        steps.append("push \(life.path(id)) plain")
        if let violation = save() { return violation }
        life.objects[id]!.value = newValue()
        steps.append("edit \(life.path(id)) = \(lastItem)")
        if let violation = save() { return violation }
      }
    default:
      let isLocked = below(3) == 0
      return launch(isLocked: isLocked, retrying: below(12) == 0)
    }
    return nil
  }

  private mutating func close(_ id: Int) {
    for below in life.subtree(id) where life.objects[below]!.standing.map({ !$0.own.isEmpty }) ?? false {
      closing.formUnion(life.objects[below]!.standing!.saved?.items ?? [])
    }
    life.remove(id)
  }

  private mutating func late(_ id: Int) -> String? {
    steps.append("restore late \(life.path(id))")
    return turn { $0.restoreLate(id, make: $1, $2) }
  }

  private mutating func launch(isLocked: Bool, retrying: Bool) -> String? {
    version = 1 + below(3)
    if below(2) == 0 { version = 1 }
    let former = known
    known = Self.knowledge(version: version)
    known.goneModels = former.goneModels
    known.refused = below(3) == 0 ? [] : former.refused
    hidden = below(3) == 0 ? ["abcde".map(String.init)[below(5)]] : []
    replaced = [:]
    if below(4) == 0 { replaced["abcde".map(String.init)[below(5)]] = ["plain", "note", "special", "card"][below(4)] }
    isUnnamedFirst = below(5) == 0
    shown = [:]
    closing = []
    let model = below(6) == 0 ? "A" : nil
    // What was only in memory goes with the process.
    life.end()
    before = values(life)
    steps.append(
      "launch \(version)\(isLocked ? " locked" : "") hiding \(hidden) replacing \(replaced) unnamed \(isUnnamedFirst) "
        + "root \(model ?? "-")\(retrying ? " retry" : "") refused \(known.refused)")
    return turn { life, make, known in
      life.launch(
        Object(identifier: "root", tag: "plain", model: model), isLocked: isLocked, retrying: retrying, make: make,
        known)
    }
  }

  /// A turn that gives: nothing may reach an object of another class or model.
  private mutating func turn(_ body: (inout Life, Life.Factory, Knowledge) -> Outcome) -> String? {
    let before = life
    let me = self
    noteSeen()
    _ = body(&life, { me.make($0, $1) }, known)
    for id in screen() {
      let object = life.objects[id]!
      guard !object.value.items.isEmpty, before.objects[id]?.value != object.value || before.root == nil else {
        continue
      }
      for item in object.value.items {
        guard let owner = owners[item] else { return "\(life.path(id)) was given \(item), which nobody saved" }
        let lineage = known.lineage(of: object.tag).map(Self.canonical)
        guard owner.classes.contains(where: { lineage.contains($0) }) else {
          return "\(life.path(id)), a \(object.tag), was given \(item) of \(owner.classes)"
        }
        if let model = object.model, !shared.contains(item), !owner.models.isEmpty, !owner.models.contains(model) {
          return "\(life.path(id)), which shows \(model), was given \(item) of \(owner.models)"
        }
        if closed.contains(item) { return "\(life.path(id)) was given \(item), which was closed" }
      }
    }
    return check()
  }

  /// Notes whose the values are that a look has seen: the next save that can't encode anything newer writes them.
  private mutating func noteSeen() {
    for object in screen().map({ life.objects[$0]! }) {
      for item in object.value.items where owners[item] == nil {
        owners[item] = Owner(classes: [Self.canonical(object.tag)], models: Set([object.model].compactMap(\.self)))
      }
    }
  }

  /// Notes whose the values are that are in the table.
  private mutating func noteOwners() {
    for id in screen() {
      let object = life.objects[id]!
      guard let standing = object.standing, standing.saved == object.value, !standing.own.isEmpty else { continue }
      for item in object.value.items {
        owners[item, default: Owner(classes: [], models: [])].classes.insert(Self.canonical(object.tag))
        if let model = object.model { owners[item]!.models.insert(model) }
      }
    }
  }

  private mutating func save() -> String? {
    steps.append("save")
    let before = life
    let outcome = life.save(known)
    noteOwners()
    let live = Set(screen().flatMap { life.objects[$0]!.value.items })
    if !life.isLocked { closed.formUnion(closing.subtracting(shared).subtracting(live)) }
    closing = []
    if let violation = check() { return violation }
    if !outcome.hasChanged, life.stored?.rows != before.stored?.rows { return "nothing has changed, but the disk" }
    return showsAll(but: outcome.beyondEight) ?? keepsOrder() ?? lookingChangesNothing()
  }

  // MARK: - Invariants

  /// Records that are gone have a reason.
  private mutating func check() -> String? {
    let now = values(life)
    explained.formUnion(life.table.removed.map(\.record.value))
    if let lost = before.subtracting(now).subtracting(explained).first { return "\(lost.items) is gone" }
    before = now
    for id in screen() { shown[id, default: []].formUnion(life.objects[id]!.value.items) }
    let holders = Dictionary(life.objects.compactMap { id, object in object.standing.map { ($0.row, id) } }) { one, _ in
      one
    }
    for removed in life.table.removed {
      let items = removed.record.value.items
      switch removed.why {
      case .replaced:
        guard let id = holders[removed.row], Set(items).isSubset(of: shown[id] ?? []) else {
          return "\(items) was replaced by an object that never showed it"
        }
      case .closed:
        guard known.canGive(removed.record) || shown.values.contains(where: { $0.isSuperset(of: items) }) else {
          return "\(items) was closed, but could not be read"
        }
      case .notFirst:
        guard removed.record.isFirst else { return "\(items) is not first" }
      case .eight:
        guard
          removed.record.isFirst || shown.values.contains(where: { $0.isSuperset(of: items) })
            || known.canGive(removed.record)
        else { return "\(items) was unread, and went beyond eight" }
      case .gone, .evicted, .settled, .forgotten: break
      }
    }
    life.table.removed = []
    return structure(life.table) ?? life.stored.flatMap { structure($0) }
  }

  /// All values that are stored, or will be with the next save.
  private func values(_ life: Life) -> Set<Value> {
    let tables = life.pending + [life.stored, life.root == nil ? nil : life.table].compactMap(\.self)
    return Set(tables.flatMap { $0.rows.values.flatMap { $0.records.map(\.value) } })
  }

  private func structure(_ table: Table) -> String? {
    var reached: Set<Int> = []
    for root in table.children(of: nil) { reached.formUnion(table.subtree(root)) }
    guard reached.count == table.rows.count else { return "rows that nothing holds: \(table)" }
    for (number, row) in table.rows {
      for child in row.children where table.rows[child]?.key.place.parent != number {
        return "row \(child) is held twice"
      }
      guard Set(row.children).count == row.children.count else { return "row \(number) has a child twice" }
      guard row.records == Table.ordered(row.records) else { return "row \(number) is not in order" }
    }
    return nil
  }

  private func relaunched(_ life: Life, _ change: (inout TableScripts) -> Void) -> TableScripts {
    var other = self
    other.life = life
    (other.hidden, other.replaced, other.isUnnamedFirst) = ([], [:], false)
    other.known.goneModels = []
    change(&other)
    let root = life.objects[life.root!]!
    let me = other
    _ = other.life.launch(
      Object(identifier: root.identifier, tag: root.tag, model: root.model), isLocked: false,
      make: { me.make($0, $1) }, other.known)
    return other
  }

  /// The next launch shows what was saved.
  private func showsAll(but unstored: Set<[String]>) -> String? {
    guard !life.isLocked, life.root != nil else { return nil }
    let other = relaunched(life) { _ in }
    func compare(_ one: Int, _ two: Int) -> String? {
      let (object, again) = (life.objects[one]!, other.life.objects[two]!)
      if life.hasUnsavedChanges(one), !unstored.contains(life.path(one)),
        known.unencodable.isDisjoint(with: object.value.items)
      {
        return "\(life.path(one)) was not saved"
      }
      if let standing = object.standing, standing.isUnedited, !standing.own.isEmpty {
        let hidden = life.table[standing.row].records.filter { !$0.isFirst && known.canGive($0) && known.decodes($0) }
        if !hidden.isEmpty, !hidden.contains(where: { Set($0.value.items).isSubset(of: again.value.items) }) {
          return "\(life.path(one)), which nobody edited, hides \(hidden.map(\.value.items))"
        }
      }
      if let standing = object.standing, !standing.own.isEmpty, standing.saved == object.value,
        known.refused.isDisjoint(with: object.value.items), !standing.isUnedited,
        known.joins(object.tag)
          ? !Set(again.value.items).isSuperset(of: object.value.items) : object.value != again.value
      {
        return "\(life.path(one)) has \(object.value.items), and \(again.value.items) after a launch"
      }
      // Another row may have been found for it: its own becomes one with that, and what lies below it is found at the next launch.
      guard known.refused.isDisjoint(with: object.value.items), object.standing?.row == again.standing?.row else {
        return nil
      }
      var seen: Set<String> = []
      for child in object.children where seen.insert(life.objects[child]!.identifier).inserted {
        let identifier = life.objects[child]!.identifier
        guard object.children.count(where: { life.objects[$0]!.identifier == identifier }) == 1 else { continue }
        guard life.objects[child]!.standing != nil else { continue }
        let found = again.children.first { other.life.objects[$0]!.identifier == life.objects[child]!.identifier }
        guard let found else {
          let row = life.objects[child]!.standing!.row
          if life.table[row].isClosed { continue }
          return "\(life.path(child)) is not there after a launch"
        }
        if let difference = compare(child, found) { return difference }
      }
      return nil
    }
    return compare(life.root!, other.life.root!)
  }

  /// Siblings keep their order, around absent ones as well.
  private func keepsOrder() -> String? {
    guard !life.isLocked, life.root != nil else { return nil }
    var once = relaunched(life) { $0.hidden = ["a", "c"] }
    if let root = once.life.root { once.life.objects[root]!.value = Value([-1]) }
    _ = once.life.save(once.known)
    let other = relaunched(once.life) { _ in }
    func compare(_ one: Int, _ two: Int) -> String? {
      let (object, again) = (life.objects[one]!, other.life.objects[two]!)
      guard object.standing?.row == again.standing?.row else { return nil }
      // Of siblings with one identifier the one that has the row.
      let before = object.children.filter { child in
        let row = life.objects[child]!.standing.flatMap { life.table.rows[$0.row] }
        return row?.key.place.identifier == life.objects[child]!.identifier
      }.map { life.objects[$0]!.identifier }
      let after = again.children.map { other.life.objects[$0]!.identifier }.filter(before.contains)
      guard before.filter(after.contains) == after else { return "\(life.path(one)): \(before) is \(after) now" }
      for child in again.children {
        let found = object.children.first { life.objects[$0]!.identifier == other.life.objects[child]!.identifier }
        if let found, let difference = compare(found, child) { return difference }
      }
      return nil
    }
    return compare(life.root!, other.life.root!)
  }

  /// A launch, a look and a save change no record.
  private func lookingChangesNothing() -> String? {
    guard !life.isLocked, life.root != nil, let stored = life.stored else { return nil }
    var other = relaunched(life) { $0.hidden = ["b"] }
    _ = other.life.save(other.known)
    let joining = Set(known.classes.filter(\.joins).map(\.tag))
    for (number, row) in stored.rows where !joining.contains(row.key.tag) {
      let after = other.life.stored!.rows[number]
      for record in row.records where !record.isFirst && !(after?.records.contains(record) ?? false) {
        let moved = other.life.stored!.rows.values.contains { $0.records.contains(record) }
        if !moved { return "looking has changed \(record)" }
      }
    }
    return nil
  }
}

extension Table {
  package func path(ofRow row: Int) -> [String] {
    (self[row].key.place.parent.map { path(ofRow: $0) } ?? []) + [self[row].key.place.identifier]
  }
}

extension Array {
  fileprivate func randomOne(_ number: Int) -> Element? { isEmpty ? nil : self[number % count] }
}
