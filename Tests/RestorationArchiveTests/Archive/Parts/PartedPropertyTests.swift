import FoundationEssentials
import RestorationArchive
import SeededRandom
import TestTraits
import Testing

/// Random changes of a tree in one part beside those of the same tree in several.
struct PartedPropertyTests {
  @Test(
    .notUnderAddressSanitizer("the same code, thousands of times"), arguments: 1...4, 0..<12 as Range<UInt64>)
  func `a tree of several parts is that of one part, whatever is changed, saved, away and attached`(
    parts: Int, seed: UInt64
  ) throws {
    var twins = PartedTwins(parts: parts, seed: seed &* 4 &+ UInt64(parts))
    var random = SplitMix64(seed: seed &+ 1000)
    for round in 0..<30 {
      let place: Comment = "parts \(parts), seed \(seed), round \(round)"
      for _ in 0..<Int.random(in: 0..<14, using: &random) {
        try twins.edit()
        try twins.compare("\(place): \(twins.last)")
      }
      guard Bool.random(using: &random) else { continue }
      if !twins.parted.away.isEmpty {
        if Bool.random(using: &random) { try twins.attachAll(place) }
        try twins.save(reopening: false, away: [], place)
        continue
      }
      let away = Set(twins.parts.dropFirst().filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
      try twins.save(reopening: Bool.random(using: &random), away: away, place)
    }
    try twins.attachAll("parts \(parts), seed \(seed)")
    try twins.save(reopening: true, away: [], "parts \(parts), seed \(seed)")
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `one part has the bytes of a plain archive`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var plain = Archive.Writer(context: .sample)
    var parted = Archive.PartedWriter(context: .sample)
    var nodes: [NodeID?] = [nil]
    var (base, deltas): (Data, [Data]) = (Data(), [])
    for round in 0..<20 {
      for number in 0..<8 {
        let (name, parent) = (RestorationIdentifier("\(round).\(number)"), nodes.randomElement(using: &random)!)
        nodes.append(try plain.insert(name, parent: parent))
        #expect(try parted.insert(name, parent: parent) == nodes.last)
        guard let node = nodes.randomElement(using: &random)! else { continue }
        let entries = PartedTwins.entries(Int.random(in: 0..<40, using: &random))
        try plain.setRecord(of: node, entries: entries, attributes: .init(classTag: "tag \(number % 3)"))
        try parted.setRecord(of: node, entries: entries, attributes: .init(classTag: "tag \(number % 3)"))
      }
      plain.context.timeSaved += 1
      parted.context.timeSaved += 1
      if round.isMultiple(of: 6) {
        (base, deltas) = (try plain.makeArchive(), [])
        #expect(try parted.makeArchive(of: .first) == base)
      } else {
        deltas.append(try #require(try plain.makeDelta()))
        #expect(try parted.makeDelta(of: .first) == deltas.last)
      }
      if round % 5 == 4 {
        let reader = try Archive.Reader(base: .init(base), deltas: deltas)
        plain = try Archive.Writer(continuing: reader)
        parted = try Archive.PartedWriter(continuing: Archive.PartedReader(reader))
      }
    }
  }
}
