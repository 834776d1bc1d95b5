import FoundationEssentials
import Observation
import RestorationArchive
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// Objects for which the archive has no place, and all others.
@MainActor @Suite struct TooDeepTests {
  let bench = Bench()

  @Test(arguments: [false, true])
  func `one edit that lies too deep stops nobody else`(looksFirst: Bool) async throws {
    try await bench.preserve(Screen("root", children: [Screen("a", text: "stored")]))
    let bottom = Screen("n")
    let root = Screen("root", children: [Screen("a"), chain(above: bottom)])
    let c = try await bench.launchLocked(root) {}
    root["a"]?.text = "typed"
    bottom.text = "deep"
    if looksFirst { for _ in 0..<20 { await Task.yield() } }
    for text in ["typed more", "typed most"] {
      root["a"]?.text = text
      _ = try await c.preserve(root)
    }
    try await bench.unlock()
    let last = Screen("root", children: [Screen("a")])
    _ = try await bench.launch().restore(into: last)
    #expect(last["a"]?.text == "typed most")
  }

  /// Not locked: objects without a record beside a row of another class.
  @Test(arguments: [false, true])
  func `one edit below an object without a record that lies too deep stops nobody else`(looksFirst: Bool) async throws {
    _ = try await bench.launchMakingAll(true).preserve(
      Screen(
        "root", children: [Screen("a"), Panel.made("e", value: 9, isNewer: true), Screen("top", text: "T", tag: "t1")]))
    let bottom = Screen("n")
    let top = Screen("top", tag: "t2", children: [chain(above: bottom)])
    let root = Screen("root", children: [Screen("a"), Panel.made("e"), top])
    let c = bench.launch()
    _ = try await c.restore(into: root)
    bottom.text = "deep"
    if looksFirst { _ = await c.forget(["root", "nothing"]) }
    root["a"]?.text = "typed"
    _ = try await c.preserve(root)
    top.restorationChildren = []
    root["a"]?.text = "typed most"
    _ = try await c.preserve(root)
    let (e, last) = (Panel.made("e", isNewer: true), Screen("root", children: [Screen("a")]))
    last.restorationChildren.append(e)
    _ = try await bench.launch().restore(into: last)
    #expect(last["a"]?.text == "typed most")
    #expect(e.value == 9, "nobody has edited it")
  }

  @Test func `what was too deep is saved once it is not`() async throws {
    let x = Screen("x", text: "typed", children: [Screen("y", text: "below")])
    let bottom = Screen("n", children: [x])
    let (root, c) = (Screen("root", children: [chain(above: bottom)]), bench.launch())
    _ = try await c.restore(into: root)
    #expect(try await c.preserve(root).receipt?.findings.count == 1)
    bottom.restorationChildren = []
    root.restorationChildren.append(x)
    _ = try await c.preserve(root)  // The chain alone is named.
    let last = Screen("root", children: [Screen("x", children: [Screen("y")])])
    _ = try await bench.launch().restore(into: last)
    #expect([last["x"]?.text, last["x"]?["y"]?.text] == ["typed", "below"])
  }

  @Test(arguments: [false, true]) func `what was edited where it is too deep while locked is saved once it is not`(
    later: Bool
  ) async throws {
    try await bench.preserve(Screen("root", children: [Screen("x", text: "stored")]))
    let bottom = Screen("n")
    let x = Screen("x")
    let root = Screen("root", children: [x, chain(above: bottom)])
    let c = try await bench.launchLocked(root) { if later { x.text = "typed" } }
    root.restorationChildren.removeFirst()
    bottom.restorationChildren = [x]
    _ = try await c.preserve(root)
    x.text = "typed more"
    _ = try await c.preserve(root)
    bottom.restorationChildren = []
    root.restorationChildren.append(x)
    _ = try await c.preserve(root)
    try await bench.kill()
    try await bench.unlock()
    let last = Screen("root", children: [Screen("x")])
    _ = try await bench.launch().restore(into: last)
    #expect(last["x"]?.text == "typed more")
  }

  @Test func `what an object that was too deep for a while writes is given`() async throws {
    try await bench.preserve(Screen("root", children: [NewerPanel("e", value: 9)]))
    let (e, bottom) = (Panel("e"), Screen("n"))
    let (root, c) = (Screen("root", children: [e, chain(above: bottom)]), bench.launch())
    _ = try await c.restore(into: root)
    _ = try await c.preserve(root)
    root.restorationChildren.removeFirst()
    bottom.restorationChildren = [e]
    _ = try await c.preserve(root)
    bottom.restorationChildren = []
    root.restorationChildren.append(e)
    _ = try await c.preserve(root)
    let again = NewerPanel("e")
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.value == 9)
  }
}
