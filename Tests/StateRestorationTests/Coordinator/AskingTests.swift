import Foundation
import Patience
import SimulatedTime
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// Objects whose changes nobody can notice are asked, so that automatic preservation loses none of them.
@MainActor @Suite(.tags(.threads)) struct AskingTests {
  private let bench: Bench

  init() {
    bench = Bench()
    bench.configuration.askingInterval = .seconds(2)
  }

  /// A coordinator that preserves by itself, after its first save and the interval behind that.
  private func launch(
    _ root: any RestorableController, _ set: (RestorationRegistry) -> Void = { _ in }
  ) async throws -> RestorationCoordinator {
    let coordinator = bench.launch(set)
    _ = try await coordinator.restore(into: root)
    coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(250))
    await bench.delegate.nextEvent()
    try await letPausePass(coordinator)
    _ = bench.store.takeCalls()
    bench.delegate.outcomes = []
    return coordinator
  }

  /// Lets the pause behind a save pass, and returns when the coordinator knows: a change before that would be saved behind it.
  private func letPausePass(_ coordinator: RestorationCoordinator) async throws {
    await bench.clock.waitForSleepers(2)
    bench.clock.advance(by: .milliseconds(250))
    try await waitUntil("the pause's end") { bench.clock.sleeperCount <= 1 && coordinator.automatic.interval == nil }
  }

  /// Lets the interval pass, and returns when everybody was asked.
  private func askOnce() async {
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(2))
    await bench.clock.waitForSleepers()
  }

  @Test(arguments: SilentWay.allCases)
  func `a change that nobody announces is saved after the interval`(_ way: SilentWay) async throws {
    let program = SilentProgram(way)
    let coordinator = try await launch(program.root, program.register)
    await askOnce()
    #expect(bench.store.takeCalls().isEmpty && bench.delegate.outcomes.isEmpty)
    program.change()
    if way == .application { bench.delegate.appValue = "changed" }
    bench.clock.advance(by: .seconds(2))
    await bench.delegate.nextEvent()
    #expect(bench.store.takeCalls() == ["append"])
    let again = SilentProgram(way)
    _ = try await bench.launch(again.register).restore(into: again.root)
    #expect(again.isChanged || (way == .application && bench.delegate.restoredAppValue == "changed"))
    withExtendedLifetime(coordinator) {}
  }

  @Test(arguments: SilentWay.allCases)
  func `asking that finds nothing writes nothing and tells nobody`(_ way: SilentWay) async throws {
    let program = SilentProgram(way)
    let coordinator = try await launch(program.root, program.register)
    let receipt = coordinator.lastReceipt
    for _ in 0..<3 { await askOnce() }
    #expect(bench.store.takeCalls().isEmpty && bench.delegate.outcomes.isEmpty && coordinator.lastReceipt == receipt)
  }

  @Test func `only objects whose changes can't be noticed are asked`() async throws {
    let journal = Journal()
    let root = Screen("root", children: [Screen("noticed"), Panel("plain", journal: journal)])
    let coordinator = try await launch(root)
    _ = journal.take()
    var round = coordinator.tree.beginAsking()
    _ = coordinator.askSome(&round, nil, bench.configuration.context)
    #expect(round.askedCount == 1 && round.isOver && journal.take() == ["encode plain"])
  }

  @Test func `nobody is asked without automatic preservation, or without an interval`() async throws {
    let journal = Journal()
    let panel = Panel("root", journal: journal)
    let coordinator = try await launch(panel)
    coordinator.preservesAutomatically = .never
    try await waitUntil("nobody asleep") { bench.clock.sleeperCount == 0 }
    _ = journal.take()
    bench.clock.advance(by: .seconds(100))
    #expect(journal.lines.isEmpty)
  }

  @Test func `many objects are asked in several turns, and a change in the last one is found`() async throws {
    let panels = (0..<3_000).map { Panel("panel \($0)") }
    let root = Screen("root", children: panels)
    let coordinator = try await launch(root)
    panels[0].value = 7
    var round = coordinator.tree.beginAsking()
    var turns = 0
    var found: Set<CaptureBatch.Key> = []
    while !round.isOver {
      let end = round.askedCount + 1_000
      let asked = coordinator.tree.ask(&round, context: bench.configuration.context) { _ in
        // As the clock would say.
        turnIsOver(&turns, end)
      }
      found.formUnion(await coordinator.worker.run { $0.table.findChanged(asked.batch) })
    }
    #expect(round.askedCount == 3_000 && turns == 3_000)
    #expect(found.count == 1 && found.first.flatMap { coordinator.tree.node($0)?.object } === panels[0])
  }

  private func turnIsOver(_ count: inout Int, _ end: Int) -> Bool {
    count += 1
    return count == end
  }

  @Test func `a value that can't be stored asks for no save again and again`() async throws {
    let panel = Unencodable("bad")
    let root = Screen("root", children: [panel])
    let coordinator = try await launch(root)
    panel.isBad = true
    bench.clock.advance(by: .seconds(2))
    await bench.delegate.nextEvent()
    try await letPausePass(coordinator)
    bench.delegate.outcomes = []
    for _ in 0..<3 { await askOnce() }
    #expect(bench.delegate.outcomes.isEmpty)
    withExtendedLifetime(coordinator) {}
  }

  @Test func `a silent change is found again after it was taken back by a save`() async throws {
    let panel = Panel("panel", value: 1)
    let root = Screen("root", children: [panel])
    let coordinator = try await launch(root)
    for value in [2, 1, 2] {
      panel.value = value
      if value == 1 {
        _ = try await coordinator.preserve(root)
      } else {
        bench.clock.advance(by: .seconds(2))
        await bench.delegate.nextEvent()
        await bench.clock.waitForSleepers(2)
        bench.clock.advance(by: .milliseconds(250))
        try await waitUntil("one asleep") { bench.clock.sleeperCount <= 1 }
      }
      let again = Panel("panel")
      _ = try await bench.launch().restore(into: Screen("root", children: [again]))
      #expect(again.value == value)
    }
  }

  @Test func `an edit of a plain property on a locked device is kept beside what is stored`() async throws {
    try await bench.preserve(Panel("root", value: 1))
    bench.store.state.withLock { $0.isLocked = true }
    let panel = Panel("root", value: 5)
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: panel).outcome == .locked)
    await coordinator.endTurn()
    coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(250))
    await bench.clock.waitForSleepers()
    _ = bench.store.takeCalls()
    panel.value = 6
    bench.clock.advance(by: .seconds(2))
    await bench.delegate.nextEvent()
    #expect(bench.store.takeCalls() == ["publishPending"])
    bench.store.state.withLock { $0.isLocked = false }
    let again = Panel("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.value == 6)
  }

  @Test func `the machine's clock asks a process at work`() async throws {
    bench.configuration.clock = ContinuousClock()
    bench.configuration.askingInterval = .milliseconds(20)
    let panel = Panel("root", value: 1)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: panel)
    coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(1))
    await bench.delegate.nextEvent()
    let count = bench.delegate.outcomes.count
    panel.value = 2
    // Which is work.
    try await waitUntil("a save") { bench.delegate.outcomes.count > count }
    let again = Panel("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.value == 2)
  }

  @Test func `nobody is woken but while there is an object whose changes can't be noticed`() async throws {
    let root = Screen("root")
    let delegate = WithoutState()
    let coordinator = RestorationCoordinator(
      store: bench.store, delegate: delegate, configuration: bench.configuration)
    _ = try await coordinator.restore(into: root)
    coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(250))
    _ = try await coordinator.preserve(root)
    #expect(coordinator.repetition == nil)
    root.restorationChildren = [Panel("panel")]
    _ = try await coordinator.preserve(root)
    #expect(coordinator.repetition != nil)
    root.restorationChildren = []
    _ = try await coordinator.preserve(root)
    // The next round sees that it has gone.
    try await waitUntil("nobody being asked") {
      if coordinator.repetition == nil { return true }
      bench.clock.advance(by: .seconds(2))
      return false
    }
    root.restorationChildren = [Panel("another")]
    _ = try await coordinator.preserve(root)
    #expect(coordinator.repetition != nil)
    withExtendedLifetime(delegate) {}
  }

  @Test func `the log names those who are asked`() async throws {
    let lines = Mutex<[String]>([])
    bench.configuration.log = RestorationLog { _, message in
      let message = message()
      lines.withLock { $0.append(message) }
    }
    let root = Screen("root", children: [Screen("noticed"), Panel("plain")])
    let coordinator = try await launch(root)
    for _ in 0..<2 { await askOnce() }
    let named = lines.withLock { $0.filter { $0.hasPrefix("asks for changes") } }
    #expect(named == ["asks for changes that nobody announces: the delegate, root/plain"])
    withExtendedLifetime((coordinator, root)) {}
  }
}

/// Has no state of its own.
private final class WithoutState: RestorationCoordinatorDelegate {
  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
}

/// A value that may refuse to be encoded.
private final class Unencodable: RestorableController, CodingObject {
  private struct Value: Encodable {
    let isBad: Bool

    func encode(to encoder: any Encoder) throws {
      if isBad { throw CocoaError(.coderInvalidValue) }
    }
  }

  let restoration: RestorationIdentity
  var isBad = false

  init(_ identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier) }

  func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(Value(isBad: isBad), forKey: "value") }
  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}
}
