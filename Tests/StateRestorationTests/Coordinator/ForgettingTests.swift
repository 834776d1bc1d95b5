import StateRestoration
import Testing

/// `forget(_:)` goes by the names that objects have now, and leaves the state of live ones.
@MainActor @Suite struct ForgettingTests {
  private let bench = Bench()

  @Test func `the state of an object that waits for another stays, as the object shows it`() async throws {
    func hierarchy(_ targets: Screen...) -> Screen {
      Screen("root", children: [Screen("tools", children: targets)])
    }
    do {
      let target = Screen("target")
      let editor = Panel.made("editor", value: 5)
      editor.friend = target
      let root = hierarchy(target)
      root.restorationChildren.append(editor)
      _ = try await bench.launchMakingPanels().preserve(root)
    }
    do {
      let root = hierarchy()
      let coordinator = bench.launchMakingPanels()
      _ = try await coordinator.restore(into: root)
      let editor = try #require(root.restorationChildren.compactMap { $0 as? Panel }.first)
      #expect(editor.value == 5)
      #expect(await coordinator.forget(["root", "editor"]) == false)
      _ = try await coordinator.preserve(root)
    }
    let root = hierarchy()
    _ = try await bench.launchMakingPanels().restore(into: root)
    #expect(root.restorationChildren.compactMap { $0 as? Panel }.first?.value == 5)
  }

  @Test(arguments: [false, true])
  func `below a renamed parent the path of now counts, before any save too`(isFormerPath: Bool) async throws {
    func hierarchy(_ document: RestorationIdentifier, _ finds: Screen...) -> Screen {
      Screen("root", children: [Screen(document, text: "text", children: finds)])
    }
    try await bench.preserve(hierarchy("document", Screen("find", text: "typed")))
    let root = hierarchy("document")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    root["document"]?.restoration.identifier = "renamed"
    let isForgotten = await coordinator.forget(["root", isFormerPath ? "document" : "renamed", "find"])
    #expect(isForgotten != isFormerPath)
    _ = try await coordinator.preserve(root)
    let find = Screen("find")
    _ = try await bench.launch().restore(into: hierarchy("renamed", find))
    #expect(find.text == (isFormerPath ? "typed" : ""))
  }
}
