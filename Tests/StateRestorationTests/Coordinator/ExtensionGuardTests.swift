import FoundationEssentials
import StateRestoration
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

/// A death counts as one of restoring until extended restoring is completed, and afterwards while an object that turns up is
/// given its state, whatever is saved meanwhile (R6.3).
@MainActor @Suite(.tags(.threads)) struct ExtensionGuardTests {
  /// What is saved between restoring and the death of an object that turns up late.
  enum Save: CaseIterable, Sendable {
    case nothing
    case change
    case whole
    /// While the device is locked, and after the unlock the coordinator saves by itself.
    case whileLockedThenUnlocked
    /// By restoring itself, which leaves out something else.
    case byRestoring
    /// The same, and restoring is extended after it had ended.
    case byRestoringBefore
    /// A whole generation that is under way when restoring is extended.
    case underWay

    /// Whether it extends nothing itself.
    var isWithoutExtension: Bool { self != .byRestoringBefore && self != .underWay }
  }

  private let journal = Journal()

  /// A root, and a panel that turns up in it late.
  private func hierarchy() -> (root: Screen, late: Panel) {
    (Screen("root", children: [Screen("other")]), Panel("late", journal: journal))
  }

  private func preserved(_ kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    let (root, late) = hierarchy()
    root.text = "r"
    root["other"]?.text = "other"
    late.value = 1
    root.restorationChildren.append(late)
    try await bench.preserve(root)
    return bench
  }

  /// Lets the panel turn up; it dies of its state.
  private func dieLate(
    _ bench: Bench, _ coordinator: RestorationCoordinator, _ root: Screen, _ late: Panel
  ) async throws {
    try await bench.die(at: "decode late", of: journal) {
      root.restorationChildren.append(late)
      coordinator.restore(late, at: ["root", "late"])
    }
  }

  /// Extends restoring until the task is cancelled; it is marked when this returns.
  private func extend(_ coordinator: RestorationCoordinator) async -> Task<Void, Never> {
    let (marked, marking) = AsyncStream.makeStream(of: Void.self)
    let extending = Task {
      await coordinator.withRestorationExtended {
        marking.finish()
        try? await Task.sleep(for: .seconds(3600))
      }
    }
    for await _ in marked {}
    return extending
  }

  @Test(arguments: Save.allCases, StoreKind.allCases)
  func `who turns up late and dies of its state is left out at the next launch`(
    save: Save, on kind: StoreKind
  ) async throws {
    try await expectLateCrashNodeLeftOut(save, kind, isExtended: true)
  }

  @Test(arguments: Save.allCases.filter(\.isWithoutExtension), StoreKind.allCases)
  func `so is who turns up when restoring is over`(save: Save, on kind: StoreKind) async throws {
    try await expectLateCrashNodeLeftOut(save, kind, isExtended: false)
  }

  private func expectLateCrashNodeLeftOut(_ save: Save, _ kind: StoreKind, isExtended: Bool) async throws {
    let bench = try await preserved(kind)
    let (root, late) = hierarchy()
    let isByRestoring = save == .byRestoring || save == .byRestoringBefore
    if isByRestoring {
      try await bench.die(at: ["root", "other"])
      bench.store.state.withLock { $0.isCompactionDue = true }
    }
    var extending: Task<Void, Never>?
    defer { extending?.cancel() }
    // Extended restoring has not ended: its death is the second at the state, and the delegate decides.
    bench.delegate.crashDecision = .tryAgain
    let coordinator = bench.launch()
    if isExtended, save.isWithoutExtension { root.onFinish = { coordinator.extendStateRestoration() } }
    _ = try await coordinator.restore(into: root)
    root.text = "typed"
    switch save {
    case .nothing, .byRestoring: break
    case .byRestoringBefore: extending = await extend(coordinator)
    case .change: _ = try await coordinator.preserve(root)
    case .whole:
      try bench.requireWhole()
      #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    case .whileLockedThenUnlocked:
      try await bench.lock()
      #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
      try await bench.unlock(coordinator)
    case .underWay:
      try bench.requireWhole()
      let saving = Task { try await coordinator.preserve(root).receipt?.kind }
      await Task.yield()
      extending = await extend(coordinator)
      #expect(try await saving.value == .whole)
    }
    try await dieLate(bench, coordinator, root, late)
    try await bench.unlock()

    for _ in 0..<2 {
      let (root, late) = hierarchy()
      root.restorationChildren.append(late)
      let report = try await bench.launch().restore(into: root)
      #expect(report[["root", "late"]]?.notRestoredReason == .leftOutAfterCrash, "\(report)")
      #expect(root.text == (save == .nothing || isByRestoring ? "r" : "typed"))
      #expect(root["other"]?.text == (isByRestoring ? "" : "other"))
      #expect(late.value == 0)
    }
  }

  @Test(arguments: [false, true], StoreKind.allCases)
  func `the guard goes along when a state that was set aside takes the newest's place`(
    isExtended: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await preserved(kind)
    bench.delegate.restores = false
    let declined = bench.launch()
    let other = Screen("root", text: "other")
    _ = try await declined.restore(into: other)
    _ = try await declined.preserve(other)
    bench.delegate.restores = true

    let coordinator = bench.launch()
    let (root, late) = hierarchy()
    if isExtended { root.onFinish = { coordinator.extendStateRestoration() } }
    let id = try #require(try await coordinator.setAsideStates().first).id
    #expect(try await coordinator.restore(into: root, from: .setAside(id)).outcome == .restored)
    root.text = "typed"
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    try await dieLate(bench, coordinator, root, late)

    let next = hierarchy()
    next.root.restorationChildren.append(next.late)
    let report = try await bench.launch().restore(into: next.root)
    #expect(report[["root", "late"]]?.notRestoredReason == .leftOutAfterCrash)
    #expect(next.root.text == "typed" && next.late.value == 0)
  }

  @Test(arguments: [false, true], StoreKind.allCases)
  func `the guard stays when another state is asked for and refused`(
    isDeclined: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    bench.configuration.schemaVersion = isDeclined ? 1 : 2
    bench.delegate.restores = !isDeclined
    try await bench.preserve(Screen("root", text: "other"))
    bench.configuration.schemaVersion = 1
    let (saved, savedLate) = hierarchy()
    savedLate.value = 1
    saved.restorationChildren.append(savedLate)
    let first = bench.launch()
    #expect(try await first.restore(into: saved).outcome != .restored)
    _ = try await first.preserve(saved)

    bench.delegate.restores = true
    let coordinator = bench.launch()
    let (root, late) = hierarchy()
    #expect(try await coordinator.restore(into: root).outcome == .restored)
    let id = try #require(try await coordinator.setAsideStates().first).id
    bench.delegate.restores = !isDeclined
    let refused = try await coordinator.restore(into: root, from: .setAside(id))
    #expect(refused.outcome == (isDeclined ? .declined : .newerVersion))
    bench.delegate.restores = true
    try await dieLate(bench, coordinator, root, late)

    let next = hierarchy()
    next.root.restorationChildren.append(next.late)
    let report = try await bench.launch().restore(into: next.root)
    #expect(report[["root", "late"]]?.notRestoredReason == .leftOutAfterCrash)
    #expect(next.late.value == 0)
  }

  @Test func `a power cut after somebody has turned up well brings no note of that back`() async throws {
    let bench = try await preserved(.device)
    let coordinator = bench.launch()
    let (root, late) = hierarchy()
    _ = try await coordinator.restore(into: root)
    root.restorationChildren.append(late)
    #expect(coordinator.restore(late, at: ["root", "late"])?.isRestored == true)
    // Once the worker has nothing to do any more.
    await Task.yield()
    _ = await coordinator.forget(["nothing"])
    try await bench.cutPower(losing: .endOfLastWrite(keeping: 6))
    try await bench.unlock()
    #expect(try bench.marker == nil)
  }

  @Test func `where no marker could be made an extension makes one`() async throws {
    let bench = try await preserved(.memory)
    let coordinator = bench.launch()
    bench.store.state.withLock { $0.failures = ["beginAttempt": .io] }
    let report = try await coordinator.restore(into: hierarchy().root)
    #expect(report.remarks.contains { if case .markerIgnored = $0 { true } else { false } })
    bench.store.state.withLock { $0.failures = [:] }
    await coordinator.withRestorationExtended {
      #expect(bench.store.state.withLock { $0.marker != nil })
    }
  }
}
