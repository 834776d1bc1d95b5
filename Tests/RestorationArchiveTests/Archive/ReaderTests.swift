import FoundationEssentials
import RestorationArchive
import Testing

/// Reading whole archives, and how little is read for one node.
struct ReaderTests {
  @Test func `an archive gives back its context, its tree and its states`() throws {
    var writer = try Archive.Writer.sample(branches: 3, leaves: 4)
    let reader = try Archive.Reader(base: Archive.Source(try writer.makeArchive()))
    #expect(try reader.context == .sample)
    #expect(reader.nodeCount == 15)
    let roots = try reader.roots
    #expect(roots.count == 3)
    for (index, root) in roots.enumerated() {
      let node = try #require(try reader.node(root))
      #expect(node.identifier.rawValue == "container \(index)")
      #expect(node.parent == nil)
      #expect(node.attributes == Archive.Attributes(classTag: "document", version: 2))
      let children = try reader.children(of: root)
      #expect(
        try children.map { try reader.node($0)?.identifier }
          == (0..<4).map { RestorationIdentifier("document \(index).\($0)") })
      for (leaf, child) in children.enumerated() {
        #expect(try reader.node(child)?.parent == root)
        let path: RestorationPath = ["container \(index)", "document \(index).\(leaf)"]
        #expect(try reader.path(of: child) == path)
        #expect(try reader.id(at: path) == child)
        let record = try reader.record(of: child)
        #expect(record.keys == ["state", "number"])
        #expect(try record.decode(SampleState.self, forKey: "state") == SampleState(index * 4 + leaf))
        #expect(try record.decode(Int.self, forKey: "number") == index * 4 + leaf)
      }
    }
  }

  @Test func `one node of ten thousand is found and decoded by reading five or six chunks`() throws {
    var writer = try Archive.Writer.sample(branches: 100, leaves: 99)
    let bytes = try writer.makeArchive()
    for target in [0, 17, 4_950, 9_899] {
      let counted = CountedBytes(bytes)
      let reader = try Archive.Reader(base: counted.source)
      #expect(counted.chunks.count == 1, "opening reads one chunk")
      let path: RestorationPath = ["container \(target / 99)", "document \(target / 99).\(target % 99)"]
      let record = try #require(try reader.record(at: path))
      #expect(try record.decode(SampleState.self, forKey: "state") == SampleState(target))
      #expect(counted.chunks.count <= 6)
      #expect(counted.read.count == counted.chunks.count, "no chunk is asked for twice")
    }
  }

  @Test func `the average node of ten thousand, two levels deep, needs five chunks`() throws {
    var writer = try Archive.Writer.sample(branches: 100, leaves: 99)
    let bytes = try writer.makeArchive()
    var total = 0
    for target in stride(from: 0, to: 9_900, by: 99) {
      let counted = CountedBytes(bytes)
      let number = target + target / 99 % 99
      _ = try Archive.Reader(base: counted.source).record(
        at: ["container \(number / 99)", "document \(number / 99).\(number % 99)"])
      total += counted.chunks.count
    }
    #expect(total <= 540, "\(total) chunks for 100 nodes")
  }

  @Test func `a node that is not there costs two or three chunks and is nil`() throws {
    var writer = try Archive.Writer.sample(branches: 100, leaves: 99)
    let counted = CountedBytes(try writer.makeArchive())
    let reader = try Archive.Reader(base: counted.source)
    #expect(try reader.node(at: ["container 5", "document 5.99"]) == nil)
    #expect(counted.chunks.count <= 3)
    #expect(try reader.node(at: []) == nil)
    #expect(try reader.node(NodeID(rawValue: 10_000)) == nil)
    #expect(try reader.node(NodeID(rawValue: .max)) == nil)
    #expect(throws: ArchiveError.self) { try reader.record(of: NodeID(rawValue: .max)) }
  }

  @Test func `reading a node again asks for nothing`() throws {
    var writer = try Archive.Writer.sample(branches: 10, leaves: 99)
    let counted = CountedBytes(try writer.makeArchive())
    let reader = try Archive.Reader(base: counted.source)
    let path: RestorationPath = ["container 3", "document 3.3"]
    _ = try reader.record(at: path)
    let before = counted.read.count
    _ = try reader.record(at: path)
    #expect(counted.read.count == before)
  }

  @Test func `the index takes sixteen bytes a node`() throws {
    var small = try Archive.Writer.sample(branches: 1, leaves: 0)
    var writer = Archive.Writer(context: .sample)
    for number in 0..<1_000 { _ = try writer.insert("\(number + 1_000)") }
    _ = try small.makeArchive()
    let count = try writer.makeArchive().count
    // A block of a node without state: length, number, parent, marks, five bytes of name.
    #expect(count <= 400 + 1_000 * (16 + 10))
  }

  @Test func `identifiers may hold anything`() throws {
    var writer = Archive.Writer(context: .sample)
    let names: [RestorationIdentifier] = [
      "a/b", "", "e\u{301}", "é", "\u{0}", "🇩🇰", RestorationIdentifier(String(repeating: "x", count: 70_000)),
    ]
    var ids: [NodeID] = []
    for name in names { ids.append(try writer.insert(name)) }
    _ = try writer.insert("c", parent: ids[0])
    let reader = try Archive.Reader(base: Archive.Source(try writer.makeArchive()))
    for (name, id) in zip(names, ids) {
      #expect(try reader.id(at: [name]) == id)
      #expect(try reader.node(id)?.identifier == name)
    }
    #expect(try reader.id(at: ["a", "b"]) == nil)
    #expect(try reader.id(at: ["a", "b/c"]) == nil)
    #expect(try reader.id(at: ["a/b", "c"]) != nil)
  }

  @Test func `a node that a delta removed has no children, though an earlier delta listed some`() throws {
    var writer = Archive.Writer(context: .sample)
    let node = try writer.insert("node")
    let base = try writer.makeArchive()
    for number in 0..<5 { _ = try writer.insert("child \(number)", parent: node) }
    var deltas = [try #require(try writer.makeDelta())]
    try writer.remove(node)
    deltas.append(try #require(try writer.makeDelta()))
    let reader = try Archive.Reader(base: .init(base), deltas: deltas)
    #expect(try reader.children(of: node).isEmpty)
  }

  @Test func `the source's error comes back as a cause, and nothing is cached of it`() throws {
    struct Locked: Error {}
    var writer = try Archive.Writer.sample(branches: 10, leaves: 99)
    let bytes = try writer.makeArchive()
    let counted = CountedBytes(bytes)
    let failing = Archive.Source(byteCount: bytes.count) { range in
      if range.lowerBound > 0 { throw Locked() }
      return counted.data[range]
    }
    let reader = try Archive.Reader(base: failing)
    do {
      _ = try reader.record(at: ["container 3", "document 3.3"])
      Issue.record("a failing source was read")
    } catch {
      #expect(error.code == .sourceFailed)
      #expect(error.cause is Locked)
    }
  }

  @Test func `a source that returns other than what it was asked for is refused`() throws {
    let short = Archive.Source(byteCount: 200) { _ in Data() }
    #expect(throws: ArchiveError.self) { try Archive.Reader(base: short) }
    #expect(throws: ArchiveError.self) { try Archive.Reader(base: Archive.Source(Data())) }
    #expect(throws: ArchiveError.self) { try Archive.Reader(base: Archive.Source(Data("no archive".utf8))) }
  }
}
