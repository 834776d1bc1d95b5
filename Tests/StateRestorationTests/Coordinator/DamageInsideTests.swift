import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// A generation that opens well and can't be read to its end.
@MainActor @Suite struct DamageInsideTests {
  @Test func `the generation before it stands in, and the next save keeps both`() async throws {
    let bench = Bench()
    let root = Screen("root", text: "older")
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    root.text = "newer"
    bench.store.state.withLock { $0.isCompactionDue = true }
    _ = try await coordinator.preserve(root)
    bench.store.state.withLock { state in
      let last = state.generations.count - 1
      state.generations[last].failsReading = true
    }
    let again = Screen("root")
    let report = try await bench.launch().restore(into: again)
    #expect(report.outcome == .restored)
    #expect(report.reason == .olderGeneration)
    #expect(again.text == "older")
  }

  @Test func `without one before it the outcome is damaged, and nothing is deleted`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "only"))
    bench.store.state.withLock { $0.generations[0].failsReading = true }
    #expect(try await bench.launch().restore(into: Screen("root")).outcome == .damaged)
    #expect(bench.store.state.withLock { $0.generations.count } == 1)
  }
}
