import FoundationEssentials
import RestorationArchive
import SeededRandom
import TestTraits
import Testing

/// Damaged and malicious bytes in one of several parts: errors that name it, never a trap, and the other parts stay
/// readable.
struct PartedDamageTests {
  /// A tree of three parts with boundaries up and down, bases and deltas, and its records by number.
  private static func sample() throws -> (stored: StoredParts, values: [NodeID: String]) {
    var writer = Archive.PartedWriter(context: .sample, draw: SeededBits(seed: 5).draw)
    var stored = StoredParts()
    var values: [NodeID: String] = [:]
    func insert(_ name: String, _ parent: NodeID?, _ part: Archive.Part) throws -> NodeID {
      let node = try writer.insert(
        RestorationIdentifier(name), parent: parent, attributes: .init(classTag: "c"), part: part)
      try writer.setRecord(of: node, entries: [.init(key: "k", value: name)], attributes: .init(classTag: "c"))
      values[node] = name
      return node
    }
    let top = try insert("top", nil, .first)
    let secret = try insert("secret", top, .second)
    let inner = try insert("inner", secret, .second)
    let open = try insert("open", inner, .first)
    _ = try insert("root", nil, .third)
    try stored.save(&writer)
    _ = try insert("last", open, .third)
    _ = try insert("more", inner, .second)
    let map = try writer.move(inner, to: top)
    values = Dictionary(uniqueKeysWithValues: values.map { (map[$0.key] ?? $0.key, $0.value) })
    try stored.save(&writer)
    return (stored, values)
  }

