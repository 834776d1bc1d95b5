import StateRestoration
import Testing

/// Every finding of a restoration and of a save, and every rung of the ladder, is forced by the engine; the compiler
/// checks that none is left out.
@MainActor @Suite struct EveryFindingTests {
  enum Restoring: String, CaseIterable, Sendable {
    case migrated, unreadKeys, unresolvedReference, unregisteredClass, identifierDiffers

    init(_ finding: NodeReport.Finding) {
      self =
        switch finding {
        case .migrated: .migrated
        case .unreadKeys: .unreadKeys
        case .unresolvedReference: .unresolvedReference
        case .unregisteredClass: .unregisteredClass
        case .identifierDiffers: .identifierDiffers
        }
    }
  }

  enum Preserving: String, CaseIterable, Sendable {
    case duplicateIdentifier, emptyIdentifier, inheritedTag, encodingFailed, overBudget, shed, danglingReference

    init(_ finding: PreservationFinding) {
      self =
        switch finding {
        case .duplicateIdentifier: .duplicateIdentifier
        case .emptyIdentifier: .emptyIdentifier
        case .inheritedTag: .inheritedTag
        case .encodingFailed: .encodingFailed
        case .overBudget: .overBudget
        case .shed: .shed
        case .danglingReference: .danglingReference
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
    }
    try await bench.preserve(Screen("root", children: [preserved, friend]))
    let report = try await bench.launch(register).restore(into: Screen("root", children: [restored]))
    #expect(report.nodes.dropFirst().first?.findings.map(Restoring.init) == [name])
  }

  @Test(arguments: Preserving.allCases)
  func `every finding of a save is made`(name: Preserving) async throws {
    let bench = Bench()
    var register: (RestorationRegistry) -> Void = { _ in }
    let root = Screen("root", children: [Screen("child", text: String(repeating: "x", count: 2000))])
    switch name {
    case .duplicateIdentifier: root.restorationChildren.append(Screen("child"))
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
    }
    let receipt = try #require(try await bench.launch(register).preserve(root).receipt)
    #expect(receipt.findings.map(Preserving.init) == [name])
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
