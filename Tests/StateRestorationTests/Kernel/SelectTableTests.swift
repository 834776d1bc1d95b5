import FoundationEssentials
import RestorationArchive
import Testing

@testable import StateRestoration

/// The table *Select* in a turn that restores: what an object is given, what the report says, and whose the variants are then.
@MainActor @Suite struct SelectTableTests {
  class Base: RestorableController {
    var restorationIdentifier: RestorationIdentifier? { "place" }
    var restorationClass: RestorationClass? { nil }
    var restorationModelIdentifier: ModelIdentifier? { nil }
    var restorationChildren: [any RestorableController] { [] }
  }

  final class Note: Base {
    override var restorationClass: RestorationClass? { "a" }
    override var restorationModelIdentifier: ModelIdentifier? { "m2" }
    let leaf = Leaf()
    override var restorationChildren: [any RestorableController] { [leaf] }
    @Restored("value") var text = "B"
  }

  final class Leaf: RestorableController {
    let restorationIdentifier: RestorationIdentifier? = "leaf"
    @Restored("value") var text = "l"
  }

  final class Top: RestorableController {
    let restorationIdentifier: RestorationIdentifier? = "top"
    var restorationChildren: [any RestorableController]
    init(_ child: (any RestorableController)?) { restorationChildren = [child].compactMap(\.self) }
  }

  final class Aged: RestorableController {
    let restorationIdentifier: RestorationIdentifier? = "aged"
  }

  final class Checked: RestorableController {
    let restorationIdentifier: RestorationIdentifier? = "checked"
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var retries = false
    /// What the object and the one below it have then.
    var given: String
    var report: String
    var archive: String
    var variants: @Sendable () -> [StoredVariant]

    init(
      _ name: String, retries: Bool = false, given: String, _ report: String, _ archive: String,
      _ variants: @escaping @Sendable () -> [StoredVariant]
    ) {
      (testDescription, self.retries, self.given) = (name, retries, given)
      (self.report, self.archive, self.variants) = (report, archive, variants)
    }
  }

  private nonisolated static let leaf: (identifier: RestorationIdentifier, variants: [StoredVariant]) = (
    "leaf", [StoredVariant("L", tag: nil)]
  )

  nonisolated static let rows: [Row] = [
    Row("nothing", given: "B l", "", "place:B*(leaf:l*)") { [] },
    Row("fits", given: "S L", "restored", "place:S*(leaf:L*)") { [StoredVariant("S", [leaf])] },
    Row("former tag", given: "S L", "restored", "place:S*(leaf:L*)") { [StoredVariant("S", tag: "old", [leaf])] },
    Row("superclass", given: "S L", "restored", "place:S*(leaf:L*)") { [StoredVariant("S", tag: "base", [leaf])] },
    Row("other class", given: "B l", "classMismatch", "place:S(leaf:L)") { [StoredVariant("S", tag: "b", [leaf])] },
    Row("other model", given: "B l", "modelMismatch", "place:S(leaf:L)") {
      [StoredVariant("S", model: "m1", [leaf])]
    },
    Row("left out", given: "B l", "leftOutAfterCrash", "place:S(leaf:L)") {
      [StoredVariant("S", flags: .leftOut, [leaf])]
    },
    Row("left out, asked for", retries: true, given: "S L", "restored", "place:S*(leaf:L*)") {
      [StoredVariant("S", flags: .leftOut, [leaf])]
    },
    Row("newer version", given: "B L", "newerVersion", "place:S(leaf:L*)") {
      [StoredVariant("S", version: 2, [leaf])]
    },
    Row("undecodable", given: "B L", "decodingFailed", "place:7(leaf:L*)") { [StoredVariant("7", [leaf])] },
    Row("undecodable, older one", given: "B L", "decodingFailed, dormant", "place:7(leaf:L*)|O") {
      [StoredVariant("7", [leaf]), StoredVariant("O")]
    },
    Row("undecodable, another that fits", given: "O L", "decodingFailed wasDormant, dormant", "place:7(leaf:L*)|O") {
      [StoredVariant("7", model: "m2", [leaf]), StoredVariant("O")]
    },
    Row("shed", given: "B L", "shed", "place:B*(leaf:L*)") { [StoredVariant(nil, flags: .shed, [leaf])] },
    Row("expired", given: "B l", "expired", "place:B*(leaf:l*)") { [StoredVariant("S", tag: "aged", [leaf])] },
    Row("model gone", given: "B l", "modelGone", "place:B*(leaf:l*)") {
      [StoredVariant("S", tag: "checked", model: "gone", [leaf])]
    },
    Row("expired, older one", given: "O L", "expired, restored wasDormant", "place:O*(leaf:L*)") {
      [StoredVariant("S", tag: "aged"), StoredVariant("O", [leaf])]
    },
    Row("other class, own dormant", given: "S L", "classMismatch, restored wasDormant", "place:S*(leaf:L*)|X") {
      [StoredVariant("X", tag: "b"), StoredVariant("S", [leaf])]
    },
    Row("only dormant", given: "S L", "restored", "place:S*(leaf:L*)") {
      [StoredVariant("S", flags: .dormant, [leaf])]
    },
    Row("only dormant, another's", given: "B l", "classMismatch", "place:|S(leaf:L)") {
      [StoredVariant("S", tag: "b", flags: .dormant, [leaf])]
    },
    Row("edit before left out", given: "E l", "restored, dormant", "place:E*(leaf:l*)|S(leaf:L)") {
      [StoredVariant("E"), StoredVariant("S", flags: .leftOut, [leaf])]
    },
    Row("edit before left out, asked for", retries: true, given: "S L", "restored wasDormant", "place:S*(leaf:L*)|E") {
      [StoredVariant("E"), StoredVariant("S", flags: .leftOut, [leaf])]
    },
  ]

