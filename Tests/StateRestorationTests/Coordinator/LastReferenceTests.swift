import FoundationEssentials
import Observation
import RestorationArchive
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// An object to which only another reference leads from now on.
@MainActor @Suite struct LastReferenceTests {
  let bench = Bench()

  enum Leaving: CaseIterable, Sendable { case referrerLeaves, referrerLetsGo, childLeaves }

  @Test(arguments: Leaving.allCases, [false, true])
  func `an object keeps its state when only another reference still leads to it`(how: Leaving, isNewer: Bool)
    async throws
  {
    let isChild = how == .childLeaves
    // Newer state, which nobody can read; or values that can't be encoded at the save.
    func make(_ x: (any RestorableController)?) -> (root: Screen, box: Screen, p: Panel, q: Panel) {
      let (box, p, q) = (Screen("box"), Panel("p"), Panel("q"))
      if let x, isChild { box.restorationChildren = [x] } else if !isChild { p.strongFriend = x }
      q.strongFriend = x
      return (Screen("root", children: [box, p, q]), box, p, q)
    }
    let stored: any RestorableController =
      isNewer
      ? Panel.made("x", value: 9, isNewer: true) as any RestorableController
      : FragileController("x", "stored", tag: "brittle")
    _ = try await bench.launchMakingAll(true).preserve(make(stored).root)
    let child: any RestorableController =
      isNewer ? Panel.made("x") as any RestorableController : FragileController("x", tag: "brittle")
    let l = make(isChild ? child : nil)
    let c = bench.launchMakingAll()
    _ = try await c.restore(into: l.root)
    if isChild { l.q.strongFriend = l.box.restorationChildren[0] }
    (l.q.strongFriend as? FragileController)?.restorableState = FragileText("", fails: true)
    switch how {
    case .childLeaves: l.box.restorationChildren = []
    case .referrerLetsGo: l.p.strongFriend = nil
    case .referrerLeaves: (l.root.restorationChildren, l.p.strongFriend) = ([l.box, l.q], nil)
    }
    _ = try await c.preserve(l.root)
    let n = make(nil)
    _ = try await bench.launchMakingAll(true).restore(into: n.root)
    if isNewer {
      #expect((n.q.strongFriend as? Panel)?.value == 9)
    } else {
      #expect((n.q.strongFriend as? FragileController)?.restorableState.text == "stored")
    }
  }

  @Test func `a child keeps its state that is preserved as a shared object from then on`() async throws {
    let x = FragileController("x", "stored")
    let (root, c) = (Screen("root", children: [x]), bench.launch { $0.share(x, as: "x") })
    _ = try await c.restore(into: root)
    _ = try await c.preserve(root)
    x.restorableState = FragileText("", fails: true)
    root.restorationChildren = []
    _ = try await c.preserve(root)
    let y = FragileController("x")
    _ = try await bench.launch { $0.share(y, as: "x") }.restore(into: Screen("root"))
    #expect(y.restorableState.text == "stored")
  }

  @Test func `every shared controller of a class comes back as one`() async throws {
    func share(_ texts: [String]) async throws -> (RestorationCoordinator, [FragileController]) {
      let objects = zip(["a", "b", "c"], texts).map { FragileController($0, $1) }
      let coordinator = bench.launch { registry in
        for object in objects { registry.share(object, as: object.restoration.identifier!) }
      }
      return (coordinator, objects)
    }
    let (first, objects) = try await share(["A", "B", "C"])
    _ = try await first.preserve(Screen("root"))
    withExtendedLifetime(objects) {}
    let (second, again) = try await share(["", "", ""])
    _ = try await second.restore(into: Screen("root"))
    #expect(again.map(\.restorableState.text) == ["A", "B", "C"])
  }

  @Test(arguments: [false, true])
  func `an object that moves to another referrer keeps its state though another one comes`(_ toLater: Bool) async throws
  {
    let (p, q) = (Panel("p"), Panel("q"))
    let x = FragileController("x", "stored", tag: "brittle")
    (toLater ? p : q).strongFriend = x
    let root = Screen("root", children: [p, q])
    let c = bench.launchMakingAll()
    _ = try await c.restore(into: root)
    _ = try await c.preserve(root)
    x.restorableState = FragileText("", fails: true)
    (toLater ? q : p).strongFriend = x
    (toLater ? p : q).strongFriend = FragileController("x", "other", tag: "brittle")
    _ = try await c.preserve(root)
    let (p2, q2) = (Panel("p"), Panel("q"))
    _ = try await bench.launchMakingAll().restore(into: Screen("root", children: [p2, q2]))
    #expect(((toLater ? q2 : p2).strongFriend as? FragileController)?.restorableState.text == "stored")
    #expect(((toLater ? p2 : q2).strongFriend as? FragileController)?.restorableState.text == "other")
  }
}
