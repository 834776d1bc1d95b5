import DataProtection
import StateRestorationTesting
import Testing

@testable import StateRestoration

/// Power that is cut in the middle of what the coordinator does to the disk, seen by the coordinator of the next launch.
@MainActor @Suite struct SavePowerCutTests {
  nonisolated static let losses: [SimulatedDevice.PowerCutLoss] = [
    .everythingUnsynchronized, .one(0), .endOfLastWrite(keeping: 3),
  ]

  /// What a save writes.
  enum Save: String, CaseIterable, Sendable {
    case first, change, whole, pendingWhole, pendingTouched, joining, joiningElsewhere, anew

    /// Whether it takes in what was saved while locked, under the same class or another.
    var joins: Bool { self == .joining || self == .joiningElsewhere }
  }

  private func hierarchy(_ text: String = "") -> Screen {
    Screen("root", text: text, children: [Screen("child", text: text)])
  }

  /// A run that is about to save the text "new" at both places.
  private func make(_ save: Save) async throws -> (Bench, RestorationCoordinator, Screen) {
    let bench = try await Bench(.device)
    if save != .first { try await bench.preserve(hierarchy("old")) }
    if save == .pendingTouched || save.joins { try await bench.lock() }
    let coordinator = bench.launch()
    let root = hierarchy()
    if save == .anew { bench.delegate.restores = false }
    _ = try await coordinator.restore(into: root)
    bench.delegate.restores = true
    root.text = "new"
    root["child"]?.text = "new"
    switch save {
    case .pendingWhole: try await bench.lock()
    case .whole:
      // Another process has saved the same: only a whole generation may follow.
      var writer = try RestorationArchive.Writer(continuing: bench.newestReader())
      _ = try bench.place.publish(try writer.makeArchive(), ArchiveSuccession())
    case .joining, .joiningElsewhere:
      _ = try await coordinator.preserve(root)
      try await bench.kill()
      try await bench.unlock()
      if save == .joiningElsewhere { bench.configuration.protection = .none }
      let next = bench.launch()
      let again = hierarchy()
      _ = try await next.restore(into: again)
      return (bench, next, again)
    default: break
    }
    return (bench, coordinator, root)
  }

  @Test(arguments: Save.allCases, losses)
  func `a save that is cut short restores the old state or the new one, whole`(
    save: Save, loss: SimulatedDevice.PowerCutLoss
  ) async throws {
    let counts = try await cutPowerAtEveryCall(losing: loss) {
      let (bench, coordinator, root) = try await make(save)
      return Interruptible(bench: bench) {
        try await coordinator.preserve(root).receipt?.durability == .durable
      } wasDone: {
        let again = hierarchy()
        let next = bench.launch()
        let report = try await next.restore(into: again)
        let text = again.text
        #expect(again["child"]?.text == text)
        switch text {
        case "new":
          if save == .anew { try await expectOldAside(next) }
          return true
        case "old":
          #expect(report.outcome == .restored, "\(report)")
          #expect(!save.joins, "what was saved while locked is lost")
        default: #expect(save == .first && report.outcome == .nothingPreserved, "\(report)")
        }
        return false
      }
    }
    #expect(counts.new > 0)
    #expect(counts.old > 0 || save.joins)
  }

  private func expectOldAside(_ coordinator: RestorationCoordinator) async throws {
    let aside = try await coordinator.setAsideStates()
    #expect(aside.count == 1)
    let root = hierarchy()
    _ = try await coordinator.restore(into: root, from: .setAside(try #require(aside.first).id))
    #expect(root.text == "old")
  }

  @Test(arguments: losses)
  func `a discard that is cut short leaves the state or nothing`(loss: SimulatedDevice.PowerCutLoss) async throws {
    try await cutPowerAtEveryCall(losing: loss) {
      let (bench, coordinator, root) = try await make(.anew)
      _ = try await coordinator.preserve(root)
      return Interruptible(bench: bench) {
        try await coordinator.discard()
        return true
      } wasDone: {
        let next = bench.launch()
        let again = hierarchy()
        let outcome = try await next.restore(into: again).outcome
        #expect(outcome == .nothingPreserved || again.text == "new")
        let isGone = try await next.setAsideStates().isEmpty
        return outcome == .nothingPreserved && isGone
      }
    }
  }

  @Test(arguments: losses)
  func `an unlock that is cut short keeps what was saved while locked`(loss: SimulatedDevice.PowerCutLoss) async throws
  {
    try await cutPowerAtEveryCall(losing: loss) {
      let (bench, coordinator, root) = try await make(.pendingWhole)
      _ = try await coordinator.preserve(root)
      try await bench.unlock()
      return Interruptible(bench: bench) {
        await coordinator.protectedDataDidBecomeAvailable()
        return bench.delegate.errors.isEmpty
      } wasDone: {
        let again = hierarchy()
        _ = try await bench.launch().restore(into: again)
        #expect(again.text == "new")
        return true
      }
    }
  }

  @Test(arguments: [(ProtectionClass.none, ProtectionClass.complete), (.complete, .none)])
  func `a change of class that is cut short leaves the state under one of the two`(
    from: ProtectionClass, to: ProtectionClass
  ) async throws {
    let counts = try await cutPowerAtEveryCall(losing: .everythingUnsynchronized) {
      let bench = try await Bench(.device)
      bench.configuration.protection = from
      let before = bench.launch()
      let screen = hierarchy("whole")
      _ = try await before.preserve(screen)
      screen.text = "old"
      _ = try await before.preserve(screen)
      bench.configuration.protection = to
      let root = hierarchy()
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      root.text = "new"
      return Interruptible(bench: bench) {
        try await coordinator.preserve(root).receipt?.durability == .durable
      } wasDone: {
        let again = hierarchy()
        let report = try await bench.launch().restore(into: again)
        #expect(report.outcome == .restored, "\(report)")
        #expect(again.text == "new" || again.text == "old")
        return again.text == "new"
      }
    }
    #expect(counts.old > 0 && counts.new > 0)
  }
}
