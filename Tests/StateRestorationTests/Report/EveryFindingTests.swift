import StateRestoration
import Synchronization
import Testing

/// Every finding of a restoration and of a save, and every rung of the ladder, is forced by the engine; the compiler
/// checks that none is left out.
@MainActor @Suite struct EveryFindingTests {
  enum Restoring: String, CaseIterable, Sendable {
    case migrated, unreadKeys, unresolvedReference, unregisteredClass, wasAbsent, joined
    case notJoined, olderRecordGiven, superseded

    /// Nil for a remark of the state as a whole; see `EveryRemarkTests`.
    init?(_ remark: RestorationReport.Remark) {
      switch remark {
      case .migrated: self = .migrated
      case .unreadKeys: self = .unreadKeys
      case .unresolvedReference: self = .unresolvedReference
      case .unregisteredClass: self = .unregisteredClass
      case .olderRecordGiven: self = .olderRecordGiven
      case .superseded: self = .superseded
      case .wasAbsent: self = .wasAbsent
      case .joined: self = .joined
      case .notJoined: self = .notJoined
      case .tailDropped, .olderGeneration, .rollbackUnverifiable, .mergedPendingChanges, .markerIgnored,
        .interruptedBefore, .applicationStateFailed, .applicationStateTouched, .extensionTimedOut, .setAside,
        .noDelegate, .failure, .waitsForUnlock:
        return nil
      }
    }
  }

  enum Preserving: String, CaseIterable, Sendable {
    case duplicateIdentifier, listedTwice, notHeld, emptyIdentifier, inheritedTag, encodingFailed, overBudget, shed
    case danglingReference, setAside, setAsideRemoved, absentRemoved, recordRemoved, noRoomForRecord, failure
    case excludedRoot, unregisteredClass, unannouncedChange, missingIdentifier, associationNotHeld, inTwoWindows
    case notListed, misplacedDeclaration

    init(_ finding: PreservationOutcome.Finding) {
      self =
        switch finding {
        case .duplicateIdentifier: .duplicateIdentifier
        case .notHeld: .notHeld
        case .listedTwice: .listedTwice
        case .emptyIdentifier: .emptyIdentifier
        case .inheritedTag: .inheritedTag
        case .encodingFailed: .encodingFailed
        case .overBudget: .overBudget
        case .shed: .shed
        case .danglingReference: .danglingReference
        case .setAside: .setAside
        case .setAsideRemoved: .setAsideRemoved
        case .absentRemoved: .absentRemoved
        case .recordRemoved: .recordRemoved
        case .noRoomForRecord: .noRoomForRecord
        case .failure: .failure
        case .excludedRoot: .excludedRoot
        case .unregisteredClass: .unregisteredClass
        case .unannouncedChange: .unannouncedChange
        case .missingIdentifier: .missingIdentifier
        case .associationNotHeld: .associationNotHeld
        case .inTwoWindows: .inTwoWindows
        case .notListed: .notListed
        case .misplacedDeclaration: .misplacedDeclaration
        }
    }
  }

  @Test(arguments: Restoring.allCases)
  func `every finding of a restoration is made, at its node`(name: Restoring) async throws {
    let bench = Bench()
    var register: (RestorationRegistry) -> Void = { _ in }
    let preserved: any RestorableController
    let restored: any RestorableController
    let friend = Panel("friend", value: 2)
    switch name {
    case .migrated:
      preserved = VersionTests.OldEditor()
      restored = VersionTests.NewEditor()
      register = { $0.register(VersionTests.NewEditor.self, as: "editor") }
    case .unreadKeys:
      (preserved, restored) = (Panel("child", value: 1), Screen("child"))
      register = { $0.register(Screen.self, formerly: ["Panel"]) }
    case .unresolvedReference:
      let panel = Panel("child", value: 1)
      panel.strongFriend = friend
      (preserved, restored) = (panel, Panel("child"))
    case .unregisteredClass: (preserved, restored) = (Screen("child", tag: "tag"), Screen("child", tag: "tag"))
    case .wasAbsent: (preserved, restored) = (modelled("one"), modelled("one"))
    case .joined: (preserved, restored) = (Joining(), Joining())
    case .notJoined: (preserved, restored) = (Joining(), Next.Joining())
    case .olderRecordGiven:
      (preserved, restored) = (Versioned(1, value: 1), Versioned(1, value: 0))
      register = { $0.register(Versioned.self, as: "page") }
    case .superseded:
      (preserved, restored) = (Versioned(2, value: 1), Versioned(2, value: 0))
      register = { $0.register(Versioned.self, as: "page") }
    }
    try await bench.preserve(Screen("root", children: [preserved, friend]))
    if name == .wasAbsent { try await typeOverAnother(bench) }
    if name == .olderRecordGiven { try await typeAnother(bench, Unreadable()) }
    if name == .superseded { try await typeAnother(bench, Versioned(1, value: 0)) }
    if name == .joined { try await typeWhileLocked(bench, Joining()) }
    if name == .notJoined { try await typeWhileLocked(bench, Next.Joining()) }
    let coordinator = bench.launch(register)
    _ = try await coordinator.restore(into: Screen("root", children: [restored]))
    let report = try #require(coordinator.lastReport)
    let found = report.nodes.filter { $0.path.last == restored.restoration.identifier }.flatMap(\.remarks)
    #expect(found.map(Restoring.init) == [name])
  }

