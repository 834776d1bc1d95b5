import FoundationEssentials
import Testing

@testable import StateRestoration

/// R2.1–R2.3: who is preserved, and under which path.
@MainActor @Suite struct PathTests {
  @Test(arguments: [nil, ""] as [RestorationIdentifier?])
  func `a controller without an identifier is excluded with its whole subtree`(
    identifier: RestorationIdentifier?
  ) async throws {
    let bench = Bench()
    let hidden = Screen(identifier, text: "hidden", children: [Screen("below", text: "below")])
    let outcome = try await bench.preserve(Screen("root", children: [hidden, Screen("seen", text: "seen")]))
    #expect(outcome.receipt?.capturedNodes == 2)
    let root = Screen("root", children: [Screen("below"), Screen("seen")])
    let report = try await bench.launch().restore(into: root)
    #expect(root["below"]?.text == "")
    #expect(root["seen"]?.text == "seen")
    #expect(report.nodes.map(\.path) == [["root"], ["root", "seen"]])
  }

  @Test(arguments: StoreKind.allCases)
  func `an empty identifier is named in the receipt`(on kind: StoreKind) async throws {
    let outcome = try await Bench(kind).preserve(Screen("root", children: [Screen("")]))
    #expect(outcome.receipt?.findings == [.emptyIdentifier(parent: ["root"], owner: "Screen")])
  }

  @Test(arguments: StoreKind.allCases)
  func `a child below an excluded parent is preserved by hand and restored through its class`(on kind: StoreKind)
    async throws
  {
    let bench = try await Bench(kind)
    let friend = Panel("friend", value: 7)
    friend.tag = "panel"
    let root = Panel("root", value: 1)
    root.strongFriend = friend
    try await bench.preserve(root)
    let again = Panel("root")
    let coordinator = bench.launch { $0.register(Panel.self, as: "panel") { path, _ in Panel(path.last) } }
    let report = try await coordinator.restore(into: again)
    #expect((again.strongFriend as? Panel)?.value == 7)
    #expect(report[["root", "friend"]]?.result == .restored(.restorationClass))
  }

