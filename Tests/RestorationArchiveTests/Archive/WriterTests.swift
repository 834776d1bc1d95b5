import FoundationEssentials
import RestorationArchive
import SeededRandom
import Testing

/// What a writer makes of changes, carries over, sheds and refuses.
struct WriterTests {
  @Test func `the same calls give the same bytes`() throws {
    var first = try Archive.Writer.sample(branches: 3, leaves: 5)
    var second = try Archive.Writer.sample(branches: 3, leaves: 5)
    #expect(try first.makeArchive() == second.makeArchive())
    let node = try #require(try first.roots.first)
    try first.set(node, 99)
    try second.set(node, 99)
    #expect(try first.makeDelta() == second.makeDelta())
  }

  @Test func `an archive has the same bytes whether its writer knew how much comes before the records or not`() throws {
    var writer = try Archive.Writer.sample(branches: 400, leaves: 1)
    let first = try writer.makeArchive()
    #expect(try writer.makeArchive() == first)
    var continuing = try Archive.Writer(continuing: Archive.Reader(base: .init(first), deltas: []))
    #expect(try continuing.makeArchive() == first)
  }

  @Test func `nodes may be changed in any order`() throws {
    var writer = try Archive.Writer.sample(branches: 100, leaves: 99)
    let base = try writer.makeArchive()
    let count = writer.nodeCount
    // By steps that meet each number once: first those that a list of few does not reach.
    let order = (0..<count).map { ($0 * 7_919 + 9_973) % count }
    var inOrder = try Archive.Writer(continuing: Archive.Reader(base: .init(base), deltas: []))
    var anyhow = inOrder
    for number in 0..<count { try inOrder.set(NodeID(rawValue: UInt32(number)), number + 1) }
    for number in order { try anyhow.set(NodeID(rawValue: UInt32(number)), number + 1) }
    #expect(try inOrder.makeArchive() == anyhow.makeArchive())
    for number in order.prefix(500) { try anyhow.set(NodeID(rawValue: UInt32(number)), number) }
    let delta = try #require(try anyhow.makeDelta())
    let archive = try inOrder.makeArchive()
    let reader = try Archive.Reader(base: .init(archive), deltas: [delta])
    for (place, number) in order.prefix(600).enumerated() {
      let record = try reader.record(of: NodeID(rawValue: UInt32(number)))
      #expect(try record.decode(Int.self, forKey: "number") == (place < 500 ? number : number + 1))
    }
  }

  @Test func `many classes are told apart`() throws {
    var writer = Archive.Writer(context: .sample)
    var nodes: [NodeID] = []
    for number in 0..<40 {
      nodes.append(
        try writer.insert("\(number)", attributes: .init(classTag: RestorationArchive.ClassTag("class \(number)"))))
    }
    let base = try writer.makeArchive()
    try writer.setAttributes(.init(classTag: "class 39"), of: nodes[0])
    try writer.setAttributes(.init(classTag: "class 3"), of: nodes[1])
    try writer.setAttributes(.init(classTag: "a new class"), of: nodes[2])
    let delta = try #require(try writer.makeDelta())
    let reader = try Archive.Reader(base: .init(base), deltas: [delta])
    let tags = try nodes.map { try reader.node($0)?.attributes.classTag?.rawValue }
    #expect(tags == ["class 39", "class 3", "a new class"] + (3..<40).map { "class \($0)" })
  }

  @Test func `nothing changed makes no delta, and neither does the same state again`() throws {
    var writer = try Archive.Writer.sample(branches: 2, leaves: 2)
    _ = try writer.makeArchive()
    #expect(!writer.hasChanges)
    #expect(try writer.makeDelta() == nil)
    let node = try #require(try writer.roots.first)
    try writer.set(node, 0)
    writer.context.timeSaved += 60
    #expect(!writer.hasChanges)
    #expect(try writer.makeDelta() == nil)
  }

  @Test func `one changed node of ten thousand makes a delta of a few hundred bytes`() throws {
    var writer = try Archive.Writer.sample(branches: 100, leaves: 99)
    let base = try writer.makeArchive()
    let node = try #require(try writer.child(of: try writer.roots[50], identifier: "document 50.7"))
    try writer.set(node, 123)
    let delta = try #require(try writer.makeDelta())
    #expect(delta.count < 400, "\(delta.count) bytes")
    let counted = CountedBytes(base)
    let reader = try Archive.Reader(base: counted.source, deltas: [delta])
    let record = try #require(try reader.record(at: ["container 50", "document 50.7"]))
    #expect(try record.decode(Int.self, forKey: "number") == 123)
    #expect(counted.chunks.count <= 6)
  }

