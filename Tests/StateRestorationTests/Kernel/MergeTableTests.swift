import RestorationArchive
import Testing

@testable import StateRestoration

/// The table *Merge*: what is stored in a place × what was saved while locked × whose the place above is.
@Suite struct MergeTableTests {
  /// What is stored in the place, and the place after merging E; E with M in the place below; and M alone.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var edited: String
    var both: String
    var below: String
    var variants: @Sendable () -> [StoredVariant]

    init(
      _ name: String, _ edited: String, _ both: String, _ below: String,
      _ variants: @escaping @Sendable () -> [StoredVariant]
    ) {
      testDescription = name
      (self.edited, self.both, self.below, self.variants) = (edited, both, below, variants)
    }
  }

  static let rows: [Row] = [
    Row("nothing", "place:E", "place:E(leaf:M)", "place:-(leaf:M)") { [] },
    Row("same identity", "place:E(leaf:L)", "place:E(leaf:M)", "place:S(leaf:M)") { [StoredVariant("S", [leaf])] },
    Row("former tag", "place:E(leaf:L)", "place:E(leaf:M)", "place:S(leaf:M)") {
      [StoredVariant("S", tag: "old", [leaf])]
    },
    Row("no record", "place:E(leaf:L)", "place:E(leaf:M)", "place:-(leaf:M)") { [StoredVariant(nil, [leaf])] },
    Row("newer version", "place:E(leaf:L)|S", "place:E(leaf:M)|S", "place:S(leaf:M)") {
      [StoredVariant("S", version: 2, [leaf])]
    },
    Row("newer version, no record", "place:E(leaf:L)", "place:E(leaf:M)", "place:-(leaf:M)") {
      [StoredVariant(nil, version: 2, [leaf])]
    },
    Row("left out", "place:E|S(leaf:L)", "place:E(leaf:M)|S(leaf:L)", "place:-(leaf:M)|S(leaf:L)") {
      [StoredVariant("S", flags: .leftOut, [leaf])]
    },
    Row("other class", "place:E|S(leaf:L)", "place:E(leaf:M)|S(leaf:L)", "place:-(leaf:M)|S(leaf:L)") {
      [StoredVariant("S", tag: "b", [leaf])]
    },
    Row("other model", "place:E|S(leaf:L)", "place:E(leaf:M)|S(leaf:L)", "place:-(leaf:M)|S(leaf:L)") {
      [StoredVariant("S", model: "m1", [leaf])]
    },
    Row("dormant", "place:E(leaf:L)|X", "place:E(leaf:M)|X", "place:S(leaf:M)|X") {
      [StoredVariant("X", tag: "b"), StoredVariant("S", [leaf])]
    },
    Row("newer, dormant older", "place:E|S|O", "place:E(leaf:M)|S|O", "place:O(leaf:M)|S") {
      [StoredVariant("S", tag: "b", version: 2), StoredVariant("O", version: 2)]
    },
  ]
  private static let leaf: (identifier: RestorationIdentifier, variants: [StoredVariant]) =
    ("leaf", [StoredVariant("L")])

  /// The place after merging into a place above that is not the edited object's parent's.
  private static let fresh = ["place:E", "place:E(leaf:M)", "place:-(leaf:M)"]

  private static func overlay(_ number: Int) -> [StoredVariant] {
    let leaf: [(identifier: RestorationIdentifier, variants: [StoredVariant])] =
      number == 0 ? [] : [("leaf", [StoredVariant("M")])]
    return [StoredVariant(number == 2 ? nil : "E", model: "m2", flags: .carriedOver, leaf)]
  }

  private func merge(
    _ overlay: [(identifier: RestorationIdentifier, variants: [StoredVariant])], onto draft: inout ArchiveDraft
  ) throws -> Int {
    draft.tags = TagTable(["a": ["a", "old"]])
    var context = draft.writer.context
    return try draft.merge(try VariantTree.archive(overlay), &context).count
  }

  @Test(arguments: rows, 0..<3)
  func `edits of a locked run come over what is stored as the table says`(_ row: Row, _ number: Int) throws {
    let expected = [row.edited, row.both, row.below][number]
    let place: [(identifier: RestorationIdentifier, variants: [StoredVariant])] = [("place", row.variants())]
    let overlay: [(identifier: RestorationIdentifier, variants: [StoredVariant])] = [
      ("top", [StoredVariant(nil, [("place", Self.overlay(number))])])
    ]
    var draft = try VariantTree.draft([("top", [StoredVariant("P", place)])])
    #expect(try merge(overlay, onto: &draft) == (number == 1 ? 2 : 1))
    #expect(try VariantTree.text(of: draft) == "top:P(\(expected))")
    // An edited parent, whose own is there.
    var edited = overlay
    edited[0].variants[0].value = "Q"
    draft = try VariantTree.draft([("top", [StoredVariant("P", place)])])
    #expect(try merge(edited, onto: &draft) == (number == 1 ? 3 : 2))
    #expect(try VariantTree.text(of: draft) == "top:Q(\(expected))")
    // One whose own can't be read: what is below it is the same object's.
    draft = try VariantTree.draft([("top", [StoredVariant("P", version: 2, place)])])
    _ = try merge(edited, onto: &draft)
    #expect(try VariantTree.text(of: draft) == "top:Q(\(expected))|P")
    // The place above is another's: what is below that is, too.
    draft = try VariantTree.draft([("top", [StoredVariant("P", tag: "b", place)])])
    let before = try VariantTree.text(of: draft).dropFirst("top:".count)
    _ = try merge(overlay, onto: &draft)
    #expect(try VariantTree.text(of: draft) == "top:-(\(Self.fresh[number]))|\(before)")
    #expect(try draft.hasConsistentBindings)
  }

  @Test(arguments: [
    ("place:E(leaf:L)|S2", "place:F|E(leaf:L)|S2", [StoredVariant("S", [leaf]), StoredVariant("S2", tag: "b")]),
    ("place:E|S2", "place:F|E|S2", [StoredVariant("S2", tag: "b")]), ("place:E", "place:F|E", []),
  ])
  func `of two identities edited in one place, the last is in front`(
    _ first: String, _ both: String, _ stored: [StoredVariant]
  ) throws {
    var draft = try VariantTree.draft([("place", stored)])
    #expect(try merge([("place", [StoredVariant("E")])], onto: &draft) == 1)
    #expect(try VariantTree.text(of: draft) == first)
    draft = try VariantTree.draft([("place", stored)])
    #expect(try merge([("place", [StoredVariant("F", tag: "c"), StoredVariant("E")])], onto: &draft) == 2)
    #expect(try VariantTree.text(of: draft) == both)
    #expect(try draft.hasConsistentBindings)
  }

  @Test func `what was saved later overwrites what was saved before`() throws {
    var draft = try VariantTree.draft([("place", [StoredVariant("S")])])
    for value in ["E", "F"] { _ = try merge([("place", [StoredVariant(value)])], onto: &draft) }
    #expect(try VariantTree.text(of: draft) == "place:F")
  }

  @Test func `a merged archive has the context of the stored one, and the higher schema version`() throws {
    for (stored, saved) in [(StateVersion(1), StateVersion(2)), (2, 1), (2, 2)] {
      var draft = try VariantTree.draft([])
      var context = draft.writer.context
      context.schemaVersion = saved
      context.systemVersion = "later"
      var writer = RestorationArchive.Writer(context: context)
      _ = try writer.insert("place")
      let overlay = try RestorationArchive.Reader(base: .init(try writer.makeArchive()))
      context.schemaVersion = stored
      context.systemVersion = "earlier"
      _ = try draft.merge(overlay, &context)
      #expect(context.schemaVersion == max(stored, saved))
      #expect(context.systemVersion == "earlier")
    }
  }
}
