import FoundationEssentials
import Observation
import StateRestoration
import Testing

/// R2.7, R3.3: references and shared objects.
@MainActor @Suite struct ReferenceTests {
  final class Manager: CodingObject {
    var value = 0
    init(_ value: Int = 0) { self.value = value }
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(value, forKey: "value") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      value = try coder.decode(forKey: "value")
    }
  }

  /// Observed, so that nobody asks it again unless it has changed.
  @Observable final class Link: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "link"
    var target: (any RestorableObject)?
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encodeReference(to: target, forKey: "target") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      target = try coder.reference(to: (any RestorableObject).self, forKey: "target")
    }
  }

  /// Saves a target on the left, moves it to the right and saves again.
  private func moveAfterSaving(
    _ target: any RestorableController, referredToBy referrer: any RestorableController, _ bench: Bench
  ) async throws {
    let left = Screen("left", children: [target])
    let right = Screen("right")
    let root = Screen("root", children: [referrer, left, right])
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    left.restorationChildren = []
    right.restorationChildren = [target]
    _ = try await coordinator.preserve(root)
  }

  @Test(arguments: StoreKind.allCases)
  func `a reference follows its object to another place, though the referrer has not changed`(on kind: StoreKind)
    async throws
  {
    let bench = try await Bench(kind)
    let target = Screen("target", text: "t")
    let link = Link()
    link.target = target
    try await moveAfterSaving(target, referredToBy: link, bench)
    let restored = Link()
    let again = Screen("root", children: [restored, Screen("left"), Screen("right", children: [Screen("target")])])
    _ = try await bench.launch().restore(into: again)
    #expect(restored.target === again["right"]?["target"])
    #expect(restored.target != nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `a reference to another preserved object comes back as the restored object`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let target = Panel("target", value: 1)
    let source = Panel("source", value: 2)
    source.friend = target
    try await bench.preserve(Screen("root", children: [source, target]))
    let again = Screen("root", children: [Panel("source"), Panel("target")])
    _ = try await bench.launch().restore(into: again)
    let restored = try #require(again.restorationChildren[0] as? Panel)
    #expect(restored.strongFriend === again.restorationChildren[1])
  }

  @Test(arguments: [false, true])
  func `who keeps stored state and then refers to somebody else, and nothing more, has newer state`(
    unedited: Bool
  ) async throws {
    let bench = Bench()
    let source = Panel("source", value: 2)
    source.friend = Screen("by hand")
    try await bench.preserve(Screen("root", children: [source, Screen("target")]))

    let unread = Panel("source", value: 2)
    unread.failsDecoding = true
    let target = Screen("target")
    let root = Screen("root", children: [unread, target])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if !unedited { unread.friend = target }
    #expect(try await coordinator.preserve(root).receipt == nil || !unedited)

    let again = Panel("source")
    let next = Screen("root", children: [again, Screen("target")])
    _ = try await bench.launch().restore(into: next)
    #expect(again.value == 2)
    #expect(again.strongFriend === (unedited ? nil : next["target"]))
  }

  @Test(arguments: StoreKind.allCases)
  func `an object encoded from two places is one object after restoring`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let shared = Panel("shared", value: 3)
    shared.tag = "panel"
    let one = Panel("one")
    let two = Panel("two")
    one.strongFriend = shared
    two.strongFriend = shared
    try await bench.preserve(Screen("root", children: [one, two]))
    let again = Screen("root", children: [Panel("one"), Panel("two")])
    _ = try await bench.launch { $0.register(Panel.self, as: "panel") { path, _ in Panel(path.last) } }
      .restore(into: again)
    let first = try #require((again.restorationChildren[0] as? Panel)?.strongFriend as? Panel)
    #expect(first === (again.restorationChildren[1] as? Panel)?.strongFriend)
    #expect(first.value == 3)
  }

  @Test(arguments: StoreKind.allCases)
  func `a reference to an object that was not restored comes back as nil and is named`(on kind: StoreKind) async throws
  {
    let bench = try await Bench(kind)
    let target = Panel("target", value: 1)
    let source = Panel("source", value: 2)
    source.friend = target
    try await bench.preserve(Screen("root", children: [source, target]))
    let again = Screen("root", children: [Panel("source")])
    let report = try await bench.launch().restore(into: again)
    #expect((again.restorationChildren[0] as? Panel)?.strongFriend == nil)
    #expect(report[["root", "source"]]?.remarks == [.unresolvedReference(key: "friend")])
  }

  @Test(arguments: StoreKind.allCases)
  func `a reference to an object that cannot be preserved is named when it is saved`(on kind: StoreKind) async throws {
    let root = Panel("root")
    let stranger = Panel(nil)
    root.friend = stranger
    let receipt = try await Bench(kind).preserve(root).receipt
    #expect(receipt?.findings == [.danglingReference(path: ["root"], key: "friend")])
    withExtendedLifetime(stranger) {}
  }

  @Test(arguments: StoreKind.allCases)
  func `a reference follows its object when that moves`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let target = Panel("target", value: 1)
    let source = Panel("source", value: 2)
    source.friend = target
    try await moveAfterSaving(target, referredToBy: source, bench)
    let again = Screen(
      "root", children: [Panel("source"), Screen("left"), Screen("right", children: [Panel("target")])])
    _ = try await bench.launch().restore(into: again)
    #expect((again.restorationChildren[0] as? Panel)?.strongFriend === again["right"]?.restorationChildren[0])
  }

  @Test(arguments: StoreKind.allCases)
  func `a registered shared object gets its own turn and is referred to by identifier`(on kind: StoreKind) async throws
  {
    let bench = try await Bench(kind)
    let manager = Manager(42)
    let panel = Panel("root")
    panel.friend = manager
    _ = try await bench.launch { $0.share(manager, as: "manager") }.preserve(panel)
    let other = Manager()
    let again = Panel("root")
    let report = try await bench.launch { $0.share(other, as: "manager") }.restore(into: again)
    #expect(other.value == 42)
    #expect(again.strongFriend === other)
    #expect(report.nodes.last?.kind == .shared)
  }

  @Test(arguments: StoreKind.allCases)
  func `a shared object that is registered after restoring gets its state at once`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let manager = Manager(42)
    _ = try await bench.launch { $0.share(manager, as: "manager") }.preserve(Panel("root"))
    let late = Manager()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: Panel("root"))
    coordinator.registry.share(late, as: "manager")
    #expect(late.value == 42)
    #expect(coordinator.lastReport?.nodes.last?.result == .restored(.registration))
    late.value = 43
    _ = try await coordinator.preserve(Panel("root"))
    let again = Manager()
    _ = try await bench.launch { $0.share(again, as: "manager") }.restore(into: Panel("root"))
    #expect(again.value == 43)
  }
}
