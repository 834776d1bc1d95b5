import Foundation
import RestorationArchive
import Testing

/// Records against shared tables.
struct RecordCoderTests {
  private func entries(_ number: Int) -> [RestorationArchive.Entry] {
    [
      RestorationArchive.Entry(key: "state", value: Point(x: Double(number), y: 1)),
      RestorationArchive.Entry(key: "title", value: "title \(number)"),
      RestorationArchive.Entry(key: "none", value: Int?.none),
    ]
  }

  @Test func `records share keys and shapes, and each is read alone`() throws {
    var tables = CodingTables()
    var records: [[UInt8]] = []
    for number in 0..<100 { records.append(try RecordEncoder().encode(entries(number), tables: &tables)) }
    #expect(tables.mark == CodingTables.Mark(keys: 5, shapes: 2))
    for (number, bytes) in records.enumerated() {
      let record = try RecordDecoder(Data(bytes), tables: tables.pinned())
      #expect(record.keys == ["state", "title", "none"])
      #expect(record.contains("title") && !record.contains("other"))
      #expect(try record.decode(String.self, forKey: "title") == "title \(number)")
      #expect(try record.decode(Point.self, forKey: "state") == Point(x: Double(number), y: 1))
      #expect(try record.decode(Int?.self, forKey: "none") == nil)
    }
  }

