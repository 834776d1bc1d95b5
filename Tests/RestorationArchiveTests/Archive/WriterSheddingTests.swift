import FoundationEssentials
import RestorationArchive
import SeededRandom
import Testing

/// What goes when a change brings the archive over its budget.
struct WriterSheddingTests {
  /// An archive on disk and the writer that goes on with it, which makes deltas as long as it can.
  private struct Saved {
    var writer: Archive.Writer
    var base: Data
    var deltas: [Data] = []

    /// Begins with an archive of nodes with state.
    init(budget: Int, _ nodes: [(RestorationIdentifier, RestorationArchive.Priority, Int?)]) throws {
      writer = Archive.Writer(context: .sample, limits: Archive.Limits(bytesPerArchive: budget))
      for (identifier, priority, byteCount) in nodes {
        let node = try writer.insert(identifier, attributes: .init(priority: priority))
        if let byteCount { try writer.set(node, priority, byteCount) }
      }
      base = try writer.makeArchive()
    }

    /// Goes on with what another one has on disk.
    init(continuing other: Saved, budget: Int) throws {
      (base, deltas) = (other.base, other.deltas)
      writer = try Archive.Writer(continuing: other.reader, limits: Archive.Limits(bytesPerArchive: budget))
    }

    var reader: Archive.Reader { get throws { try Archive.Reader(base: Archive.Source(base), deltas: deltas) } }

    /// Changes a node's state and saves; returns what was over the budget.
    mutating func set(
      _ identifier: RestorationIdentifier, _ byteCount: Int, _ priority: RestorationArchive.Priority = .normal
    ) throws -> [Archive.Shedding] {
      _ = writer.takeSheddings()
      try writer.set(try #require(try writer.child(of: nil, identifier: identifier)), priority, byteCount)
      try save()
      return writer.takeSheddings()
    }

    mutating func save() throws {
      do {
        if let delta = try writer.makeDelta() { deltas.append(delta) }
      } catch {
        guard error.code == .limitExceeded else { throw error }
        (base, deltas) = (try writer.makeArchive(), [])
      }
    }

    /// The nodes whose state is there.
    var stored: [RestorationIdentifier] {
      get throws {
        try reader.nodesWithState.map(\.identifier)
      }
    }
  }

