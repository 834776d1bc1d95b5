import DataProtection
import SimulatedTime
import StateRestoration
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

/// Everything is deleted while nothing else runs; and if that fails, everything goes on as before.
@MainActor @Suite(.tags(.threads)) struct DiscardingTests {
  private func tree(_ text: String = "") -> Screen {
    Screen("root", children: [Screen("a", text: text), Screen("b", text: text)])
  }

  @Test func `what is restored and saved while everything is discarded is not lost`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree("typed")
    _ = try await coordinator.preserve(root)
    let deleting = bench.store.hold(at: "deleteAll")
    let discarding = Task { try await coordinator.discard() }
    try await deleting.arrived()
    let saving = Task { try await coordinator.preserve(root) }
    await Task.yield()
    let restoring = Task { try await coordinator.restore(into: root) }
    await Task.yield()
    let loading = bench.store.hold(at: "openNewest")
    deleting.release()
    try await loading.arrived()
    root["a"]?.text = "meanwhile"
    let another = Task { try await coordinator.preserve(root) }
    await Task.yield()
    loading.release()
    try await discarding.value
    _ = try await saving.value
    _ = try await restoring.value
    _ = try await another.value
    root["b"]?.text = "end"
    _ = try await coordinator.preserve(root)
    let again = tree()
    let report = try await bench.launch().restore(into: again)
    #expect(report.outcome == .restored)
    #expect(report.remarks == [])
    #expect(again["a"]?.text == root["a"]?.text)
    #expect(again["b"]?.text == "end")
  }

  @Test(arguments: [false, true])
  func `what nobody has asked for stays when it can't be deleted`(isForGood: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("a", text: "a"), Screen("hidden", text: "h")]))
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("a")])
    _ = try await coordinator.restore(into: root)
    bench.store.state.withLock { $0.failures["deleteAll"] = .io }
    await #expect(throws: RestorationError.self) {
      if isForGood { try await coordinator.discardAfterForceQuit() } else { try await coordinator.discard() }
    }
    root["a"]?.text = "typed"
    _ = try await coordinator.preserve(root)
    let late = Screen("hidden")
    root.restorationChildren.append(late)
    #expect(coordinator.restore(late, at: ["root", "hidden"])?.isRestored == true)
    #expect(late.text == "h")
    let again = Screen("root", children: [Screen("a"), Screen("hidden")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "typed")
    #expect(again["hidden"]?.text == "h")
  }

  /// How the program saves after a deletion that failed.
  enum Saving: CaseIterable, Sendable {
    case asked, byItself, whileLocked
    /// While the device was locked before the deletion.
    case lockedBefore
  }

  @Test(arguments: Saving.allCases)
  func `a deletion that fails at any call of the disk is undone by the next save`(saving: Saving) async throws {
    var (failures, number) = (0, 0)
    while true {
      number += 1
      let bench = try await Bench(.device)
      let device = try #require(bench.device)
      let saved = tree("old")
      saved.restorationChildren.append(Screen("hidden", text: "h"))
      try await bench.preserve(saved)
      let coordinator = bench.launch()
      let root = tree()
      _ = try await coordinator.restore(into: root)
      root["a"]?.text = "typed"
      _ = try await coordinator.preserve(root)
      if saving == .byItself {
        coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
        await bench.delegate.nextEvent()
      }
      if saving == .lockedBefore {
        try await bench.lock()
        root["b"]?.text = "before"
        _ = try await coordinator.preserve(root)
      }
      device.failDisk(atCall: number, .failingSyncs)
      let isGone = (try? await coordinator.discard()) != nil
      if device.diskFailureCount == 0 { break }
      device.healDisk()
      if !isGone {
        failures += 1
        switch saving {
        case .asked: _ = try await coordinator.preserve(root)
        case .whileLocked, .lockedBefore:
          if saving == .whileLocked { try await bench.lock() }
          root["b"]?.text = "locked"
          #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole, "call \(number)")
        case .byItself:
          await bench.clock.waitForSleepers()
          bench.clock.advance(by: .seconds(1))
          await bench.delegate.nextEvent()
        }
      }
      try await bench.kill()
      let isLocked = saving == .whileLocked || saving == .lockedBefore
      if isLocked { try await bench.unlock() }
      let again = tree()
      again.restorationChildren.append(Screen("hidden"))
      let report = try await bench.launch().restore(into: again)
      if !isGone {
        #expect(again["a"]?.text == "typed", "call \(number)")
        #expect(again["b"]?.text == (isLocked ? "locked" : "old"), "call \(number)")
        #expect(again["hidden"]?.text == "h", "call \(number)")
      } else {
        #expect(report.outcome == .nothingPreserved, "call \(number)")
      }
    }
    #expect(failures > 2)
  }

  @Test func `what is typed after a deletion that failed at a locked launch can be had, whatever became of the rest`()
    async throws
  {
    var (failures, number) = (0, 0)
    while true {
      number += 1
      let bench = try await Bench(.device)
      let device = try #require(bench.device)
      try await bench.preserve(tree("old"))
      try await bench.lock()
      let coordinator = bench.launch()
      let root = tree()
      _ = try await coordinator.restore(into: root)
      for _ in 0..<5 { await Task.yield() }
      root["a"]?.text = "typed"
      _ = try await coordinator.preserve(root)
      device.failDisk(atCall: number, .failingSyncs)
      let isGone = (try? await coordinator.discard()) != nil
      if device.diskFailureCount == 0 { break }
      device.healDisk()
      root["b"]?.text = "later"
      #expect(try await coordinator.preserve(root).receipt?.durability == .durable, "call \(number)")
      try await bench.kill()
      try await bench.unlock()
      let next = bench.launch()
      let again = tree()
      var texts: [String?] = []
      let report = try await next.restore(into: again)
      texts.append(again["b"]?.text)
      if !isGone { failures += 1 }
      for state in try await next.setAsideStates() {
        _ = try await next.restore(into: again, from: .setAside(state.id))
        texts.append(again["b"]?.text)
      }
      #expect(texts.contains("later"), "call \(number): \(report)")
    }
    #expect(failures > 2)
  }

  @Test(arguments: [false, true])
  func `what can't be deleted while locked is restored late, also when the unlock comes meanwhile`(
    unlocksMeanwhile: Bool
  ) async throws {
    let bench = Bench()
    try await bench.preserve(tree("old"))
    try await bench.lock()
    let coordinator = bench.launch()
    let root = tree()
    _ = try await coordinator.restore(into: root)
    bench.store.state.withLock { $0.failures["deleteAll"] = .io }
    let held = bench.store.hold(at: "deleteAll")
    let discarding = Task { try await coordinator.discard() }
    try await held.arrived()
    var unlocking: Task<Void, any Error>?
    if unlocksMeanwhile {
      unlocking = Task { try await bench.unlock(coordinator) }
      await Task.yield()
    }
    held.release()
    await #expect(throws: RestorationError.self) { try await discarding.value }
    if let unlocking { try await unlocking.value } else { try await bench.unlock(coordinator) }
    await bench.delegate.nextLateReport()
    #expect(root["a"]?.text == "old")
    root["b"]?.text = "typed"
    _ = try await coordinator.preserve(root)
    let again = tree()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "old")
    #expect(again["b"]?.text == "typed")
  }

  @Test func `nobody is given what is being deleted`() async throws {
    let bench = Bench()
    try await bench.preserve(tree("secret"))
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("a")])
    _ = try await coordinator.restore(into: root)
    let held = bench.store.hold(at: "deleteAll")
    let discarding = Task { try await coordinator.discard() }
    try await held.arrived()
    let late = Screen("b")
    root.restorationChildren.append(late)
    #expect(coordinator.restore(late, at: ["root", "b"]) == nil)
    #expect(late.text == "")
    held.release()
    try await discarding.value
  }

  @Test func `a save in progress is not the last one of what is begun anew after it`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree("typed")
    _ = try await coordinator.preserve(root)
    root["a"]?.text = "saved"
    let held = bench.store.hold(at: "append")
    let saving = Task { try await coordinator.preserve(root) }
    try await held.arrived()
    let discarding = Task { try await coordinator.discard() }
    await Task.yield()
    held.release()
    _ = try await saving.value
    try await discarding.value
    #expect(coordinator.lastReceipt == nil)
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
  }
}
