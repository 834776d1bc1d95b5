import FoundationEssentials
import Observation
import RestorationArchive
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// Edits of an object whose sibling has its identifier.
@MainActor @Suite struct ShadowedSiblingTests {
  let bench = Bench()

  @Test func `an edit in the shadow of a sibling is saved once that is gone`() async throws {
    let (x, y) = (Screen("x", text: "x"), Screen("y", text: "y"))
    let (root, c) = (Screen("root", children: [x, y]), bench.launch())
    _ = try await c.restore(into: root)
    _ = try await c.preserve(root)
    y.restoration.identifier = "x"
    _ = try await c.preserve(root)
    y.text = "typed"
    _ = try await c.preserve(root)
    root.restorationChildren = [y]
    for _ in 0..<2 { _ = try await c.preserve(root) }
    let last = Screen("root", children: [Screen("x")])
    _ = try await bench.launch().restore(into: last)
    #expect(last["x"]?.text == "typed")
  }

  @Test func `an edit in the shadow of a sibling while locked is kept`() async throws {
    try await bench.preserve(Screen("root", children: [Screen("x", text: "x"), Screen("y", text: "y")]))
    let (x, y) = (Screen("x"), Screen("y"))
    let root = Screen("root", children: [x, y])
    let c = try await bench.launchLocked(root) { y.restoration.identifier = "x" }
    y.text = "typed"
    _ = try await c.preserve(root)
    root.restorationChildren = [y]
    _ = try await c.preserve(root)
    try await bench.unlock(c)
    #expect(y.text == "typed")
  }
}
