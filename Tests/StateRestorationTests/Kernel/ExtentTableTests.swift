import ApplicationLifecycle
import FoundationEssentials
import RestorationArchive
import Testing

@testable import StateRestoration

/// The table *Select* in a launch that doesn't ask for everything.
@MainActor @Suite struct ExtentTableTests {
  /// What a class says.
  protocol Saying: SendableMetatype { static var extent: RestorationExtent? { get } }
  enum Nothing: Saying { static let extent: RestorationExtent? = nil }
  enum Pristine: Saying { static let extent: RestorationExtent? = .pristine }
  enum Launch: Saying { static let extent: RestorationExtent? = .launch }
  enum Recover: Saying { static let extent: RestorationExtent? = .recover }
  enum Restore: Saying { static let extent: RestorationExtent? = .restore }

  class Node: RestorableController {
    class var restorationExtent: RestorationExtent? { nil }
    let restorationIdentifier: RestorationIdentifier?
    var restorationClass: RestorationClass? { "a" }
    var restorationChildren: [any RestorableController] = []
    @Restored("value") var text = ""

    required init(_ identifier: RestorationIdentifier, _ text: String, _ children: [any RestorableController] = []) {
      restorationIdentifier = identifier
      restorationChildren = children
      self.text = text
    }
  }

  final class Said<What: Saying>: Node {
    override class var restorationExtent: RestorationExtent? { What.extent }
  }

  nonisolated static let says: [any Saying.Type] = [
    Nothing.self, Pristine.self, Launch.self, Recover.self, Restore.self,
  ]

  struct Row: Sendable, CustomTestStringConvertible {
    var launch: RestorationExtent
    var parent: any Saying.Type
    var child: any Saying.Type
    var testDescription: String {
      "\(launch): \(parent.extent?.rawValue ?? "nothing") over \(child.extent?.rawValue ?? "nothing")"
    }
  }

  nonisolated static let rows = [RestorationExtent.launch, .recover, .restore].flatMap { launch in
    says.flatMap { parent in says.map { Row(launch: launch, parent: parent, child: $0) } }
  }

  private func make(
    _ saying: any Saying.Type, _ identifier: RestorationIdentifier, _ text: String, _ children: [Node] = []
  ) -> Node {
    func open<What: Saying>(_ what: What.Type) -> Node { Said<What>(identifier, text, children) }
    return open(saying)
  }

  private func turn(
    _ reader: RestorationArchive.Reader, _ registry: RestorationRegistry, _ extent: RestorationExtent,
    asking delegate: (any RestorationCoordinatorDelegate)? = nil
  ) throws -> RestoreTurn {
    var request = RestoreRequest(registry: registry, log: SilentRestorationLog(), now: Date(), note: { _ in })
    (request.extent, request.delegate) = (extent, delegate)
    return RestoreTurn(plan: try RestorePlan(reader: reader), request)
  }

  /// Does what the coordinator does in the turn that restores, and returns the next save's draft.
  private func restore(
    _ turn: RestoreTurn, _ reader: RestorationArchive.Reader, into top: Node
  ) throws -> (draft: ArchiveDraft, tree: LiveTree) {
    turn.makeObjects(root: top)
    turn.installChildren()
    turn.decode()
    turn.finish()
    let tree = LiveTree(
      registry: turn.request.registry, changes: ChangeList {}, context: RestorationConfiguration().context)
    turn.noteOwners(in: tree)
    var draft = try ArchiveDraft(
      continuing: reader, dormants: turn.plan.allDormants, limits: .default, nodeBudget: 64 << 10)
    draft.withheld = turn.withheldNodes
    _ = try draft.commit(tree.capture(roots: [top], scope: .all, context: .test, isMeeting: true))
    return (draft, tree)
  }

  private static func archive() throws -> RestorationArchive.Reader {
    try VariantTree.archive([("top", [StoredVariant("P", [("place", [StoredVariant("S")])])])])
  }

  @Test(arguments: rows)
  func `a node comes back with its class's extent, or that of the nearest above it`(_ row: Row) throws {
    let child = make(row.child, "place", "b")
    let top = make(row.parent, "top", "t", [child])
    let reader = try Self.archive()
    let turn = try turn(reader, RestorationRegistry(), row.launch)
    var (draft, tree) = try restore(turn, reader, into: top)
    let least = [row.parent.extent ?? .launch, row.child.extent ?? row.parent.extent ?? .launch]
    let comesBack = least.map { $0 <= row.launch }
    #expect([top.text == "P", child.text == "S"] == comesBack)
    let reasons = turn.reports().map(\.notRestoredReason)
    #expect(reasons == zip(least, comesBack).map { $1 ? nil : .beyondExtent($0) })
    #expect(try VariantTree.text(of: draft) == "top:P\(comesBack[0] ? "*" : "")(place:S\(comesBack[1] ? "*" : ""))")
    // The first edit stands in front, and what is below it comes along.
    (top.text, child.text) = ("E", "F")
    _ = try draft.commit(tree.capture(roots: [top], scope: .all, context: .test))
    let place = comesBack[1] ? "place:F*" : "place:F*|S"
    #expect(try VariantTree.text(of: draft) == (comesBack[0] ? "top:E*(\(place))" : "top:E*(\(place))|P"))
    #expect(try draft.hasConsistentBindings)
  }

  @Test(arguments: [RestorationExtent.launch, .recover, .restore])
  func `nobody is made for state that is not asked for, and it is carried over`(_ launch: RestorationExtent) throws {
    let registry = RestorationRegistry()
    var made = 0
    registry.register(Said<Recover>.self, as: "a") { path, _ in
      made += 1
      return Said<Recover>(path.last ?? "", "m")
    }
    let top = Container()
    let reader = try VariantTree.archive([
      ("top", [StoredVariant("P", tag: nil, [("place", [StoredVariant("S", [("leaf", [StoredVariant("L")])])])])])
    ])
    let turn = try turn(reader, registry, launch)
    let (draft, _) = try restore(turn, reader, into: top)
    let isAsked = launch >= .recover
    // A leaf of the same class is made, but what was made takes none.
    #expect((made > 0) == isAsked && top.restorationChildren.count == (isAsked ? 1 : 0))
    #expect(try VariantTree.text(of: draft) == "top:P*(place:S\(isAsked ? "*" : "")(leaf:L))")
    if !isAsked {
      #expect(turn.reports().compactMap(\.notRestoredReason) == [.beyondExtent(.recover), .parentNotRestored])
    }
  }

  final class Container: Node, RestorationContainer {
    override var restorationClass: RestorationClass? { nil }
    convenience init() { self.init("top", "t") }
    func installRestoredChildren(_ children: [RestoredChild]) {
      restorationChildren = children.compactMap(\.controller)
    }
  }

  @Test func `an object of the delegate's for state that is not asked for is dropped`() throws {
    final class Maker: RestorationCoordinatorDelegate {
      func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
      func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
      func makeController(at path: RestorationPath, coder: RestorationDecoder) -> (any RestorableController)? {
        Said<Restore>("place", "m")
      }
    }
    let top = Container()
    let reader = try VariantTree.archive([
      ("top", [StoredVariant("P", tag: nil, [("place", [StoredVariant("S", tag: nil)])])])
    ])
    let maker = Maker()
    let turn = try turn(reader, RestorationRegistry(), .launch, asking: maker)
    _ = try restore(turn, reader, into: top)
    #expect(top.restorationChildren.isEmpty)
    #expect(turn.reports().compactMap(\.notRestoredReason) == [.beyondExtent(.restore)])
  }
}
