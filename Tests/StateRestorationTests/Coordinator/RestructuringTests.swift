import FoundationEssentials
import StateRestoration
import Testing

/// Hierarchies that are turned round between saves: nothing that left comes back, nothing that stayed is lost.
@MainActor @Suite struct RestructuringTests {
  /// What a hierarchy holds, by path.
  func content(_ top: Screen, _ path: String = "") -> [String: String] {
    let own = path + "/" + (top.restoration.identifier?.rawValue ?? "-")
    var content = [own: top.text]
    for case let child as Screen in top.restorationChildren { content.merge(self.content(child, own)) { $1 } }
    return content
  }

  /// What a new launch finds, everything made by the delegate.
  func launch(_ bench: Bench) async throws -> [String: String] {
    let root = Screen("w")
    bench.delegate.make = { path, _ in Screen(path.last) }
    _ = try await bench.launch().restore(into: root)
    bench.delegate.make = { _, _ in nil }
    // The other coordinator saves again.
    bench.closePlaces()
    return content(root)
  }

  func tree() -> Screen {
    Screen(
      "w", text: "w",
      children: [
        Screen("c0", text: "0", children: [Screen("c3", text: "3")]), Screen("c1", text: "1"),
        Screen("c2", text: "2"),
      ])
  }

  @Test(arguments: StoreKind.allCases)
  func `a controller that was renamed and then removed does not come back`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let root = tree()
    _ = try await coordinator.preserve(root)
    let (zero, one) = (try #require(root["c0"]), try #require(root["c1"]))
    zero.restorationChildren = []
    _ = try await coordinator.preserve(root)
    (zero.restoration.identifier, one.restoration.identifier) = ("c1", "c0")
    _ = try await coordinator.preserve(root)
    #expect(try await launch(bench) == content(root))
    root.restorationChildren.removeAll { $0 === zero }
    _ = try await coordinator.preserve(root)
    #expect(try await launch(bench) == content(root))
  }

