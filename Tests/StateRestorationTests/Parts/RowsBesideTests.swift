import FaultyFileSystem
import FoundationEssentials
import Observation
import StateRestorationTesting
import TestTraits
import Testing

@testable import DataProtection
@testable import StateRestoration

/// What locked runs save beside the state that they can read names rows of that state, for the order alone: later runs may have closed
/// them.
@MainActor @Suite(.tags(.threads)) struct RowsBesideTests {
  private func launch(_ parted: PartedBench) -> RestorationCoordinator {
    parted.bench.launch {
      $0.register(Screen.self, as: "open") { path, _ in Screen(path.last, tag: "open") }
      $0.register(Screen.self, as: "secret") { path, _ in PartedBench.secret(path.last!, tag: "secret") }
    }
  }

  /// Runs the program once, locked, to a save; then the process ends.
  private func runLocked(_ parted: PartedBench, _ body: (Screen) -> Void) async throws {
    try await parted.bench.lock()
    let root = Screen("root", children: [Screen("shelf")])
    let coordinator = launch(parted)
    #expect(try await coordinator.restore(into: root).outcome == .partlyRestored)
    await coordinator.endTurn()
    body(root)
    _ = try await coordinator.preserve(root)
    try await parted.bench.kill()
  }

  @Test(arguments: [false, true])
  func `what a later locked run closes or moves is not made once more at the unlock`(isMoved: Bool) async throws {
    let parted = try await PartedBench()
    let first = Screen(
      "root",
      children: [
        Screen("shelf", children: [PartedBench.secret("old", text: "old", tag: "secret")]),
        Screen("note", text: "note", tag: "open"),
      ])
    _ = try await launch(parted).preserve(first)
    try await parted.bench.kill()
    try await runLocked(parted) { root in
      let (shelf, note) = (root["shelf"], root["note"])
      root.restorationChildren.removeAll { $0 === note }
      shelf?.restorationChildren = [note!, PartedBench.secret("new", text: "new", tag: "secret")]
    }
    try await runLocked(parted) { root in
      let (shelf, note) = (root["shelf"], root["shelf"]?["note"])
      #expect(note?.text == "note")
      shelf?.restorationChildren.removeAll()
      if isMoved { root.restorationChildren.append(note!) }
    }
    try await parted.bench.unlock()
    let root = Screen("root", children: [Screen("shelf")])
    let report = try await launch(parted).restore(into: root)
    #expect(root["shelf"]?["old"]?.text == "old")
    #expect(root["shelf"]?["new"]?.text == "new")
    #expect(root["shelf"]?["note"] == nil, "\(report)")
    #expect(root["note"]?.text == (isMoved ? "note" : nil))
  }
}

/// A note whose changes are noticed: a save asks it for nothing when there are none.
@Observable private final class ObservedNote: RestorationContainer, StatefulObject {
  @ObservationIgnored var restoration: RestorationIdentity
  var restorableState: String
  var notes: [ObservedNote]
  var restorationChildren: [any RestorableController] { notes }

  init(_ identity: RestorationIdentity, _ text: String = "", _ notes: [ObservedNote] = []) {
    (restoration, restorableState, self.notes) = (identity, text, notes)
  }

  func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
  func installRestoredChildren(_ children: [RestoredChild]) { notes = children.arranged(with: notes) }

  /// The text at a path below it.
  subscript(path: RestorationIdentifier...) -> String? {
    path.reduce(Optional(self)) { note, name in note?.notes.first { $0.restoration.identifier == name } }?
      .restorableState
  }
}

extension RowsBesideTests {
  private func launchNotes(_ parted: PartedBench) -> RestorationCoordinator {
    parted.bench.launch {
      $0.register(ObservedNote.self, as: "note") { path, _ in
        ObservedNote(RestorationIdentity(path.last, class: "note"))
      }
    }
  }

  @Test(arguments: [false, true])
  func `what lies in a note that gets secret in a locked run keeps its state`(isKilled: Bool) async throws {
    let parted = try await PartedBench()
    let inner = ObservedNote(RestorationIdentity("inner", class: "note"), "inner text")
    let weak = ObservedNote(RestorationIdentity("weak", class: "note", protection: ProtectionClass.none), "weak text")
    let outer = ObservedNote(RestorationIdentity("outer", class: "note"), "outer text", [inner, weak])
    _ = try await launchNotes(parted).preserve(ObservedNote("root", "root text", [outer]))
    try await parted.bench.kill()
    try await parted.bench.lock()
    var root = ObservedNote("root")
    var coordinator = launchNotes(parted)
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    #expect(root["outer", "inner"] == "inner text")
    root.notes.first?.restoration.protection = .complete
    root.notes.first?.invalidateRestorableState()
    #expect(try await coordinator.preserve(root).receipt?.durability == .durable)
    if isKilled {
      try await parted.bench.kill()
      try await parted.bench.unlock()
      root = ObservedNote("root")
      coordinator = launchNotes(parted)
      _ = try await coordinator.restore(into: root)
    } else {
      try await parted.bench.unlock(coordinator)
    }
    for _ in 0..<2 {
      #expect(root["outer"] == "outer text")
      #expect(root["outer", "inner"] == "inner text")
      #expect(root["outer", "weak"] == "weak text")
      _ = try await coordinator.preserve(root)
      try await parted.bench.kill()
      root = ObservedNote("root")
      coordinator = launchNotes(parted)
      _ = try await coordinator.restore(into: root)
    }
  }
}

