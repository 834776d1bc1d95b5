import FoundationEssentials
import Observation
import RestorationArchive
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// Objects whose values can't be encoded or read have roles and places all the same.
@MainActor @Suite struct FragileRoleTests {
  let bench = Bench()

  @Test(arguments: [false, true])
  func `what can't be encoded while locked keeps the stored state, in a column, too`(hasRole: Bool) async throws {
    func root(_ b: FragileController) -> any RestorableController {
      hasRole ? SplitController("root", primary: b) : Screen("root", children: [b])
    }
    try await bench.preserve(root(FragileController("b", "stored")))
    let b = FragileController("b", fails: true)
    let top = root(b)
    try await bench.launchLocked(top) { b.restorableState = FragileText("other", fails: true) }
    try await bench.unlock()
    try await bench.kill()
    let again = FragileController("b")
    _ = try await bench.launch().restore(into: root(again))
    #expect(again.restorableState.text == "stored")
  }

  @Test(arguments: [false, true])
  func `columns that are swapped come back so, though one of them is not written`(isNewer: Bool) async throws {
    let a: any RestorableController =
      isNewer
      ? Panel.made("a", value: 1, isNewer: true) as any RestorableController
      : FragileController("a", "A", tag: "brittle")
    _ = try await bench.launchMakingAll(isNewer).preserve(
      SplitController("root", primary: a, secondary: Screen("b", text: "B", tag: "screen")))
    let (l, c) = (SplitController("root"), bench.launchMakingAll())
    _ = try await c.restore(into: l)
    (l.primary as? FragileController)?.restorableState = FragileText("", fails: true)
    (l.primary, l.secondary) = (l.secondary, l.primary)
    _ = try await c.preserve(l)
    let n = SplitController("root")
    _ = try await bench.launchMakingAll(isNewer).restore(into: n)
    #expect([n.primary?.restoration.identifier, n.secondary?.restoration.identifier] == ["b", "a"])
  }

  @Test func `a presented controller that is pushed while it can't be encoded is on the stack`() async throws {
    func stack() -> NavigationController {
      NavigationController("root", root: Screen("list", tag: "screen"))
    }
    let (l, b, c) = (stack(), FragileController("b", "B", tag: "brittle"), bench.launchMakingAll())
    l.present(b)
    _ = try await c.restore(into: l)
    _ = try await c.preserve(l)
    b.restorableState = FragileText("", fails: true)
    l.dismiss()
    l.push(b)
    _ = try await c.preserve(l)
    let n = stack()
    _ = try await bench.launchMakingAll().restore(into: n)
    #expect(n.stack.count == 2 && n.presentedController == nil)
  }

  @Test func `an object that comes by itself and leaves takes along what it could have been given`() async throws {
    try await bench.preserve(Screen("root", children: [FragileController("e", "stored")]))
    let (root, c) = (Screen("root"), bench.launch())
    _ = try await c.restore(into: root)
    root.restorationChildren = [FragileController("e", fails: true)]
    _ = try await c.preserve(root)
    root.restorationChildren = []
    _ = try await c.preserve(root)
    let e = FragileController("e")
    _ = try await bench.launch().restore(into: Screen("root", children: [e]))
    #expect(e.restorableState.text == "")
  }

  @Test func `a column that was edited and swapped while locked outlives the next save`() async throws {
    func make(_ a: String = "", _ b: String = "") -> SplitController {
      SplitController(
        "root", primary: Screen("a", text: a, tag: "screen"),
        secondary: Screen("b", text: b, tag: "screen"))
    }
    _ = try await bench.launchMakingAll().preserve(make("A", "B"))
    let l = make()
    let c = bench.launchMakingAll()
    try await bench.launchLocked(l, c) {
      (l.primary as? Screen)?.text = "typed"
      (l.primary, l.secondary) = (l.secondary, l.primary)
    }
    try await bench.unlock(c)
    _ = try await c.preserve(l)
    try await bench.kill()
    let n = make()
    _ = try await bench.launchMakingAll().restore(into: n)
    #expect([n.primary, n.secondary].contains { ($0 as? Screen)?.text == "typed" })
  }
}
