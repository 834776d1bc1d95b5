import Foundation
import RestorationArchive
import TestTraits
import Testing

/// Keys that are made at run time: they are the user's, and there is no end to them.
struct RuntimeKeyTests {
  /// A key of any text.
  struct TextKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// A state with declared properties and any others beside them.
  struct Extensible: Codable, Equatable {
    var title: String
    var note: String?
    var rest: [String: Int]

    enum CodingKeys: CodingKey { case title, note }

    init(title: String, note: String?, rest: [String: Int]) {
      self.title = title
      self.note = note
      self.rest = rest
    }

    init(from decoder: any Decoder) throws {
      let declared = try decoder.container(keyedBy: CodingKeys.self)
      title = try declared.decode(String.self, forKey: .title)
      note = try declared.decodeIfPresent(String.self, forKey: .note)
      let others = try decoder.container(keyedBy: TextKey.self)
      rest = [:]
      for key in others.allKeys where CodingKeys(stringValue: key.stringValue) == nil {
        rest[key.stringValue] = try others.decode(Int.self, forKey: key)
      }
    }

    func encode(to encoder: any Encoder) throws {
      var declared = encoder.container(keyedBy: CodingKeys.self)
      try declared.encode(title, forKey: .title)
      try declared.encodeIfPresent(note, forKey: .note)
      var others = encoder.container(keyedBy: TextKey.self)
      for (key, value) in rest.sorted(by: { $0.key < $1.key }) { try others.encode(value, forKey: TextKey(key)) }
    }
  }

  private static func contains(_ text: String, _ bytes: [UInt8]) -> Bool {
    Data(bytes).range(of: Data(text.utf8)) != nil
  }

  @Test func `ten thousand changing keys over a thousand saves stay out of the tables`() throws {
    var writer = Archive.Writer(context: .sample)
    let node = try writer.insert("node")
    var tables = CodingTables()
    var sizes: [Int] = []
    for save in 0..<1_000 {
      let rest = Dictionary(uniqueKeysWithValues: (0..<10).map { ("secret-\(save)-\($0)", $0) })
      let state = Extensible(title: "title", note: save.isMultiple(of: 2) ? "note" : nil, rest: rest)
      let entries = [Archive.Entry(key: "state", value: state), Archive.Entry(key: "rest", value: rest)]
      let record = try RecordEncoder().encode(entries, tables: &tables)
      #expect(tables.mark == CodingTables.Mark(keys: 2, shapes: 1))
      let read = try RecordDecoder(Data(record), tables: tables.pinned())
      #expect(try read.decode(Extensible.self, forKey: "state") == state)
      try writer.setRecord(of: node, entries: entries, attributes: .init())
      sizes.append(try save.isMultiple(of: 100) ? writer.makeArchive().count : writer.makeDelta()?.count ?? 0)
    }
    #expect(!Self.contains("secret", tables.additions()))
    #expect(sizes.max() ?? 0 < 1_000)
  }

  @Test func `a record's own keys leave the tables when no state uses them any more`() throws {
    var writer = Archive.Writer(context: .sample)
    let node = try writer.insert("node")
    let other = try writer.insert("other")
    try writer.set(other, 1)
    var base = try writer.makeArchive()
    for save in 0..<1_000 {
      let entries = (0..<10).map { Archive.Entry(key: "secret-\(save)-\($0)", value: $0) }
      try writer.setRecord(of: node, entries: entries, attributes: .init())
      guard save % 100 == 99 else {
        _ = try writer.makeDelta()
        continue
      }
      base = try writer.makeArchive()
      #expect(base.count < 25_000, "after \(save + 1) saves: \(base.count)")
      // Also in the launches that follow.
      writer = try Archive.Writer(continuing: Archive.Reader(base: Archive.Source(base)))
    }
    let reader = try Archive.Reader(base: Archive.Source(base))
    #expect(try reader.record(of: node).keys == (0..<10).map { "secret-999-\($0)" })
    #expect(try reader.record(of: other).decode(SampleState.self, forKey: "state") == SampleState(1))
  }

