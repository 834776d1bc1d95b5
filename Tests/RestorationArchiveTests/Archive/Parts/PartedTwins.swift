import FoundationEssentials
import RestorationArchive
import SeededRandom
import Synchronization
import Testing

/// Random bits of a seed, for the numbers of boundaries.
final class SeededBits: Sendable {
  private let random: Mutex<SplitMix64>

  init(seed: UInt64) { random = Mutex(SplitMix64(seed: seed)) }

  var draw: Archive.PartedWriter.Draw { { self.random.withLock { UInt32(truncatingIfNeeded: $0.next()) } } }
}

/// The stored archives of a tree, part by part.
struct StoredParts {
  var files: [Archive.Part: (base: Data, deltas: [Data])] = [:]

  /// Stores every part that has changed, by a delta where one will do.
  mutating func save(_ writer: inout Archive.PartedWriter, wholeOnly: Bool = false) throws {
    let unstored = writer.parts.filter { files[$0] == nil }
    for part in Set(writer.changedParts + unstored).sorted() {
      if !wholeOnly, files[part] != nil, !writer.partsToRemake.contains(part) {
        if let delta = try writer.makeDelta(of: part) { files[part]?.deltas.append(delta) }
      } else {
        files[part] = (try writer.makeArchive(of: part), [])
      }
    }
    #expect(!writer.hasChanges)
  }

  func reader(of part: Archive.Part) throws -> Archive.Reader {
    let file = try #require(files[part])
    return try Archive.Reader(base: .init(file.base), deltas: file.deltas)
  }

  func reader(away: Set<Archive.Part> = []) throws -> Archive.PartedReader {
    var further: [Archive.Part: Archive.Reader] = [:]
    for part in files.keys where part != .first && !away.contains(part) { further[part] = try reader(of: part) }
    return try Archive.PartedReader(
      first: try reader(of: .first), further: further, away: away.intersection(Set(files.keys)))
  }
}

extension StoredParts {
  /// What finds single nodes, and notes the parts that it opens.
  func finder(_ opened: OpenedParts, away: Set<Archive.Part> = []) throws -> Archive.NodeFinder {
    try Archive.NodeFinder(first: try reader(of: .first), further: Set(files.keys).subtracting([.first])) {
      (part) throws(ArchiveError) in
      opened.parts.append(part)
      if away.contains(part) { return .away }
      guard let file = files[part] else { return .none }
      return .here(try Archive.Reader(base: .init(file.base), deltas: file.deltas))
    }
  }
}

/// The parts that were opened, in order.
final class OpenedParts {
  var parts: [Archive.Part] = []
}

extension RestorationArchive.Part {
  /// Parts by number.
  static let (second, third, fourth) = (Self(rawValue: 1)!, Self(rawValue: 2)!, Self(rawValue: 3)!)
}

/// A tree in one part and the same tree in several, which the same changes are made to.
struct PartedTwins {
  var plain = Archive.Writer(context: .sample)
  var parted: Archive.PartedWriter
  var stored = StoredParts()
  /// The parted tree's numbers of the plain one's nodes.
  var numbers: [NodeID: NodeID] = [:]
  let parts: [Archive.Part]
  let bits: SeededBits
  var random: SplitMix64
  private var names = 0
  /// The change made last.
  private(set) var last = ""

  init(parts: Int, seed: UInt64) {
    self.parts = Array(Archive.Part.allCases.prefix(parts))
    bits = SeededBits(seed: seed &+ 1)
    random = SplitMix64(seed: seed)
    parted = Archive.PartedWriter(context: .sample, draw: bits.draw)
  }

  // MARK: Changes

  mutating func edit() throws {
    let all = numbers.keys.sorted()
    let target = all.randomElement(using: &random)
    let parent = Int.random(in: 0..<3, using: &random) == 0 ? nil : all.randomElement(using: &random)
    let part = Bool.random(using: &random) ? nil : parts.randomElement(using: &random)
    let kind = Int.random(in: 0..<20, using: &random)
    last = "change \(kind) of \(target as Any), \(parent as Any)"
    switch kind {
    case 0..<5: try insert(parent, part)
    case 5..<7: if let target { try insert(before: target, part) }
    case 7..<11: if let target { try setRecord(target) }
    case 11..<13: if let target { try move(target, to: parent) }
    case 13: if let target { try rename(target) }
    case 14: if let target { try shuffle(Bool.random(using: &random) ? nil : target) }
    case 15: if let target, Int.random(in: 0..<3, using: &random) == 0 { try remove(target) }
    case 16: if let target, let other = all.randomElement(using: &random) { try moveState(target, other) }
    case 17: if let target { try removeState(target) }
    case 18: if let target { try insertRecord(target) }
    default: try assign()
    }
  }

