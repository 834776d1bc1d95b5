internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// The classes of protection of an archive's parts.
///
/// The first part has the class of the configuration. Two can have one class, where that of the configuration was another one before.
struct PartClasses: Hashable, Sendable {
  private var classes: [ProtectionClass]

  /// Begins with one part.
  init(_ first: ProtectionClass) { classes = [first] }

  /// The parts that an archive has, the first one first.
  init(_ classes: [ProtectionClass]) { self.classes = classes }

  /// The parts that an archive has; one that it has not counts as one of the first class.
  ///
  /// - Parameter first: The class that the first part is to have, whatever it was.
  init(_ first: ProtectionClass, _ further: [RestorationArchive.Part: ProtectionClass]) {
    classes = [first]
    for part in RestorationArchive.Part.allCases.dropFirst() where part <= further.keys.max() ?? .first {
      classes.append(further[part] ?? first)
    }
  }

  /// The parts.
  var parts: [RestorationArchive.Part] { Array(RestorationArchive.Part.allCases.prefix(classes.count)) }

  /// Whether there is more than one.
  var areSeveral: Bool { classes.count > 1 }

  /// The class of a part.
  subscript(part: RestorationArchive.Part) -> ProtectionClass { classes[Int(part.rawValue)] }

  /// The part of a class, which is added when it is new.
  mutating func part(of protection: ProtectionClass) -> RestorationArchive.Part {
    if let place = classes.firstIndex(of: protection) { return RestorationArchive.Part.allCases[place] }
    if classes.count < RestorationArchive.Part.allCases.count {
      classes.append(protection)
      return RestorationArchive.Part.allCases[classes.count - 1]
    }
    // There are as many classes as parts: one that is missing leaves two parts of one class.
    let spare = classes.indices.last { classes[..<$0].contains(classes[$0]) } ?? classes.count - 1
    classes[spare] = protection
    return RestorationArchive.Part.allCases[spare]
  }
}

extension Table {
  /// What has changed in a part since it was read.
  enum PartChange: Sendable {
    /// The changes.
    case delta(Data)
    /// All of it: it is a new one.
    case base(Data)
  }

  /// Notes the classes that the objects of a capture name.
  mutating func noteProtections(of batch: CaptureBatch) {
    for record in batch.records where holding(record.key)?.protection != record.protection {
      update(record.key) { $0.protection = record.protection }
    }
  }

  /// Brings the rows of a capture into the parts of their classes, before anything is written in them.
  ///
  /// A row whose object names no class is where the row above it is. Rows without an object below one whose class gets stronger
  /// go along; they stay where they are when it gets weaker, as nobody knows whose decision that was.
  mutating func settleParts(of batch: CaptureBatch) throws(ArchiveError) {
    defer { broughtAlong = [] }
    guard parts.areSeveral || batch.records.contains(where: { $0.protection != nil }) else { return }
    var wanted: [NodeID: RestorationArchive.Part] = [:]
    for placement in batch.placements { try settle(placement.key, &wanted) }
    for record in batch.records { try settle(record.key, &wanted) }
    for key in broughtAlong { try settle(key, &wanted) }
    guard !wanted.isEmpty else { return }
    for (row, part) in wanted where parts[row.part].isWeaker(than: parts[part]) { noteLeft(for: parts[part]) }
    renumber(try writer.assign(wanted))
  }

  /// Says that rows have left a part for classes that have no key now: the part is written anew without them.
  mutating func leave(
    _ part: RestorationArchive.Part, for classes: Set<ProtectionClass>
  ) throws(ArchiveError) {
    try writer.remake(part)
    for protection in classes where parts[part].isWeaker(than: protection) { noteLeft(for: protection) }
  }

  /// What live objects have in another table that comes into this one.
  struct Adoption {
    /// The objects.
    var keys: Set<CaptureBatch.Key>
    /// The other table, as it was before they left it.
    var other: Table
  }

