import FoundationEssentials
import Testing

@testable import StateRestoration

/// R1: nothing happens unless the delegate says yes; its app-level hooks frame the others.
@MainActor @Suite struct OptingInTests {
  @Test func `nothing is preserved unless the delegate says yes`() async throws {
    let bench = Bench()
    bench.delegate.saves = false
    let outcome = try await bench.preserve(Screen("root"))
    #expect(outcome == .declined(.answeredNo))
    #expect(bench.store.takeCalls().isEmpty)
  }

  @Test func `a save without a root is declined until something was restored or saved`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    #expect(try await coordinator.preserve() == .declined(.noRoot))
    let root = Screen("root", text: "one")
    _ = try await coordinator.preserve(root)
    root.text = "two"
    guard case .preserved = try await coordinator.preserve() else { return #expect(Bool(false)) }
    let restored = Screen("root")
    _ = try await bench.launch().restore(into: restored)
    #expect(restored.text == "two")
  }

  @Test func `without a delegate nothing is preserved and nothing restored`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "kept"))
    let coordinator = RestorationCoordinator(store: bench.store, delegate: nil)
    #expect(try await coordinator.restore(into: Screen("root")).outcome == .declined)
    #expect(try await coordinator.preserve(Screen("root")) == .declined(.noDelegate))
  }

  @Test(arguments: StoreKind.allCases)
  func `the questions are asked every time`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let journal = Journal()
    bench.delegate.journal = journal
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.preserve(root)
    _ = try await coordinator.preserve(root)
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.restore(into: root)
    // Restoring again begins with a save, and looks for changes that no save has.
    #expect(journal.lines.filter { $0 == "shouldSave" }.count == 6)
    #expect(journal.lines.filter { $0 == "shouldRestore" }.count == 2)
  }

  @Test(arguments: StoreKind.allCases)
  func `restoring can be refused after a look at the version tag in the coder`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "kept"))
    bench.delegate.refusesTag = "2.0"
    let root = Screen("root")
    let report = try await bench.launch().restore(into: root)
    #expect(report.outcome == .declined)
    #expect(root.text.isEmpty)
    bench.delegate.refusesTag = "1.0"
    #expect(try await bench.launch().restore(into: root).outcome == .restored)
    #expect(root.text == "kept")
  }

  @Test(arguments: StoreKind.allCases)
  func `state that was refused is set aside when the next save replaces it`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "first"))
    bench.delegate.restores = false
    let coordinator = bench.launch()
    let root = Screen("root", text: "second")
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    bench.delegate.restores = true
    let again = Screen("root")
    let next = bench.launch()
    let id = try #require(try await next.setAsideStates().first).id
    _ = try await next.restore(into: again, from: .setAside(id))
    #expect(again.text == "first")
  }

  @Test(arguments: StoreKind.allCases)
  func `app-level state is encoded before any controller and decoded after all of them`(on kind: StoreKind) async throws
  {
    let bench = try await Bench(kind)
    let journal = Journal()
    bench.delegate.journal = journal
    bench.delegate.appValue = "window on the left"
    let root = Panel("root", value: 1, journal: journal)
    root.restorationChildren = [Panel("child", value: 2, journal: journal)]
    try await bench.preserve(root)
    #expect(journal.take() == ["shouldSave", "willEncode", "encode root", "encode child"])
    _ = try await bench.launch().restore(into: root)
    #expect(
      Array(journal.take().prefix(6)) == [
        "shouldRestore", "decode root", "decode child", "didDecode", "finished root", "finished child",
      ])
    #expect(bench.delegate.restoredAppValue == "window on the left")
  }

  @Test(arguments: [false, true]) func `an app-level edit is saved after a decoding that failed`(saves: Bool)
    async throws
  {
    let bench = Bench()
    bench.delegate.appValue = "one"
    try await bench.preserve(Screen("root"))
    bench.delegate.failsDecoding = true
    bench.delegate.saves = saves
    let (coordinator, root) = (bench.launch(), Screen("root"))
    _ = try await coordinator.restore(into: root)
    bench.delegate.saves = true
    bench.delegate.appValue = "two"
    _ = try await coordinator.preserve(root)
    bench.delegate.failsDecoding = false
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(bench.delegate.restoredAppValue == "two")
  }
}
