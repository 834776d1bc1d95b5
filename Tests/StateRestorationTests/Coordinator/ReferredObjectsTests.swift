import FoundationEssentials
import Observation
import RestorationArchive
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// Objects that references lead to: where they are and what they show is no edit of the referrer.
@MainActor @Suite struct ReferredObjectsTests {
  let bench = Bench()

  @Test func `a referrer is not edited when its target shows another document while locked`() async throws {
    func make(_ value: Int = 0) -> (root: Screen, referrer: Panel, target: Screen) {
      let (p, x) = (Panel("p", value: value), Screen("x"))
      x.restoration.model = "A"
      p.friend = x
      return (Screen("root", children: [p, x]), p, x)
    }
    try await bench.preserve(make(7).root)
    let l = make()
    let c = try await bench.launchLocked(l.root) { l.target.restoration.model = "B" }
    try await bench.unlock(c)
    #expect(l.referrer.value == 7)
  }

  @Test func `a referrer is not edited when its target goes and comes back`() async throws {
    func make(_ value: Int = 0) -> (root: Screen, referrer: Panel, target: Screen) {
      let (p, x) = (Panel("p", value: value), Screen("x"))
      p.friend = x
      return (Screen("root", children: [p, x]), p, x)
    }
    try await bench.preserve(make(7).root)
    let l = make()
    let c = try await bench.launchLocked(l.root) { l.root.restorationChildren = [l.referrer] }
    await c.endTurn()
    l.root.restorationChildren = [l.referrer, l.target]
    _ = try await c.preserve(l.root)
    try await bench.unlock(c)
    #expect(l.referrer.value == 7)
  }

  @Test func `a referrer that is not edited writes nothing beside a newer record`() async throws {
    func make(_ p: Panel) -> (root: Screen, target: Screen) {
      let x = Screen("x")
      x.restoration.model = "A"
      p.friend = x
      return (Screen("root", children: [p, x]), x)
    }
    let newer = NewerPanel("p", value: 7)
    let stored = make(newer)
    try await bench.preserve(stored.root)
    let old = Panel("p")
    let (l, c) = (make(old), bench.launch())
    _ = try await c.restore(into: l.root)
    l.target.restoration.model = "B"
    _ = try await c.preserve(l.root)
    let again = NewerPanel("p")
    _ = try await bench.launch().restore(into: Screen("root", children: [again, Screen("x")]))
    #expect(again.value == 7)
  }

