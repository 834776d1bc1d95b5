import StateRestoration
import Testing

/// A task that is cancelled while it waits for a save or a restoration stops neither: half of one is of no use to anybody.
@MainActor @Suite struct CancellationTests {
  @Test(arguments: ["publish", "append"])
  func `a save goes on when whoever asked for it is cancelled`(call: String) async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = Screen("root")
    if call == "append" { _ = try await coordinator.preserve(root) }
    root.text = "newest"
    let (started, gate) = bench.store.hold(at: call)
    let request = Task { try await coordinator.preserve(root) }
    for await _ in started { break }
    let folded = Task { try await coordinator.preserve(root) }
    await Task.yield()
    request.cancel()
    folded.cancel()
    gate.open()
    #expect(try await request.value.receipt?.durability == .durable)
    _ = try await folded.value
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
    let (started, gate) = bench.store.hold(at: "openNewest")
    let request = Task { try await coordinator.restore(into: root) }
    for await _ in started { break }
    // A save waits for the restoration, so as not to put an empty screen in the place of what is there.
    let save = Task { try await coordinator.preserve(root) }
    await Task.yield()
    request.cancel()
    save.cancel()
    gate.open()
    #expect(try await request.value.outcome == .restored)
    #expect(root.text == "preserved")
    _ = try await save.value
    let again = Screen("root")
    let report = try await bench.launch().restore(into: again)
    #expect(report.outcome == .restored)
    #expect(report.remarks.isEmpty)
    #expect(again.text == "preserved")
  }
}
