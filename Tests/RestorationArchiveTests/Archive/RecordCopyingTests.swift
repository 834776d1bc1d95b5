import FoundationEssentials
import RestorationArchive
import Testing

/// State that goes from one archive to another, whose keys and shapes have other numbers.
@Suite struct RecordCopyingTests {
  /// Every kind of value that the format knows.
  struct Everything: Codable, Sendable, Equatable {
    struct Inner: Codable, Sendable, Equatable {
      var name = "inner"
      var list = [1, 300, -5, 70_000, .max, .min]
      var optional: Int?
    }
    var flag = true
    var small = 7
    var twoBytes = 900
    var wide = 1 << 40
    var unsigned = UInt64.max
    var huge = Int128.max
    var hugeUnsigned = UInt128.max
    var short = 0.5
    var double = 0.1
    var float = Float(0.3)
    var date = Date(timeIntervalSinceReferenceDate: 12_345.678)
    var data = Data((0..<2000).map { UInt8(truncatingIfNeeded: $0) })
    var text = String(repeating: "long ", count: 300)
    var uuid = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")
    var inner = Inner()
    var inners = [Inner(), Inner(name: "other", list: [], optional: 3)]
    var map = ["a": [1.5, 2], "b": []]
    var numbers: [Int: String] = [1: "x", 900: "y"]
    var texts = ["one", "two"]
    var floats: [Double] = (0..<40).map { Double($0) / 3 }
  }

  private func context() -> RestorationArchive.Context {
    .init(timeSaved: Date(timeIntervalSince1970: 0))
  }

  private func archive(_ value: some Codable & Sendable, after others: Int) throws -> RestorationArchive.Reader {
    var writer = RestorationArchive.Writer(context: context())
    for index in 0..<others {
      let node = try writer.insert(RestorationIdentifier("other \(index)"))
      try writer.setRecord(
        of: node, entries: [.init(key: "key \(index)", value: ["k\(index)": Everything.Inner()])], attributes: .init())
    }
    let node = try writer.insert("node")
    try writer.setRecord(
      of: node, entries: [.init(key: "value", value: value), .init(key: "none", value: Int?.none)], attributes: .init())
    return try RestorationArchive.Reader(base: .init(try writer.makeArchive()))
  }

  @Test(arguments: [0, 1, 400]) func `a record is the same in an archive with other keys and shapes`(_ others: Int)
    throws
  {
    let source = try archive(Everything(), after: 0)
    let target = try archive(["something": "else"], after: others)
    var writer = try RestorationArchive.Writer(continuing: target)
    let (from, to) = (try #require(try source.id(at: ["node"])), try #require(try target.id(at: ["node"])))
    try writer.copyRecords([.init(source: from, target: to, attributes: .init(version: 3))], from: source)
    let delta = try #require(try writer.makeDelta())
    let archive = try RestorationArchive.Reader(base: .init(try writer.makeArchive()))
    #expect(!delta.isEmpty)
    let record = try archive.record(of: to)
    #expect(try record.decode(Everything.self, forKey: "value") == Everything())
    #expect(try record.keys == source.record(of: from).keys)
    #expect(try archive.node(to)?.attributes.version == 3)
    for index in 0..<min(others, 3) {
      let other = try #require(try archive.record(at: [RestorationIdentifier("other \(index)")]))
      #expect(try other.decode([String: Everything.Inner].self, forKey: "key \(index)") == ["k\(index)": .init()])
    }
  }

  @Test func `every flipped byte of the source is copied, or refused without a trap`() throws {
    var writer = RestorationArchive.Writer(context: context())
    let node = try writer.insert("node")
    try writer.setRecord(of: node, entries: [.init(key: "value", value: Everything.Inner())], attributes: .init())
    let bytes = try writer.makeArchive()
    for index in 0..<bytes.count {
      for bit in [1, 0x80, 0xFF] as [UInt8] {
        var flipped = Array(bytes)
        flipped[index] ^= bit
        guard let reader = try? RestorationArchive.Reader(base: .init(Data(flipped))),
          let source = try? reader.roots.first
        else { continue }
        var target = RestorationArchive.Writer(context: context())
        let place = try target.insert("place")
        try? target.copyRecords([.init(source: source, target: place, attributes: .init())], from: reader)
        _ = try target.makeArchive()
      }
    }
  }
}
