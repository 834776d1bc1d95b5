import FoundationEssentials
import RestorationArchive
import Testing

/// States that are compared, taken away, and moved from one node to another.
struct WriterRecordTests {
  /// Where a state is when the writer is asked.
  enum Home: CaseIterable {
    /// In no archive yet.
    case writer
    /// In the base that this writer made.
    case base
    /// In a delta that this writer made.
    case delta
    /// In a base that another writer made.
    case storedBase
    /// In a delta that another writer made.
    case storedDelta
  }

  /// A writer with two roots, `a` and `b`, and the archive that it goes on with.
  private struct Saved {
    var writer = Archive.Writer(context: .sample)
    var base: Data
    var deltas: [Data] = []
    let a: NodeID
    let b: NodeID

    /// Puts a state of `size` bytes in `a`, and `other` bytes in `b`.
    init(_ home: Home, size: Int, other: Int) throws {
      a = try writer.insert("a", attributes: .init(classTag: "a"))
      b = try writer.insert("b", attributes: .init(classTag: "b"))
      base = try writer.makeArchive()
      try write(size, in: a, "a")
      try write(other, in: b, "b")
      switch home {
      case .writer: break
      case .base, .storedBase: base = try writer.makeArchive()
      case .delta, .storedDelta: try save()
      }
      if home == .storedBase || home == .storedDelta { writer = try Archive.Writer(continuing: reader) }
    }

    mutating func write(_ size: Int, in node: NodeID, _ tag: RestorationArchive.ClassTag) throws {
      try writer.setRecord(of: node, entries: entries(size), attributes: .init(classTag: tag))
    }

    mutating func save() throws { if let delta = try writer.makeDelta() { deltas.append(delta) } }

    var reader: Archive.Reader { get throws { try Archive.Reader(base: .init(base), deltas: deltas) } }

    /// What is stored: the sizes of the texts of `a` and `b`, from the archive, its deltas, and a whole archive.
    mutating func sizes() throws -> [Int?] {
      try save()
      var copy = writer
      let whole = try Archive.Reader(base: .init(copy.makeArchive()))
      let reader = try reader
      let sizes = try [a, b].map { try Self.size(of: $0, reader) }
      #expect(try sizes == [a, b].map { try Self.size(of: $0, whole) })
      #expect(reader.liveBytes == whole.liveBytes && writer.liveBytes == reader.liveBytes)
      #expect(try [a, b].map { try reader.node($0)?.attributes.classTag } == ["a", "b"], "attributes stay")
      return sizes
    }

    private static func size(of node: NodeID, _ reader: Archive.Reader) throws -> Int? {
      try reader.record(of: node).decodeIfPresent(String.self, forKey: "text")?.utf8.count
    }
  }

  private static let sizes = [10, 1_000, 20_000, 300_000]

  @Test(arguments: Home.allCases, sizes)
  func `the same values are told from others, and asking changes nothing`(home: Home, size: Int) throws {
    var saved = try Saved(home, size: size, other: 10)
    try saved.save()
    #expect(try saved.writer.hasRecord(of: saved.a, entries: entries(size)))
    #expect(try !saved.writer.hasRecord(of: saved.a, entries: entries(size - 1)))
    #expect(try !saved.writer.hasRecord(of: saved.a, entries: [.init(key: "text", value: size)]))
    #expect(try !saved.writer.hasRecord(of: saved.a, entries: []))
    #expect(try !saved.writer.hasRecord(of: saved.a, entries: entries(size) + [.init(key: "new key", value: ["k": 1])]))
    #expect(!saved.writer.hasChanges)
    #expect(try saved.sizes() == [size, 10])
  }

  @Test func `a node without a state has that of no values`() throws {
    var writer = Archive.Writer(context: .sample)
    let node = try writer.insert("node")
    #expect(try writer.hasRecord(of: node, entries: []))
    #expect(try !writer.hasRecord(of: node, entries: entries(10)))
    #expect(throws: ArchiveError.self) { try writer.hasRecord(of: NodeID(rawValue: 9), entries: []) }
  }

