import FoundationEssentials
import RestorationArchive
import Testing

@testable import StateRestoration

/// What a save does with records besides their values.
@Suite struct CommitRecordTests {
  private static let object = LiveObject(key: 1, identifier: "place")

  /// A draft with one object that was met, and given what is stored if that fits.
  private func draft(_ stored: StoredVariant, nodeBudget: Int = 64 << 10, isGiven: Bool) throws -> ArchiveDraft {
    let reader = try VariantTree.archive([("place", [stored])])
    var draft = try ArchiveDraft(continuing: reader, dormants: [], limits: .default, nodeBudget: nodeBudget)
    var batch = CaptureBatch()
    batch.isMeeting = true
    batch.place(Self.object, restored: isGiven ? try reader.roots.first : nil, over: try draft.own(of: Self.object))
    batch.record(Self.object, "B")
    _ = try draft.commit(batch)
    return draft
  }

  @Test func `a role is its container's, and no edit of a blank object`() throws {
    var draft = try draft(StoredVariant("S", tag: "b"), isGiven: false)
    var batch = CaptureBatch()
    batch.record(Self.object, "B")
    batch.records[0].role = "left"
    _ = try draft.commit(batch)
    #expect(try VariantTree.text(of: draft) == "place:S")
    batch.records[0].entries[0] = .init(key: "value", value: "E")
    _ = try draft.commit(batch)
    #expect(try VariantTree.text(of: draft) == "place:E*|S")
  }

  @Test func `a record over the budget of one node is named by every save until it is smaller`() throws {
    var draft = try draft(StoredVariant("S"), nodeBudget: 100, isGiven: true)
    for (value, isOver) in [(String(repeating: "x", count: 200), true), ("small", false)] {
      var batch = CaptureBatch()
      batch.record(Self.object, value)
      for batch in [batch, CaptureBatch()] {
        let findings = try draft.commit(batch)
        #expect(findings.count == (isOver ? 1 : 0))
        guard case .overBudget(path: ["place"], _, limit: 100)? = findings.first else {
          #expect(!isOver)
          continue
        }
      }
    }
  }

  @Test func `what has no room is stored again when there is room`() throws {
    var limits = RestorationArchive.Limits.default
    limits.bytesPerNode = 100
    var draft = ArchiveDraft(
      context: RestorationConfiguration().context, limits: limits, nodeBudget: 64 << 10)
    for (value, isShed) in [(String(repeating: "x", count: 200), true), ("small", false)] {
      var batch = CaptureBatch()
      if isShed { batch.place(Self.object) }
      batch.record(Self.object, value)
      _ = try draft.commit(batch)
      let reader = try RestorationArchive.Reader(base: .init(try draft.writer.makeArchive()))
      let node = try #require(try reader.roots.first)
      #expect(try reader.record(of: node).contains("value") != isShed)
      #expect(try reader.node(node)?.attributes.flags.contains(.shed) == isShed)
    }
  }
}