  /// A name that siblings may have, unless some of these are away.
  private mutating func name() -> RestorationIdentifier {
    names += 1
    return parted.away.isEmpty ? "n\(Int.random(in: 0..<20, using: &random))" : "unique \(names)"
  }

  /// Makes a change to both; one that throws in one must throw the same in the other, but for what is away.
  private mutating func both(
    line: Int = #line, _ change: (inout Self) throws -> Void, plain: (inout Archive.Writer) throws -> Void
  ) throws {
    do {
      try change(&self)
    } catch let error as ArchiveError {
      if error.code == .partAway { return #expect(!parted.away.isEmpty) }
      let other = #expect(throws: ArchiveError.self, "\(error)") { try plain(&self.plain) }
      // Nothing can be compared any more after a difference.
      try #require(other?.code == error.code, "\(error) and \(other as Any) at \(line)")
      return
    }
    try plain(&self.plain)
  }

  private mutating func insert(_ parent: NodeID?, _ part: Archive.Part?) throws {
    let name = name()
    let place = Bool.random(using: &random) ? nil : Int.random(in: 0..<5, using: &random)
    let attributes = attributes()
    var (id, new): (NodeID?, NodeID?) = (nil, nil)
    try both {
      new = try $0.parted.insert(
        name, parent: parent.map { [numbers = $0.numbers] in numbers[$0]! }, at: place, attributes: attributes,
        part: part)
    } plain: {
      id = try $0.insert(name, parent: parent, at: place, attributes: attributes)
    }
    if let id, let new { numbers[id] = new }
    if let new, let part { #expect(new.part == part) }
  }

  private mutating func insert(before target: NodeID, _ part: Archive.Part?) throws {
    let name = name()
    let attributes = attributes()
    var (id, new): (NodeID?, NodeID?) = (nil, nil)
    try both {
      new = try $0.parted.insert(name, before: $0.numbers[target]!, attributes: attributes, part: part)
    } plain: {
      id = try $0.insert(name, before: target, attributes: attributes)
    }
    if let id, let new { numbers[id] = new }
  }

  private mutating func insertRecord(_ target: NodeID) throws {
    let name = RestorationIdentifier("\u{1}\(plain.nextNumber)")
    guard try plain.node(target)?.attributes.flags.contains(.record) == false else { return }
    let attributes = Archive.Attributes(flags: .record)
    let number = Int.random(in: 0..<50, using: &random)
    var (id, new): (NodeID?, NodeID?) = (nil, nil)
    try both {
      let record = try $0.parted.insert(name, parent: $0.numbers[target]!, attributes: attributes)
      try $0.parted.setRecord(of: record, entries: Self.entries(number), attributes: attributes)
      new = record
    } plain: {
      let record = try $0.insert(name, parent: target, attributes: attributes)
      try $0.setRecord(of: record, entries: Self.entries(number), attributes: attributes)
      id = record
    }
    if let id, let new { numbers[id] = new }
  }

  private mutating func setRecord(_ target: NodeID) throws {
    let number = Int.random(in: 0..<50, using: &random)
    var attributes = attributes()
    if try plain.node(target)?.attributes.flags.contains(.record) == true { attributes.flags = .record }
    try both {
      try $0.parted.setRecord(of: $0.numbers[target]!, entries: Self.entries(number), attributes: attributes)
    } plain: {
      try $0.setRecord(of: target, entries: Self.entries(number), attributes: attributes)
    }
  }

  private mutating func move(_ target: NodeID, to parent: NodeID?) throws {
    let place = Int.random(in: 0..<4, using: &random)
    guard let node = try plain.node(target) else { return }
    if !parted.away.isEmpty, try plain.child(of: parent, identifier: node.identifier) != nil { return }
    try both {
      let map = try $0.parted.move($0.numbers[target]!, to: parent.map { [n = $0.numbers] in n[$0]! }, at: place)
      $0.take(map)
    } plain: {
      try $0.move(target, to: parent, at: place)
    }
  }

  private mutating func rename(_ target: NodeID) throws {
    let name = name()
    guard try plain.node(target)?.attributes.flags.contains(.record) == false else { return }
    try both {
      try $0.parted.rename($0.numbers[target]!, to: name)
    } plain: {
      try $0.rename(target, to: name)
    }
  }

  private mutating func shuffle(_ parent: NodeID?) throws {
    var children = try parent.map { [plain] in try plain.children(of: $0) } ?? plain.roots
    children.shuffle(using: &random)
    try both {
      let numbers = $0.numbers
      try $0.parted.setChildren(children.map { numbers[$0]! }, of: parent.map { numbers[$0]! })
    } plain: {
      try $0.setChildren(children, of: parent)
    }
  }

  private mutating func remove(_ target: NodeID) throws {
    if try !parted.hasHoles(below: numbers[target]!) == false {
      #expect { try parted.remove(numbers[target]!) } throws: { ($0 as? ArchiveError)?.code == .partAway }
    }
    try both {
      try $0.parted.remove($0.numbers[target]!)
    } plain: {
      try $0.remove(target)
    }
    numbers = try numbers.filter { [plain] in try plain.node($0.key) != nil }
  }

  private mutating func moveState(_ source: NodeID, _ target: NodeID) throws {
    guard source != target else { return }
    try both {
      try $0.parted.moveState(of: $0.numbers[source]!, to: $0.numbers[target]!)
    } plain: {
      try $0.moveState(of: source, to: target)
    }
  }

  private mutating func removeState(_ target: NodeID) throws {
    try both {
      try $0.parted.removeState(of: $0.numbers[target]!)
    } plain: {
      try $0.removeState(of: target)
    }
  }

  private mutating func assign() throws {
    var assignment: [NodeID: Archive.Part] = [:]
    for (id, number) in numbers.sorted(by: { $0.key < $1.key }) where Int.random(in: 0..<6, using: &random) == 0 {
      if try plain.node(id)?.attributes.flags.contains(.record) == true { continue }
      assignment[number] = parts.randomElement(using: &random)
    }
    try both {
      let map = try $0.parted.assign(assignment)
      for (id, part) in assignment { #expect((map[id] ?? id).part == part) }
      $0.take(map)
    } plain: { _ in
    }
  }

  mutating func take(_ map: [NodeID: NodeID]) { numbers = numbers.mapValues { map[$0] ?? $0 } }

  private mutating func attributes() -> Archive.Attributes {
    let number = Int.random(in: 0..<6, using: &random)
    return Archive.Attributes(
      classTag: number == 0 ? nil : RestorationArchive.ClassTag(rawValue: "class \(number)"),
      version: StateVersion(rawValue: UInt32(number)), priority: .normal, flags: number == 1 ? .view : [],
      savedAt: number == 2 ? Date(timeIntervalSince1970: 12.5) : nil, model: number == 3 ? "model" : nil,
      role: number == 4 ? "role" : nil, save: UInt32(number))
  }

  // MARK: States

  /// The state of a number; one in ten is large.
  static func entries(_ number: Int) -> [Archive.Entry] {
    [
      Archive.Entry(key: "state \(number % 5)", value: SampleState(number)),
      Archive.Entry(key: "text", value: text(number)),
    ]
  }

  private static func text(_ number: Int) -> String {
    String(repeating: "\(number % 10)", count: number % 10 == 9 ? number * 6_000 : number)
  }

  // MARK: Comparing

  /// Saves the parted tree, and sometimes goes on from what was stored, with some parts away.
  mutating func save(reopening: Bool, away: Set<Archive.Part>, _ place: Comment) throws {
    try stored.save(&parted, wholeOnly: Int.random(in: 0..<5, using: &random) == 0)
    guard reopening else { return }
    let away = away.intersection(Set(stored.files.keys))
    let reader = try stored.reader(away: away)
    #expect(try reader.irregularities().isEmpty, place)
    parted = try Archive.PartedWriter(continuing: reader, draw: bits.draw)
    #expect(!parted.hasChanges, place)
    #expect(parted.away == away, place)
    try compare(place)
    try compare(reader, place)
  }

  /// Brings back the parts that are away.
  mutating func attachAll(_ place: Comment) throws {
    for part in parted.away.sorted() {
      let attachment = try parted.attach(stored.reader(of: part), as: part)
      #expect(attachment.clashes.isEmpty && attachment.irregularities.missing.isEmpty, place)
      #expect(attachment.irregularities.unplaced.isEmpty, place)
    }
    #expect(try parted.irregularities().isEmpty, place)
    try compare(place)
  }

  /// Compares the two trees as they are in memory.
  func compare(_ place: Comment) throws {
    var shown = 0
    func check(_ ids: [NodeID], _ others: [NodeID], _ parent: NodeID?) throws {
      try #require(others == ids.map { numbers[$0] ?? $0 }, place)
      for (id, other) in zip(ids, others) {
        shown += 1
        let node = try #require(try plain.node(id), place)
        let twin = try #require(try parted.node(other), place)
        #expect(twin.parent == parent, place)
        guard !parted.away.contains(other.part) else {
          #expect(twin.attributes == .init(flags: .hole) && twin.byteCount == 0, place)
          #expect(try parted.children(of: other).isEmpty, place)
          continue
        }
        #expect(twin.identifier == node.identifier && twin.attributes == node.attributes, place)
        #expect((twin.byteCount == 0) == (node.byteCount == 0), place)
        #expect(try parted.path(of: other) == plain.path(of: id), place)
        #expect(try parted.child(of: parent, identifier: node.identifier) == other, place)
        try check(try plain.children(of: id), try parted.children(of: other), other)
      }
    }
    try check(try plain.roots, try parted.roots, nil)
    if parted.away.isEmpty {
      #expect(parted.nodeCount == plain.nodeCount && shown == plain.nodeCount, place)
    }
  }

  /// Compares what a reader of the parts reads with the plain tree, values included.
  func compare(_ reader: Archive.PartedReader, _ place: Comment) throws {
    var copy = plain
    let whole = try Archive.Reader(base: .init(try copy.makeArchive()))
    let walk = Archive.PartedWalk(reader)
    func check(_ ids: [NodeID], _ others: [NodeID], _ parent: NodeID?) throws {
      try #require(others == ids.map { numbers[$0] ?? $0 }, place)
      for (id, other) in zip(ids, others) {
        let node = try #require(try whole.node(id), place)
        let twin = try #require(try reader.node(other), place)
        let visit = try #require(try walk.visit(other), place)
        #expect(twin.parent == parent && visit.identifier == twin.identifier, place)
        #expect(visit.attributes == twin.attributes && visit.byteCount == twin.byteCount, place)
        #expect(try visit.children == reader.children(of: other), place)
        guard !reader.away.contains(other.part) else {
          #expect(twin.attributes == .init(flags: .hole), place)
          #expect(throws: ArchiveError.self, place) { try reader.record(of: other) }
          continue
        }
        #expect(twin.identifier == node.identifier && twin.attributes == node.attributes, place)
        #expect(visit.tag.map { walk.tags[$0] } == node.attributes.classTag, place)
        let path = try whole.path(of: id)
        try checkFinder(path, other, reader, place)
        #expect(try reader.path(of: other) == path && reader.id(at: path) == other, place)
        #expect(try reader.child(of: parent, identifier: node.identifier) == other, place)
        let (record, same) = (try whole.record(of: id), try reader.record(of: other))
        #expect(record.keys == same.keys && same.path == path, place)
        #expect(try walk.decoder(of: visit)?.keys ?? [] == record.keys, place)
        for key in record.keys {
          if key == "text" {
            #expect(try record.decode(String.self, forKey: key) == same.decode(forKey: key), place)
          } else {
            #expect(try record.decode(SampleState.self, forKey: key) == same.decode(forKey: key), place)
          }
        }
        try check(try whole.children(of: id), try reader.children(of: other), other)
      }
    }
    try check(try whole.roots, try reader.roots, nil)
    #expect(try reader.id(at: ["never", "n1"]) == nil, place)
  }

  /// Finds one node, and opens the parts alone that its path goes through.
  private func checkFinder(
    _ path: RestorationPath, _ node: NodeID, _ reader: Archive.PartedReader, _ place: Comment
  ) throws {
    let opened = OpenedParts()
    var finder = try stored.finder(opened, away: reader.away)
    #expect(try finder.id(at: path) == node, place)
    #expect(try finder.record(at: path)?.keys == reader.record(of: node).keys, place)
    var through: Set<Archive.Part> = []
    // A part before it that has siblings of it may have been looked into.
    var above: NodeID? = node
    var beside: Set<Archive.Part> = []
    while let one = above {
      through.insert(one.part)
      above = try reader.node(one)?.parent
      let owner = above?.part ?? .first
      let siblings = try above.map { try reader.children(of: $0) } ?? reader.roots
      if one.part != owner { beside.formUnion(siblings.lazy.map(\.part).filter { $0 < one.part }) }
    }
    #expect(Set(opened.parts).count == opened.parts.count, place)
    #expect(Set(opened.parts).isSuperset(of: through.subtracting([.first])), place)
    #expect(Set(opened.parts).isSubset(of: through.union(beside)), place)
  }
}