  private func registry() -> RestorationRegistry {
    let registry = RestorationRegistry()
    registry.register(Base.self, as: "base")
    registry.register(Note.self, as: "a", formerly: ["old"])
    registry.register(Aged.self, as: "aged", freshFor: .seconds(3600))
    registry.register(Checked.self, as: "checked", onlyIf: { $0 != "gone" })
    return registry
  }

  private func turn(
    _ reader: RestorationArchive.Reader, _ registry: RestorationRegistry, retries: Bool
  ) throws -> RestoreTurn {
    var request = RestoreRequest(registry: registry, log: SilentRestorationLog(), now: Date() + 7200, note: { _ in })
    request.retries = { _ in retries }
    return RestoreTurn(plan: try RestorePlan(reader: reader), request)
  }

  @Test func `of one identity only the newest variant counts`() throws {
    let row = Row("newer version", given: "B L", "newerVersion, dormant", "place:S(leaf:L*)|O(leaf:O)") {
      let other: (identifier: RestorationIdentifier, variants: [StoredVariant]) = (
        "leaf", [StoredVariant("O", tag: nil)]
      )
      return [StoredVariant("S", version: 2, [Self.leaf]), StoredVariant("O", [other])]
    }
    try restore(row)
  }

  @Test(arguments: rows) func `an object is given what the table says`(_ row: Row) throws { try restore(row) }

  private func restore(_ row: Row) throws {
    let registry = registry()
    let reader = try VariantTree.archive([("top", [StoredVariant(nil, tag: nil, [("place", row.variants())])])])
    let turn = try turn(reader, registry, retries: row.retries)
    let note = Note()
    let top = Top(note)
    turn.makeObjects(root: top)
    turn.installChildren()
    turn.decode()
    turn.finish()
    #expect("\(note.text) \(note.leaf.text)" == row.given)
    let reports = turn.reports().filter { $0.path == ["top", "place"] }.map { report in
      ([report.notRestoredReason.map(name) ?? "restored"]
        + report.remarks.filter { $0 == .wasDormant }.map { _ in "wasDormant" }).joined(separator: " ")
    }
    #expect(reports.joined(separator: ", ") == row.report)
    // What the coordinator does at the end of the turn.
    let tree = LiveTree(
      registry: registry, changes: ChangeList {}, context: RestorationConfiguration().context)
    turn.noteOwners(in: tree)
    let batch = tree.capture(roots: [top], scope: .all, context: .test, isMeeting: true)
    var draft = try ArchiveDraft(
      continuing: reader, dormants: turn.plan.allDormants, limits: .default, nodeBudget: 64 << 10)
    try draft.drop(turn.retireNodes())
    _ = try draft.commit(batch)
    let text = try VariantTree.text(of: draft)
    #expect(text == "top:-*(\(row.archive))")
    #expect(try draft.hasConsistentBindings)
    withExtendedLifetime(note) {}
  }

  @Test(arguments: [RestorationArchive.NodeFlags.dormant, .leftOut, []])
  func `nobody is made for a variant that is dormant or left out`(_ flags: RestorationArchive.NodeFlags) throws {
    let registry = RestorationRegistry()
    var made = 0
    registry.register(Note.self, as: "a") { _, _ in
      made += 1
      return Note()
    }
    let reader = try VariantTree.archive([
      ("top", [StoredVariant(nil, tag: nil, [("place", [StoredVariant("S", flags: flags)])])])
    ])
    let turn = try turn(reader, registry, retries: false)
    turn.makeObjects(root: Top(nil))
    #expect(made == (flags.isEmpty ? 1 : 0))
  }

  private func name(_ reason: NotRestoredReason) -> String {
    switch reason {
    case .classMismatch: "classMismatch"
    case .modelMismatch: "modelMismatch"
    case .leftOutAfterCrash: "leftOutAfterCrash"
    case .newerVersion: "newerVersion"
    case .decodingFailed: "decodingFailed"
    case .shed: "shed"
    case .expired: "expired"
    case .modelGone: "modelGone"
    case .dormant: "dormant"
    default: "\(reason)"
    }
  }
}