  @Test func `a change takes the room of the lowest priority, and keeps its own state`() throws {
    var saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 5_000)])
    let sheddings = try saved.set("normal", 16_000)
    #expect(sheddings.map(\.path) == [["low"]])
    #expect(try saved.stored == ["normal"])
    #expect(try saved.reader.node(at: ["low"])?.attributes.flags == .shed)
    #expect(try saved.reader.liveBytes > 16_000)
  }

  @Test func `a change that is of the lowest priority itself is what goes`() throws {
    var saved = try Saved(budget: 20_000, [("low", .low, 5_000), ("normal", .normal, 9_000)])
    #expect(try saved.set("low", 16_000, .low).map(\.path) == [["low"]])
    #expect(try saved.stored == ["normal"])
  }

  @Test func `what was left out may be tried again and again without an archive each time`() throws {
    var saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("less", .low, 1_000), ("normal", .normal, 16_000)])
    for round in 1...5 {
      #expect(try saved.set("low", 9_000 + round, .low).map(\.path) == [["low"]])
      #expect(saved.deltas.count == round)
      #expect(try saved.stored == ["less", "normal"])
    }
  }

  @Test func `required state over the budget is told of, and saved without an archive each time`() throws {
    var saved = try Saved(budget: 1_000, [("a", .required, 900), ("b", .required, 900), ("normal", .normal, 100)])
    for round in 1...5 {
      let sheddings = try saved.set("a", 900 + round, .required)
      #expect(sheddings.map(\.path) == [["a"]] && sheddings.allSatisfy { !$0.isLeftOut })
      #expect(saved.deltas.count == round)
      #expect(try saved.stored == ["a", "b"])
    }
    #expect(try saved.set("normal", 50).map(\.path) == [["normal"]])
    #expect(try saved.stored == ["a", "b"])
  }

  @Test func `what was left out comes back by itself when there is room`() throws {
    var saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 5_000)])
    let before = try saved.reader.record(at: ["low"])?.decode(String.self, forKey: "text")
    #expect(try saved.set("normal", 16_000).map(\.path) == [["low"]])
    #expect(try saved.stored == ["normal"])
    #expect(try saved.set("normal", 5_000).isEmpty)
    #expect(try saved.stored == ["low", "normal"])
    #expect(try saved.reader.node(at: ["low"])?.attributes.flags == [])
    #expect(try saved.reader.record(at: ["low"])?.decode(String.self, forKey: "text") == before)
    #expect(saved.deltas.count == 1)
    // It is there again, so it goes first again.
    #expect(try saved.set("normal", 16_000).map(\.path) == [["low"]])
    #expect(try saved.stored == ["normal"])
  }

  @Test func `what nobody touched since it was read comes back as well`() throws {
    let before = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 5_000)])
    var saved = try Saved(continuing: before, budget: 20_000)
    #expect(try saved.set("normal", 16_000).map(\.path) == [["low"]])
    #expect(try saved.set("normal", 16_001).isEmpty)
    #expect(try saved.stored == ["normal"])
    // A whole archive takes the place of what it was read from.
    (saved.base, saved.deltas) = (try saved.writer.makeArchive(), [])
    try saved.writer.remove(try #require(try saved.writer.child(of: nil, identifier: "normal")))
    try saved.save()
    #expect(try saved.stored == ["low"])
    #expect(try saved.reader.record(at: ["low"])?.decode(String.self, forKey: "text").count == 9_000)
  }

  @Test func `what was left out comes back to an archive of more nodes than a writer remembers`() throws {
    var saved = try Saved(budget: 1_000, [("low", .low, 800), ("normal", .normal, 400)])
    for number in 0..<1 << 16 { _ = try saved.writer.insert(RestorationIdentifier("\(number)")) }
    saved.base = try saved.writer.makeArchive()
    #expect(try saved.stored == ["normal"])
    #expect(try saved.writer.child(of: nil, identifier: "low") == saved.writer.roots.first)
    #expect(try saved.set("normal", 10).isEmpty)
    #expect(try saved.stored == ["low", "normal"])
    #expect(saved.deltas.count == 1)
  }

  @Test func `what is left out is as it was for whoever asks the writer`() throws {
    let saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 16_000)])
    let low = try #require(try saved.writer.child(of: nil, identifier: "low"))
    #expect(try saved.stored == ["normal"])
    #expect(try saved.writer.node(low)?.attributes.flags == [])
    #expect(try #require(try saved.writer.node(low)).byteCount > 9_000)
    #expect(try saved.reader.node(low)?.byteCount == 0)
  }

  @Test func `the same state again, left out again, is no change`() throws {
    var saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 16_000)])
    #expect(saved.writer.takeSheddings().map(\.path) == [["low"]])
    #expect(try saved.set("low", 9_000, .low).isEmpty)
    #expect(try saved.set("normal", 16_000).isEmpty)
    #expect(!saved.writer.hasChanges && saved.deltas.isEmpty)
    #expect(try saved.set("normal", 15_999).isEmpty)
    #expect(saved.deltas.count == 1)
  }

  @Test func `what could not be stored has left nothing out`() throws {
    for makesArchive in [false, true] {
      var saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 5_000)])
      // It learns what matters least, so that it can make deltas over the budget.
      _ = try saved.set("normal", 16_000)
      _ = try saved.set("low", 1_000, .low)
      let (low, normal) = (try saved.writer.roots[0], try saved.writer.roots[1])
      try saved.writer.set(low, .low, 1_001)
      try saved.writer.set(normal, .normal, 19_500)
      _ = makesArchive ? try saved.writer.makeArchive() : try saved.writer.makeDelta()
      // Neither was stored, and nobody was told.
      try saved.writer.set(normal, .normal, 19_501)
      var another = saved.writer
      #expect(try another.stored() == [normal])
      #expect(another.takeSheddings().map(\.node) == [low])
      try saved.writer.set(normal, .normal, 5_000)
      #expect(try saved.writer.stored() == [low, normal])
      #expect(saved.writer.takeSheddings().isEmpty)
    }
  }

  @Test func `what was kept over the budget in an archive that could not be stored is not told of`() throws {
    var saved = try Saved(budget: 1_000, [("a", .required, 900), ("b", .required, 900)])
    try saved.writer.set(try saved.writer.roots[0], .required, 50)
    _ = try saved.writer.makeArchive()
    #expect(saved.writer.takeSheddings().isEmpty)
  }

  @Test func `a change that is only read leaves nothing out`() throws {
    var saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 5_000)])
    try saved.writer.set(try #require(try saved.writer.roots.last), .normal, 16_000)
    saved.deltas.append(try #require(try saved.writer.makeDeltaOverBudget()))
    #expect(try saved.stored == ["low", "normal"])
    #expect(saved.writer.takeSheddings().isEmpty)
    // Nor does it leave out what the save before has.
    _ = try saved.set("normal", 16_001)
    #expect(try saved.stored == ["normal"])
    try saved.writer.set(try #require(try saved.writer.roots.last), .normal, 16_002)
    saved.deltas.append(try #require(try saved.writer.makeDeltaOverBudget()))
    #expect(try saved.stored == ["low", "normal"])
  }

  @Test func `an archive that is only read leaves nothing out, and is not taken for stored`() throws {
    var saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 5_000)])
    try saved.writer.set(try #require(try saved.writer.roots.last), .normal, 16_000)
    for _ in 0..<2 {
      let all = try Archive.Reader(base: Archive.Source(try saved.writer.makeArchiveOverBudget()))
      #expect(try all.nodesWithState.map(\.byteCount).allSatisfy { $0 > 8_000 })
      #expect(try all.nodesWithState.map(\.identifier) == ["low", "normal"])
    }
    #expect(saved.writer.hasChanges)
    try saved.save()
    #expect(try saved.stored == ["normal"])
    let all = try Archive.Reader(base: Archive.Source(try saved.writer.makeArchiveOverBudget()))
    #expect(try all.nodesWithState.map(\.identifier) == ["low", "normal"])
    #expect(!saved.writer.hasChanges)
  }

  @Test(arguments: 0..<24 as Range<UInt64>)
  func `a delta leaves out what an archive would`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let names = (0..<8).map { RestorationIdentifier("\($0)") }
    var saved = try Saved(budget: 1_000, names.map { ($0, .normal, 50) })
    var states = names.map { (name: $0, priority: RestorationArchive.Priority.normal, byteCount: Int?.some(50)) }
    var deltaCount = 0
    for round in 0..<100 {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = names.indices.randomElement(using: &random)!
        let node = try #require(try saved.writer.child(of: nil, identifier: names[index]))
        let priority = RestorationArchive.Priority.allCases.randomElement(using: &random)!
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<2:
          states[index].priority = priority
          try saved.writer.setAttributes(Archive.Attributes(priority: priority), of: node)
        case 2:
          let other = names.indices.randomElement(using: &random)!
          guard other != index else { continue }
          let target = try #require(try saved.writer.child(of: nil, identifier: names[other]))
          try saved.writer.moveState(of: node, to: target)
          (states[other].byteCount, states[index].byteCount) = (states[index].byteCount, nil)
        case 3:
          try saved.writer.removeState(of: node)
          states[index].byteCount = nil
        default:
          let byteCount = Int.random(in: 0..<400, using: &random)
          (states[index].priority, states[index].byteCount) = (priority, byteCount)
          try saved.writer.set(node, priority, byteCount)
        }
      }
      _ = saved.writer.takeSheddings()
      var other = saved.writer
      let whole = try Archive.Reader(base: Archive.Source(try other.makeArchive()))
      try saved.save()
      let reader = try saved.reader
      for root in try whole.roots {
        #expect(try reader.node(root) == whole.node(root), "seed \(seed), round \(round)")
      }
      #expect(saved.writer.takeSheddings().filter(\.isLeftOut) == other.takeSheddings().filter(\.isLeftOut))
      #expect(reader.liveBytes == whole.liveBytes && saved.writer.liveBytes == whole.liveBytes)
      // Nor does it matter what was left out before.
      #expect(try saved.stored == Saved(budget: 1_000, states).stored, "seed \(seed), round \(round)")
      deltaCount += saved.deltas.isEmpty ? 0 : 1
    }
    #expect(deltaCount > 0)
  }
}

extension RestorationArchive.Writer {
  /// Gives a node a state of about so many bytes.
  fileprivate mutating func set(_ id: NodeID, _ priority: RestorationArchive.Priority, _ byteCount: Int) throws {
    try setRecord(
      of: id, entries: [RestorationArchive.Entry(key: "text", value: String(repeating: "x", count: byteCount))],
      attributes: RestorationArchive.Attributes(priority: priority))
  }

  /// The nodes whose state is in the next archive.
  fileprivate mutating func stored() throws -> [NodeID] {
    try Archive.Reader(base: Archive.Source(try makeArchive())).nodesWithState.map(\.id)
  }
}

extension RestorationArchive.Reader {
  /// The roots whose state is there.
  fileprivate var nodesWithState: [RestorationArchive.Node] {
    get throws { try roots.compactMap { try node($0) }.filter { $0.byteCount > 0 } }
  }
}
