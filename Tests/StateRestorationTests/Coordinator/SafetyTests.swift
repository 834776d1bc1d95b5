import FoundationEssentials
import SimulatedTime
import StateRestoration
import Synchronization
import Testing

/// R6: force quits, crashes while restoring, asynchronous restoring, developer mode.
@MainActor @Suite struct SafetyTests {
  /// A bench with a root and two children, and a way to die at one of them.
  func preserved() async throws -> Bench {
    let bench = Bench()
    try await bench.preserve(
      Screen("root", text: "r", children: [Panel("good", value: 1), Panel("bad", value: 2), Panel("last", value: 3)]))
    return bench
  }

  func hierarchy() -> Screen { Screen("root", children: [Panel("good"), Panel("bad"), Panel("last")]) }

  func values(_ root: Screen) -> [Int] { root.restorationChildren.compactMap { ($0 as? Panel)?.value } }

  /// Leaves the marker as a process that died while it restored the node at a path.
  func die(_ bench: Bench, at path: RestorationPath?) throws {
    let node = try path.map { path in try #require(try bench.newestReader().node(at: path)).id.rawValue }
    bench.store.state.withLock { state in
      let generation = state.generations.last?.number ?? 0
      let before = state.marker?.generation == generation ? state.marker?.attempts ?? 0 : 0
      state.marker = .init(generation: generation, node: node, attempts: before + 1)
    }
  }

  @Test func `a force quit deletes the state and nothing saved afterwards brings it back`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    try await coordinator.discardAfterForceQuit()
    #expect(try await coordinator.preserve(root) == .deferred(.discarded))
    #expect(try await bench.launch().restore(into: root).outcome == .nothingPreserved)
  }

