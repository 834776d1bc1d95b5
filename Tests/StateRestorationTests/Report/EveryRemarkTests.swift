import DataProtection
import FoundationEssentials
import SimulatedTime
import StateRestoration
import Synchronization
import Testing

/// Every remark about a state as a whole is forced by the engine; the compiler checks that none is left out.
@MainActor @Suite struct EveryRemarkTests {
  enum Name: String, CaseIterable, Sendable {
    case tailDropped, olderGeneration, rollbackUnverifiable, mergedPendingChanges, markerIgnored
    case interruptedBefore, applicationStateFailed, applicationStateTouched, extensionTimedOut, setAside
    case noDelegate, failure, waitsForUnlock

    /// Nil for a remark of one node; see `EveryFindingTests`.
    init?(_ remark: RestorationReport.Remark) {
      switch remark {
      case .tailDropped: self = .tailDropped
      case .olderGeneration: self = .olderGeneration
      case .rollbackUnverifiable: self = .rollbackUnverifiable
      case .mergedPendingChanges: self = .mergedPendingChanges
      case .markerIgnored: self = .markerIgnored
      case .interruptedBefore: self = .interruptedBefore
      case .applicationStateFailed: self = .applicationStateFailed
      case .applicationStateTouched: self = .applicationStateTouched
      case .extensionTimedOut: self = .extensionTimedOut
      case .setAside: self = .setAside
      case .noDelegate: self = .noDelegate
      case .failure: self = .failure
      case .waitsForUnlock: self = .waitsForUnlock
      case .migrated, .unreadKeys, .unresolvedReference, .unregisteredClass, .wasAbsent, .joined,
        .notJoined, .olderRecordGiven, .superseded:
        return nil
      }
    }
  }

  @Test(arguments: Name.allCases)
  func `every remark is made by a restoration`(name: Name) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("child", text: "text")]))
    let remarks = try await force(name, bench)
    #expect(remarks.map(Name.init) == [name])
  }

  private func hierarchy() -> Screen { Screen("root", children: [Screen("child")]) }

  private func remarks(_ bench: Bench) async throws -> [RestorationReport.Remark] {
    try await bench.launch().restore(into: hierarchy()).remarks
  }

  private func force(_ name: Name, _ bench: Bench) async throws -> [RestorationReport.Remark] {
    switch name {
    case .waitsForUnlock: return try await PartedBench().reportWhileLocked().remarks
    case .tailDropped: bench.store.state.withLock { $0.tailDropped = 12 }
    case .olderGeneration: bench.store.state.withLock { $0.standing = .olderGeneration(because: .corrupt) }
    case .rollbackUnverifiable: bench.store.state.withLock { $0.standing = .rollbackUnverifiable }
    case .mergedPendingChanges: try await typeWhileLocked(bench)
    case .markerIgnored: bench.store.state.withLock { $0.failures = ["attempts": .io] }
    case .interruptedBefore: try await bench.die(at: ["root", "child"])
    case .applicationStateFailed: bench.delegate.failsDecoding = true
    case .applicationStateTouched: return try await touchApplicationState(bench)
    case .extensionTimedOut: return try await timedOut(bench)
    case .setAside: try await decline(bench)
    case .noDelegate:
      // Nobody keeps it but the coordinator, which doesn't.
      return try await bench.launch(with: YesDelegate()).restore(into: hierarchy()).remarks
    case .failure: bench.store.state.withLock { $0.failures = ["openNewest": .keysMissing] }
    }
    return try await remarks(bench)
  }

  private func typeWhileLocked(_ bench: Bench) async throws {
    try await bench.lock()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["child"]?.text = "typed while locked"
    _ = try await coordinator.preserve(root)
    try await bench.unlock()
  }

  /// A run that changes the program's own state before the stored one can be read.
  private func touchApplicationState(_ bench: Bench) async throws -> [RestorationReport.Remark] {
    try await bench.lock()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    bench.delegate.appValue = "while locked"
    try await bench.unlock(coordinator)
    await bench.delegate.nextLateReport()
    return bench.delegate.lateReports[0].remarks
  }

  /// A run that does not restore what is there, and saves.
  private func decline(_ bench: Bench) async throws {
    bench.delegate.restores = false
    let coordinator = bench.launch()
    let root = Screen("root", text: "\(bench.store.state.withLock { $0.next })")
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    bench.delegate.restores = true
  }

  private func timedOut(_ bench: Bench) async throws -> [RestorationReport.Remark] {
    let coordinator = bench.launch()
    let root = hierarchy()
    try await bench.restorePastTimeLimit(coordinator, into: root)
    defer { coordinator.completeStateRestoration() }
    return coordinator.lastReport?.remarks ?? []
  }
}
