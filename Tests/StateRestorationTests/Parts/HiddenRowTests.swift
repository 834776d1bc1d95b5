import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// Rows whose objects get a class without a key, above others that can't be read: nothing of them is told until the unlock.
@MainActor @Suite(.tags(.threads)) struct HiddenRowTests {
  private static let word = "FOLDER"

  private func launch(_ parted: PartedBench) -> RestorationCoordinator {
    parted.bench.launch {
      $0.register(Screen.self, as: "open") { path, _ in Screen(path.last, tag: "open") }
      $0.register(Screen.self, as: "secret") { path, _ in PartedBench.secret(path.last!, tag: "secret") }
      $0.register(Screen.self, as: "FOLDER-CLASS") { path, _ in Self.folder("\(path.last!)") }
    }
  }

  private static func folder(_ identifier: String, text: String = "", children: [Screen] = []) -> Screen {
    let folder = Screen(RestorationIdentifier(identifier), text: text, tag: "FOLDER-CLASS", children: children)
    folder.restoration.model = "FOLDER-MODEL"
    return folder
  }

  private static func shelf() -> Screen { Screen("root", children: [Screen("shelf")]) }

  /// A folder with a secret note, between other screens.
  private func preserve(_ parted: PartedBench, text: String, inner: Screen? = nil) async throws {
    let old = PartedBench.secret("old", text: "old", tag: "secret")
    let folder = Self.folder("FOLDER", text: text, children: [inner ?? old])
    if let inner { inner.restorationChildren = [old] }
    let root = Screen("root", children: [Screen("shelf"), folder, Screen("last", text: "last", tag: "open")])
    _ = try await launch(parted).preserve(root)
    try await parted.bench.kill()
  }

  /// Begins a run on the locked device.
  private func launchLocked(_ parted: PartedBench) async throws -> (RestorationCoordinator, Screen) {
    try await parted.bench.lock()
    let root = Self.shelf()
    let coordinator = launch(parted)
    #expect(try await coordinator.restore(into: root).outcome == .partlyRestored)
    await coordinator.endTurn()
    return (coordinator, root)
  }

  private func makeSecret(_ screen: Screen?) throws {
    let screen = try #require(screen)
    screen.restoration.protection = .complete
    screen.invalidateRestorableState()
  }

  /// Ends a locked run, or has it unlocked, and gives what is there then and at the next launch.
  private func unlocked(
    _ parted: PartedBench, _ coordinator: RestorationCoordinator, _ root: Screen, isKilled: Bool,
    _ check: (Screen, RestorationReport) throws -> Void
  ) async throws {
    var (coordinator, root) = (coordinator, root)
    if isKilled {
      try await parted.bench.kill()
      try await parted.bench.unlock()
      root = Self.shelf()
      coordinator = launch(parted)
      _ = try await coordinator.restore(into: root)
    } else {
      try await parted.bench.unlock(coordinator)
    }
    for _ in 0..<2 {
      try check(root, #require(coordinator.lastReport))
      _ = try await coordinator.preserve(root)
      try await parted.bench.kill()
      root = Self.shelf()
      coordinator = launch(parted)
      _ = try await coordinator.restore(into: root)
    }
  }

  private func names(_ screen: Screen) -> [RestorationIdentifier?] {
    screen.restorationChildren.map { $0.restoration.identifier }
  }

  @Test(arguments: PartedBench.sizes, [false, true])
  func `nothing of a row that gets secret above a locked one is told, and all of it is there after the unlock`(
    size: Int, isKilled: Bool
  ) async throws {
    let parted = try await PartedBench()
    try await preserve(parted, text: parted.text("FOLDER-TEXT", size))
    let (coordinator, root) = try await launchLocked(parted)
    try makeSecret(root["FOLDER"])
    root["FOLDER"]?.text = parted.text("FOLDER-SECRET", size)
    #expect(try await coordinator.preserve(root).receipt?.durability == .durable)
    let text = try parted.readableText()
    #expect(text.contains("shelf") && text.contains("last") && !text.contains(Self.word))
    try await unlocked(parted, coordinator, root, isKilled: isKilled) { root, report in
      #expect(names(root) == ["shelf", "FOLDER", "last"])
      #expect(parted.word(root["FOLDER"]?.text) == "FOLDER-SECRET")
      #expect(root["FOLDER"]?["old"]?.text == "old", "\(report)")
      root["FOLDER"]?.restoration.protection = .complete
    }
    try await parted.bench.kill()
    try await parted.bench.lock()
    #expect(!(try parted.readableText().contains(Self.word)))
  }

  @Test(arguments: [false, true], [false, true])
  func `a folder in a folder, or one without values, is found again`(isNested: Bool, isKilled: Bool) async throws {
    let parted = try await PartedBench()
    try await preserve(
      parted, text: "", inner: isNested ? Self.folder("FOLDER-INNER", text: "FOLDER-INNER-TEXT") : nil)
    let (coordinator, root) = try await launchLocked(parted)
    try makeSecret(root["FOLDER"])
    _ = try await coordinator.preserve(root)
    #expect(!(try parted.readableText().contains(Self.word)))
    try await unlocked(parted, coordinator, root, isKilled: isKilled) { root, report in
      let parent = isNested ? root["FOLDER"]?["FOLDER-INNER"] : root["FOLDER"]
      #expect(parent?["old"]?.text == "old", "\(report)")
      if isNested { #expect(parent?.text == "FOLDER-INNER-TEXT") }
    }
  }

  @Test(arguments: [false, true])
  func `a folder that is closed then waits with what could not be read`(isKilled: Bool) async throws {
    let parted = try await PartedBench()
    try await preserve(parted, text: "FOLDER-TEXT")
    let (coordinator, root) = try await launchLocked(parted)
    try makeSecret(root["FOLDER"])
    _ = try await coordinator.preserve(root)
    root.restorationChildren.removeAll { $0.restoration.identifier == "FOLDER" }
    _ = try await coordinator.preserve(root)
    #expect(!(try parted.readableText().contains(Self.word)))
    try await unlocked(parted, coordinator, root, isKilled: isKilled) { root, _ in #expect(root["FOLDER"] == nil) }
    let again = Screen("root", children: [Screen("shelf"), Self.folder("FOLDER")])
    _ = try await launch(parted).restore(into: again)
    #expect(again["FOLDER"]?.text == "")
    #expect(again["FOLDER"]?["old"]?.text == "old")
  }

  @Test func `a folder that the next locked run has with its first class becomes one with what was hidden`()
    async throws
  {
    let parted = try await PartedBench()
    try await preserve(parted, text: "FOLDER-TEXT")
    let (coordinator, root) = try await launchLocked(parted)
    try makeSecret(root["FOLDER"])
    _ = try await coordinator.preserve(root)
    try await parted.bench.kill()
    let (next, again) = try await launchLocked(parted)
    #expect(again["FOLDER"] == nil)
    again.restorationChildren.append(Self.folder("FOLDER", text: "FOLDER-NEW"))
    _ = try await next.preserve(again)
    try await unlocked(parted, next, again, isKilled: true) { root, report in
      #expect(names(root).filter { $0 == "FOLDER" }.count == 1)
      #expect(root["FOLDER"]?["old"]?.text == "old", "\(report)")
    }
  }

  @Test func `a folder that moves to another parent is found there`() async throws {
    let parted = try await PartedBench()
    try await preserve(parted, text: "FOLDER-TEXT")
    let (coordinator, root) = try await launchLocked(parted)
    try makeSecret(root["FOLDER"])
    _ = try await coordinator.preserve(root)
    let folder = try #require(root["FOLDER"])
    root.restorationChildren.removeAll { $0 === folder }
    root["shelf"]?.restorationChildren.append(folder)
    _ = try await coordinator.preserve(root)
    try await unlocked(parted, coordinator, root, isKilled: true) { root, report in
      #expect(names(root) == ["shelf", "last"])
      #expect(root["shelf"]?["FOLDER"]?.text == "FOLDER-TEXT")
      #expect(root["shelf"]?["FOLDER"]?["old"]?.text == "old", "\(report)")
    }
  }
}
