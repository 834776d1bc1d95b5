import FoundationEssentials
import RestorationArchive
import Testing

/// The entries that stay when the rest of a state is left out.
struct KeptKeysTests {
  private struct Place: Codable, Equatable {
    var name = "secondary"
    var rows = [1, 2, 3]
    var parent: [String: Int]? = ["": 1]
  }

  private static let keys: Set<String> = ["place", "number", "none"]

  private static func writer(_ limits: Archive.Limits) -> Archive.Writer {
    Archive.Writer(context: .sample, limits: limits, keptKeys: keys)
  }

  private static func entries(_ extra: [Archive.Entry] = []) -> [Archive.Entry] {
    [
      Archive.Entry(key: "text", value: String(repeating: "x", count: 500)),
      Archive.Entry(key: "place", value: Place()), Archive.Entry(key: "none", value: Int?.none),
    ] + extra + [
      Archive.Entry(key: "more", value: [Place(), Place()]), Archive.Entry(key: "number", value: 7),
    ]
  }

  private static func expectKept(_ record: Archive.Record?) throws {
    let record = try #require(record)
    #expect(record.keys == ["place", "none", "number"])
    #expect(try record.decode(Place.self, forKey: "place") == Place())
    #expect(try record.decode(Int?.self, forKey: "none") == nil)
    #expect(try record.decode(Int.self, forKey: "number") == 7)
    #expect(try record.decodeIfPresent(String.self, forKey: "text") == nil)
  }

  /// Records are objects; with a long key, or with very many, they are maps.
  private static let forms: [[Archive.Entry]] = [
    [], [Archive.Entry(key: String(repeating: "k", count: 2_000), value: 1)],
    (0..<300).map { Archive.Entry(key: "\($0)", value: $0) },
  ]

  @Test(arguments: 0..<3, [false, true])
  func `certain entries stay, whatever their values are`(form: Int, isOfNode: Bool) throws {
    var limits = Archive.Limits(bytesPerArchive: 200)
    if isOfNode { limits = Archive.Limits(bytesPerNode: 200) }
    var writer = Self.writer(limits)
    let node = try writer.insert("node")
    try writer.setRecord(of: node, entries: Self.entries(Self.forms[form]), attributes: .init())
    let base = try writer.makeArchive()
    let reader = try Archive.Reader(base: Archive.Source(base))
    try Self.expectKept(reader.record(of: node))
    #expect(try reader.node(node)?.attributes.flags == .shed)
    #expect(try reader.node(node)?.byteCount == 0)
    #expect(reader.liveBytes > 0 && reader.liveBytes < 200 && reader.liveBytes == writer.liveBytes)
    #expect(writer.takeSheddings().map(\.node) == [node])
    // For a node it is too big still: with the same rest nothing has changed.
    guard !isOfNode else { return }
    try writer.setRecord(
      of: node, entries: Self.entries(Self.forms[form] + [Archive.Entry(key: "new", value: 1)]), attributes: .init())
    let delta = try #require(try writer.makeDelta())
    try Self.expectKept(Archive.Reader(base: Archive.Source(base), deltas: [delta]).record(of: node))
  }

  @Test func `what nobody touched keeps them too, and nothing more is left out of it`() throws {
    var writer = Self.writer(.default)
    let node = try writer.insert("node")
    try writer.setRecord(of: node, entries: Self.entries(), attributes: .init())
    var base = try writer.makeArchive()
    for round in 0..<3 {
      let reader = try Archive.Reader(base: Archive.Source(base))
      var continued = try Archive.Writer(
        continuing: reader, limits: Archive.Limits(bytesPerArchive: round == 0 ? 200 : 1), keptKeys: Self.keys)
      base = try continued.makeArchive()
      #expect(continued.takeSheddings().map(\.node) == (round == 0 ? [node] : []))
      #expect(try continued.node(node)?.byteCount == (round == 0 ? reader.node(node)?.byteCount : 0))
      try Self.expectKept(Archive.Reader(base: Archive.Source(base)).record(of: node))
    }
  }

  @Test func `they take their part of the budget`() throws {
    var writer = Self.writer(.default)
    for name in ["a", "b"] as [RestorationIdentifier] {
      try writer.setRecord(of: try writer.insert(name), entries: Self.entries(), attributes: .init())
    }
    let whole = writer.liveBytes / 2
    _ = try writer.makeArchive()
    var small = Self.writer(Archive.Limits(bytesPerArchive: 1))
    try small.setRecord(of: try small.insert("a"), entries: Self.entries(), attributes: .init())
    _ = try small.makeArchive()
    let rest = small.liveBytes
    for (budget, count) in [(whole + rest, 1), (whole + rest - 1, 2)] {
      var writer = Self.writer(Archive.Limits(bytesPerArchive: budget))
      for name in ["a", "b"] as [RestorationIdentifier] {
        try writer.setRecord(of: try writer.insert(name), entries: Self.entries(), attributes: .init())
      }
      _ = try writer.makeArchive()
      #expect(writer.takeSheddings().count == count)
      #expect(writer.liveBytes == (2 - count) * whole + count * rest)
    }
  }

  @Test func `a state of nothing else is not left out`() throws {
    var writer = Self.writer(Archive.Limits(bytesPerArchive: 1))
    let node = try writer.insert("node")
    try writer.setRecord(of: node, entries: [Archive.Entry(key: "number", value: 7)], attributes: .init())
    let reader = try Archive.Reader(base: Archive.Source(try writer.makeArchive()))
    #expect(writer.takeSheddings().isEmpty)
    #expect(try reader.node(node)?.attributes.flags == [])
    #expect(try reader.record(of: node).decode(Int.self, forKey: "number") == 7)
  }
}
