import FoundationEssentials
import Synchronization
import Testing

@testable import StateRestoration

/// R3.3 in the app-level state, and R2.1's children that are preserved by hand.
@MainActor @Suite struct ApplicationReferenceTests {
  /// A delegate whose app-level state refers to the selected panel.
  final class Delegate: RestorationCoordinatorDelegate {
    weak var selected: (any RestorableObject)?
    var others: [any RestorableObject] = []
    var restored: [Panel] = []

    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

    func willEncodeRestorableState(with coder: RestorationEncoder) {
      coder.encodeReference(to: selected, forKey: "selected")
      coder.encodeReferences(to: others, forKey: "others")
    }

    func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      selected = try coder.reference(to: Panel.self, forKey: "selected")
      restored = try coder.references(to: Panel.self, forKey: "others")
    }
  }

  @Test func `references in the app-level state come back as the restored objects`() async throws {
    let bench = Bench()
    let one = Panel("one")
    let two = Panel("two")
    let saving = Delegate()
    saving.selected = two
    saving.others = [two, one]
    let root = Screen("root", children: [one, two])
    let coordinator = RestorationCoordinator(store: bench.store, delegate: saving)
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [Panel("one"), Panel("two")])
    let restoring = Delegate()
    _ = try await RestorationCoordinator(store: bench.store, delegate: restoring).restore(into: again)
    #expect(restoring.selected === again.restorationChildren[1])
    #expect(restoring.restored.count == 2)
    #expect(restoring.restored.first === again.restorationChildren[1])
  }

  @Test func `a reference in the app-level state follows its object and is saved with the next change`() async throws {
    let bench = Bench()
    let delegate = Delegate()
    let target = Panel("target")
    delegate.selected = target
    let left = Screen("left", children: [target])
    let right = Screen("right")
    let root = Screen("root", children: [left, right])
    let coordinator = RestorationCoordinator(store: bench.store, delegate: delegate)
    _ = try await coordinator.preserve(root)
    left.restorationChildren = []
    right.restorationChildren = [target]
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [Screen("left"), Screen("right", children: [Panel("target")])])
    let restoring = Delegate()
    _ = try await RestorationCoordinator(store: bench.store, delegate: restoring).restore(into: again)
    #expect(restoring.selected === again["right"]?.restorationChildren.first)
  }

  @Test(arguments: [false, true])
  func `app-level state that refers to what was left out refers to it again when it comes back`(
    isEdited: Bool
  ) async throws {
    let bench = Bench()
    func launch() -> (coordinator: RestorationCoordinator, delegate: Delegate, root: Screen, one: Panel, two: Panel) {
      let (one, two, delegate) = (Panel("one"), Panel("two"), Delegate())
      let coordinator = RestorationCoordinator(store: bench.store, delegate: delegate)
      bench.store.run.add(1, ordering: .relaxed)
      return (coordinator, delegate, Screen("root", children: [one, two]), one, two)
    }
    let saved = launch()
    saved.delegate.selected = saved.one
    saved.one.value = 1
    _ = try await saved.coordinator.preserve(saved.root)
    try await bench.die(at: ["root", "one"])
    for round in 0..<2 {
      let next = launch()
      #expect(try await next.coordinator.restore(into: next.root).leftOut == [["root", "one"]])
      #expect(next.delegate.selected == nil)
      next.root.text = "round \(round)"
      if isEdited, round == 1 { next.delegate.selected = next.two }
      _ = try await next.coordinator.preserve(next.root)
      if isEdited, round == 1 {
        // Also back to what it had: that is newer.
        next.delegate.selected = nil
        _ = try await next.coordinator.preserve(next.root)
      }
    }
    #expect(try bench.newestReader().absentRows().isEmpty)
    let asked = launch()
    _ = try await asked.coordinator.restore(into: asked.root, retriesLeftOut: true)
    #expect(asked.one.value == 1)
    #expect(asked.delegate.selected === (isEdited ? nil : asked.one))
  }

  @Test func `a reference in the app-level state to an object that is not preserved is named`() async throws {
    let delegate = Delegate()
    let stranger = Panel("stranger")
    delegate.selected = stranger
    let coordinator = RestorationCoordinator(store: Bench().store, delegate: delegate)
    let receipt = try await coordinator.preserve(Screen("root")).receipt
    #expect(receipt?.findings == [.danglingReference(path: [], key: "selected")])
    withExtendedLifetime(stranger) {}
  }

  @Test func `a child below an excluded parent in the hierarchy is preserved by hand through a reference`() async throws
  {
    let bench = Bench()
    let deep = Panel("deep", value: 9)
    deep.tag = "panel"
    let referrer = Panel("referrer")
    referrer.strongFriend = deep
    let excluded = Screen(nil, text: "excluded", children: [deep, Panel("unreferenced", value: 3)])
    let root = Screen("root", children: [excluded, referrer])
    let saving = bench.launch { $0.register(Panel.self, as: "panel") }
    let receipt = try await saving.preserve(root).receipt
    #expect(receipt?.findings.isEmpty == true)
    #expect(receipt?.capturedNodes == 3)
    let again = Screen("root", children: [Screen(nil), Panel("referrer")])
    let report = try await bench.launch { $0.register(Panel.self, as: "panel") { path, _ in Panel(path.last) } }
      .restore(into: again)
    let restored = try #require(again.restorationChildren.compactMap { $0 as? Panel }.first?.strongFriend as? Panel)
    #expect(restored.value == 9)
    #expect(report.nodes.allSatisfy { $0.isRestored })
    #expect(!report.nodes.contains { $0.path.last == "unreferenced" })
    let without = Screen("root", children: [Panel("referrer")])
    let refused = try await bench.launch().restore(into: without)
    #expect(refused[["root", "referrer", "deep"]]?.isRestored == false)
    #expect((without.restorationChildren[0] as? Panel)?.strongFriend == nil)
  }
}