  /// A page that two versions of a program know.
  private final class Versioned: RestorableController, CodingObject {
    let restoration = RestorationIdentity("child", class: "page")
    var value: Int
    private let version: Int
    init(_ version: Int, value: Int) { (self.version, self.value) = (version, value) }
    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(value, forKey: "value")
      coder.encode(version, forKey: "version")
    }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      // A program that is older than the state can't read it.
      guard try coder.decode(Int.self, forKey: "version") <= version else {
        throw RestorationError(.unreadable, "Written by a newer version.")
      }
      value = try coder.decode(Int.self, forKey: "value")
    }
  }

  /// A page that says something that the other can't decode.
  private final class Unreadable: RestorableController, CodingObject {
    let restoration = RestorationIdentity("child", class: "page")
    var text = ""
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "value") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      throw RestorationError(.unreadable, "It reads nothing.")
    }
  }

  /// A run whose page can't read what is stored, and in which the user types.
  private func typeAnother(_ bench: Bench, _ child: any RestorableController & CodingObject) async throws {
    let root = Screen("root", children: [child])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if let child = child as? Versioned { child.value = 2 }
    if let child = child as? Unreadable { child.text = "typed" }
    _ = try await coordinator.preserve(root)
  }

  fileprivate class Joining: RestorableController, MergingObject {
    class var version: StateVersion { 1 }
    var restoration: RestorationIdentity { RestorationIdentity("child", version: Self.version) }
    var restorableState = "stored"
    func merged(stored: String, pending: String) -> String { stored + pending }
  }

  /// The same class in the program's next version, which can't read the older state.
  private enum Next {
    final class Joining: EveryFindingTests.Joining {
      override class var version: StateVersion { 2 }
    }
  }

  /// A run that dies on a locked device, after the user has typed.
  private func typeWhileLocked(_ bench: Bench, _ child: Joining) async throws {
    try await bench.lock()
    let root = Screen("root", children: [child])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    child.restorableState = "typed"
    _ = try await coordinator.preserve(root)
    try await bench.unlock()
  }

  private func modelled(_ model: ModelIdentifier) -> Screen {
    let screen = Screen("child", text: "of \(model)")
    screen.restoration.model = model
    return screen
  }

  /// A run in which the child is another model's, and the user types.
  private func typeOverAnother(_ bench: Bench) async throws {
    let child = modelled("two")
    let root = Screen("root", children: [child])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    child.text = "typed"
    _ = try await coordinator.preserve(root)
  }

  /// Makes its child anew whenever it is asked for it.
  private final class Fleeting: RestorationParent {
    let restoration: RestorationIdentity = "fleeting"
    var restorationChildren: [any RestorableController] { [Screen("child")] }
  }

  /// Has a child, and is no parent.
  private final class Shelf: RestorableController {
    let restoration: RestorationIdentity = "shelf"
    let restorationChildren: [any RestorableController] = [Screen("book")]
  }

  @Test(arguments: Preserving.allCases)
  func `every finding of a save is made`(name: Preserving) async throws {
    let bench = Bench()
    var register: (RestorationRegistry) -> Void = { _ in }
    let root = Screen("root", children: [Screen("child", text: String(repeating: "x", count: 2000))])
    switch name {
    case .duplicateIdentifier: root.restorationChildren.append(Screen("child"))
    case .listedTwice:
      let child = try #require(root["child"])
      root.restorationChildren.append(Screen("other", children: [child]))
    case .notHeld: root.restorationChildren.append(Fleeting())
    case .emptyIdentifier: root.restorationChildren.append(Screen(""))
    case .inheritedTag:
      root["child"]?.restoration.class = "panel"
      register = { $0.register(Panel.self, as: "panel") }
    case .encodingFailed:
      let odd = PipelineTests.Odd()
      odd.restorableState.fails = true
      root.restorationChildren = [odd]
    case .overBudget: bench.configuration.nodeByteBudget = 1000
    case .shed: bench.configuration.archiveByteBudget = 1000
    case .danglingReference:
      let panel = Panel("panel")
      panel.strongFriend = Panel("nowhere")
      root.restorationChildren = [panel]
    case .setAside: try await declineAndSave(bench, times: 0)
    case .setAsideRemoved: try await declineAndSave(bench, times: 4)
    case .absentRemoved: return try await fillPlace(bench)
    case .recordRemoved, .noRoomForRecord: return try await fillRow(bench, name)
    case .excludedRoot: root.restoration.identifier = nil
    case .missingIdentifier: root.restorationChildren.append(Panel(nil))
    case .associationNotHeld: root.restorationChildren.append(ListWithoutAssociation.make())
    case .inTwoWindows: try await preserveInAnotherWindow(bench, try #require(root["child"]))
    case .notListed: root.restorationChildren.append(Shelf())
    case .misplacedDeclaration: root.restorationChildren.append(Tagged())
    case .unregisteredClass: root["child"]?.restoration.class = "nobody"
    case .unannouncedChange: return try await changeSilently(bench)
    case .failure: bench.store.state.withLock { $0.failures["openPending"] = .corrupt }
    }
    let coordinator = bench.launch(register)
    if name == .setAside || name == .setAsideRemoved { _ = try await coordinator.restore(into: root) }
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.findings.map(Preserving.init) == (name == .setAsideRemoved ? [.setAside, name] : [name]))
  }

  /// A window that preserves the child of another one, and stays open.
  private func preserveInAnotherWindow(_ bench: Bench, _ child: Screen) async throws {
    let window = bench.openWindow("other")
    _ = try await window.preserve(Screen("root", children: [child]))
    bench.delegate.make = { _, _ in withExtendedLifetime(window) { nil } }
  }

  /// Has a save by name find what no automatic save would have.
  private func changeSilently(_ bench: Bench) async throws {
    let coordinator = bench.launch()
    let panel = Panel("panel")
    let root = Screen("root", children: [panel])
    _ = try await coordinator.preserve(root)
    panel.value = 1
    // Nobody counts on being noticed.
    #expect(try await coordinator.preserve(root).receipt?.findings == [])
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    panel.value = 2
    let findings = try await coordinator.preserve(root).receipt?.findings
    #expect(findings == [.unannouncedChange(path: ["root", "panel"])])
    panel.value = 3
    panel.invalidateRestorableState()
    #expect(try await coordinator.preserve(root).receipt?.findings == [])
  }

  /// Saves, and then as often as is said saves without restoring what is there.
  private func declineAndSave(_ bench: Bench, times: Int) async throws {
    try await bench.preserve(Screen("root", text: "0"))
    bench.delegate.restores = false
    for number in 0..<times {
      let root = Screen("root", text: "\(number + 1)")
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      _ = try await coordinator.preserve(root)
    }
  }

  /// Has nine runs write one page that none of them can read.
  private func fillRow(_ bench: Bench, _ name: Preserving) async throws {
    try await bench.preserve(Screen("root", children: [Versioned(9, value: 9)]))
    for run in 1...8 {
      let page = Unreadable()
      let root = Screen("root", children: [page])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      page.text = "run \(run)"
      let findings = try await coordinator.preserve(root).receipt?.findings ?? []
      let found = findings.map(Preserving.init).filter { $0 != .unregisteredClass }
      #expect(found == (run == 8 ? [.noRoomForRecord] : []))
    }
    guard name == .recordRemoved else { return }
    // Superseded records make room.
    let page = Versioned(9, value: 0)
    let root = Screen("root", children: [page])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    #expect(page.value == 9)
  }

  /// Has so many model objects take turns in one place that the oldest makes room.
  private func fillPlace(_ bench: Bench) async throws {
    let coordinator = bench.launch()
    let child = modelled("0")
    let root = Screen("root", children: [child])
    for number in 0...65 {
      child.restoration.model = ModelIdentifier("\(number)")
      child.text = "of \(number)"
      let findings = try await coordinator.preserve(root).receipt?.findings ?? []
      #expect(findings.map(Preserving.init) == (number > 64 ? [.absentRemoved] : []))
    }
    let models = try bench.newestReader().absentRows().compactMap(\.attributes.model)
    #expect(models.count == 64 && !models.contains("0"))
  }

  @Test(arguments: NodeReport.Origin.allCases)
  func `every rung of the ladder gives an object, and the report says which`(origin: NodeReport.Origin) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("child", text: "text", tag: "screen")]))
    let root = Screen("root")
    let coordinator = bench.launch { registry in
      if origin == .restorationClass {
        registry.register(Screen.self, as: "screen") { path, _ in Screen(path.last, tag: "screen") }
      } else {
        registry.register(Screen.self, as: "screen")
      }
      if origin == .blueprint {
        registry.registerBlueprint("child") { path, _ in Screen(path.last, tag: "screen") }
      }
    }
    let child = Screen("child", tag: "screen")
    switch origin {
    case .restorationClass, .blueprint, .registration: break
    case .delegate: bench.delegate.make = { path, _ in path.last == "child" ? child : nil }
    case .existing: root.restorationChildren = [child]
    }
    var report = try await coordinator.restore(into: root)[["root", "child"]]
    if origin == .registration {
      root.restorationChildren = [child]
      report = coordinator.restore(child, at: ["root", "child"])
    }
    #expect(report?.result == .restored(origin))
    #expect(root["child"]?.text == "text")
  }
}
