import RestorationArchive
import StateRestorationTesting
import Testing

@testable import StateRestoration

/// Containers whose children were edited and rearranged while the device was locked: nothing that was edited is lost.
@MainActor @Suite struct RearrangedWhileLockedTests {
  private let bench = Bench()

  private func screen(_ identifier: RestorationIdentifier, _ text: String = "", isMade: Bool = true) -> Screen {
    Screen(identifier, text: text, tag: isMade ? "screen" : nil)
  }

  /// Two columns, "a" and "b", on disk.
  private func preserve(isMade: Bool) async throws {
    _ = try await bench.launchMakingAll().preserve(
      SplitController(
        "root", primary: screen("a", "A", isMade: isMade),
        secondary: screen("b", "B", isMade: isMade)))
  }

  /// The text of a column on disk; nil when nothing is stored there.
  private func isStored(_ identifier: RestorationIdentifier) throws -> Bool {
    try bench.newestReader().node(at: ["root", identifier]) != nil
  }

  @Test(arguments: [false, true], [false, true])
  func `an edited column stays beside one that has come into its place`(isFirst: Bool, isKilled: Bool) async throws {
    try await preserve(isMade: true)
    let (edited, new) = (screen(isFirst ? "a" : "b"), screen("d"))
    let root = SplitController("root")
    (root.primary, root.secondary) = isFirst ? (nil, edited) : (edited, nil)
    var coordinator = bench.launchMakingAll()
    try await bench.launchLocked(root, coordinator) {
      edited.text = "typed"
      if isFirst { root.primary = new } else { root.secondary = new }
      new.text = "other"
    }
    var last = root
    if isKilled {
      try await bench.kill()
      try await bench.unlock()
      (last, coordinator) = (SplitController("root"), bench.launchMakingAll())
      _ = try await coordinator.restore(into: last)
    } else {
      try await bench.unlock(coordinator)
    }
    let columns = [last.primary, last.secondary].compactMap { $0 as? Screen }
    #expect(Set(columns.map(\.text)) == ["typed", "other"])
    _ = try await coordinator.preserve(last)
    for identifier in ["a", "b", "d"] as [RestorationIdentifier] { #expect(try isStored(identifier)) }
  }

  @Test func `an edited column stays where it was put, and the one that was there stays stored`() async throws {
    try await preserve(isMade: true)
    let edited = screen("b")
    let root = SplitController("root", primary: edited)
    let coordinator = bench.launchMakingAll()
    try await bench.launchLocked(root, coordinator) { edited.text = "typed" }
    try await bench.unlock(coordinator)
    #expect(root.primary === edited && edited.text == "typed")
    _ = try await coordinator.preserve(root)
    for identifier in ["a", "b"] as [RestorationIdentifier] { #expect(try isStored(identifier)) }
  }

  @Test func `columns that were all rearranged stay as they are`() async throws {
    try await preserve(isMade: false)
    let (a, b, d) = (screen("a", isMade: false), screen("b", isMade: false), screen("d", isMade: false))
    let root = SplitController("root", primary: a, secondary: b)
    let coordinator = bench.launch()
    try await bench.launchLocked(root, coordinator) {
      (root.primary, root.secondary) = (d, a)
      root.present(b)
      (a.text, b.text, d.text) = ("typed a", "typed b", "typed d")
    }
    try await bench.unlock(coordinator)
    #expect(root.primary === d && root.secondary === a && root.presentedController === b)
    _ = try await coordinator.preserve(root)
    for identifier in ["a", "b", "d"] as [RestorationIdentifier] { #expect(try isStored(identifier)) }
  }

  @Test func `what a container does not take though it was there stays stored`() async throws {
    try await bench.preserve(Refusing(children: [Screen("a", text: "A"), Screen("b", text: "B")]))
    let root = Refusing(children: [Screen("a"), Screen("b")])
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: root)
    #expect(report[["root", "b"]]?.notRestoredReason == .notInstalled)
    _ = try await coordinator.preserve(root)
    let again = [Screen("a"), Screen("b")]
    _ = try await bench.launch().restore(into: Refusing(children: again, isTaking: true))
    #expect(again.map(\.text) == ["A", "B"])
  }

  /// Keeps only the first of its children, unless it takes all.
  private final class Refusing: RestorationContainer {
    let restoration: RestorationIdentity = "root"
    private(set) var restorationChildren: [any RestorableController]
    private let isTaking: Bool
    init(children: [any RestorableController], isTaking: Bool = false) {
      (restorationChildren, self.isTaking) = (children, isTaking)
    }
    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
    func installRestoredChildren(_ children: [RestoredChild]) { if !isTaking { restorationChildren.removeLast() } }
  }
}