  /// Takes over the records that live objects have in another table, where they have none in this one: their state is none of that
  /// one from now on.
  ///
  /// The records stay as they are, until a capture has other values.
  mutating func adopt(_ adoption: Adoption) throws(ArchiveError) {
    let other = adoption.other
    var copies: [RestorationArchive.Writer.Copy] = []
    for key in adoption.keys.sorted() {
      // A row that was only a way has no record.
      guard let holding = holding(key), try holding.record.flatMap(writer.node)?.hasRecord != true else { continue }
      guard let former = other.holding(key), let own = former.record, let source = try other.writer.node(own),
        source.hasRecord, let row = try requireRow(key)
      else { continue }
      // While the object names no model, it goes on with that which it has learnt.
      if let learnt = try former.row.flatMap(other.writer.node)?.attributes.model { try nameModel(learnt, of: row) }
      var facts = source.attributes
      facts.save = save
      let record = try insertRecord(in: row, facts)
      try setRecordFacts(of: record, from: facts)
      guard let attributes = try writer.node(record)?.attributes else { continue }
      copies.append(.init(source: source.id, target: record, attributes: attributes))
      update(key) { ($0.record, $0.baseline) = (record, former.baseline) }
      changed.insert(key)
      written.insert(record)
      lastWritten = save
    }
    if !copies.isEmpty { try writer.copyRecords(copies, from: other.readerOfAll()) }
  }

  /// A reader of all that is here, whatever the disk has.
  func readerOfAll() throws(ArchiveError) -> RestorationArchive.PartedReader {
    var readers: [RestorationArchive.Part: RestorationArchive.Reader] = [:]
    for part in writer.parts {
      let archive = try writer.makeArchiveOverBudget(of: part)
      readers[part] = try RestorationArchive.Reader(base: .init(archive), limits: limits)
    }
    let first = readers.removeValue(forKey: .first)
    guard let first else { throw ArchiveError(.corrupt, "the part with the root is missing") }
    return try RestorationArchive.PartedReader(first: first, further: readers, away: writer.away)
  }

  mutating func noteLeft(for protection: ProtectionClass) {
    if leftWeakerPartsFor.map({ $0.isWeaker(than: protection) }) ?? true { leftWeakerPartsFor = protection }
  }

  private mutating func settle(_ key: CaptureBatch.Key, _ wanted: inout [NodeID: RestorationArchive.Part])
    throws(ArchiveError)
  {
    guard let holding = holding(key), let row = holding.row, let node = try writer.node(row) else { return }
    let part: RestorationArchive.Part
    if let protection = holding.protection {
      part = parts.part(of: protection)
    } else {
      part = node.parent.map { wanted[$0] ?? $0.part } ?? .first
    }
    let former = wanted[row] ?? row.part
    guard former != part else { return }
    let isStronger = parts[former].isWeaker(than: parts[part])
    var stack = [row]
    while let next = stack.popLast() {
      wanted[next] = part == next.part ? nil : part
      for child in try writer.children(of: next) where (wanted[child] ?? child.part) == former {
        guard let node = try writer.node(child), node.attributes.flags.isDisjoint(with: [.record, .hole]) else {
          continue
        }
        let isInherited = holders[child].map { self.holding($0)?.protection == nil } ?? isStronger
        if isInherited { stack.append(child) }
      }
    }
  }

  /// Goes on with the numbers that rows and records have in other parts.
  mutating func renumber(_ numbers: [NodeID: NodeID]) {
    guard !numbers.isEmpty else { return }
    let new = { (node: NodeID) in numbers[node] ?? node }
    for key in numbers.keys.compactMap({ holders[$0] }) {
      update(key) {
        $0.row = $0.row.map(new)
        $0.record = $0.record.map(new)
        $0.superseded = $0.superseded.map(new)
        $0.joined = $0.joined.map(new)
      }
    }
    for (old, new) in numbers {
      moved.move(row: old, to: new)
      moved.move(record: old, to: new)
    }
    numbered = Dictionary(
      uniqueKeysWithValues: numbered.map {
        (Place(parent: $0.parent.map(new), identifier: $0.identifier), $1.map(new))
      })
    furtherRecords = Dictionary(uniqueKeysWithValues: furtherRecords.map { (new($0), $1.map(new)) })
    formerOrders = Dictionary(
      uniqueKeysWithValues: formerOrders.map { parent, rows in
        (new(parent), rows.map { FormerRow(row: new($0.row), identifier: $0.identifier) })
      })
    successors = Dictionary(uniqueKeysWithValues: successors.map { (new($0), new($1)) })
    absent = Set(absent.map(new))
    closed = Set(closed.map(new))
    written = Set(written.map(new))
  }
}
