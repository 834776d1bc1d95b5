import FoundationEssentials
import StateRestoration
import StateRestorationTesting
import Synchronization
import Testing

/// A state that is asked for when what was changed while locked has been joined and not been saved yet: what makes room
/// for it holds the changes (R5.2).
@MainActor @Suite struct RequestAfterJoiningTests {
  /// Who has made the changes while locked.
  enum Maker: CaseIterable, Sendable {
    /// This run, which has saved them then.
    case thisRun
    /// This run, which has saved nothing yet.
    case thisRunUnsaved
    /// An earlier run, which has saved them.
    case earlierRun
  }

  private func hierarchy() -> Screen { Screen("root", children: [Screen("a")]) }

  /// A run that was told of changes made while locked, on a bench that has a state aside and holds another one.
  private func joined(
    _ maker: Maker, _ kind: StoreKind
  ) async throws -> (Bench, RestorationCoordinator, Screen, SetAsideState.ID) {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "aside", children: [Screen("a", text: "aside")]))
    try await bench.preserve(Screen("root", text: "newest", children: [Screen("a", text: "newest")]))
    try await bench.lock()
    var coordinator = bench.launch()
    var root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "typed while locked"
    if maker != .thisRunUnsaved { #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange) }
    if maker == .earlierRun {
      try await bench.unlock()
      coordinator = bench.launch()
      root = hierarchy()
      _ = try await coordinator.restore(into: root)
    } else {
      try await bench.unlock(coordinator)
    }
    #expect([root.text, root["a"]?.text] == ["newest", "typed while locked"])
    return (bench, coordinator, root, try #require(try await coordinator.setAsideStates().first).id)
  }

  @Test func `the older generation that is asked for first says nothing of what waits for the newest`() async throws {
    let bench = Bench()
    for text in ["one", "two"] {
      try await bench.preserve(Screen("root", text: text, children: [Screen("a", text: text)]))
    }
    try await bench.lock()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "typed while locked"
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    try await bench.kill()
    try await bench.unlock()

    let older = hierarchy()
    let last = bench.launch()
    let report = try await last.restore(into: older, from: .olderGeneration)
    #expect([older.text, older["a"]?.text] == ["one", "one"])
    #expect(!report.remarks.contains(.mergedPendingChanges(nodes: 1)))
    // Nothing of it is gone: a look at the newest has it.
    let newest = hierarchy()
    _ = try await bench.launch().restore(into: newest)
    #expect([newest.text, newest["a"]?.text] == ["two", "typed while locked"])
  }

  @Test(arguments: Maker.allCases, [false, true])
  func `what is set aside for a state on request holds what was changed while locked`(
    maker: Maker, isLockedFirst: Bool
  ) async throws {
    for kind in StoreKind.allCases {
      let (bench, coordinator, root, id) = try await joined(maker, kind)
      #expect(try await coordinator.restore(into: root, from: .setAside(id)).outcome == .restored)
      #expect([root.text, root["a"]?.text] == ["aside", "aside"])
      root.text = "later"
      if isLockedFirst { try await bench.lock() }
      #expect(try await coordinator.preserve(root).receipt?.kind == (isLockedFirst ? .pendingWhole : .whole))
      try await bench.kill()
      try await bench.unlock()

      let last = bench.launch()
      let again = hierarchy()
      _ = try await last.restore(into: again)
      #expect([again.text, again["a"]?.text] == ["later", "aside"])
      let newest = try #require(try await last.setAsideStates().last)
      _ = try await last.restore(into: again, from: .setAside(newest.id))
      #expect([again.text, again["a"]?.text] == ["newest", "typed while locked"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the generation before the newest is that before the changes`(on kind: StoreKind) async throws {
    let (bench, coordinator, root, _) = try await joined(.thisRun, kind)
    _ = try await coordinator.restore(into: root, from: .olderGeneration)
    #expect([root.text, root["a"]?.text] == ["newest", "newest"])
    #expect(bench.delegate.outcomes.map(\.receipt?.kind) == [.whole])
    #expect(try await coordinator.preserve(root).receipt != nil)
    let newest = try #require(try await coordinator.setAsideStates().last)
    _ = try await coordinator.restore(into: root, from: .setAside(newest.id))
    #expect([root.text, root["a"]?.text] == ["newest", "typed while locked"])
  }

  @Test func `when the changes can't be saved nothing else is restored, and nothing is lost`() async throws {
    let (bench, coordinator, root, id) = try await joined(.thisRun, .memory)
    bench.store.state.withLock { $0.failures = ["publish": .io] }
    await #expect(throws: RestorationError.self) { try await coordinator.restore(into: root, from: .setAside(id)) }
    #expect([root.text, root["a"]?.text] == ["newest", "typed while locked"])
    #expect(bench.store.pending != nil)
    bench.store.state.withLock { $0.failures = [:] }
    #expect(try await coordinator.restore(into: root, from: .setAside(id)).outcome == .restored)
    #expect(bench.store.pending == nil)
  }

  @Test func `what a save was to join when it failed is saved before another state is restored`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "aside"))
    try await bench.preserve(Screen("root", text: "newest"))
    try await bench.lock()
    let coordinator = bench.launch()
    let root = Screen("root", text: "typed while locked")
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    bench.store.state.withLock { $0.failures = ["publish": .io] }
    try await bench.unlock(coordinator)
    #expect(bench.delegate.errors.count == 1)
    bench.store.state.withLock { $0.failures = [:] }
    let id = try #require(try await coordinator.setAsideStates().first).id
    #expect(try await coordinator.restore(into: root, from: .setAside(id)).outcome == .restored)
    #expect(root.text == "aside")
    #expect(bench.store.pending == nil)
    root.text = "later"
    _ = try await coordinator.preserve(root)
    let newest = try #require(try await coordinator.setAsideStates().last)
    _ = try await coordinator.restore(into: root, from: .setAside(newest.id))
    #expect(root.text == "typed while locked")
  }

  @Test func `the delegate is asked, and told what was saved`() async throws {
    let (bench, coordinator, root, id) = try await joined(.thisRun, .memory)
    bench.delegate.saves = false
    #expect(try await coordinator.restore(into: root, from: .setAside(id)).outcome == .restored)
    #expect(bench.delegate.outcomes == [.declined])
    #expect(bench.store.pending != nil)
  }

  @Test func `what is in a generation already is not saved again`() async throws {
    let (bench, coordinator, root, id) = try await joined(.thisRun, .memory)
    _ = try await coordinator.preserve(root)
    root.text = "not saved"
    _ = bench.store.takeCalls()
    _ = try await coordinator.restore(into: root, from: .setAside(id))
    #expect(!bench.store.takeCalls().contains("publish"))
    #expect(bench.delegate.outcomes.isEmpty)
  }
}