  @Test func `collecting the tables changes no state, in the base and in what is kept beside it`() throws {
    var writer = try Archive.Writer.sample(branches: 3, leaves: 4)
    let node = try writer.insert("node")
    for save in 0..<300 {
      let entries = (0..<10).map { Archive.Entry(key: "a key of save \(save) with the number \($0)", value: [$0]) }
      try writer.setRecord(of: node, entries: entries, attributes: .init())
    }
    let base = try writer.makeArchive()
    #expect(!Self.contains("a key of save 17 ", [UInt8](base)))
    // The same state once more is no change, and another one is read against the tables of the base.
    let roots = try writer.roots
    try writer.set(roots[0], 0)
    #expect(try writer.makeDelta() == nil)
    try writer.set(roots[0], 99)
    let delta = try #require(try writer.makeDelta())
    let reader = try Archive.Reader(base: Archive.Source(base), deltas: [delta])
    #expect(try reader.record(of: roots[0]).decode(SampleState.self, forKey: "state") == SampleState(99))
    for (branch, root) in roots.dropLast().enumerated() {
      for (leaf, child) in try reader.children(of: root).enumerated() {
        let state = try reader.record(of: child).decode(SampleState.self, forKey: "state")
        #expect(state == SampleState(branch * 4 + leaf))
      }
    }
  }

  @Test(.notUnderAddressSanitizer("the same code, thousands of times"))
  func `shapes are capped for an archive, not for a launch`() throws {
    var tables = CodingTables()
    var number = 0
    for _ in 0..<10 {
      for _ in 0..<600 {
        // Other keys in another order each time, of the same hundred.
        let keys = (0..<4).map { "key \((number * 31 + $0 * 7 * (number / 100 + 1)) % 100)" }
        let entries = Set(keys).sorted().reversed().map { Archive.Entry(key: $0, value: number.isMultiple(of: 2)) }
        let bytes = try RecordEncoder().encode(entries + [.init(key: "n\(number % 7)", value: 1)], tables: &tables)
        #expect(try RecordDecoder(Data(bytes), tables: tables.pinned()).decode(Int.self, forKey: "n\(number % 7)") == 1)
        number += 1
      }
      // The next launch.
      var read = CodingTables()
      try read.append(parsing: Data(tables.additions()))
      tables = read
    }
    #expect(tables.mark.shapes <= 4_096)
  }

  @Test func `a second container with keys made at run time may come at any time`() throws {
    struct Writing: Encodable {
      var order: Int

      func encode(to encoder: any Encoder) throws {
        var declared = encoder.container(keyedBy: Extensible.CodingKeys.self)
        if order & 1 != 0 { try declared.encodeIfPresent(Int?.none, forKey: .note) }
        if order & 2 != 0 { try declared.encode("title", forKey: .title) }
        var nested = declared.nestedContainer(keyedBy: TextKey.self, forKey: .note)
        if order & 4 != 0 { try ["x": 1].encode(to: declared.superEncoder()) }
        if order & 8 != 0 { try declared.encode([1.5, 2.5], forKey: .title) }
        var others = encoder.container(keyedBy: TextKey.self)
        try others.encode(Extensible(title: "", note: nil, rest: ["k": 1]), forKey: TextKey("own"))
        try nested.encode(1, forKey: TextKey("late"))
        if order & 16 != 0 { try declared.encode("again", forKey: .title) }
        var again = others.nestedContainer(keyedBy: TextKey.self, forKey: TextKey("note"))
        try again.encode(2, forKey: TextKey("later"))
      }
    }
    for order in 0..<32 {
      let value = Writing(order: order)
      let ours = try ArchiveDecoder().decode(Anything.self, from: ArchiveEncoder().encode([value]))
      let json = try JSONDecoder().decode(Anything.self, from: JSONEncoder().encode([value]))
      #expect(ours.sortedDescription == json.sortedDescription, "order \(order)")
    }
  }
}

extension Anything {
  /// Its content, with keys in order.
  fileprivate var sortedDescription: String {
    switch self {
    case .null: "null"
    case .leaf(let text): text
    case .list(let elements): "[" + elements.map(\.sortedDescription).joined(separator: ",") + "]"
    case .keyed(let entries):
      "{" + entries.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.sortedDescription)" }.joined(separator: ",")
        + "}"
    }
  }
}
