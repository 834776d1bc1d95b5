import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// Views that are secret, of controllers that are not: nobody can tell what such a hole is.
@MainActor @Suite(.tags(.threads)) struct SecretViewTests {
  private static func field(_ value: Int = 0) -> Field {
    let field = Field("FIELD", value)
    field.restoration.protection = .complete
    return field
  }

  /// A controller with views, some of them secret, and children.
  private static func pane(_ children: [Screen] = [], field: Field = Self.field(), open: Int = 0) -> Screen {
    let pane = Screen("root", text: "pane", children: children)
    pane.restorationViews = [Field("open", open), field]
    return pane
  }

  private func value(_ pane: Screen, _ identifier: RestorationIdentifier) -> Int? {
    pane.restorationViews.lazy.compactMap { $0 as? Field }.first { $0.restoration.identifier == identifier }?
      .restorableState
  }

  @Test(arguments: [false, true])
  func `a secret view comes at the unlock, and its container gets no child for it`(hasChildren: Bool) async throws {
    let parted = try await PartedBench()
    func children() -> [Screen] { hasChildren ? [Screen("a"), PartedBench.secret("s")] : [] }
    try await parted.bench.preserve(
      Self.pane(
        hasChildren ? [Screen("a", text: "a"), PartedBench.secret("s", text: "s")] : [], field: Self.field(7), open: 5))
    try await parted.bench.kill()
    try await parted.bench.lock()
    #expect(!(try parted.readableText().contains("FIELD")))
    let pane = Self.pane(children())
    let coordinator = parted.bench.launch()
    let report = try await coordinator.restore(into: pane)
    #expect(report.outcome == .partlyRestored)
    #expect(value(pane, "open") == 5 && value(pane, "FIELD") == 0)
    #expect(pane.installed.count == (hasChildren ? 2 : 0), "\(pane.installed.map(\.path))")
    #expect(pane.installed.filter(\.isLocked).count == (hasChildren ? 1 : 0))
    _ = try await coordinator.preserve(pane)
    try await parted.bench.unlock(coordinator)
    #expect(value(pane, "FIELD") == 7)
    #expect(pane["s"]?.text == (hasChildren ? "s" : nil))
    _ = try await coordinator.preserve(pane)
    try await parted.bench.kill()
    let again = Self.pane(children())
    _ = try await parted.bench.launch().restore(into: again)
    #expect(value(again, "FIELD") == 7 && value(again, "open") == 5)
    #expect(again["s"]?.text == (hasChildren ? "s" : nil))
  }

  /// A container that arranges as the documentation says.
  final class List: RestorationContainer, RestorationViewOwner {
    var restoration: RestorationIdentity = "root"
    var restorationChildren: [any RestorableController]
    var restorationViews: [any RestorableView]

    init(_ children: [Screen], _ views: [Field]) { (restorationChildren, restorationViews) = (children, views) }

    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
    func installRestoredChildren(_ children: [RestoredChild]) {
      restorationChildren = children.arranged(with: restorationChildren)
    }
    var names: [RestorationIdentifier?] { restorationChildren.map(\.restoration.identifier) }
  }

  @Test func `a secret controller that is new stands where today's list has it, and in no view's place`() async throws {
    let parted = try await PartedBench()
    try await parted.bench.preserve(List([Screen("a", text: "a")], [Self.field(7)]))
    try await parted.bench.kill()
    try await parted.bench.lock()
    let list = List([Screen("a"), Screen("b"), PartedBench.secret("new")], [Self.field()])
    let coordinator = parted.bench.launch()
    _ = try await coordinator.restore(into: list)
    #expect(list.names == ["a", "b", "new"])
    _ = try await coordinator.preserve(list)
    try await parted.bench.unlock(coordinator)
    #expect(list.names == ["a", "b", "new"])
    #expect((list.restorationViews.first as? Field)?.restorableState == 7)
  }
}
