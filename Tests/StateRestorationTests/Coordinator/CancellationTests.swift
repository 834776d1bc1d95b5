import StateRestoration
import TestTraits
import Testing

/// A task that is cancelled while it waits for a save or a restoration stops neither: half of one is of no use to anybody.
@MainActor @Suite(.tags(.threads)) struct CancellationTests {
  /// Asks for two things, the second while a call of the store that the first makes is held, and cancels both before it goes on.
  private func cancelling<First: Sendable>(
    at call: String, of bench: Bench, _ first: @escaping @MainActor () async throws -> First,
    _ second: @escaping @MainActor () async throws -> PreservationOutcome
  ) async throws -> First {
    let held = bench.store.hold(at: call)
    let one = Task { try await first() }
    try await held.arrived()
    let other = Task { try await second() }
    await Task.yield()
    one.cancel()
    other.cancel()
    held.release()
    _ = try await other.value
    return try await one.value
  }

  @Test(arguments: ["publish", "append"])
  func `a save goes on when whoever asked for it is cancelled`(call: String) async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = Screen("root")
    if call == "append" { _ = try await coordinator.preserve(root) }
    root.text = "newest"
    let outcome = try await cancelling(at: call, of: bench) {
      try await coordinator.preserve(root)
    } _: {
      try await coordinator.preserve(root)
    }
    #expect(outcome.receipt?.durability == .durable)
    let again = Screen("root")
    #expect(try await bench.launch().restore(into: again).outcome == .restored)
    #expect(again.text == "newest")
  }

  @Test func `a restoration goes on when whoever asked for it is cancelled`() async throws {
    let bench = Bench()
    let preserved = Screen("root")
    preserved.text = "preserved"
    try await bench.preserve(preserved)
    let coordinator = bench.launch()
    let root = Screen("root")
    // The save waits for the restoration, so as not to put an empty screen in the place of what is there.
    let first = try await cancelling(at: "openNewest", of: bench) {
      try await coordinator.restore(into: root)
    } _: {
      try await coordinator.preserve(root)
    }
    #expect(first.outcome == .restored)
    #expect(root.text == "preserved")
    let again = Screen("root")
    let report = try await bench.launch().restore(into: again)
    #expect(report.outcome == .restored)
    #expect(report.remarks.isEmpty)
    #expect(again.text == "preserved")
  }
}
