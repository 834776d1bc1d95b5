import FoundationEssentials
import Patience
import SimulatedTime
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// Automatic preservation: the first change at once, bursts coalesced, nothing without a change.
@MainActor @Suite(.tags(.threads)) struct AutomaticTests {
  func running(_ bench: Bench, _ root: Screen) async throws -> RestorationCoordinator {
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    return coordinator
  }

  /// Turns automatic preservation on, and waits for its first save and the end of the interval after that.
  private func startPreserving(_ coordinator: RestorationCoordinator, on bench: Bench) async throws {
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    await bench.delegate.nextEvent()
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(1))
    try await waitUntil("nobody asleep") { bench.clock.sleeperCount == 0 }
  }

  @Test func `the first change is saved at once and a burst after it once per interval`() async throws {
    let bench = Bench()
    let root = Screen("root", children: [Screen("a")])
    let coordinator = try await running(bench, root)
    try await startPreserving(coordinator, on: bench)
    _ = bench.store.takeCalls()
    root.text = "one"
    await bench.delegate.nextEvent()
    #expect(bench.store.takeCalls() == ["append"])
    await bench.clock.waitForSleepers()
    for number in 0..<20 { root["a"]?.text = "burst \(number)" }
    await Task.yield()
    #expect(bench.store.takeCalls().isEmpty)
    bench.clock.advance(by: .seconds(1))
    await bench.delegate.nextEvent()
    #expect(bench.store.takeCalls() == ["append"])
    let again = Screen("root", children: [Screen("a")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "burst 19")
  }

  @Test func `a restoration that can't reach the disk leaves a running program as it was`() async throws {
    let bench = Bench()
    let root = Screen("root")
    let coordinator = try await running(bench, root)
    try await startPreserving(coordinator, on: bench)
    bench.store.state.withLock { $0.failures = ["openNewest": .io] }
    #expect(try await coordinator.restore(into: root).outcome == .unavailable)
    bench.store.state.withLock { $0.failures = [:] }
    root.text = "typed"
    await bench.delegate.nextEvent()
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "typed")
  }

  @Test func `an interval longer than any clock counts is ten years`() async throws {
    let bench = Bench()
    let root = Screen("root")
    let coordinator = try await running(bench, root)
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(Int64.max))
    await bench.delegate.nextEvent()
    await bench.clock.waitForSleepers()
    root.text = "later"
    bench.clock.advance(by: .seconds(10 * 366 * 86_400))
    await bench.delegate.nextEvent()
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "later")
  }

  @Test func `an interval longer than any clock counts stops no program`() async {
    await #expect(processExitsWith: .success) { @MainActor in
      let bench = Bench()
      bench.configuration.clock = ContinuousClock()
      let root = Screen("root")
      let coordinator = bench.launch()
      _ = try await coordinator.preserve(root)
      coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(Int64.max))
      await bench.delegate.nextEvent()
      coordinator.extendStateRestoration()
      for _ in 0..<100 { await Task.yield() }
      coordinator.completeStateRestoration()
      coordinator.preservesAutomatically = .never
    }
  }

  @Test func `a change of an object that cannot be observed is saved when it is announced`() async throws {
    let bench = Bench()
    let panel = Panel("panel", value: 1)
    let root = Screen("root", children: [panel])
    let coordinator = try await running(bench, root)
    try await startPreserving(coordinator, on: bench)
    panel.value = 2
    panel.invalidateRestorableState()
    await bench.delegate.nextEvent()
    let again = Panel("panel")
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.value == 2)
  }

  @Test func `a change of the program's own state is saved when it is announced`() async throws {
    let bench = Bench()
    let root = Screen("root")
    let coordinator = try await running(bench, root)
    try await startPreserving(coordinator, on: bench)
    bench.delegate.appValue = "announced"
    coordinator.invalidateApplicationState()
    await bench.delegate.nextEvent()
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(bench.delegate.restoredAppValue == "announced")
    withExtendedLifetime(root) {}
  }

  @Test func `a failed automatic save is told to the delegate and tried again`() async throws {
    let bench = Bench()
    let root = Screen("root")
    let coordinator = try await running(bench, root)
    bench.store.state.withLock { $0.failures = ["append": .io] }
    try await startPreserving(coordinator, on: bench)
    root.text = "changed"
    await bench.delegate.nextEvent()
    #expect(bench.delegate.errors.count == 1)
    bench.store.state.withLock { $0.failures = [:] }
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(1))
    await bench.delegate.nextEvent()
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "changed")
  }

  @Test func `a delegate that declines the first save is asked again, as nothing is noticed before it`() async throws {
    let bench = Bench()
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    bench.delegate.saves = false
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    await bench.delegate.nextEvent()
    await bench.clock.waitForSleepers()
    root.text = "typed"
    bench.delegate.saves = true
    bench.clock.advance(by: .seconds(1))
    for _ in 0..<10_000 where bench.delegate.outcomes.count < 2 { await Task.yield() }
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "typed")
  }

  @Test func `a delegate that declines is not asked without a pause, however short the interval is`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "old"))
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    bench.delegate.saves = false
    coordinator.preservesAutomatically = .onChange(coalescedOver: .zero)
    await bench.delegate.nextEvent()
    await bench.clock.waitForSleepers()
    root.text = "typed"
    bench.clock.advance(by: .milliseconds(49))
    for _ in 0..<1_000 { await Task.yield() }
    #expect(bench.delegate.outcomes.count == 1)
    bench.clock.advance(by: .milliseconds(1))
    for _ in 0..<10_000 where bench.delegate.outcomes.count < 2 { await Task.yield() }
    #expect(bench.delegate.outcomes.count == 2)
  }

  @Test func `a delegate that comes late is asked`() async throws {
    let bench = Bench()
    let root = Screen("root")
    let coordinator = RestorationCoordinator(store: bench.store, delegate: nil, configuration: bench.configuration)
    _ = try await coordinator.restore(into: root)
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(1))
    try await waitUntil("nobody asleep") { bench.clock.sleeperCount == 0 }
    root.text = "typed"
    coordinator.delegate = bench.delegate
    for _ in 0..<10_000 where bench.delegate.outcomes.isEmpty { await Task.yield() }
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "typed")
  }

  @Test func `changes are noticed after a first launch, though nothing was there to restore`() async throws {
    let bench = Bench()
    let root = Screen("root")
    let coordinator = bench.launch()
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    #expect(try await coordinator.restore(into: root).outcome == .nothingPreserved)
    // The first save may have ended with the restoration: its interval is what can be waited for.
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(1))
    try await waitUntil("nobody asleep") { bench.clock.sleeperCount == 0 }
    root.text = "typed"
    await bench.delegate.nextEvent()
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "typed")
  }

  @Test func `discarding saves nothing by itself, and the next change is saved`() async throws {
    let bench = Bench()
    let root = Screen("root", children: [Screen("a")])
    root["a"]?.text = "before"
    let coordinator = try await running(bench, root)
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    await bench.delegate.nextEvent()
    await bench.clock.waitForSleepers()
    try await coordinator.discard()
    _ = bench.store.takeCalls()
    bench.clock.advance(by: .seconds(1))
    try await waitUntil("nobody asleep") { bench.clock.sleeperCount == 0 }
    #expect(bench.store.takeCalls().isEmpty)
    let nothing = Screen("root")
    #expect(try await bench.launch().restore(into: nothing).outcome == .nothingPreserved)
    _ = bench.store.takeCalls()
    root.text = "after"
    await bench.delegate.nextEvent()
    #expect(bench.store.takeCalls().last == "publish")
    let again = Screen("root", children: [Screen("a")])
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "after" && again["a"]?.text == "before")
  }

  @Test(.timeLimit(.minutes(1)))
  func `a disk that fails is not asked again and again, however short the interval is`() async throws {
    let bench = Bench()
    let root = Screen("root")
    let coordinator = try await running(bench, root)
    bench.store.state.withLock { $0.failures = ["append": .io, "publish": .io] }
    _ = bench.store.takeCalls()
    coordinator.preservesAutomatically = .onChange(coalescedOver: .zero)
    root.text = "changed"
    while bench.delegate.errors.isEmpty { await bench.delegate.nextEvent() }
    await bench.clock.waitForSleepers()
    #expect(bench.store.takeCalls().count == 1)
    bench.store.state.withLock { $0.failures = [:] }
    bench.clock.advance(by: .seconds(1))
    await bench.delegate.nextEvent()
    #expect(bench.store.takeCalls() == ["publish"])
  }
}