  @Test(arguments: StoreKind.allCases)
  func `an object preserved by hand goes when nobody refers to it any more`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let friend = Panel("friend", value: 7)
    friend.tag = "panel"
    let root = Panel("root", value: 1)
    root.strongFriend = friend
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    root.strongFriend = nil
    _ = try await coordinator.preserve(root)
    let report = try await bench.launch().restore(into: Panel("root"))
    #expect(report.nodes.map(\.path) == [["root"]])
  }

  @Test(arguments: StoreKind.allCases)
  func `the same identifier under two parents names two objects`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(
      Screen(
        "root",
        children: [
          Screen("left", children: [Screen("list", text: "l")]),
          Screen("right", children: [Screen("list", text: "r")]),
        ]))
    let root = Screen(
      "root", children: [Screen("left", children: [Screen("list")]), Screen("right", children: [Screen("list")])])
    _ = try await bench.launch().restore(into: root)
    #expect(root["left"]?["list"]?.text == "l")
    #expect(root["right"]?["list"]?.text == "r")
  }

  @Test(arguments: StoreKind.allCases)
  func `two siblings with one identifier are reported with both owners and the first wins`(on kind: StoreKind)
    async throws
  {
    let bench = try await Bench(kind)
    let root = Screen("root", children: [Screen("twin", text: "first"), Panel("twin", value: 2)])
    let receipt = try #require(try await bench.preserve(root).receipt)
    #expect(receipt.findings == [.duplicateIdentifier(path: ["root", "twin"], kept: "Screen", refused: "Panel")])
    #expect("\(receipt)".contains("root"))
    let again = Screen("root", children: [Screen("twin")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["twin"]?.text == "first")
  }

  @Test func `two owners of one class are told apart by model or place, and one that is listed twice is named`()
    async throws
  {
    func note(_ model: ModelIdentifier?) -> Screen {
      let note = Screen("note")
      note.restoration.model = model
      return note
    }
    func owners(_ children: [Screen]) async throws -> [String] {
      let bench = Bench()
      let receipt = try await bench.preserve(Screen("root", children: children)).receipt
      return receipt?.findings.flatMap { finding in
        if case .duplicateIdentifier(_, let kept, let refused) = finding { [kept, refused] } else { [String]() }
      } ?? []
    }
    #expect(try await owners([note("A"), note("B")]) == ["Screen of “A”", "Screen of “B”"])
    #expect(try await owners([Screen("first"), note(nil), note(nil)]) == ["Screen (sibling 2)", "Screen (sibling 3)"])
    let only = note(nil)
    #expect(try await owners([only, only]) == ["Screen", "the same object, listed again,"])
    let bench = Bench()
    let shared = Screen("shared", text: "text")
    let root = Screen("root", children: [Screen("a", children: [shared]), Screen("b", children: [shared])])
    let coordinator = bench.launch()
    let findings = try await coordinator.preserve(root).receipt?.findings ?? []
    guard case .listedTwice(let path, let other)? = findings.first else {
      Issue.record("not named: \(findings)")
      return
    }
    #expect(findings.count == 1)
    #expect(Set([path, other.appending("shared")]) == [["root", "a", "shared"], ["root", "b", "shared"]])
    // Moving it is no such thing.
    root["a"]?.restorationChildren = []
    root["b"]?.restorationChildren = []
    _ = try await coordinator.preserve(root)
    root["a"]?.restorationChildren = [shared]
    _ = try await coordinator.preserve(root)
    root["a"]?.restorationChildren = []
    root["b"]?.restorationChildren = [shared]
    #expect(try await coordinator.preserve(root).receipt?.findings == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `the second of two siblings keeps its earlier state`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let second = Screen("b", text: "earlier")
    let root = Screen("root", children: [Screen("a", text: "a"), second])
    _ = try await coordinator.preserve(root)
    second.restoration.identifier = "a"
    second.text = "later"
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(
      receipt.findings == [
        .duplicateIdentifier(path: ["root", "a"], kept: "Screen (sibling 1)", refused: "Screen (sibling 2)")
      ])
    let again = Screen("root", children: [Screen("a"), Screen("b")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "a")
    #expect(again["b"]?.text == "earlier")
  }

  @Test(arguments: StoreKind.allCases)
  func `a view is preserved when it has an identifier and its controller is preserved`(on kind: StoreKind) async throws
  {
    let bench = try await Bench(kind)
    let root = Screen("root", children: [Screen(nil), Screen("page")])
    root["page"]?.restorationViews = [Field("scroll", 5), Field(nil, 6)]
    (root.restorationChildren[0] as? Screen)?.restorationViews = [Field("lost", 7)]
    try await bench.preserve(root)
    let again = Screen("root", children: [Screen("page")])
    let field = Field("scroll")
    again["page"]?.restorationViews = [field]
    let report = try await bench.launch().restore(into: again)
    #expect(field.restorableState == 5)
    #expect(report.nodes.map(\.path) == [["root"], ["root", "page"], ["root", "page", "scroll"]])
    #expect(report.nodes.last?.kind == .view)
  }

  @Test func `a cycle of children is a mistake that names both parties`() async {
    await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        let changes = ChangeListProbe.make()
        let top = Panel("top")
        let below = Panel("below")
        top.restorationChildren = [below]
        below.restorationChildren = [top]
        changes(top)
      }
    }
  }
}

/// Captures a hierarchy without a store.
@MainActor enum ChangeListProbe {
  static func make() -> (any RestorableController) -> Void {
    let delegate = YesDelegate()
    let coordinator = RestorationCoordinator(store: MemoryStore(), delegate: delegate)
    return { root in
      coordinator.measureCapture(of: root)
      withExtendedLifetime(delegate) {}
    }
  }
}
