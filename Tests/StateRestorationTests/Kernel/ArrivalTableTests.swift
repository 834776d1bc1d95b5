import RestorationArchive
import Testing

@testable import StateRestoration

/// The table *Select* for objects that come without having been given state, by themselves or refused.
@Suite struct ArrivalTableTests {
  /// What is stored in the place; what the place is once the object has come by itself with the value E; what it is once it was
  /// refused, and edited to E afterwards.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var variants: @Sendable () -> [StoredVariant]
    var byItself: String
    var refused: String
    var refusedAndEdited: String

    init(
      _ name: String, _ byItself: String, refused: String, edited: String,
      _ variants: @escaping @Sendable () -> [StoredVariant]
    ) {
      (testDescription, self.variants) = (name, variants)
      (self.byItself, self.refused, refusedAndEdited) = (byItself, refused, edited)
    }
  }

  static let rows: [Row] = [
    Row("nothing", "place:E*", refused: "place:B*", edited: "place:E*") { [] },
    Row("fits", "place:E*(leaf:L)", refused: "place:S(leaf:L)", edited: "place:E*(leaf:L)|S") {
      [StoredVariant("S", [leaf])]
    },
    Row("fits, dormant", "place:E*(leaf:L)|X", refused: "place:X|S(leaf:L)", edited: "place:E*(leaf:L)|X|S") {
      [StoredVariant("X", tag: "b"), StoredVariant("S", [leaf])]
    },
    Row("other class", "place:E*|S(leaf:L)", refused: "place:S(leaf:L)", edited: "place:E*|S(leaf:L)") {
      [StoredVariant("S", tag: "b", [leaf])]
    },
    Row("other model", "place:E*|S(leaf:L)", refused: "place:S(leaf:L)", edited: "place:E*|S(leaf:L)") {
      [StoredVariant("S", model: "m1", [leaf])]
    },
    Row("left out", "place:E*|S(leaf:L)", refused: "place:S(leaf:L)", edited: "place:E*|S(leaf:L)") {
      [StoredVariant("S", flags: .leftOut, [leaf])]
    },
    Row("newer version", "place:E*|S(leaf:L)", refused: "place:S(leaf:L)", edited: "place:E*(leaf:L)|S") {
      [StoredVariant("S", version: 2, [leaf])]
    },
    Row("newer, older", "place:E*|S|O(leaf:L)", refused: "place:S|O(leaf:L)", edited: "place:E*|S|O(leaf:L)") {
      [StoredVariant("S", version: 2), StoredVariant("O", [leaf])]
    },
    Row("empty", "place:E*(leaf:L)", refused: "place:-(leaf:L)", edited: "place:E*(leaf:L)") {
      [StoredVariant(nil, [leaf])]
    },
    Row("two dormant", "place:E*|X|Y", refused: "place:X|Y", edited: "place:E*|X|Y") {
      [StoredVariant("X", tag: "b"), StoredVariant("Y", model: "m1")]
    },
  ]
  private static let leaf: (identifier: RestorationIdentifier, variants: [StoredVariant]) =
    ("leaf", [StoredVariant("L")])
  private static let parent = LiveObject(key: 1, identifier: "top")
  private static let late = LiveObject(key: 3, parent: 1, identifier: "late")
  private static let object = LiveObject(key: 2, parent: 1, identifier: "place", model: "m2")

  /// A draft with a live parent, the first in the table to be given its state.
  private func draft(_ row: Row, tag: RestorationClass = "a", version: StateVersion = 1) throws -> ArchiveDraft {
    var draft = try VariantTree.draft([
      ("top", [StoredVariant("P", tag: tag, version: version, [("place", row.variants())])])
    ])
    var batch = CaptureBatch()
    batch.isMeeting = true
    let isGiven = tag == "a" && version == 1
    let own = try draft.own(of: Self.parent)
    batch.place(Self.parent, restored: isGiven ? own : nil, over: own)
    batch.record(Self.parent, "P")
    _ = try draft.commit(batch)
    return draft
  }

  @Test(arguments: rows) func `an object that comes by itself is in front at once`(_ row: Row) throws {
    var batch = CaptureBatch()
    batch.place(Self.object)
    batch.record(Self.object, "E")
    for (version, parent) in [(StateVersion(1), "P*"), (2, "P")] {
      var draft = try draft(row, version: version)
      #expect(try draft.commit(batch).isEmpty)
      #expect(try VariantTree.text(of: draft) == "top:\(parent)(\(row.byItself))")
      #expect(try draft.hasConsistentBindings)
    }
    // Below a parent whose place is another's, it gets an ancestor of its own.
    var draft = try draft(row, tag: "b")
    let before = try VariantTree.text(of: draft).dropFirst("top:".count)
    #expect(try draft.commit(batch).isEmpty)
    #expect(try VariantTree.text(of: draft) == "top:P*(place:E*)|\(before)")
  }

  @Test(arguments: rows) func `an object that was refused is blank until it is edited`(_ row: Row) throws {
    var draft = try draft(row)
    var batch = CaptureBatch()
    batch.place(Self.object, over: try draft.own(of: Self.object, below: draft.writer.roots.first), wasRefused: true)
    batch.record(Self.object, "B")
    // As a turn that meets everything does.
    batch.isMeeting = true
    #expect(try draft.commit(batch).isEmpty)
    #expect(try VariantTree.text(of: draft) == "top:P*(\(row.refused))")
    batch = CaptureBatch()
    batch.record(Self.object, "E")
    #expect(try draft.commit(batch).isEmpty)
    #expect(try VariantTree.text(of: draft) == "top:P*(\(row.refusedAndEdited))")
    #expect(try draft.hasConsistentBindings)
  }

  @Test(arguments: rows) func `a late object that was refused is met as it is in its own turn`(_ row: Row) throws {
    var draft = try draft(row)
    var batch = CaptureBatch()
    batch.place(Self.object, over: try draft.own(of: Self.object, below: draft.writer.roots.first), wasRefused: true)
    batch.record(Self.object, "B")
    #expect(try draft.commit(batch).isEmpty)
    #expect(try VariantTree.text(of: draft) == "top:P*(\(row.refused))")
  }

  @Test(arguments: [("fits", "place:S(leaf:L)"), ("other class", "place:S(leaf:L)"), ("nothing", "place:-*")])
  func `an object that comes by itself and can't be encoded pushes nothing aside`(
    _ name: String, _ expected: String
  ) throws {
    var draft = try draft(try #require(Self.rows.first { $0.testDescription == name }))
    var batch = CaptureBatch()
    batch.place(Self.object)
    batch.record(Self.object, Unencodable())
    #expect(try draft.commit(batch).count == 1)
    #expect(try VariantTree.text(of: draft) == "top:P*(\(expected))")
  }

  @Test func `an object that comes by itself takes over nothing that the launch doesn't ask for`() throws {
    var draft = try draft(try #require(Self.rows.first { $0.testDescription == "fits" }))
    draft.withheld = Set(try draft.variants(of: try draft.writer.roots.first, "place"))
    var batch = CaptureBatch()
    batch.place(Self.object)
    batch.record(Self.object, "E")
    #expect(try draft.commit(batch).isEmpty)
    #expect(try VariantTree.text(of: draft) == "top:P*(place:E*|S(leaf:L))")
    #expect(try draft.hasConsistentBindings)
  }

  @Test func `while the state can't be read, an object that comes gives way to stored state until it is edited`() throws
  {
    var draft = ArchiveDraft(
      context: RestorationConfiguration().context, limits: .default, nodeBudget: 64 << 10, isBlind: true)
    var batch = CaptureBatch()
    batch.place(Self.parent)
    batch.record(Self.parent, "P")
    batch.place(Self.object)
    batch.record(Self.object, "B")
    batch.isMeeting = true
    #expect(try draft.commit(batch).isEmpty)
    #expect(try VariantTree.text(of: draft) == "")
    batch = CaptureBatch()
    batch.place(Self.late)
    batch.record(Self.late, "L")
    #expect(try draft.commit(batch).isEmpty)
    func unedited() throws -> [String] {
      try draft.ownerOf.keys.filter { try draft.isUnedited($0) }.map { draft.path(of: $0).description }
    }
    let late = try VariantTree.text(of: draft)
    // Those above are saved with it.
    #expect(try unedited().count == 2, "\(late)")
    batch = CaptureBatch()
    batch.record(Self.late, "L")
    #expect(try draft.commit(batch).isEmpty)
    #expect(try unedited().count == 2)
    batch = CaptureBatch()
    batch.record(Self.late, "E")
    #expect(try draft.commit(batch).isEmpty)
    #expect(try unedited().count == 1)
  }

  @Test(arguments: [("a", "top:P*(place:E*(leaf:L))"), ("b", "top:P*(place:E*)")])
  func `who takes the place of an object that leaves gets its variant if that fits`(
    _ tag: String, _ expected: String
  ) throws {
    var draft = try draft(Self.rows[1])
    let node = try draft.variants(of: try draft.writer.roots.first, "place").first
    var batch = CaptureBatch()
    batch.isMeeting = true
    batch.place(Self.object, restored: node)
    batch.record(Self.object, "S")
    _ = try draft.commit(batch)
    let next = LiveObject(
      key: 3, parent: 1, identifier: "place", tag: RestorationClass(rawValue: tag), model: "m2")
    batch = CaptureBatch()
    batch.removals = [Self.object.key]
    batch.place(next)
    batch.record(next, "E")
    _ = try draft.commit(batch)
    #expect(try VariantTree.text(of: draft) == expected)
    #expect(try draft.hasConsistentBindings)
  }
}