  @Test(arguments: StoreKind.allCases)
  func `names that go round among siblings leave no name behind`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    var root = tree()
    var coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    for round in 0..<6 {
      let children = root.restorationChildren.compactMap { $0 as? Screen }
      let names = children.map(\.restoration.identifier)
      for (index, child) in children.enumerated() {
        child.restoration.identifier = names[(index + 1) % names.count]
        child.text += "\(round)"
      }
      let outcome = try await coordinator.preserve(root)
      #expect(outcome.receipt?.findings == [])
      #expect(try await launch(bench) == content(root))
      guard round % 2 == 1 else { continue }
      root = Screen("w")
      bench.delegate.make = { path, _ in Screen(path.last) }
      coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
    }
  }

  @Test(arguments: StoreKind.allCases, [true, false])
  func `a controller that takes the name of a sibling leaves both with their state`(
    on kind: StoreKind, isFirst: Bool
  ) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let root = tree()
    _ = try await coordinator.preserve(root)
    if !isFirst { root.restorationChildren.reverse() }
    let (zero, one) = (try #require(root["c0"]), try #require(root["c1"]))
    zero.restoration.identifier = "c1"
    one.text = "newer"
    let findings = try await coordinator.preserve(root).receipt?.findings
    let refused = isFirst ? 1 : 3
    #expect(
      findings == [
        .duplicateIdentifier(path: ["w", "c1"], kept: "Screen (sibling 2)", refused: "Screen (sibling \(refused))")
      ])
    let found = try await launch(bench)
    #expect(found == ["/w": "w", "/w/c0": "0", "/w/c0/c3": "3", "/w/c1": "newer", "/w/c2": "2"])

    one.restoration.identifier = "c5"
    #expect(try await coordinator.preserve(root).receipt?.findings == [])
    #expect(try await launch(bench) == content(root))
  }

  @Test(arguments: StoreKind.allCases, [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]])
  func `names that move up behind one that stays leave everybody's state where it was`(
    on kind: StoreKind, order: [Int]
  ) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let root = tree()
    _ = try await coordinator.preserve(root)
    let (zero, one) = (try #require(root["c0"]), try #require(root["c1"]))
    (zero.restoration.identifier, one.restoration.identifier) = ("c1", "c2")
    let children = root.restorationChildren
    root.restorationChildren = order.map { children[$0] }
    #expect(try await coordinator.preserve(root).receipt?.findings.count == 2)
    let found = try await launch(bench)
    #expect(found == ["/w": "w", "/w/c0": "0", "/w/c0/c3": "3", "/w/c1": "1", "/w/c2": "2"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a newcomer with the name of a child that was there before it is the one left out`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let root = tree()
    _ = try await coordinator.preserve(root)
    root.restorationChildren.insert(Screen("c1", text: "newcomer"), at: 0)
    #expect(try await coordinator.preserve(root).receipt?.findings.count == 1)
    #expect(try await launch(bench)["/w/c1"] == "1")
  }

  @Test(arguments: StoreKind.allCases)
  func `a renamed parent and its new child can be removed one after the other`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let root = tree()
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    let three = try #require(root["c0"]?["c3"])
    three.restorationChildren = [Screen("c4", text: "4")]
    three.restoration.identifier = "c0"
    _ = try await coordinator.preserve(root)
    three.restorationChildren = []
    root["c0"]?.restorationChildren = []
    _ = try await coordinator.preserve(root)
    #expect(try await launch(bench) == content(root))
  }

  @Test(arguments: [false, true])
  func `a parent may become its child's child, in whatever order that is done`(rootFirst: Bool) async throws {
    let bench = Bench()
    let root = tree()
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    let zero = try #require(root["c0"])
    let three = try #require(zero["c3"])
    let others = root.restorationChildren.filter { $0 !== zero }
    if rootFirst { root.restorationChildren = [three] + others }
    zero.restorationChildren = []
    three.restorationChildren = [zero]
    if !rootFirst { root.restorationChildren = [three] + others }
    _ = try await coordinator.preserve(root)
    #expect(try await launch(bench) == content(root))
    zero.text = "changed"
    _ = try await coordinator.preserve(root)
    #expect(try await launch(bench) == content(root))
  }

  @Test func `a controller that refers to itself can be removed`() async throws {
    let bench = Bench()
    let panel = Panel("p", value: 1)
    panel.tag = "panel"
    panel.friend = panel
    let root = Screen("w", text: "w", children: [panel])
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    root.restorationChildren = []
    _ = try await coordinator.preserve(root)
    #expect(try await launch(bench) == ["/w": "w"])
    withExtendedLifetime(panel) {}
  }

  @Test func `references into and within a part that is removed cost no save`() async throws {
    let bench = Bench()
    let (inner, outer, stays) = (Panel("inner"), Panel("outer"), Panel("stays", value: 4))
    for panel in [inner, outer, stays] { panel.tag = "panel" }
    inner.friend = outer
    outer.friend = inner
    stays.friend = inner
    let part = Screen("part", children: [outer, Screen("deep", children: [inner])])
    let root = Screen("w", children: [part, stays])
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    root.restorationChildren = [stays]
    for _ in 0..<3 {
      stays.value += 1
      _ = try await coordinator.preserve(root)
    }
    let again = Screen("w", children: [Panel("stays")])
    _ = try await bench.launch { $0.register(Panel.self, as: "panel") { path, _ in Panel(path.last) } }
      .restore(into: again)
    #expect((again.restorationChildren.first as? Panel)?.value == 7)
    withExtendedLifetime(part) {}
  }

  @Test func `a controller that was preserved by hand may become a child`() async throws {
    let bench = Bench()
    let panel = Panel("p", value: 1)
    panel.tag = "panel"
    let owner = Panel("owner")
    owner.strongFriend = panel
    let root = Screen("w", children: [owner])
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    root.restorationChildren = [owner, panel]
    _ = try await coordinator.preserve(root)
    let again = Screen("w", children: [Panel("owner"), Panel("p")])
    let report = try await bench.launch { $0.register(Panel.self, as: "panel") }.restore(into: again)
    #expect(report.nodes.allSatisfy { $0.isRestored })
    let panels = again.restorationChildren.compactMap { $0 as? Panel }
    #expect(panels.map(\.value) == [0, 1])
    #expect(panels[0].strongFriend === panels[1])
  }
}