  @Test func `of a long journal the newest state of each node is read`() throws {
    var writer = try Archive.Writer.sample(branches: 10, leaves: 99)
    let base = try writer.makeArchive()
    var deltas: [Data] = []
    var random = SplitMix64(seed: 7)
    var expected: [NodeID: Int] = [:]
    for number in 0..<1_023 {
      let id = NodeID(rawValue: UInt32.random(in: 0..<1_000, using: &random))
      try writer.set(id, 10_000 + number)
      expected[id] = 10_000 + number
      deltas.append(try #require(try writer.makeDelta()))
    }
    let reader = try Archive.Reader(base: Archive.Source(base), deltas: deltas)
    for (id, number) in expected {
      #expect(try reader.record(of: id).decode(Int.self, forKey: "number") == number)
      #expect(try reader.record(at: reader.path(of: id)).map { try $0.decode(forKey: "number") } == number)
    }
  }

  @Test func `what nobody touched is carried over byte for byte, through deltas and compaction`() throws {
    var writer = try Archive.Writer.sample(branches: 5, leaves: 20)
    let base = try writer.makeArchive()
    let old = try Archive.Reader(base: Archive.Source(base))
    var continued = try Archive.Writer(continuing: old)
    let touched = try #require(try continued.roots.last)
    try continued.setRecord(
      of: touched, entries: [Archive.Entry(key: "an entirely new key", value: ["a": 1])], attributes: .init())
    let new = try Archive.Reader(base: Archive.Source(try continued.makeArchive()))
    #expect(new.nodeCount == old.nodeCount)
    var blocks = 0
    for root in try old.roots {
      for id in [root] + (try old.children(of: root)) where id != touched {
        #expect(try new.node(id) == old.node(id))
        let (mine, theirs) = (try new.record(of: id), try old.record(of: id))
        #expect(mine.keys == theirs.keys)
        #expect(
          try mine.decode(SampleState.self, forKey: "state") == theirs.decode(SampleState.self, forKey: "state"))
        blocks += 1
      }
    }
    #expect(blocks == 104)
    #expect(try new.record(of: touched).decode([String: Int].self, forKey: "an entirely new key") == ["a": 1])
  }

  @Test func `numbers stay those of their nodes through compaction, and those of removed nodes do not come back`()
    throws
  {
    var writer = Archive.Writer(context: .sample)
    let first = try writer.insert("first")
    let second = try writer.insert("second")
    try writer.remove(first)
    var continued = try Archive.Writer(continuing: Archive.Reader(base: Archive.Source(try writer.makeArchive())))
    let third = try continued.insert("first")
    #expect(third != first && third != second)
    let reader = try Archive.Reader(base: Archive.Source(try continued.makeArchive()))
    #expect(try reader.node(second)?.identifier == "second")
    #expect(try reader.node(first) == nil)
    #expect(try reader.roots == [second, third])
  }

  @Test func `the lowest priority is shed first, then the biggest, and the owners are named`() throws {
    var limits = Archive.Limits.default
    limits.bytesPerArchive = 1_000
    var writer = Archive.Writer(context: .sample, limits: limits)
    let parent = try writer.insert("parent")
    let priorities: [RestorationArchive.Priority] = [.high, .low, .normal, .low, .required]
    for (index, priority) in priorities.enumerated() {
      let node = try writer.insert("child \(index)", parent: parent)
      try writer.setRecord(
        of: node, entries: [Archive.Entry(key: "text", value: String(repeating: "x", count: 300 + index))],
        attributes: Archive.Attributes(priority: priority))
    }
    let reader = try Archive.Reader(base: Archive.Source(try writer.makeArchive()))
    let sheddings = writer.takeSheddings()
    #expect(sheddings.map(\.path.last) == ["child 3", "child 1"])
    #expect(sheddings.allSatisfy { $0.isLeftOut && $0.budget == .archive && $0.priority == .low })
    #expect(reader.liveBytes <= 1_000)
    #expect(try reader.record(at: ["parent", "child 3"])?.isEmpty == true)
    #expect(try reader.node(at: ["parent", "child 3"])?.attributes.flags == .shed)
    #expect(try reader.record(at: ["parent", "child 2"])?.isEmpty == false)
    #expect(writer.takeSheddings().isEmpty)
  }

