import SimulatedTime
import Synchronization
import Testing

@Suite struct ManualClockTests {
  let clock = ManualClock()

  /// Starts a sleeper that notes its number, and the time at which it woke, when it wakes.
  private func sleeper(_ number: Int, _ seconds: Int, _ log: WakeLog) -> Task<Void, any Error> {
    Task { [clock] in
      try await clock.sleep(for: .seconds(seconds))
      log.append((number, clock.now.offset))
    }
  }

  @Test func `time stands still until it is moved, and then moves exactly so far`() {
    #expect(clock.now == ManualClock.Instant())
    clock.advance(by: .seconds(3))
    clock.advance(by: .milliseconds(500))
    #expect(clock.now.offset == .milliseconds(3500))
    #expect(clock.minimumResolution == .zero)
  }

  @Test func `moving to a moment that has passed moves nothing`() {
    clock.advance(by: .seconds(3))
    clock.advance(to: ManualClock.Instant(offset: .seconds(1)))
    #expect(clock.now.offset == .seconds(3))
  }

  @Test func `moments are ordered and measured`() {
    let early = ManualClock.Instant(offset: .seconds(1))
    let late = early.advanced(by: .seconds(2))
    #expect(early < late)
    #expect(early.duration(to: late) == .seconds(2))
    #expect(late.duration(to: early) == .seconds(-2))
  }

  @Test func `a sleeper wakes at its deadline and not before`() async throws {
    let log = WakeLog()
    let task = sleeper(1, 10, log)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(9))
    #expect(clock.sleeperCount == 1)
    #expect(log.numbers == [])
    clock.advance(by: .seconds(1))
    try await task.value
    #expect(log.numbers == [1])
    #expect(clock.sleeperCount == 0)
  }

  @Test func `sleepers are taken in the order of their deadlines, whatever the order in which they fell asleep`()
    async throws
  {
    let log = WakeLog()
    var tasks: [Task<Void, any Error>] = []
    for (number, seconds) in [(1, 30), (2, 10), (3, 20)] {
      tasks.append(sleeper(number, seconds, log))
      await clock.waitForSleepers(number)
    }
    // One at a time: a woken task runs when it gets a thread, so that only steps show the order.
    for expected in [[2], [2, 3], [2, 3, 1]] {
      clock.advance(by: .seconds(10))
      let task = tasks[expected.last! - 1]
      try await task.value
      #expect(log.numbers == expected)
      #expect(clock.sleeperCount == 3 - expected.count)
    }
  }

  @Test func `one long step wakes all that are due, and leaves the others asleep`() async throws {
    let log = WakeLog()
    var tasks: [Task<Void, any Error>] = []
    for (number, seconds) in [(1, 5), (2, 5), (3, 60)] {
      tasks.append(sleeper(number, seconds, log))
      await clock.waitForSleepers(number)
    }
    clock.advance(by: .seconds(30))
    try await tasks[0].value
    try await tasks[1].value
    #expect(Set(log.numbers) == [1, 2])
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .seconds(30))
    try await tasks[2].value
  }

  @Test func `a deadline that has passed doesn't sleep`() async throws {
    clock.advance(by: .seconds(5))
    try await clock.sleep(until: ManualClock.Instant(offset: .seconds(5)))
    try await clock.sleep(for: .zero)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a cancelled sleeper wakes with an error, and the others sleep on`() async throws {
    let log = WakeLog()
    let cancelled = sleeper(1, 10, log)
    await clock.waitForSleepers(1)
    let other = sleeper(2, 10, log)
    await clock.waitForSleepers(2)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .seconds(10))
    try await other.value
    #expect(log.numbers == [2])
  }

  @Test func `a task that was cancelled before doesn't fall asleep`() async {
    let task = Task { [clock] in
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      try await clock.sleep(for: .seconds(10))
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleeperCount == 0)
  }

  @Test func `cancelling and waking at once leaves nobody asleep and nobody hanging`() async throws {
    for _ in 0..<200 {
      let clock = ManualClock()
      let task = Task { try await clock.sleep(for: .seconds(1)) }
      await clock.waitForSleepers(1)
      async let cancelling: Void = { task.cancel() }()
      clock.advance(by: .seconds(1))
      await cancelling
      _ = await task.result
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test func `waiting for sleepers returns at once when they are there`() async {
    await clock.waitForSleepers(0)
    let task = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
    await clock.waitForSleepers(1)
    await clock.waitForSleepers(1)
    task.cancel()
    _ = await task.result
  }

  @Test func `a clock doesn't go backwards`() async {
    await #expect(processExitsWith: .failure) { ManualClock().advance(by: .seconds(-1)) }
  }
}

/// Who woke, in order.
private final class WakeLog: Sendable {
  private let entries = Mutex<[(number: Int, time: Duration)]>([])

  var numbers: [Int] { entries.withLock { $0.map(\.number) } }

  func append(_ entry: (Int, Duration)) {
    entries.withLock { $0.append(entry) }
  }
}
