import DataProtection
import FoundationEssentials
import StateRestoration
import StateRestorationTesting
import Synchronization
import Testing

/// What was saved while locked and fits no state that is there any more is set aside, and can be had again (R5.2).
@MainActor @Suite struct PendingConflictTests {
  /// What a program saves while locked.
  enum Saved: String, CaseIterable, Sendable {
    /// The touched nodes of a run that began while locked.
    case touchedNodes
    /// Everything, by a run that had read the state before.
    case everything
  }

  private func hierarchy() -> Screen { Screen("root", children: [Screen("a")]) }

  /// A bench whose newest state another program saved after something had been saved while locked.
  private func conflicting(_ saved: Saved, _ kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "stored", children: [Screen("a", text: "stored")]))
    try await saveWhileLocked(saved, bench)
    let other = bench.place
    let state = try other.openNewest()
    _ = try other.publish(try state.read(0..<state.byteCount), consuming: [])
    return bench
  }

  /// One program that saves while the device is locked, and ends; the device is unlocked afterwards.
  private func saveWhileLocked(_ saved: Saved, _ bench: Bench) async throws {
    let root = hierarchy()
    let coordinator = bench.launch()
    if saved == .everything { _ = try await coordinator.restore(into: root) }
    try await bench.lock()
    if saved == .touchedNodes { _ = try await coordinator.restore(into: root) }
    root.text = "typed while locked"
    #expect(try await coordinator.preserve(root).receipt != nil)
    try await bench.unlock()
  }

  /// An unlocked bench on which one program has saved touched nodes while locked, and after it another one, that had
  /// read the state before, everything.
  private func savedByTwoPrograms(_ kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "stored", children: [Screen("a", text: "stored")]))
    let first = bench.launch()
    let root = hierarchy()
    _ = try await first.restore(into: root)
    try await bench.lock()
    let second = bench.launch()
    let touched = hierarchy()
    _ = try await second.restore(into: touched)
    touched["a"]?.text = "second program"
    _ = try await second.preserve(touched)
    // The store in memory knows programs by their launches only.
    bench.store.run.add(1, ordering: .relaxed)
    root.text = "first program"
    _ = try await first.preserve(root)
    try await bench.unlock()
    return bench
  }

  private func setAside(_ report: RestorationReport) -> [SetAsideState] {
    report.remarks.flatMap { remark in if case .setAside(let states) = remark { states } else { [SetAsideState]() } }
  }

  @Test(arguments: Saved.allCases, StoreKind.allCases)
  func `it is listed, comes back on request, and is not pending after the next save`(
    saved: Saved, on kind: StoreKind
  ) async throws {
    let bench = try await conflicting(saved, kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    let report = try await coordinator.restore(into: root)
    #expect(report.remarks.contains(.pendingConflict))
    #expect(root.text == "stored")
    let state = try #require(setAside(report).first)
    #expect(state.isReadable)
    #expect(try await coordinator.setAsideStates() == [state])

    _ = try await coordinator.preserve(root)
    #expect(try bench.place.openPending().readable.isEmpty)
    #expect(try bench.place.openPending().problems.isEmpty)

    let next = bench.launch()
    let again = hierarchy()
    let nextReport = try await next.restore(into: again)
    #expect(!nextReport.remarks.contains(.pendingConflict))
    #expect(setAside(nextReport) == [state])
    #expect(try await next.restore(into: again, from: .setAside(state.id)).outcome == .restored)
    #expect(again.text == "typed while locked")
  }

  @Test(arguments: Saved.allCases, StoreKind.allCases)
  func `launches that save nothing set it aside once`(saved: Saved, on kind: StoreKind) async throws {
    let bench = try await conflicting(saved, kind)
    for _ in 0..<3 {
      let coordinator = bench.launch()
      let report = try await coordinator.restore(into: hierarchy())
      #expect(report.remarks.contains(.pendingConflict))
      #expect(try await coordinator.setAsideStates().count == 1)
      try await bench.kill()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `touched nodes that a whole state saved later does not include are set aside before it is taken over`(
    on kind: StoreKind
  ) async throws {
    let bench = try await savedByTwoPrograms(kind)
    let coordinator = bench.launch()
    let again = hierarchy()
    let report = try await coordinator.restore(into: again)
    #expect(again.text == "first program")
    #expect(again["a"]?.text == "stored")
    #expect(report.remarks.contains(.pendingConflict))
    let state = try #require(setAside(report).first)
    _ = try await coordinator.restore(into: again, from: .setAside(state.id))
    #expect(again["a"]?.text == "second program")
  }

  @Test(arguments: StoreKind.allCases)
  func `a program that only saves is told which state makes room for it`(on kind: StoreKind) async throws {
    let bench = try await conflicting(.touchedNodes, kind)
    let newest = try bench.place.open(.newest)
    let archive = try newest.read(0..<newest.byteCount)
    for place in bench.place.asidePlaces.prefix(4) {
      _ = try place.publish(archive, Succession())
    }
    // What does not fit takes the place of the oldest; what the save replaces is aside already, and becomes the newest.
    let before = try await bench.launch().setAsideStates()
    let receipt = try #require(try await bench.preserve(Screen("root", text: "new")).receipt)
    let after = try await bench.launch().setAsideStates()
    #expect(after.prefix(2) == before[1...2])
    #expect(after.count == before.count)
    #expect(receipt.findings == [.setAsideRemoved(before[0]), .setAside(after[3])])
  }

  @Test func `what can't be set aside now stays pending, and the launch goes on`() async throws {
    let bench = try await conflicting(.touchedNodes, .memory)
    for place in bench.store.places { place.state.withLock { $0.failures = ["publish": .io] } }
    let coordinator = bench.launch()
    let root = hierarchy()
    let report = try await coordinator.restore(into: root)
    #expect(root.text == "stored")
    #expect(report.remarks.contains { if case .failure(let text) = $0 { text.contains("set aside") } else { false } })
    root.text = "newer"
    _ = try await coordinator.preserve(root)
    #expect(bench.store.pending != nil)
    for place in bench.store.places { place.state.withLock { $0.failures = [:] } }
    _ = try await bench.launch().restore(into: hierarchy())
    #expect(try await bench.launch().setAsideStates().count == 1)
  }

  @Test func `when touched nodes can't be set aside, the state that goes without them is not taken over`()
    async throws
  {
    let bench = try await savedByTwoPrograms(.memory)
    for place in bench.store.places { place.state.withLock { $0.failures = ["publish": .io] } }
    #expect(try await bench.launch().restore(into: hierarchy()).outcome == .unavailable)
    #expect(try bench.place.openPending().readable.count == 2)
    for place in bench.store.places { place.state.withLock { $0.failures = [:] } }
    let again = hierarchy()
    #expect(try await bench.launch().restore(into: again).outcome == .restored)
    #expect(again.text == "first program")
    #expect(try await bench.launch().setAsideStates().count == 1)
  }

  // MARK: At the unlock of a program that runs

  /// Programs that save an edit of one screen while locked, and end.
  private func saveTouched(_ texts: String..., on bench: Bench) async throws {
    // The store in memory knows programs by their launches only.
    let run = bench.store.run.load(ordering: .relaxed)
    for text in texts {
      let root = hierarchy()
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      root["a"]?.text = text
      #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    }
    bench.store.run.store(run, ordering: .relaxed)
  }

  /// A program that has restored, on a bench that was locked then.
  private func lockedAfterRestoring(_ kind: StoreKind) async throws -> (Bench, RestorationCoordinator, Screen) {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "stored", children: [Screen("a", text: "stored")]))
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    try await bench.lock()
    return (bench, coordinator, root)
  }

  private func findings(_ bench: Bench) -> [PreservationFinding] {
    bench.delegate.outcomes.last?.receipt?.findings ?? []
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `what another program saved while locked is set aside at the unlock of the one that runs, which is told`(
    on kind: StoreKind, isLater: Bool
  ) async throws {
    let (bench, coordinator, root) = try await lockedAfterRestoring(kind)
    if !isLater { try await saveTouched("second program", on: bench) }
    root.text = "first program"
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
    if isLater { try await saveTouched("second program", on: bench) }
    try await bench.unlock(coordinator)

    let states = try await coordinator.setAsideStates()
    let state = try #require(states.first)
    #expect(states.count == 1)
    #expect(findings(bench) == [.setAside(state)])
    #expect(bench.delegate.outcomes.last?.receipt?.kind == .whole)
    #expect(try bench.place.openPending().readable.isEmpty)
    #expect(try bench.place.openPending().problems.isEmpty)
    root.text = "first program, later"
    #expect(try await coordinator.preserve(root).receipt?.findings == [])

    let next = bench.launch()
    let again = hierarchy()
    let report = try await next.restore(into: again)
    #expect(report.remarks == [.setAside([state])])
    #expect([again.text, again["a"]?.text] == ["first program, later", "stored"])
    #expect(try await next.restore(into: again, from: .setAside(state.id)).outcome == .restored)
    #expect(again["a"]?.text == "second program")
  }

  @Test(arguments: StoreKind.allCases)
  func `of what many programs saved while locked the unlock of the one that runs keeps four, and says what goes`(
    on kind: StoreKind
  ) async throws {
    let (bench, coordinator, root) = try await lockedAfterRestoring(kind)
    try await saveTouched("1", "2", "3", "4", "5", "6", on: bench)
    root.text = "first program"
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    let states = try await coordinator.setAsideStates()
    #expect(states.count == 4)
    #expect(findings(bench).filter { if case .setAside = $0 { true } else { false } }.count == 6)
    #expect(findings(bench).filter { if case .setAsideRemoved = $0 { true } else { false } }.count == 2)
    for state in states { #expect(findings(bench).contains(.setAside(state))) }
    #expect(try bench.place.openPending().readable.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `a save between the unlock and the word of it takes along what was saved while locked`(
    on kind: StoreKind
  ) async throws {
    let (bench, coordinator, root) = try await lockedAfterRestoring(kind)
    root.text = "while locked"
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
    try await bench.unlock()
    root.text = "unlocked"
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    #expect(try bench.place.openPending().readable.isEmpty)
    await coordinator.protectedDataDidBecomeAvailable()
    try await bench.kill()
    try await bench.unlock()
    let again = hierarchy()
    let last = bench.launch()
    let report = try await last.restore(into: again)
    #expect(again.text == "unlocked")
    #expect(report.remarks.isEmpty)
    #expect(try await last.setAsideStates().isEmpty)
  }

  @Test func `when it can't be set aside at the unlock, nothing takes its place, and the next save tries again`()
    async throws
  {
    let (bench, coordinator, root) = try await lockedAfterRestoring(.memory)
    try await saveTouched("second program", on: bench)
    root.text = "first program"
    _ = try await coordinator.preserve(root)
    for place in bench.store.places { place.state.withLock { $0.failures = ["publish": .io] } }
    try await bench.unlock(coordinator)
    #expect(bench.delegate.errors.count == 1)
    #expect(try bench.place.openPending().readable.count == 2)
    for place in bench.store.places { place.state.withLock { $0.failures = [:] } }
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.findings == (try await coordinator.setAsideStates()).map { .setAside($0) })
    #expect(receipt.findings.count == 1)
    #expect(try bench.place.openPending().readable.isEmpty)
  }

  @Test func `when the device is locked again before the save, the finding is in the receipt of the one that follows`()
    async throws
  {
    let (bench, coordinator, root) = try await lockedAfterRestoring(.memory)
    try await saveTouched("second program", on: bench)
    root.text = "first program"
    _ = try await coordinator.preserve(root)
    bench.store.state.withLock { $0.failures = ["publish": .locked] }
    try await bench.unlock(coordinator)
    #expect(bench.delegate.outcomes.last?.receipt?.kind == .pendingWhole)
    bench.store.state.withLock { $0.failures = [:] }
    try await bench.unlock(coordinator)
    #expect(bench.delegate.outcomes.last?.receipt?.kind == .whole)
    #expect(findings(bench) == (try await coordinator.setAsideStates()).map { .setAside($0) })
    #expect(findings(bench).count == 1)
    #expect(try bench.place.openPending().readable.isEmpty)
  }
}
