import DataProtection
import FoundationEssentials
import SimulatedTime
import StateRestoration
import Synchronization
import TestTraits
import Testing

/// What is asked for while something else is under way: saves, restorations, discarding, in any order.
@MainActor @Suite(.tags(.threads)) struct OverlapTests {
  func tree(_ text: String = "") -> Screen {
    Screen("root", children: [Screen("a", text: text), Screen("b", text: text)])
  }

  @Test func `after a first look at the disk that failed the next save has everything`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree("typed")
    bench.store.state.withLock { $0.failures["openNewest"] = .busy }
    await #expect(throws: RestorationError.self) { try await coordinator.preserve(root) }
    bench.store.state.withLock { $0.failures = [:] }
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    let again = tree()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "typed")
  }

  @Test(arguments: StoreKind.allCases)
  func `a save between preparing and restoring hides nothing that is stored`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(tree("old"))
    let coordinator = bench.launch()
    _ = await coordinator.prepare()
    let root = tree("new")
    _ = try await coordinator.preserve(root)
    _ = try await coordinator.restore(into: root)
    #expect(root["a"]?.text == "old")
    root["a"]?.text = "newest"
    _ = try await coordinator.preserve(root)
    let again = tree()
    let report = try await bench.launch().restore(into: again)
    #expect(report.remarks.isEmpty)
    #expect(again["a"]?.text == "newest")
    #expect(again["b"]?.text == "old")
  }

  @Test func `a save that others were folded into does not run in the middle of a restoration`() async throws {
    let bench = Bench()
    try await bench.preserve(tree("old"))
    let coordinator = bench.launch()
    let root = tree()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    root["a"]?.text = "first"
    let held = bench.store.hold(at: "append")
    let first = Task { try await coordinator.preserve(root) }
    try await held.arrived()
    root["b"]?.text = "second"
    let second = Task { try await coordinator.preserve(root) }
    await Task.yield()
    let restoring = Task { try await coordinator.restore(into: root) }
    await Task.yield()
    held.release()
    _ = try await first.value
    _ = try await second.value
    _ = try await restoring.value
    root["a"]?.text = "third"
    _ = try await coordinator.preserve(root)
    let again = tree()
    let report = try await bench.launch().restore(into: again)
    #expect(report.outcome == .restored)
    #expect(report.remarks == [])
    #expect(again["a"]?.text == "third")
    #expect(again["b"]?.text == root["b"]?.text)
  }

  @Test func `saves of other hierarchies that are asked for during a save are not folded into one`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree("first")
    let others = (1...3).map { count in
      Screen("root", children: (0..<count).map { Screen(RestorationIdentifier("\(count).\($0)")) })
    }
    let held = bench.store.hold(at: "publish")
    let first = Task { try await coordinator.preserve(root) }
    try await held.arrived()
    // The second and the third ask for the same; the fourth comes after another.
    let requests = [0, 1, 1, 0, 2].map { index in Task { try await coordinator.preserve(others[index]) } }
    await Task.yield()
    held.release()
    #expect(try await first.value.receipt?.capturedNodes == 3)
    var receipts: [PreservationOutcome.Receipt] = []
    for request in requests { receipts.append(try #require(try await request.value.receipt)) }
    #expect(receipts.map(\.capturedNodes) == [2, 3, 3, 2, 4])
    #expect(receipts[1] == receipts[2])
    #expect(Set(receipts).count == 4)
    bench.delegate.make = { path, _ in Screen(path.last) }
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.restorationChildren.map(\.restoration.identifier) == ["3.0", "3.1", "3.2"])
  }

  @Test func `saves that wait for the end of a restoration are each of what was asked for`() async throws {
    let bench = Bench()
    try await bench.preserve(tree("old"))
    let coordinator = bench.launch()
    let root = tree()
    let held = bench.store.hold(at: "openNewest")
    let restoring = Task { try await coordinator.restore(into: root) }
    try await held.arrived()
    let other = Screen("root", children: [Screen("c", text: "other")])
    var saves: [Task<PreservationOutcome, any Error>] = []
    for screen in [tree("another"), other] {
      saves.append(Task { try await coordinator.preserve(screen) })
      await Task.yield()
    }
    held.release()
    _ = try await restoring.value
    var captured: [Int?] = []
    for save in saves { captured.append(try await save.value.receipt?.capturedNodes) }
    #expect(captured == [3, 2])
    let again = Screen("root", children: [Screen("c")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["c"]?.text == "other")
  }

  @Test func `after saves of several hierarchies changes of the last one are saved by themselves`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree("first")
    let other = tree("other")
    let held = bench.store.hold(at: "publish")
    let first = Task { try await coordinator.preserve(root) }
    try await held.arrived()
    let requests = [other, root, other].map { screen in Task { try await coordinator.preserve(screen) } }
    await Task.yield()
    held.release()
    _ = try await first.value
    for request in requests { _ = try await request.value }
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    await bench.delegate.nextEvent()
    await bench.clock.waitForSleepers()
    other["a"]?.text = "typed"
    bench.clock.advance(by: .seconds(1))
    await bench.delegate.nextEvent()
    let again = tree()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "typed")
    #expect(again["b"]?.text == "other")
  }

  @Test func `a save that is asked for while everything is discarded has everything or says that it has not`()
    async throws
  {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree("typed")
    _ = try await coordinator.preserve(root)
    let held = bench.store.hold(at: "deleteAll")
    let discarding = Task { try await coordinator.discard() }
    try await held.arrived()
    root["a"]?.text = "after"
    let saving = Task { try await coordinator.preserve(root) }
    await Task.yield()
    held.release()
    try await discarding.value
    _ = try await saving.value
    let again = tree()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "after")
    #expect(again["b"]?.text == "typed")
    root["b"]?.text = "later"
    _ = try await coordinator.preserve(root)
    let last = tree()
    _ = try await bench.launch().restore(into: last)
    #expect(last["a"]?.text == "after")
    #expect(last["b"]?.text == "later")
  }

  @Test(arguments: ["openNewest", "deleteAll"])
  func `a launch that declines restoring while something else is under way saves by itself`(call: String) async throws {
    let bench = Bench()
    try await bench.preserve(tree("old"))
    let coordinator = bench.launch()
    coordinator.preservesAutomatically = .onChange(coalescedOver: .zero)
    let held = bench.store.hold(at: call)
    let other = Task {
      if call == "deleteAll" { try await coordinator.discard() } else { _ = await coordinator.prepare() }
    }
    try await held.arrived()
    let root = tree()
    let declining = Task { await coordinator.declineRestoring(into: root) }
    await Task.yield()
    held.release()
    try await other.value
    await declining.value
    if bench.delegate.outcomes.isEmpty { await bench.delegate.nextEvent() }
    root["a"]?.text = "typed"
    while bench.delegate.outcomes.count < 2 { await bench.delegate.nextEvent() }
    let next = bench.launch()
    let again = tree()
    _ = try await next.restore(into: again)
    #expect(again["a"]?.text == "typed")
    #expect(try await next.setAsideStates().count == (call == "deleteAll" ? 0 : 1))
  }

  @Test func `a shared object that takes another's place is preserved`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree()
    var first: Screen? = Screen("model", text: "first")
    coordinator.registry.share(first!, as: "model")
    _ = try await coordinator.preserve(root)
    first = nil
    let second = Screen("model")
    coordinator.registry.share(second, as: "model")
    _ = try await coordinator.preserve(root)
    second.text = "second"
    _ = try await coordinator.preserve(root)
    let again = Screen("model")
    _ = try await bench.launch { $0.share(again, as: "model") }.restore(into: tree())
    #expect(again.text == "second")
  }

  @Test func `a crash is left out although the disk is full then, and everything else is carried over`() async throws {
    let bench = Bench()
    try await bench.preserve(
      Screen("root", children: [Screen("a", text: "a"), Screen("hidden", text: "h"), Screen("b", text: "b")]))
    try await bench.die(at: ["root", "a"])
    let coordinator = bench.launch()
    let root = tree()
    for call in ["append", "publish"] { bench.store.state.withLock { $0.failures[call] = .io } }
    let report = try await coordinator.restore(into: root)
    #expect(report[["root", "a"]]?.notRestoredReason == .leftOutAfterCrash)
    bench.store.state.withLock { $0.failures = [:] }
    root["b"]?.text = "b2"
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [Screen("a"), Screen("hidden"), Screen("b")])
    let next = try await bench.launch().restore(into: again, retriesLeftOut: true)
    #expect(next.outcome == .restored)
    #expect(again["hidden"]?.text == "h")
    #expect(again["a"]?.text == "a")
    #expect(again["b"]?.text == "b2")
  }

  @Test func `no budget at all loses no save`() async throws {
    for bytes in [0, 1] {
      let bench = Bench()
      bench.configuration.archiveByteBudget = bytes
      bench.configuration.nodeByteBudget = bytes
      let coordinator = bench.launch()
      let root = tree("typed")
      let receipt = try await coordinator.preserve(root).receipt
      #expect(receipt?.findings.isEmpty == false)
      root["a"]?.text = "more"
      _ = try await coordinator.preserve(root)
      let report = try await bench.launch().restore(into: tree())
      #expect(report.outcome == .restored)
    }
  }

  @Test func `one large node comes back as long as the archive's budget has room for it`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree("small")
    _ = try await coordinator.preserve(root)
    root["a"]?.text = String(repeating: "large ", count: 1 << 19)
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.findings.count == 1, "\(receipt.findings)")
    let again = tree()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == root["a"]?.text)
  }

  @Test func `a change while a locked state is looked at again is saved by itself`() async throws {
    let bench = Bench()
    try await bench.preserve(tree("old"))
    try await bench.lock()
    let coordinator = bench.launch()
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    let root = tree()
    _ = try await coordinator.restore(into: root)
    let held = bench.store.hold(at: "openNewest")
    let restoring = Task { try await coordinator.restore(into: root) }
    try await held.arrived()
    root["a"]?.text = "typed"
    await Task.yield()
    held.release()
    #expect(try await restoring.value.outcome == .locked)
    while bench.delegate.outcomes.isEmpty { await bench.delegate.nextEvent() }
    #expect(bench.store.pending != nil)
  }
}
