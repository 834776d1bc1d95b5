import FoundationEssentials
import StateRestoration
import Testing

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
    let receipt = try await bench.preserve(root).receipt
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