  /// Reads and changes everything in every way; errors are fine.
  private static func useAll(_ stored: StoredParts, _ values: [NodeID: String], damaged: Archive.Part) {
    var limits = Archive.Limits.default
    (limits.nodeCount, limits.depth) = (1000, 64)
    var further: [Archive.Part: Archive.Reader] = [:]
    for (part, file) in stored.files where part != .first {
      further[part] = try? Archive.Reader(base: .init(file.base), deltas: file.deltas, limits: limits)
    }
    let file = stored.files[.first]!
    guard let first = try? Archive.Reader(base: .init(file.base), deltas: file.deltas, limits: limits),
      let reader = try? Archive.PartedReader(
        first: first, further: further, away: Set(stored.files.keys).subtracting(further.keys).subtracting([.first]))
    else { return #expect(damaged == .first) }
    for (id, value) in values where id.part != damaged {
      // What is in the other parts is as it was.
      #expect((try? reader.record(of: id).decode(String.self, forKey: "k")) == value)
    }
    do throws(ArchiveError) {
      _ = try reader.irregularities()
      for id in values.keys {
        _ = (try reader.node(id), try reader.children(of: id))
        _ = try? reader.path(of: id)
      }
      _ = try reader.id(at: ["top", "inner", "open", "last"])
    } catch {
      #expect(error.part == damaged, "\(error)")
    }
    var stack = (try? reader.roots) ?? []
    var visited = 0
    let walk = Archive.PartedWalk(reader)
    while let id = stack.popLast(), visited <= 2 * reader.nodeCount {
      visited += 1
      guard let visit = try? walk.visit(id) else { continue }
      stack += visit.children
      _ = try? walk.decoder(of: visit)
    }
    guard var writer = try? Archive.PartedWriter(continuing: reader, limits: limits) else { return }
    let ids = values.keys.sorted()
    for id in ids { _ = (try? writer.setAttributes(.init(version: 3), of: id), try? writer.hasHoles(below: id)) }
    _ = try? writer.assign([ids[0]: .third, ids[1]: .first])
    _ = try? writer.move(ids[2], to: nil, at: 0)
    _ = try? writer.insert("new", parent: ids[0], part: .fourth)
    _ = try? writer.remove(ids[3])
    _ = try? writer.irregularities()
    for part in writer.parts {
      _ = try? writer.makeDelta(of: part)
      _ = try? writer.makeArchive(of: part)
    }
  }

  /// Which bytes are damaged: each one, or each so-manieth where a sanitizer makes it slow.
  private static let step = ProcessInfo.processInfo.environment["FLIP_STEP"].flatMap(Int.init) ?? 1

  @Test(arguments: 0..<3 as Range<UInt8>)
  func `a damaged byte of a part throws, or shows in that part only`(_ number: UInt8) throws {
    let (stored, values) = try Self.sample()
    let part = try #require(Archive.Part(rawValue: number))
    let file = try #require(stored.files[part])
    Self.useAll(stored, values, damaged: .fourth)
    for index in stride(from: 0, to: file.base.count, by: Self.step) {
      for mask in [1, 0x80] as [UInt8] {
        var damaged = stored
        damaged.files[part]!.base[index] ^= mask
        Self.useAll(damaged, values, damaged: part)
      }
    }
    for which in file.deltas.indices {
      for index in stride(from: 0, to: file.deltas[which].count, by: Self.step) {
        for mask in [1, 0x80] as [UInt8] {
          var damaged = stored
          damaged.files[part]!.deltas[which][index] ^= mask
          Self.useAll(damaged, values, damaged: part)
        }
      }
    }
  }

  @Test func `parts of any two states of a tree are read, continued and mended`() throws {
    for seed in 0..<20 as Range<UInt64> {
      var twins = PartedTwins(parts: 4, seed: seed)
      var states: [StoredParts] = []
      for round in 0..<6 {
        for _ in 0..<10 { try twins.edit() }
        try twins.save(reopening: false, away: [], "seed \(seed), round \(round)")
        states.append(twins.stored)
      }
      var random = SplitMix64(seed: seed)
      for round in 0..<20 {
        var mixed = StoredParts()
        for part in Archive.Part.allCases { mixed.files[part] = states.randomElement(using: &random)?.files[part] }
        let place: Comment = "seed \(seed), mix \(round)"
        let reader = try mixed.reader()
        var writer = try Archive.PartedWriter(continuing: reader, draw: SeededBits(seed: seed).draw)
        // Both show one tree, in which no node comes twice.
        let shown = try Self.list(reader)
        #expect(Set(shown.map(\.id)).count == shown.count, place)
        #expect(try Self.list(writer) == shown, place)
        #expect(try writer.irregularities().unplaced == reader.irregularities().unplaced, place)
        #expect(try writer.irregularities().missing == reader.irregularities().missing, place)
        #expect(try writer.irregularities().relocated.isEmpty, place)
        for node in shown where !reader.away.contains(node.id.part) {
          let path = try reader.path(of: node.id)
          var finder = try mixed.finder(OpenedParts())
          #expect(try finder.id(at: path) == reader.id(at: path), place)
        }
        // All that is in a part is still there after whole archives of it.
        let nodes = writer.nodeCount
        try mixed.save(&writer, wholeOnly: true)
        for part in writer.parts { mixed.files[part] = (try writer.makeArchive(of: part), []) }
        #expect(try Self.list(mixed.reader()) == shown, place)
        for id in try writer.irregularities().unplaced where try writer.node(id) != nil {
          // Another node may have its name meanwhile.
          try writer.rename(id, to: RestorationIdentifier("mended \(id)"))
          _ = try writer.move(id, to: nil)
        }
        for id in try writer.irregularities().missing { try writer.remove(id) }
        #expect(try writer.irregularities().isEmpty, place)
        #expect(writer.nodeCount <= nodes, place)
        try mixed.save(&writer)
        #expect(try mixed.reader().irregularities().isEmpty, place)
        #expect(try Self.list(mixed.reader()).count == writer.nodeCount, place)
      }
    }
  }

  private struct Shown: Equatable {
    var id: NodeID
    var parent: NodeID?
    var identifier: RestorationIdentifier
  }

  private static func list(_ reader: Archive.PartedReader) throws -> [Shown] {
    var shown: [Shown] = []
    var stack = try reader.roots
    while let id = stack.popLast(), shown.count <= reader.nodeCount {
      let node = try #require(try reader.node(id))
      shown.append(Shown(id: id, parent: node.parent, identifier: node.identifier))
      stack += try reader.children(of: id)
    }
    return shown
  }

  private static func list(_ writer: Archive.PartedWriter) throws -> [Shown] {
    var shown: [Shown] = []
    var stack = try writer.roots
    while let id = stack.popLast(), shown.count <= writer.nodeCount {
      let node = try #require(try writer.node(id))
      shown.append(Shown(id: id, parent: node.parent, identifier: node.identifier))
      stack += try writer.children(of: id)
    }
    return shown
  }
}
