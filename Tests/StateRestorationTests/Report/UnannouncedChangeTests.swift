import StateRestoration
import StateRestorationTesting
import Synchronization
import Testing

/// A change that was announced is no finding, whichever save writes it.
@MainActor @Suite struct UnannouncedChangeTests {
  private let bench = Bench()

  /// A coordinator that saves by itself after a minute at the earliest.
  private func launch(into root: Screen) async throws -> RestorationCoordinator {
    let coordinator = bench.launch()
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(60))
    _ = try await coordinator.restore(into: root)
    await bench.delegate.nextEvent()
    return coordinator
  }

  @Test func `a change that a failed save has met`() async throws {
    try await bench.preserve(Screen("root"))
    let root = Screen("root")
    let coordinator = try await launch(into: root)
    root.text = "typed"
    bench.store.state.withLock { $0.failures = ["append": .io, "publish": .io] }
    await #expect(throws: RestorationError.self) { try await coordinator.preserve(root) }
    bench.store.state.withLock { $0.failures = [:] }
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.changedNodes > 0)
    #expect(receipt.findings == [])
  }

  @Test func `a change that a look for a late object has met`() async throws {
    try await bench.preserve(Screen("root", children: [Screen("page"), Screen("late", text: "late")]))
    let page = Screen("page")
    let root = Screen("root", children: [page])
    let coordinator = try await launch(into: root)
    page.text = "typed"
    let late = Screen("late")
    root.restorationChildren.append(late)
    #expect(coordinator.restore(late, at: ["root", "late"])?.isRestored == true)
    await coordinator.endTurn()
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.changedNodes > 0)
    #expect(receipt.findings == [])
  }
}
