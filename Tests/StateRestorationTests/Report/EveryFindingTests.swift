import StateRestoration
import Synchronization
import Testing

/// Every finding of a restoration and of a save, and every rung of the ladder, is forced by the engine; the compiler
/// checks that none is left out.
@MainActor @Suite struct EveryFindingTests {
  enum Restoring: String, CaseIterable, Sendable {
    case migrated, unreadKeys, unresolvedReference, unregisteredClass, identifierDiffers, keptState, broughtBack

    init(_ finding: NodeReport.Finding) {
      self =
        switch finding {
        case .migrated: .migrated
        case .unreadKeys: .unreadKeys
        case .unresolvedReference: .unresolvedReference
        case .unregisteredClass: .unregisteredClass
        case .identifierDiffers: .identifierDiffers
        case .keptState: .keptState
        case .broughtBack: .broughtBack
        }
    }
  }

  enum Preserving: String, CaseIterable, Sendable {
    case duplicateIdentifier, listedTwice, notHeld, anotherSaved, emptyIdentifier, inheritedTag, encodingFailed,
      overBudget, shed,
      danglingReference
    case setAside, setAsideRemoved, keptStateRemoved, failure

    init(_ finding: PreservationFinding) {
      self =
        switch finding {
        case .duplicateIdentifier: .duplicateIdentifier
        case .notHeld: .notHeld
        case .anotherSaved: .anotherSaved
        case .listedTwice: .listedTwice
        case .emptyIdentifier: .emptyIdentifier
        case .inheritedTag: .inheritedTag
        case .encodingFailed: .encodingFailed
        case .overBudget: .overBudget
        case .shed: .shed
        case .danglingReference: .danglingReference
        case .setAside: .setAside
        case .setAsideRemoved: .setAsideRemoved
        case .keptStateRemoved: .keptStateRemoved
        case .failure: .failure
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
    case .unreadKeys: (preserved, restored) = (Panel("child", value: 1), Screen("child"))
    case .unresolvedReference:
      let panel = Panel("child", value: 1)
      panel.strongFriend = friend
      (preserved, restored) = (panel, Panel("child"))
    case .unregisteredClass: (preserved, restored) = (Screen("child", tag: "tag"), Screen("child", tag: "tag"))
    case .identifierDiffers:
      (preserved, restored) = (Screen("child"), Screen("child"))
      bench.delegate.make = { path, _ in path.components.count > 1 ? Screen("another") : nil }
    case .keptState: (preserved, restored) = (Panel("child", value: 1), Panel("child"))
    case .broughtBack: (preserved, restored) = (modelled("one"), modelled("one"))
    }
    try await bench.preserve(Screen("root", children: [preserved, friend]))
    if name == .keptState { try await typeOverUnreadable(bench) }
    if name == .broughtBack { try await typeOverAnother(bench) }
    let report = try await bench.launch(register).restore(into: Screen("root", children: [restored]))
    #expect(report.nodes.dropFirst().first?.findings.map(Restoring.init) == [name])
  }

  private func modelled(_ model: ModelIdentifier) -> Screen {
    let screen = Screen("child", text: "of \(model)")
    screen.restorationModelIdentifier = model
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

  /// A run that can't read the state of the child, in which the user types something else.
  private func typeOverUnreadable(_ bench: Bench) async throws {
    let failing = Panel("child")
    failing.failsDecoding = true
    let root = Screen("root", children: [failing])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    failing.value = 5
    _ = try await coordinator.preserve(root)
  }

  /// Restores in two processes at once, of which the other one saves.
  private func saveBeside(_ coordinator: RestorationCoordinator, _ root: Screen, on bench: Bench) async throws {
    _ = try await coordinator.restore(into: root)
    let (other, others) = (bench.launch(), Screen("root"))
    _ = try await other.restore(into: others)
    others.text = "theirs"
    _ = try await other.preserve(others)
    root.text = "mine"
  }

  /// Makes its child anew whenever it is asked for it.
  private final class Fleeting: RestorableController {
    let restorationIdentifier: RestorationIdentifier? = "fleeting"
    var restorationChildren: [any RestorableController] { [Screen("child")] }
  }

  @Test func `what another process has saved is named also when the journal is full`() async throws {
    let bench = Bench()
    let root = Screen("root")
    try await bench.preserve(root)
    let coordinator = bench.launch()
    try await saveBeside(coordinator, root, on: bench)
    bench.store.state.withLock { $0.isCompactionDue = true }
    #expect(try await coordinator.preserve(root).receipt?.findings == [.anotherSaved(generation: 1)])
    root.text = "again"
    #expect(try await coordinator.preserve(root).receipt?.findings == [])
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
      root["child"]?.restorationClass = "panel"
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
    case .keptStateRemoved: return try await fillKept(bench)
    case .failure: bench.store.state.withLock { $0.failures["openPending"] = .corrupt }
    case .anotherSaved: try await bench.preserve(root)
    }
    let coordinator = bench.launch(register)
    if name == .anotherSaved { try await saveBeside(coordinator, root, on: bench) }
    if name == .setAside || name == .setAsideRemoved { _ = try await coordinator.restore(into: root) }
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.findings.map(Preserving.init) == (name == .setAsideRemoved ? [.setAside, name] : [name]))
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

  /// Types over unreadable state when as much is kept as is kept at most.
  private func fillKept(_ bench: Bench) async throws {
    try await bench.preserve(Screen("root", children: [Panel("child", value: 1)]))
    var writer = try RestorationArchive.Writer(continuing: bench.newestReader())
    let kept = try writer.insert("$kept", parent: nil, attributes: .init(flags: .reserved))
    for number in 0..<64 {
      let node = try writer.insert(RestorationIdentifier("root/old \(number)"), parent: kept)
      try writer.setRecord(of: node, entries: [.init(key: "value", value: number)], attributes: .init())
    }
    _ = try bench.place.publish(try writer.makeArchive(), Succession())
    let failing = Panel("child")
    failing.failsDecoding = true
    let root = Screen("root", children: [failing])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    failing.value = 5
    let findings = try await coordinator.preserve(root).receipt?.findings ?? []
    #expect(findings.map(Preserving.init) == [.keptStateRemoved])
    guard case .keptStateRemoved(let owner, _)? = findings.first else { return }
    #expect(owner == "root/old 0")
    #expect(try bench.newestReader().keptNodes().count == 64)
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
      report = coordinator.register(child, at: ["root", "child"])
    }
    #expect(report?.result == .restored(origin))
    #expect(root["child"]?.text == "text")
  }
}
