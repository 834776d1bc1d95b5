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
    init(budget: Int, _ nodes: [(RestorationIdentifier, PreservationPriority, Int)]) throws {
      writer = Archive.Writer(context: .sample, limits: Archive.Limits(bytesPerArchive: budget))
      for (identifier, priority, byteCount) in nodes {
        try writer.set(try writer.insert(identifier), priority, byteCount)
      }
      base = try writer.makeArchive()
    }

    var reader: Archive.Reader { get throws { try Archive.Reader(base: Archive.Source(base), deltas: deltas) } }

    /// Changes a node's state and saves; returns what was over the budget.
    mutating func set(
      _ identifier: RestorationIdentifier, _ byteCount: Int, _ priority: PreservationPriority = .normal
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
        let reader = try reader
        return try reader.roots.compactMap { try reader.node($0) }.filter { $0.byteCount > 0 }.map(\.identifier)
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

  @Test func `what was left out comes back with its next record when there is room`() throws {
    var saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 16_000)])
    #expect(try saved.stored == ["normal"])
    #expect(try saved.set("normal", 5_000).isEmpty)
    #expect(try saved.set("low", 9_000, .low).isEmpty)
    #expect(try saved.stored == ["low", "normal"])
    #expect(try saved.reader.node(at: ["low"])?.attributes.flags == [])
    #expect(saved.deltas.count == 2)
    // It is there again, so it goes first again.
    #expect(try saved.set("normal", 16_000).map(\.path) == [["low"]])
    #expect(try saved.stored == ["normal"])
  }

  @Test func `a change that is only read leaves nothing out`() throws {
    var saved = try Saved(budget: 20_000, [("low", .low, 9_000), ("normal", .normal, 5_000)])
    try saved.writer.set(try #require(try saved.writer.roots.last), .normal, 16_000)
    saved.deltas.append(try #require(try saved.writer.makeDeltaOverBudget()))
    #expect(try saved.stored == ["low", "normal"])
    #expect(saved.writer.takeSheddings().isEmpty)
  }

  @Test(arguments: 0..<24 as Range<UInt64>)
  func `a delta leaves out what an archive would`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let names = (0..<8).map { RestorationIdentifier("\($0)") }
    var saved = try Saved(budget: 1_000, names.map { ($0, .normal, 50) })
    var deltaCount = 0
    for round in 0..<100 {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let node = try #require(try saved.writer.child(of: nil, identifier: names.randomElement(using: &random)!))
        let priority = PreservationPriority.allCases.randomElement(using: &random)!
        if Int.random(in: 0..<4, using: &random) == 0 {
          try saved.writer.setAttributes(Archive.Attributes(priority: priority), of: node)
        } else {
          try saved.writer.set(node, priority, Int.random(in: 0..<400, using: &random))
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
      deltaCount += saved.deltas.isEmpty ? 0 : 1
    }
    #expect(deltaCount > 0)
  }
}

extension RestorationArchive.Writer {
  /// Gives a node a state of about so many bytes.
  fileprivate mutating func set(_ id: NodeID, _ priority: PreservationPriority, _ byteCount: Int) throws {
    try setRecord(
      of: id, entries: [RestorationArchive.Entry(key: "text", value: String(repeating: "x", count: byteCount))],
      attributes: RestorationArchive.Attributes(priority: priority))
  }
}