  @Test func `an explicit discard deletes the state and saving begins anew`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    try await coordinator.discard()
    #expect(bench.store.state.withLock { $0.generations.isEmpty })
    guard case .preserved(let receipt) = try await coordinator.preserve(root) else {
      Issue.record("not preserved")
      return
    }
    #expect(receipt.kind == .whole)
    #expect(receipt.capturedNodes == 4)
  }

  @Test func `developer mode keeps state across force quits and failures`() async throws {
    let bench = try await preserved()
    bench.configuration.isDeveloperMode = true
    try await bench.launch().discardAfterForceQuit()
    for _ in 0..<4 { try die(bench, at: ["root", "bad"]) }
    let root = hierarchy()
    #expect(try await bench.launch().restore(into: root).restoredCount == 4)
    #expect(values(root) == [1, 2, 3])
  }

  @Test func `the marker is there before the first factory, knows the node, and goes at the end`() async throws {
    let bench = try await preserved()
    let root = hierarchy()
    var during: MemoryStore.Marker?
    (root.restorationChildren[1] as? Panel)?.onDecode = { [store = bench.store] in
      during = store.state.withLock { $0.marker }
    }
    _ = try await bench.launch().restore(into: root)
    #expect(during?.node == (try bench.newestReader().node(at: ["root", "bad"]))?.id.rawValue)
    #expect(bench.store.state.withLock { $0.marker } == nil)
  }

  @Test func `after a crash everything is restored but the node that was being restored`() async throws {
    let bench = try await preserved()
    try die(bench, at: ["root", "bad"])
    let coordinator = bench.launch()
    #expect(await coordinator.prepare() == .afterCrash)
    let root = hierarchy()
    let report = try await coordinator.restore(into: root)
    #expect(Set(values(root)) == [1, 3, 0])
    #expect(report.leftOut == [["root", "bad"]])
    #expect(report.remarks.contains(.interruptedBefore(attempts: 1)))
  }

  @Test func `what was left out is carried over, not tried again by itself, and comes back on request`() async throws {
    let bench = try await preserved()
    try die(bench, at: ["root", "bad"])
    for round in 0..<3 {
      let coordinator = bench.launch()
      let root = Screen("root", children: [Panel("good"), Panel("last")])
      let report = try await coordinator.restore(into: root)
      #expect(report.leftOut == [["root", "bad"]])
      #expect(bench.store.state.withLock { $0.marker } == nil)
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root, retriesLeftOut: true)
    #expect(values(root).contains(2))
    let again = hierarchy()
    #expect(try await bench.launch().restore(into: again).leftOut.isEmpty == false)
  }

  @Test func `the delegate can have a left-out node tried again, and success ends it`() async throws {
    let bench = try await preserved()
    try die(bench, at: ["root", "bad"])
    _ = try await bench.launch().restore(into: hierarchy())
    bench.delegate.retries = [["root", "bad"]]
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    #expect(values(root) == [1, 2, 3])
    _ = try await coordinator.preserve(root)
    bench.delegate.retries = []
    #expect(try await bench.launch().restore(into: hierarchy()).leftOut.isEmpty)
  }

  @Test func `after two bad runs the delegate is asked, and may choose the older generation`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root.text = "newer"
    bench.store.state.withLock { $0.isCompactionDue = true }
    _ = try await coordinator.preserve(root)
    try die(bench, at: ["root", "bad"])
    try die(bench, at: ["root", "bad"])
    let again = hierarchy()
    let report = try await bench.launch().restore(into: again)
    #expect(bench.delegate.histories.map(\.failedAttempts) == [2])
    #expect(again.text == "r")
    #expect(report.reason == .olderGeneration)
  }

  @Test func `after two bad runs the delegate may choose to restore nothing, and nothing is deleted`() async throws {
    let bench = try await preserved()
    bench.delegate.crashDecision = .restoreNothing
    try die(bench, at: ["root", "bad"])
    try die(bench, at: ["root", "bad"])
    let root = hierarchy()
    #expect(try await bench.launch().restore(into: root).outcome == .givenUpAfterCrashes)
    #expect(bench.store.state.withLock { $0.generations.count } == 1)
  }

  @Test func `after two bad runs the delegate may choose to try again without the culprit`() async throws {
    let bench = try await preserved()
    bench.delegate.crashDecision = .tryAgain
    try die(bench, at: ["root", "bad"])
    try die(bench, at: ["root", "last"])
    let root = hierarchy()
    #expect(try await bench.launch().restore(into: root).leftOut == [["root", "last"]])
  }

  @Test func `when everything was tried nothing is restored and the state stays`() async throws {
    let bench = try await preserved()
    for _ in 0..<4 { try die(bench, at: nil) }
    let report = try await bench.launch().restore(into: hierarchy())
    #expect(report.outcome == .givenUpAfterCrashes)
    #expect(report.reason == .afterCrash)
    #expect(bench.store.state.withLock { $0.generations.count } == 1)
  }

  @Test func `a power cut while restoring does not count the first time`() async throws {
    let bench = try await preserved()
    try die(bench, at: ["root", "bad"])
    bench.store.state.withLock { $0.marker?.isPowerCut = true }
    let root = hierarchy()
    let report = try await bench.launch().restore(into: root)
    #expect(report.reason == .normal)
    #expect(values(root) == [1, 2, 3])
  }

  @Test func `extended restoring stays guarded until it is completed`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    root.onFinish = { coordinator.extendStateRestoration() }
    _ = try await coordinator.restore(into: root)
    #expect(coordinator.isRestorationExtended)
    #expect(bench.store.state.withLock { $0.marker } != nil)
    coordinator.completeStateRestoration()
    #expect(bench.store.state.withLock { $0.marker } == nil)
  }

  @Test func `extensions are balanced by scope`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let value = await coordinator.withRestorationExtended {
      #expect(coordinator.isRestorationExtended)
      return 5
    }
    #expect(value == 5)
    #expect(!coordinator.isRestorationExtended)
  }

  @Test func `after the time limit late answers are ignored and the delegate is told`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = Screen("root")
    root.onFinish = { coordinator.extendStateRestoration() }
    _ = try await coordinator.restore(into: root)
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(31))
    await bench.delegate.nextEvent()
    #expect(bench.delegate.timeouts == 1)
    #expect(bench.store.state.withLock { $0.marker } == nil)
    #expect(coordinator.register(Panel("bad"), at: ["root", "bad"])?.notRestoredReason == .timedOut)
    #expect(coordinator.lastReport?.remarks.contains(.extensionTimedOut) == true)
    coordinator.completeStateRestoration()
  }

  @Test func `completing more often than extending is a mistake that names the scene`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        RestorationCoordinator(store: MemoryStore(), delegate: nil).completeStateRestoration()
      }
    }
  }
}