  @Test(arguments: RestorationArchive.Priority.allCases)
  func `state over the budget of a node is left out unless it is required`(priority: RestorationArchive.Priority) throws
  {
    var limits = Archive.Limits.default
    limits.bytesPerNode = 100
    var writer = Archive.Writer(context: .sample, limits: limits)
    let node = try writer.insert("node")
    try writer.setRecord(
      of: node, entries: [Archive.Entry(key: "text", value: String(repeating: "x", count: 200))],
      attributes: Archive.Attributes(priority: priority))
    let shedding = try #require(writer.takeSheddings().first)
    #expect(shedding.path == ["node"] && shedding.budget == .node)
    #expect(shedding.isLeftOut == (priority != .required))
    let reader = try Archive.Reader(base: Archive.Source(try writer.makeArchive()))
    #expect(try reader.record(of: node).isEmpty == shedding.isLeftOut)
  }

  @Test func `values that cannot be encoded leave the node as it was and name its path`() throws {
    struct Unwilling: Encodable {
      struct Refusal: Error {}
      func encode(to encoder: any Encoder) throws { throw Refusal() }
    }
    var writer = try Archive.Writer.sample(branches: 1, leaves: 1)
    let node = try #require(try writer.roots.first)
    do {
      try writer.setRecord(of: node, entries: [Archive.Entry(key: "no", value: Unwilling())], attributes: .init())
      Issue.record("it was encoded")
    } catch {
      #expect(error.code == .encodingFailed)
      #expect(error.path == ["container 0"])
    }
    let reader = try Archive.Reader(base: Archive.Source(try writer.makeArchive()))
    #expect(try reader.record(of: node).decode(Int.self, forKey: "number") == 0)
  }

  @Test func `limits of nodes and levels are kept`() throws {
    var limits = Archive.Limits.default
    limits.nodeCount = 3
    limits.depth = 2
    var writer = Archive.Writer(context: .sample, limits: limits)
    let root = try writer.insert("root")
    let child = try writer.insert("child", parent: root)
    #expect(throws: ArchiveError.self) { try writer.insert("deeper", parent: child) }
    let other = try writer.insert("other")
    #expect(throws: ArchiveError.self) { try writer.insert("one too many") }
    #expect(throws: ArchiveError.self) { try writer.move(root, to: other) }
    #expect(throws: ArchiveError.self) { try writer.move(root, to: child) }
    let bytes = try writer.makeArchive()
    limits.nodeCount = 2
    #expect(throws: ArchiveError.self) { try Archive.Reader(base: Archive.Source(bytes), limits: limits) }
  }

  @Test func `a delta of another base, or out of order, is refused`() throws {
    var writer = try Archive.Writer.sample(branches: 2, leaves: 2)
    var other = try Archive.Writer.sample(branches: 2, leaves: 3)
    let base = try writer.makeArchive()
    let otherBase = try other.makeArchive()
    let node = try #require(try writer.roots.first)
    try writer.set(node, 5)
    let first = try #require(try writer.makeDelta())
    try writer.set(node, 6)
    let second = try #require(try writer.makeDelta())
    for (base, deltas) in [(otherBase, [first]), (base, [second]), (base, [second, first]), (base, [first, first])] {
      #expect { try Archive.Reader(base: Archive.Source(base), deltas: deltas) } throws: { error in
        (error as? ArchiveError)?.code == .wrongBase
      }
    }
    var fresh = Archive.Writer(context: .sample)
    _ = try fresh.insert("node")
    #expect(throws: ArchiveError.self) { try fresh.makeDelta() }
  }

  @Test func `a changed context is told by deltas`() throws {
    var writer = try Archive.Writer.sample(branches: 1, leaves: 1)
    let base = try writer.makeArchive()
    writer.context.versionTag = "red"
    writer.context.timeSaved += 10
    let first = try #require(try writer.makeDelta())
    try writer.set(try writer.roots[0], 9)
    writer.context.timeSaved += 10
    let second = try #require(try writer.makeDelta())
    var expected = Archive.Context.sample
    expected.versionTag = "red"
    expected.timeSaved += 20
    #expect(try Archive.Reader(base: Archive.Source(base), deltas: [first, second]).context == expected)
    #expect(second.count < first.count + 400)
  }
}
