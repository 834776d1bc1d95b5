import FoundationEssentials
import RestorationArchive
import SeededRandom
import TestTraits
import Testing

/// Random edits of a writer beside those of a model: whatever it makes must read back as the model is.
struct WriterPropertyTests {
  @Test(.notUnderAddressSanitizer("the same code, thousands of times"), arguments: 0..<24 as Range<UInt64>)
  func `any edits read back as a model of them, from archives, deltas and continued writers`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var writer = Archive.Writer(context: .sample)
    var model = TreeModel()
    var base = try writer.makeArchive()
    var deltas: [Data] = []
    for round in 0..<40 {
      for _ in 0..<Int.random(in: 0..<12, using: &random) { try edit(&writer, &model, &random) }
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        base = try writer.makeArchive()
        deltas = []
      case 1:
        if let delta = try writer.makeDelta() { deltas.append(delta) }
        writer = try Archive.Writer(continuing: try Archive.Reader(base: Archive.Source(base), deltas: deltas))
      default:
        let hadChanges = writer.hasChanges
        let delta = try writer.makeDelta()
        #expect((delta != nil) == hadChanges)
        if let delta { deltas.append(delta) }
      }
      let reader = try Archive.Reader(base: Archive.Source(base), deltas: deltas)
      try check(reader, model, "seed \(seed), round \(round)")
      #expect(writer.nodeCount == model.nodes.count && writer.liveBytes == reader.liveBytes)
      #expect(writer.deltaBytes == deltas.reduce(0) { $0 + $1.count })
    }
  }

  /// Half of them are two spellings that Unicode calls equivalent.
  private static let names: [RestorationIdentifier] =
    (0..<10).map { "n\($0)" } + (0..<5).flatMap { ["\u{f6}\($0)", "o\u{308}\($0)"] }

  /// The state of a number; one in ten is large.
  private static func entries(_ number: Int) -> [Archive.Entry] {
    [Archive.Entry(key: "state", value: SampleState(number)), Archive.Entry(key: "text", value: text(number))]
  }

  private static func text(_ number: Int) -> String {
    String(repeating: "\(number % 10)", count: number % 10 == 9 ? number * 6_000 : number)
  }

  private func edit(_ writer: inout Archive.Writer, _ model: inout TreeModel, _ random: inout SplitMix64) throws {
    let some = model.nodes.keys.sorted()
    let target = some.randomElement(using: &random)
    let parent = Int.random(in: 0..<3, using: &random) == 0 ? nil : some.randomElement(using: &random)
    let name = Self.names[Int.random(in: 0..<20, using: &random)]
    switch Int.random(in: 0..<16, using: &random) {
    case 13:
      guard let target, let other = some.randomElement(using: &random) else { return }
      try writer.moveState(of: target, to: other)
      let number = model.nodes[target]?.number
      model.nodes[target]?.number = nil
      model.nodes[other]?.number = number
    case 14:
      guard let target else { return }
      try writer.removeState(of: target)
      model.nodes[target]?.number = nil
    case 15:
      guard let target else { return }
      let number = [model.nodes[target]?.number, Int.random(in: 0..<50, using: &random)].randomElement(using: &random)!
      let entries = number.map(Self.entries) ?? []
      #expect(try writer.hasRecord(of: target, entries: entries) == (model.nodes[target]?.number == number))
    case 10..<13:
      guard let target, let sibling = model.nodes[target] else { return }
      if model.hasChild(name, under: sibling.parent) {
        #expect(throws: ArchiveError.self) { try writer.insert(name, before: target) }
      } else {
        let place = try #require(model.children(of: sibling.parent).firstIndex(of: target))
        model.insert(try writer.insert(name, before: target), name, parent: sibling.parent, at: place)
      }
    case 0..<4:
      let place = Int.random(in: 0...model.children(of: parent).count, using: &random)
      if model.hasChild(name, under: parent) {
        #expect(throws: ArchiveError.self) { try writer.insert(name, parent: parent) }
      } else {
        model.insert(try writer.insert(name, parent: parent, at: place), name, parent: parent, at: place)
      }
    case 4..<7:
      guard let target else { return }
      let number = Int.random(in: 0..<50, using: &random)
      let attributes = Archive.Attributes(classTag: "document", version: 2)
      try writer.setRecord(of: target, entries: Self.entries(number), attributes: attributes)
      model.nodes[target]?.number = number
    case 7:
      guard let target else { return }
      let place = Int.random(in: 0..<4, using: &random)
      let isTaken =
        model.nodes[target]?.parent != parent && model.hasChild(model.nodes[target]!.name, under: parent)
      if isTaken || parent.map({ model.isBelow($0, target) }) == true {
        #expect(throws: ArchiveError.self) { try writer.move(target, to: parent, at: place) }
      } else {
        try writer.move(target, to: parent, at: place)
        model.move(target, to: parent, at: place)
      }
    case 8:
      guard let target, let node = model.nodes[target], node.name != name else { return }
      if model.hasChild(name, under: node.parent) {
        #expect(throws: ArchiveError.self) { try writer.rename(target, to: name) }
      } else {
        try writer.rename(target, to: name)
        model.nodes[target]?.name = name
      }
    default:
      guard let target, Int.random(in: 0..<3, using: &random) == 0 else { return }
      try writer.remove(target)
      model.remove(target)
    }
  }

  private func check(_ reader: Archive.Reader, _ model: TreeModel, _ place: Comment) throws {
    #expect(reader.nodeCount == model.nodes.count, place)
    #expect(try reader.roots == model.roots, place)
    for (id, expected) in model.nodes {
      let node = try #require(try reader.node(id), place)
      #expect(node.identifier == expected.name && node.parent == expected.parent, place)
      #expect(try reader.children(of: id) == expected.children, place)
      let path = model.path(of: id)
      #expect(try reader.path(of: id) == path, place)
      #expect(try reader.id(at: path) == id, "\(place): \(path)")
      let record = try reader.record(of: id)
      #expect(record.isEmpty == (expected.number == nil), place)
      if let number = expected.number {
        #expect(try record.decode(SampleState.self, forKey: "state") == SampleState(number), place)
        #expect(try record.decode(String.self, forKey: "text") == Self.text(number), place)
      }
    }
    for parent in [nil] + model.nodes.keys.map(Optional.some) {
      for name in Self.names.suffix(10) {
        let found = try reader.child(of: parent, identifier: name)
        #expect(found.flatMap { model.nodes[$0]?.name } == (model.hasChild(name, under: parent) ? name : nil), place)
      }
    }
    #expect(try reader.id(at: ["n0", "n1", "n2", "never"]) == nil, place)
    #expect(try reader.id(at: ["never"]) == nil, place)
  }
}