  @Test(arguments: Home.allCases, sizes)
  func `a state that is taken away is gone, and the node stays`(home: Home, size: Int) throws {
    var saved = try Saved(home, size: size, other: 20_000)
    try saved.writer.removeState(of: saved.a)
    #expect(try saved.writer.hasRecord(of: saved.a, entries: []))
    #expect(try saved.sizes() == [nil, 20_000])
    try saved.writer.removeState(of: saved.a)
    #expect(!saved.writer.hasChanges, "there is none")
    try saved.write(size, in: saved.a, "a")
    #expect(try saved.sizes() == [size, 20_000])
  }

  @Test(arguments: Home.allCases, sizes)
  func `a state that is moved takes the place of another`(home: Home, size: Int) throws {
    var saved = try Saved(home, size: size, other: 700)
    try saved.writer.moveState(of: saved.a, to: saved.b)
    #expect(try saved.writer.hasRecord(of: saved.b, entries: entries(size)))
    #expect(try saved.sizes() == [nil, size])
    // And back again, where it has been.
    try saved.writer.moveState(of: saved.b, to: saved.a)
    #expect(try saved.sizes() == [size, nil])
    try saved.write(30, in: saved.b, "b")
    #expect(try saved.sizes() == [size, 30])
  }

  @Test(arguments: Home.allCases)
  func `a state that is moved to its own node stays`(home: Home) throws {
    var saved = try Saved(home, size: 1_000, other: 10)
    try saved.save()
    try saved.writer.moveState(of: saved.a, to: saved.a)
    #expect(!saved.writer.hasChanges)
    #expect(try saved.sizes() == [1_000, 10])
  }

  @Test(arguments: Home.allCases)
  func `a state that is moved outlives its node`(home: Home) throws {
    var saved = try Saved(home, size: 300_000, other: 10)
    let child = try saved.writer.insert("further", parent: saved.b)
    try saved.writer.moveState(of: saved.a, to: child)
    try saved.writer.remove(saved.a)
    try saved.save()
    let archive = try saved.writer.makeArchive()
    for reader in [try saved.reader, try Archive.Reader(base: .init(archive))] {
      #expect(try reader.node(saved.a) == nil && reader.nodeCount == 2)
      #expect(try reader.record(at: ["b", "further"])?.decode(String.self, forKey: "text").utf8.count == 300_000)
    }
  }

  @Test func `a state that was left out of the archive can be moved and taken away`() throws {
    for moves in [true, false] {
      var writer = Archive.Writer(context: .sample, limits: .init(bytesPerArchive: 1_000))
      let (low, other, high) = (try writer.insert("low"), try writer.insert("other"), try writer.insert("high"))
      try writer.setRecord(of: low, entries: entries(600), attributes: .init(priority: .low))
      try writer.setRecord(of: high, entries: entries(600), attributes: .init(priority: .high))
      let base = try writer.makeArchive()
      #expect(writer.takeSheddings().map(\.path) == [["low"]])
      if moves { try writer.moveState(of: low, to: other) } else { try writer.removeState(of: low) }
      let first = try #require(try writer.makeDelta())
      #expect(writer.takeSheddings().map(\.path) == (moves ? [["other"]] : []))
      try writer.removeState(of: high)
      let second = try #require(try writer.makeDelta())
      let reader = try Archive.Reader(base: .init(base), deltas: [first, second])
      #expect(try reader.record(of: low).isEmpty && reader.record(of: high).isEmpty)
      #expect(try reader.node(low)?.attributes.flags == [])
      #expect(try reader.record(of: other).isEmpty != moves, "there is room for it again")
      #expect(reader.liveBytes == writer.liveBytes)
    }
  }
}

/// A state of a text of so many bytes, none of which repeats the one before.
private func entries(_ size: Int) -> [Archive.Entry] {
  let text = String(decoding: (0..<size).map { UInt8(97 + $0 % 26) }, as: UTF8.self)
  return [Archive.Entry(key: "text", value: text), Archive.Entry(key: "size", value: size)]
}