  final class Linker: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "p"
    weak var one: (any RestorableObject)?
    weak var two: (any RestorableObject)?
    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encodeReference(to: one, forKey: "one")
      coder.encodeReference(to: two, forKey: "two")
    }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      one = try coder.reference(to: Screen.self, forKey: "one")
      two = try coder.reference(to: Screen.self, forKey: "two")
    }
  }

  @Test func `a reference to what is away outlives that the other target shows another document`() async throws {
    let (p, a, b) = (Linker(), Screen("a"), Screen("b"))
    a.restoration.model = "A"
    (p.one, p.two) = (a, b)
    try await bench.preserve(Screen("root", children: [p, a, b]))
    let (p2, a2) = (Linker(), Screen("a"))
    a2.restoration.model = "A"
    let (root, c) = (Screen("root", children: [p2, a2]), bench.launch())
    _ = try await c.restore(into: root)
    a2.restoration.model = "B"
    _ = try await c.preserve(root)
    let (p3, b3) = (Linker(), Screen("b"))
    _ = try await bench.launch().restore(into: Screen("root", children: [p3, Screen("a"), b3]))
    #expect(p3.two === b3)
  }

  final class Focus: RestorationCoordinatorDelegate {
    var value = "", restored: String?
    weak var focus: Screen?
    init(_ focus: Screen, _ value: String = "") { (self.focus, self.value) = (focus, value) }
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
    func willEncodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(value, forKey: "value")
      coder.encodeReference(to: focus, forKey: "focus")
    }
    func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      restored = try coder.decodeIfPresent(forKey: "value")
    }
  }

  @Test func `the program's state is not edited when the object that it refers to is renamed`() async throws {
    let (x, y) = (Screen("x"), Screen("x"))
    let (stored, now) = (Focus(x, "stored"), Focus(y))
    _ = try await bench.launch(with: stored).preserve(Screen("root", children: [x]))
    try await bench.lock()
    let root = Screen("root", children: [y])
    let c = try await bench.launchLocked(root, bench.launch(with: now)) { y.restoration.identifier = "y" }
    try await bench.unlock(c)
    #expect(now.restored == "stored")
  }

  func kept(_ value: Int = 0) -> (root: Screen, p: Panel, x: Panel) {
    let (p, x) = (Panel("p", value: value), Panel.made("x", value: value))
    p.strongFriend = x
    return (Screen("root", children: [p]), p, x)
  }

  @Test func `an unedited object that an edited one refers to gets its stored state at the unlock`() async throws {
    _ = try await bench.launchMakingAll().preserve(kept(7).root)
    let l = kept()
    try await bench.lock()
    let c = try await bench.launchLocked(l.root, bench.launchMakingAll()) { l.p.value = 1 }
    try await bench.unlock(c)
    #expect((l.p.strongFriend as? Panel)?.value == 7)
  }

  @Test func `an edited object that a reference keeps is not replaced at the unlock`() async throws {
    _ = try await bench.launchMakingAll().preserve(kept(7).root)
    let l = kept()
    try await bench.lock()
    let c = try await bench.launchLocked(l.root, bench.launchMakingAll()) { l.x.value = 2 }
    try await bench.unlock(c)
    #expect(l.p.strongFriend === l.x)
  }

  @Test func `an object that a reference keeps is renamed`() async throws {
    let (l, c) = (kept(5), bench.launchMakingAll())
    _ = try await c.restore(into: l.root)
    _ = try await c.preserve(l.root)
    l.x.restoration.identifier = "y"
    _ = try await c.preserve(l.root)
    let p = Panel("p")
    _ = try await bench.launchMakingAll().restore(into: Screen("root", children: [p]))
    #expect((p.strongFriend as? Panel)?.restoration.identifier == "y")
  }

  @Test func `an object that two others refer to is one after the unlock, whichever of them was edited`() async throws {
    func make(_ value: Int = 0) -> (root: Screen, p: Panel, q: Panel) {
      let (p, q, x) = (Panel("p", value: value), Panel("q", value: value), Panel.made("x", value: value))
      (p.strongFriend, q.strongFriend) = (x, x)
      return (Screen("root", children: [p, q]), p, q)
    }
    _ = try await bench.launchMakingAll().preserve(make(7).root)
    let l = make()
    let c = try await bench.launchLocked(l.root, bench.launchMakingAll()) { l.q.value = 1 }
    try await bench.unlock(c)
    #expect(l.p.strongFriend === l.q.strongFriend)
    #expect((l.q.strongFriend as? Panel)?.value == 7)
  }

  @Test func `what an edited object refers to is not made anew at the unlock`() async throws {
    func make(_ value: Int) -> (root: Screen, referrer: Panel, tab: Panel) {
      let (referrer, tab) = (Panel("q", value: value), Panel.made("x", value: value))
      let tabs = TabController("tabs", tabs: [tab])
      return (Screen("root", children: [referrer, tabs]), referrer, tab)
    }
    _ = try await bench.launchMakingAll().preserve(make(7).root)
    let typing = make(0)
    let coordinator = bench.launchMakingAll()
    try await bench.launchLocked(typing.root, coordinator) {
      typing.referrer.value = 1
      typing.referrer.friend = typing.tab
    }
    try await bench.unlock(coordinator)
    #expect(typing.tab.value == 7)
    _ = try await coordinator.preserve(typing.root)
    try await bench.kill()
    let (referrer, tabs) = (Panel("q"), TabController("tabs"))
    _ = try await bench.launchMakingAll().restore(into: Screen("root", children: [referrer, tabs]))
    #expect(referrer.strongFriend != nil && referrer.strongFriend === tabs.tabs.first)
    #expect((referrer.strongFriend as? Panel)?.value == 7)
  }
}