  @Test func `additions of deltas make the tables of the lineage`() throws {
    var tables = CodingTables()
    let first = try RecordEncoder().encode(entries(1), tables: &tables)
    let base = tables.additions()
    let mark = tables.mark
    let second = try RecordEncoder().encode(
      [RestorationArchive.Entry(key: "more", value: ["a": Colour.red])], tables: &tables)
    let delta = tables.additions(since: mark)
    var read = CodingTables()
    try read.append(parsing: Data(base))
    #expect(read.mark == mark)
    try read.append(parsing: Data(delta))
    #expect(read.mark == tables.mark)
    let pinned = read.pinned()
    #expect(try RecordDecoder(Data(first), tables: pinned).decode(Point.self, forKey: "state") == Point(x: 1, y: 1))
    #expect(
      try RecordDecoder(Data(second), tables: pinned).decode([String: Colour].self, forKey: "more") == ["a": .red])
    // Going on with tables that were read gives what going on with the old ones gives.
    #expect(
      try RecordEncoder().encode(entries(7), tables: &read) == RecordEncoder().encode(entries(7), tables: &tables))
    #expect(read.additions() == tables.additions())
  }

  @Test func `copies of tables grow apart`() throws {
    var tables = CodingTables()
    _ = try RecordEncoder().encode(entries(1), tables: &tables)
    var copy = tables
    let one = try RecordEncoder().encode([RestorationArchive.Entry(key: "one", value: 1)], tables: &tables)
    let two = try RecordEncoder().encode([RestorationArchive.Entry(key: "two", value: 2)], tables: &copy)
    #expect(try RecordDecoder(Data(one), tables: tables.pinned()).keys == ["one"])
    #expect(try RecordDecoder(Data(two), tables: copy.pinned()).keys == ["two"])
    #expect(try RecordDecoder(Data(two), tables: copy.pinned()).decode(Int.self, forKey: "two") == 2)
  }

  @Test func `a failing entry throws with its cause and the next record is whole`() throws {
    struct Failing: Encodable {
      struct Failure: Error {}
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(1)
        throw Failure()
      }
    }
    var tables = CodingTables()
    let error = #expect(throws: ArchiveError.self) {
      try RecordEncoder().encode([RestorationArchive.Entry(key: "f", value: Failing())], tables: &tables)
    }
    #expect(error?.code == .encodingFailed)
    #expect(error?.cause is Failing.Failure)
    let bytes = try RecordEncoder().encode(entries(1), tables: &tables)
    #expect(try RecordDecoder(Data(bytes), tables: tables.pinned()).decode(String.self, forKey: "title") == "title 1")
  }

  @Test func `values that do not fit tell the code, the path and the cause`() throws {
    var tables = CodingTables()
    let bytes = try RecordEncoder().encode(entries(1), tables: &tables)
    let record = try RecordDecoder(Data(bytes), tables: tables.pinned())
    let missing = #expect(throws: ArchiveError.self) { try record.decode(Int.self, forKey: "x") }
    #expect(missing?.code == .keyNotFound)
    let wrong = #expect(throws: ArchiveError.self) { try record.decode(Int.self, forKey: "title") }
    #expect(wrong?.code == .decodingFailed)
    guard case DecodingError.typeMismatch(_, let context)? = wrong?.cause else { throw try #require(wrong) }
    #expect(context.codingPath.map(\.stringValue) == ["title"])
  }

  @Test func `of two entries with one key the last counts`() throws {
    var tables = CodingTables()
    let bytes = try RecordEncoder().encode(
      [
        RestorationArchive.Entry(key: "a", value: 1), RestorationArchive.Entry(key: "b", value: [2]),
        RestorationArchive.Entry(key: "a", value: "three"),
      ], tables: &tables)
    let record = try RecordDecoder(Data(bytes), tables: tables.pinned())
    #expect(record.keys == ["b", "a"])
    #expect(try record.decode(String.self, forKey: "a") == "three")
  }

  @Test func `entries whose keys are merely equivalent are two`() throws {
    var tables = CodingTables()
    let keys = ["h\u{f6}he", "ho\u{308}he"]
    let records = try keys.map { key in
      try RecordEncoder().encode([RestorationArchive.Entry(key: key, value: key.utf8.count)], tables: &tables)
    }
    let both = try RecordEncoder().encode(
      keys.map { RestorationArchive.Entry(key: $0, value: $0.utf8.count) }, tables: &tables)
    for (key, bytes) in zip(keys, records) {
      let record = try RecordDecoder(Data(bytes), tables: tables.pinned())
      #expect(record.keys.map { Array($0.utf8) } == [Array(key.utf8)])
      #expect(try record.decode(Int.self, forKey: key) == key.utf8.count)
      #expect(try RecordDecoder(Data(both), tables: tables.pinned()).decode(Int.self, forKey: key) == key.utf8.count)
    }
  }

  @Test func `every changed byte of tables and records ends in a value or an error`() throws {
    var tables = CodingTables()
    let bytes = try RecordEncoder().encode(entries(1), tables: &tables)
    let stored = tables.additions()
    for index in stored.indices {
      for mask: UInt8 in [1, 0x80, 0xFF] {
        var damaged = stored
        damaged[index] ^= mask
        var read = CodingTables()
        guard (try? read.append(parsing: Data(damaged))) != nil else {
          #expect(read.mark == .start)
          continue
        }
        guard let record = try? RecordDecoder(Data(bytes), tables: read.pinned()) else { continue }
        for key in record.keys { _ = try? record.decode(Point.self, forKey: key) }
      }
    }
    for index in bytes.indices {
      for value: UInt8 in [0, 1, 11, 12, 13, 16, 240, 247, 255] {
        var damaged = bytes
        damaged[index] = value
        guard let record = try? RecordDecoder(Data(damaged), tables: tables.pinned()) else { continue }
        for key in record.keys { _ = try? record.decode(Anything.self, forKey: key) }
      }
    }
  }

  @Test func `a missing value reads as nil, alone and as an optional`() throws {
    var tables = CodingTables()
    let entries = [
      RestorationArchive.Entry(key: "none", value: String?.none),
      RestorationArchive.Entry(key: "some", value: String?.some("x")),
      RestorationArchive.Entry(key: "nested", value: String??.some(.none)),
    ]
    let bytes = try RecordEncoder().encode(entries, tables: &tables)
    let record = try RecordDecoder(Data(bytes), tables: tables.pinned())
    #expect(record.contains("none"))
    #expect(try record.decodeIfPresent(String.self, forKey: "none") == nil)
    #expect(try record.decode(String?.self, forKey: "none") == .some(.none))
    #expect(try record.decodeIfPresent(String.self, forKey: "some") == "x")
    #expect(try record.decode(String?.self, forKey: "nested") == .some(.none))
    #expect(throws: ArchiveError.self) { try record.decode(String.self, forKey: "none") }
  }

  @Test func `a record with damage anywhere is refused, so that no key of it is hidden`() throws {
    var tables = CodingTables()
    let bytes = try RecordEncoder().encode(entries(1), tables: &tables)
    for count in bytes.indices {
      #expect(throws: ArchiveError.self) { try RecordDecoder(Data(bytes.prefix(count)), tables: tables.pinned()) }
    }
    #expect(throws: ArchiveError.self) { try RecordDecoder(Data(bytes + [0]), tables: tables.pinned()) }
  }

  @Test func `keys that came to stand for text are found in what was written before`() throws {
    struct Plain: Hashable, Codable { var name: String }
    struct Representable: Hashable, Codable, CodingKeyRepresentable {
      var name: String
      var codingKey: any CodingKey { RuntimeKeyTests.TextKey(name) }
      init(name: String) { self.name = name }
      init?<T: CodingKey>(codingKey: T) { name = codingKey.stringValue }
    }
    let before = try ArchiveEncoder().encode([Plain(name: "a"): 1, Plain(name: "b"): 2])
    let after = try ArchiveEncoder().encode([Representable(name: "a"): 1, Representable(name: "b"): 2])
    #expect(before != after)
    for data in [before, after] {
      let back = try ArchiveDecoder().decode([Representable: Int].self, from: data)
      #expect(back == [Representable(name: "a"): 1, Representable(name: "b"): 2])
    }
    #expect(throws: DecodingError.self) {
      try ArchiveDecoder().decode([Representable: Int].self, from: ArchiveEncoder().encode("text"))
    }
  }
}
