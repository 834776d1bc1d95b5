import ApplicationLifecycle
import DataProtection
import FoundationEssentials
import RestorationArchive
import SimulatedTime
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

@MainActor @Suite(.tags(.threads)) struct RestorableApplicationTests {
  let fake = FakeApplication()

  @Test func `launching restores between the two callbacks, guarded from end to end`() async throws {
    let report = try await fake.application.launch()
    #expect(report?.outcome == .restored)
    #expect(
      fake.log.all == [
        "beginGuard", "willFinishLaunching", "restore", "didRestore restored", "didFinishLaunching",
        "didBecomeActive", "endGuard",
      ])
  }

  @Test func `before the launch nothing is preserved`() async throws {
    #expect(try await fake.application.preserve() == nil)
    #expect(fake.log.all == [])
  }

  @Test func `a launch that the watchdog kills stays guarded`() async throws {
    fake.delegate.onDidFinishLaunching = { [clock = fake.clock] in clock.advance(by: .seconds(6)) }
    let error = await #expect(throws: Lifecycle.RequestError.self) { try await fake.application.launch() }
    #expect(error?.code == .watchdog)
    #expect(!fake.log.all.contains("endGuard"))
  }

  @Test func `a second launch of a running program ends its own guard`() async throws {
    try await fake.application.launch()
    fake.log.clear()
    await #expect(throws: Lifecycle.RequestError.self) { try await fake.application.launch() }
    #expect(fake.log.all == ["beginGuard", "endGuard"])
  }

  @Test func `a launch from the middle of a launch is refused and ends its own guard`() async throws {
    let refused = Refusal()
    fake.engine.onRestore = { [application = fake.application] in
      do throws(Lifecycle.RequestError) { try await application.launch() } catch { refused.code = error.code }
    }
    try await fake.application.launch()
    #expect(refused.code == .waitsForItself)
    #expect(fake.log.all.filter { $0 == "beginGuard" }.count == fake.log.all.filter { $0 == "endGuard" }.count)
  }

  @Test func `entering the background preserves, hides, and takes the snapshot, in this order`() async throws {
    try await fake.application.launch()
    fake.log.clear()
    try await fake.lifecycle.enterBackground()
    #expect(
      fake.log.all == [
        "willResignActive", "didEnterBackground", "preserve", "didPreserve", "hide root", "makeSnapshot",
      ])
    #expect(fake.snapshots.snapshot == Data("picture".utf8))
    fake.log.clear()
    try await fake.lifecycle.enterForeground()
    #expect(fake.log.all == ["reveal root", "didBecomeActive"])
  }

  @Test func `terminating preserves after willTerminate, then takes a snapshot of that`() async throws {
    try await fake.application.launch()
    fake.log.clear()
    try await fake.lifecycle.terminate()
    #expect(
      fake.log.all == [
        "willResignActive", "willTerminate", "preserve", "didPreserve", "hide root", "makeSnapshot",
      ])
    #expect(fake.snapshots.snapshot == Data("picture".utf8))
  }

  @Test func `sleep locks after the snapshot`() async throws {
    try await fake.application.launch()
    fake.log.clear()
    try await fake.lifecycle.sleep()
    #expect(fake.log.all.filter { $0 == "makeSnapshot" || $0 == "lock" } == ["makeSnapshot", "lock"])
  }

  @Test func `a force quit calls nobody and deletes the state and the snapshot`() async throws {
    try await fake.application.launch()
    fake.snapshots.snapshot = Data("old".utf8)
    fake.log.clear()
    try await fake.application.forceQuit()
    #expect(fake.log.all == ["deleteState"])
    #expect(fake.snapshots.snapshot == nil && fake.lifecycle.endReason == .forceQuit)
  }

  @Test func `a force quit whose deletion fails has deleted the snapshot all the same, and says so`() async throws {
    try await fake.application.launch()
    fake.snapshots.snapshot = Data("old".utf8)
    fake.engine.deletionError = RestorationError(.discardFailed, "The disk can't be written.")
    await #expect(throws: RestorationError.self) { try await fake.application.forceQuit() }
    #expect(fake.snapshots.snapshot == nil)
  }

  @Test func `a force quit that can't delete the snapshot deletes the state all the same, and says so`() async throws {
    try await fake.application.launch()
    try await fake.lifecycle.enterBackground()
    fake.snapshots.isUndeletable.store(true, ordering: .relaxed)
    fake.log.clear()
    let error = await #expect(throws: RestorationError.self) { try await fake.application.forceQuit() }
    #expect(error?.code == .discardFailed && fake.log.all == ["deleteState"])
  }

  @Test func `the developer's switch keeps the state across a force quit`() async throws {
    try await fake.application.launch()
    fake.engine.configuration.isDeveloperMode = true
    fake.snapshots.snapshot = Data("old".utf8)
    fake.log.clear()
    try await fake.application.forceQuit()
    #expect(fake.log.all.isEmpty && fake.snapshots.snapshot != nil)
  }

  @Test func `a failed preserving is reported and leaves the life cycle alone`() async throws {
    try await fake.application.launch()
    fake.engine.outcome = .failure(RestorationError(.preservationFailed, "The disk is full."))
    try await fake.lifecycle.enterBackground()
    #expect(fake.lifecycle.state == .suspended)
    #expect(throws: RestorationError.self) { try fake.application.lastPreservation?.get() }
    #expect(throws: RestorationError.self) { try fake.delegate.preservations.last?.get() }
  }

  @Test func `a failed restoring is reported and the launch goes on`() async throws {
    fake.engine.restoreError = RestorationError(.restorationInProgress, "The disk can't be read.")
    #expect(try await fake.application.launch() == nil)
    #expect(fake.lifecycle.state == .active)
    #expect(
      fake.application.restoreError?.code == .restorationInProgress
        && fake.delegate.restoreErrors == [.restorationInProgress])
  }

  @Test func `an incident is in the program's log`() async throws {
    try await fake.application.launch()
    let task = try fake.lifecycle.beginBackgroundTask(named: "upload") {}
    try fake.lifecycle.endBackgroundTask(task)
    #expect(throws: Lifecycle.RequestError.self) { try fake.lifecycle.endBackgroundTask(task) }
    #expect(
      fake.engine.messages.lines.contains(Lifecycle.Incident.backgroundTaskEndedTwice(name: "upload").description))
  }

  @Test func `a memory warning reaches the delegate and every controller, parents first`() async throws {
    let child = FakeController("child", fake.log)
    fake.delegate.root?.restorationChildren = [child, FakeController(nil, fake.log)]
    child.restorationViews = [FakeView("field", fake.log)]
    try await fake.application.launch()
    fake.log.clear()
    fake.lifecycle.receiveMemoryWarning()
    #expect(fake.log.all == ["memoryWarning", "free root", "free child", "free view", "free nameless"])
  }

  @Test func `the engine is told when the program is suspended and when it runs again`() async throws {
    try await fake.application.launch()
    #expect(!fake.engine.isSuspended)
    try await fake.lifecycle.enterBackground()
    #expect(fake.engine.isSuspended)
    try await fake.lifecycle.wake(for: "timer")
    #expect(fake.engine.isSuspended, "awake and suspended again")
    try await fake.lifecycle.enterForeground()
    #expect(!fake.engine.isSuspended)
  }

  @Test func `the report is that of the last restoring, also of a late one`() async throws {
    #expect(fake.application.report == nil)
    try await fake.application.launch()
    fake.engine.lastReport = RestorationReport(outcome: .locked)
    #expect(fake.application.report?.outcome == .locked)
  }

  @Test func `a launch that declines restoring has no report, whatever the one before had`() async throws {
    #expect(try await fake.application.launch()?.outcome == .restored)
    try await fake.lifecycle.terminate()
    fake.delegate.response = .declinesRestoring
    #expect(try await fake.application.launch() == nil)
    #expect(fake.application.report == nil)
  }

  @Test func `a launch asks for its extent, and a pristine one declines`() async throws {
    for (extent, calls) in [
      (Lifecycle.LaunchOptions.Extent.restore, ["restore"]), (.launch, ["extent launch", "restore"]),
      (.recover, ["extent recover", "restore"]), (.pristine, ["declineRestoring"]),
      (.restore, ["extent restore", "restore"]),
    ] {
      fake.log.clear()
      let report = try await fake.application.launch(Lifecycle.LaunchOptions(extent: extent))
      let names = ["restore", "declineRestoring"]
      #expect(fake.log.all.filter { $0.hasPrefix("extent") || names.contains($0) } == calls)
      #expect((report == nil) == (extent == .pristine))
      try await fake.lifecycle.terminate()
    }
  }

  @Test func `what a launch declined is kept from its first save, also from one during the launch`() async throws {
    fake.delegate.response = .declinesRestoring
    let saved = Saving()
    fake.delegate.onDidFinishLaunching = { [application = fake.application] in
      saved.task = Task { try await application.preserve() }
    }
    try await fake.application.launch()
    _ = try await saved.task?.value
    _ = try await fake.application.preserve()
    let saves = fake.log.all.filter { $0 == "declineRestoring" || $0 == "preserve" }
    #expect(saves == ["declineRestoring", "preserve", "preserve"])
    try await fake.lifecycle.terminate()
    fake.log.clear()
    fake.delegate.response = .proceed
    try await fake.application.launch()
    _ = try await saved.task?.value
    #expect(!fake.log.all.contains("declineRestoring"))
  }

  @Test func `a change of protected data while suspended is delivered on wake`() async throws {
    try await fake.application.launch()
    try await fake.lifecycle.enterBackground()
    fake.log.clear()
    fake.device.announce(false)
    for _ in 0..<50 { await Task.yield() }
    #expect(fake.log.all.isEmpty)
    try await fake.lifecycle.enterForeground()
    #expect(fake.log.all.first == "willBecomeUnavailable")
  }
}

@MainActor private final class Saving {
  var task: Task<PreservationOutcome?, any Error>?
}

@MainActor private final class Refusal {
  var code: Lifecycle.RequestError.Code?
}