/// Says yes, does something after the next save, and notes those that fail.
private final class SavingDelegate: RestorationCoordinatorDelegate {
  var afterSaving: (() -> Void)?
  var failures: [RestorationError] = []

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome) {
    afterSaving?()
    afterSaving = nil
  }

  func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError) {
    failures.append(error)
  }
}

extension RowsBesideTests {
  @Test func `a note that gets secret during an unlock is on the disk when the process ends then`() async throws {
    let parted = try await PartedBench()
    _ = try await launchNotes(parted).preserve(
      ObservedNote(
        "root", "root text",
        [
          ObservedNote(RestorationIdentity("note", class: "note"), "note text"),
          ObservedNote(RestorationIdentity("secret", class: "note", protection: .complete), "secret text"),
        ]))
    try await parted.bench.kill()
    try await parted.bench.lock()
    let delegate = SavingDelegate()
    let coordinator = parted.bench.launch(with: delegate) {
      $0.register(ObservedNote.self, as: "note") { path, _ in
        ObservedNote(RestorationIdentity(path.last, class: "note"))
      }
    }
    let root = ObservedNote("root")
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    #expect(root["note"] == "note text")
    root.restorableState = "root text 2"
    var isChanged = false
    // The unlock saves, and looks once more before it restores.
    delegate.afterSaving = {
      root.notes.first?.restoration.protection = .complete
      root.notes.first?.restorableState = "note text 2"
      isChanged = true
    }
    try await parted.bench.unlock(coordinator)
    #expect(isChanged)
    try await parted.bench.kill()
    let again = ObservedNote("root")
    _ = try await launchNotes(parted).restore(into: again)
    #expect(again["root"] == nil && again["note"] == "note text 2")
    #expect(again["secret"] == "secret text")
  }

  @Test func `an unlock whose save has no room says so, and the rest comes after one that has`() async throws {
    let parted = try await PartedBench()
    try await parted.bench.preserve(PartedBench.window(list: "list", note: "note"))
    try await parted.bench.kill()
    try await parted.bench.lock()
    let delegate = SavingDelegate()
    let coordinator = parted.bench.launch(with: delegate)
    let root = PartedBench.window()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    root["list"]?.text = parted.text("list2", 300_000)
    let disk = try #require(parted.bench.device?.memory)
    // Enough for counting the passcode.
    disk.fill(leaving: 20_000)
    try await parted.bench.unlock(coordinator)
    #expect(delegate.failures.map(\.code) == [.preservationFailed])
    #expect((delegate.failures.first?.cause as? ProtectionError)?.isScarceRoom == true)
    #expect(root["editor"]?.text == "")
    disk.fill(leaving: 4_000_000)
    _ = try await coordinator.preserve(root)
    await coordinator.finishLateRestoration()
    #expect(root["editor"]?.text == "note")
    #expect(parted.word(root["list"]?.text) == "list2")
  }

  @Test func `a container tells nobody what its secret children are called`() async throws {
    let parted = try await PartedBench()
    func hierarchy() -> (root: Screen, tabs: TabController, stack: NavigationController) {
      let tabs = TabController("tabs", tabs: [Screen("open"), PartedBench.secret("SECRET-TAB")])
      let stack = NavigationController("stack")
      stack.push(PartedBench.secret("SECRET-SCREEN"))
      return (Screen("root", children: [tabs, stack]), tabs, stack)
    }
    func launch() -> RestorationCoordinator {
      parted.bench.launch { $0.register(Screen.self, as: "top") { path, _ in Screen(path.last, tag: "top") } }
    }
    let first = hierarchy()
    first.tabs.select(1)
    first.stack.push(Screen("top", text: "top", tag: "top"))
    _ = try await launch().preserve(first.root)
    try await parted.bench.kill()
    try await parted.bench.lock()
    let text = try parted.readableText()
    #expect(text.contains("top") && !text.contains("SECRET"))
    let again = hierarchy()
    let coordinator = launch()
    #expect(try await coordinator.restore(into: again.root).outcome == .partlyRestored)
    #expect(again.tabs.selectedIndex == 1)
    try await parted.bench.unlock(coordinator)
    #expect(again.tabs.selectedIndex == 1)
    #expect(again.stack.stack.map(\.restoration.identifier) == ["SECRET-SCREEN", "top"])
    #expect((again.stack.stack.last as? Screen)?.text == "top")
  }
}
