import Observation
import StateRestoration
import Testing

/// The order and the roles of siblings that were changed while the device was locked: they are those of the later run.
@MainActor @Suite struct OrderWhileLockedTests {
  private let bench = Bench()

  private func screen(_ identifier: RestorationIdentifier, _ text: String = "") -> Screen {
    Screen(identifier, text: text, tag: "screen")
  }

  private func names(_ controllers: [any RestorableController]) -> [RestorationIdentifier] {
    controllers.compactMap(\.restoration.identifier)
  }

  @Test(arguments: [false, true])
  func `a screen that was put below others stays there, though those have nothing to write`(
    isKilled: Bool
  ) async throws {
    try await bench.preserve(stack(["list", "editor"], "stored"))
    var last = stack(["list", "editor"])
    var coordinator = bench.launchMakingAll()
    try await bench.launchLocked(last, coordinator) {
      last.setStack([last.stack[0], screen("extra", "typed"), last.stack[1]])
    }
    let live = last.stack
    if isKilled {
      try await bench.kill()
      try await bench.unlock()
      (last, coordinator) = (stack(["list"]), bench.launchMakingAll())
      _ = try await coordinator.restore(into: last)
    } else {
      try await bench.unlock(coordinator)
      #expect(last.stack.elementsEqual(live) { $0 === $1 })
    }
    #expect(names(last.stack) == ["list", "extra", "editor"])
    #expect(last.stack.compactMap { ($0 as? Screen)?.text } == ["stored", "typed", "stored"])
    _ = try await coordinator.preserve(last)
    let next = stack(["list"])
    _ = try await bench.launchMakingAll().restore(into: next)
    #expect(names(next.stack) == ["list", "extra", "editor"])
  }

  /// A stack of screens that the program makes.
  private func stack(_ names: [RestorationIdentifier], _ text: String = "") -> NavigationController {
    let stack = NavigationController("root")
    stack.setStack(names.map { screen($0, text) })
    return stack
  }

  @Test func `tabs that were only put into another order stay in it`() async throws {
    try await bench.preserve(Shelf(["a", "b", "c"].map { Screen($0, text: "stored") }))
    let root = Shelf(["a", "b", "c"].map { Screen($0) })
    let coordinator = bench.launch()
    try await bench.launchLocked(root, coordinator) { root.restorationChildren.reverse() }
    try await bench.unlock(coordinator)
    #expect(names(root.restorationChildren) == ["c", "b", "a"])
    #expect(root.restorationChildren.allSatisfy { ($0 as? Screen)?.text == "stored" })
  }

  @Test func `tabs that nobody has touched come back in the order that is stored`() async throws {
    try await bench.preserve(Shelf(["b", "a"].map { Screen($0, text: "stored") }))
    let root = Shelf(["a", "b"].map { Screen($0) })
    let coordinator = bench.launch()
    try await bench.launchLocked(root, coordinator) { (root.restorationChildren[0] as? Screen)?.text = "typed" }
    try await bench.unlock(coordinator)
    #expect(names(root.restorationChildren) == ["b", "a"])
  }

  @Test func `a child has the role of the later run, also none`() async throws {
    try await bench.preserve(Shelf([]))
    let first = Shelf([])
    try await bench.launchLocked(first) {
      first.restorationChildren = [Screen("a", text: "first")]
      first.role = .presented
    }
    try await bench.kill()
    let root = Shelf([])
    let coordinator = bench.launch()
    try await bench.launchLocked(root, coordinator) { root.restorationChildren = [Screen("a", text: "later")] }
    try await bench.unlock(coordinator)
    #expect(names(root.restorationChildren) == ["a"] && root.role == nil)
  }

  /// A container whose children all have one role.
  @Observable final class Shelf: RestorationContainer {
    let restoration: RestorationIdentity = "root"
    var restorationChildren: [any RestorableController]
    var role: RestoredChild.Role?
    init(_ children: [any RestorableController]) { restorationChildren = children }
    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { role }
    func installRestoredChildren(_ children: [RestoredChild]) {
      role = children.first?.role
      let restored = children.compactMap(\.controller)
      restorationChildren = restored + restorationChildren.filter { one in !restored.contains { $0 === one } }
    }
  }
}
