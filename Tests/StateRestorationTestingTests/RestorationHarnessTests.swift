import ApplicationLifecycle
import DataProtection
import Foundation
import RestorationArchive
import SimulatedTime
import StateRestoration
import StateRestorationTesting
import Testing

@MainActor @Suite struct RestorationHarnessTests {
  /// A program that was killed in the background, with a draft in its editor that is preserved.
  private func left(
    with draft: String, on device: SimulatedDevice, configuration: RestorationConfiguration = .init()
  ) async throws -> RestorationHarness<NotesApp> {
    let harness = RestorationHarness<NotesApp>(on: device, configuration: configuration)
    try await harness.launch { NotesApp() }.root.editor.draft = draft
    try await harness.enterBackground()
    harness.killWithoutNotice()
    return harness
  }

  @Test func `what was preserved comes back in a new process`() async throws {
    let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice())
    let first = try await harness.launch { NotesApp() }
    #expect(harness.report?.outcome == .nothingPreserved)
    first.root.editor.draft = "hello"
    let second = try await harness.restartAndRestore()
    #expect(second !== first)
    #expect(second.root.editor.draft == "hello")
    #expect(harness.report?.outcome == .restored)
    #expect(second.calls == ["willFinishLaunching", "didRestore", "didFinishLaunching", "didBecomeActive"])
  }

  @Test func `what was not preserved before a kill is lost, and nothing else`() async throws {
    let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice())
    try await harness.launch { NotesApp() }.root.editor.draft = "kept"
    try await harness.enterBackground()
    try await harness.enterForeground()
    harness.application?.root.editor.draft = "lost"
    harness.killWithoutNotice()
    #expect(!harness.isRunning && harness.lifecycle?.endReason == .killed)
    #expect(try await harness.relaunch().root.editor.draft == "kept")
  }

  @Test func `terminating preserves a last time`() async throws {
    let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice())
    try await harness.launch { NotesApp() }.root.editor.draft = "last"
    try await harness.terminate()
    #expect(try await harness.relaunch().root.editor.draft == "last")
  }

  @Test func `a force quit deletes the state, unless the developer's switch keeps it`() async throws {
    for isDeveloperMode in [false, true] {
      let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice())
      harness.configuration.isDeveloperMode = isDeveloperMode
      try await harness.launch { NotesApp() }.root.editor.draft = "hello"
      try await harness.enterBackground()
      try await harness.enterForeground()
      try await harness.forceQuit()
      #expect(harness.application?.calls.contains("willTerminate") == false)
      #expect(try await harness.relaunch().root.editor.draft == (isDeveloperMode ? "hello" : ""))
      #expect(harness.report?.outcome == (isDeveloperMode ? .restored : .nothingPreserved))
    }
  }

  @Test func `an update is told apart, and restores what the older version preserved`() async throws {
    let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice())
    try await harness.launch { NotesApp() }.root.editor.draft = "hello"
    try await harness.enterBackground()
    let updated = try await harness.relaunchAfterUpdate(to: "2.0")
    #expect(updated.root.editor.draft == "hello")
    #expect(harness.report?.reason == .afterUpdate)
    #expect(harness.report?.source?.applicationVersion == "1.0")
  }

  @Test func `state grows old on the device's clock only`() async throws {
    let device = try await SimulatedDevice()
    var configuration = RestorationConfiguration()
    configuration.maximumAge = .seconds(3600)
    let harness = try await left(with: "hello", on: device, configuration: configuration)
    await device.advance(by: .seconds(3600))
    #expect(try await harness.relaunch().root.editor.draft == "hello")
    let savedAt = try #require(harness.report?.source?.savedAt)
    #expect(device.now.timeIntervalSince(savedAt) == 3600)
    harness.killWithoutNotice()
    await device.advance(by: .seconds(1))
    #expect(try await harness.relaunch().root.editor.draft == "")
    #expect(harness.report?.outcome == .expired)
  }

  @Test(arguments: SimulatedDevice.Storage.allCases)
  func `a locked device neither restores nor overwrites, whatever the program does, and restores after the unlock`(
    storage: SimulatedDevice.Storage
  ) async throws {
    let device = try await SimulatedDevice(passcode: "1234", storage: storage)
    let harness = try await left(with: "secret", on: device)
    try await device.lock()
    #expect(try await !device.isProtectedDataAvailable)
    let before = device.contents.files
    #expect(before.count > 4)
    let locked = try await harness.relaunch()
    #expect(harness.report?.outcome == .locked && locked.root.editor.draft == "")
    #expect(device.contents.files == before, "the launch")
    try await harness.enterBackground()
    #expect(device.contents.files == before, "the background")
    try await harness.enterForeground()
    try await harness.enterBackground()
    try await harness.enterForeground()
    #expect(device.contents.files == before, "the foreground, and once more")
    try await device.unlock()
    #expect(await harness.lateReport()?.outcome == .restored)
    #expect(locked.root.editor.draft == "secret")
    #expect(try await harness.restartAndRestore().root.editor.draft == "secret")
  }

  @Test func `however often the power goes after restoring, the newest state comes back`() async throws {
    let device = try await SimulatedDevice()
    let harness = RestorationHarness<NotesApp>(on: device)
    for draft in ["old", "new"] {
      try await harness.launch { NotesApp() }.root.editor.draft = draft
      try await harness.enterBackground()
      harness.killWithoutNotice()
    }
    for number in 1...6 {
      let app = try await harness.relaunch()
      #expect(app.root.editor.draft == "new", "launch \(number): \(harness.report?.description ?? "")")
      #expect(harness.report?.reason == .normal, "launch \(number)")
      device.cutPower()
    }
  }

  @Test func `a program unlocked while it is suspended does nothing until it is woken`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let harness = try await left(with: "secret", on: device)
    try await device.lock()
    let locked = try await harness.relaunch()
    try await harness.enterBackground()
    try await device.unlock()
    for _ in 0..<1_000 { await Task.yield() }
    #expect(locked.root.editor.draft == "", "suspended programs run nothing")
    try await harness.enterForeground()
    for _ in 0..<100_000 where locked.root.editor.draft.isEmpty { await Task.yield() }
    #expect(locked.root.editor.draft == "secret")
  }

  @Test func `a dump of what is preserved names each record of an object`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let harness = try await left(with: "secret", on: device)
    #expect(try await harness.redactedDump().contains("root/editor (caret: a scalar, draft: a text of 6 bytes)"))
    try await device.lock()
    try await harness.relaunch().root.editor.draft = "typed while locked"
    try await harness.enterBackground()
    harness.killWithoutNotice()
    try await device.unlock()
    // The stored text waits beside the newer one, until somebody settles that.
    #expect(try await harness.relaunch().root.editor.draft == "typed while locked")
    try await harness.enterBackground()
    let lines = try await harness.redactedDump().split(separator: "\n").filter { $0.hasPrefix("root/editor") }
    #expect(lines.count == 2 && lines.allSatisfy { $0.contains("[save ") }, "\(lines)")
    #expect(lines.first?.contains("draft: a text of 18 bytes") == true, "\(lines)")
    #expect(lines.last?.contains("draft: a text of 6 bytes") == true, "\(lines)")
  }

  @Test func `sleep preserves before the keys go, ten seconds later`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let harness = RestorationHarness<NotesApp>(on: device)
    try await harness.launch { NotesApp() }.root.editor.draft = "hello"
    try await harness.sleep()
    #expect(harness.lifecycle?.state == .suspended)
    await device.advance(by: .seconds(9))
    #expect(try await device.isProtectedDataAvailable)
    await device.advance(by: .seconds(2))
    for _ in 0..<1_000 {
      guard try await device.isProtectedDataAvailable else { break }
      await Task.yield()
    }
    #expect(try await !device.isProtectedDataAvailable)
    try await device.unlock()
    #expect(try await harness.relaunch().root.editor.draft == "hello")
  }

  @Test func `a reboot locks, and a wrong passcode opens nothing`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let harness = RestorationHarness<NotesApp>(on: device)
    try await harness.launch { NotesApp() }.root.editor.draft = "hello"
    try await harness.enterBackground()
    device.reboot()
    #expect(harness.lifecycle?.endReason == .reboot)
    let error = await #expect(throws: ProtectionError.self) { try await device.unlock(passcode: "0000") }
    #expect(error?.code == .wrongPasscode)
    #expect(try await harness.relaunch().root.editor.draft == "")
    // Ended before the unlock: a process that is killed in the middle of late restoring is a crash while restoring.
    harness.killWithoutNotice()
    try await device.unlock()
    #expect(try await harness.relaunch().root.editor.draft == "hello")
  }

  @Test func `an erased device has nothing to restore and no passcode`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let harness = try await left(with: "hello", on: device)
    try await device.erase()
    #expect(device.passcode == nil)
    #expect(try await harness.relaunch().root.editor.draft == "")
    #expect(harness.report?.outcome == .nothingPreserved)
  }

  @Test func `a crash while restoring leaves the culprit out the next time, and offers it again`() async throws {
    let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice())
    let first = try await harness.launch { NotesApp() }
    first.root.editor.draft = "poison"
    first.root.list.query = "kept"
    try await harness.enterBackground()
    harness.killWithoutNotice()
    // The process dies in the middle of decoding the editor.
    let dying = try? await harness.launch {
      let app = NotesApp()
      app.root.editor.onDecoded = { harness.killWithoutNotice() }
      return app
    }
    #expect(dying == nil && !harness.isRunning)
    let after = try await harness.launch { NotesApp() }
    #expect(harness.report?.reason == .afterCrash)
    #expect(after.root.editor.draft == "" && after.root.list.query == "kept")
    #expect(harness.report?.leftOut == [["root", "editor"]])
    let again = try await harness.coordinator?.restore(into: after.root, retriesLeftOut: true)
    #expect(again?[["root", "editor"]]?.isRestored == true)
    #expect(after.root.editor.draft == "poison")
  }

  @Test func `a launch that the watchdog kills counts as a crash while restoring`() async throws {
    let device = try await SimulatedDevice()
    let harness = try await left(with: "hello", on: device)
    let error = await #expect(throws: Lifecycle.RequestError.self) {
      try await harness.launch {
        let app = NotesApp()
        app.root.editor.onDecoded = { device.clock.advance(by: .seconds(6)) }
        return app
      }
    }
    #expect(error?.code == .watchdog)
    try await harness.launch { NotesApp() }
    #expect(harness.report?.reason == .afterCrash)
  }

  @Test func `a kill or power cut during restoring never costs state`() async throws {
    let device = try await SimulatedDevice()
    let harness = try await left(with: "hello", on: device)
    _ = try? await harness.launch {
      let app = NotesApp()
      app.root.editor.onDecoded = { device.cutPower() }
      return app
    }
    // A power cut does not count the first time: everything is restored.
    #expect(try await harness.launch { NotesApp() }.root.editor.draft == "hello")
  }

  @Test func `memory pressure warns the running and purges suspended programs, the largest first`() async throws {
    let device = try await SimulatedDevice()
    var harnesses: [RestorationHarness<NotesApp>] = []
    for (name, footprint) in [("small", 10), ("large", 90), ("running", 500)] {
      var configuration = RestorationConfiguration()
      configuration.application = name
      let harness = RestorationHarness<NotesApp>(on: device, configuration: configuration, footprint: footprint)
      try await harness.launch { NotesApp() }.root.editor.draft = name
      if name != "running" { try await harness.enterBackground() }
      harnesses.append(harness)
    }
    device.applyMemoryPressure(toFree: 50)
    #expect(harnesses.map(\.isRunning) == [true, false, true])
    #expect(harnesses[1].lifecycle?.endReason == .memoryPressure)
    #expect(harnesses[2].application?.calls.last == "memoryWarning")
    #expect(harnesses[0].application?.calls.contains("memoryWarning") == false)
    for harness in harnesses.prefix(2) {
      let restored = try await harness.relaunch()
      #expect(restored.root.editor.draft == harness.configuration.application, "each program has its own state")
    }
    try await harnesses[0].enterBackground()
    harnesses[0].memoryPressure()
    #expect(!harnesses[0].isRunning)
  }

  @Test func `the snapshot is sealed, shown at the next launch, and gone after a force quit`() async throws {
    let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice())
    try await harness.launch { NotesApp() }.root.editor.draft = "hello"
    try await harness.enterBackground()
    let picture = Data("picture of hello".utf8)
    #expect(!harness.device.contents.files.values.contains { $0.firstRange(of: picture) != nil })
    let second = try await harness.relaunch()
    #expect(second.shown == ["picture of hello", "removed"])
    try await harness.forceQuit()
    #expect(try await harness.relaunch().shown.isEmpty)
  }

  @Test func `the snapshot has the archive's class: a locked device shows none`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let harness = try await left(with: "hello", on: device)
    try await device.lock()
    #expect(try await harness.relaunch().shown.isEmpty)
    harness.killWithoutNotice()
    try await device.unlock()
    #expect(try await harness.relaunch().shown == ["picture of hello", "removed"])
  }

  @Test func `a background launch while locked overwrites nothing, and restores when it is woken after the unlock`()
    async throws
  {
    let device = try await SimulatedDevice(passcode: "1234")
    let harness = try await left(with: "hello", on: device)
    try await device.lock()
    let before = device.contents.files
    let app = try await harness.relaunch(.backgroundEvent("fetch"))
    #expect(harness.report?.outcome == .locked && harness.lifecycle?.state == .suspended)
    #expect(app.windowCount == 0 && device.contents.files == before)
    try await device.unlock()
    try await harness.enterForeground()
    for _ in 0..<100_000 where app.root.editor.draft.isEmpty { await Task.yield() }
    #expect(app.root.editor.draft == "hello" && app.windowCount == 1)
  }

  @Test func `a launch that declines restoring leaves what is on disk as it is`() async throws {
    let harness = try await left(with: "hello", on: try await SimulatedDevice())
    let before = harness.device.contents.files
    let app = try await harness.launch { NotesApp(response: .declinesRestoring) }
    #expect(app.root.editor.draft.isEmpty && app.shown.isEmpty && harness.device.contents.files == before)
    harness.killWithoutNotice()
    #expect(try await harness.launch { NotesApp() }.root.editor.draft == "hello")
  }

  @Test func `what a launch declined is set aside by its first save, not written over`() async throws {
    let harness = try await left(with: "hello", on: try await SimulatedDevice())
    let app = try await harness.launch { NotesApp(response: .declinesRestoring) }
    app.root.editor.draft = "anew"
    try await harness.enterBackground()
    harness.killWithoutNotice()
    let next = try await harness.launch { NotesApp() }
    #expect(next.root.editor.draft == "anew")
    let aside = try await harness.coordinator?.setAsideStates() ?? []
    #expect(aside.count == 1)
    _ = try await harness.coordinator?.restore(into: next.root, from: .setAside(try #require(aside.first).id))
    #expect(next.root.editor.draft == "hello")
  }

  @Test func `a launch that declined restoring preserves automatically what changes in it`() async throws {
    let harness = try await left(with: "hello", on: try await SimulatedDevice())
    let app = try await harness.launch { NotesApp(response: .declinesRestoring) }
    let coordinator = try #require(harness.coordinator)
    func save() async throws {
      let before = coordinator.lastReceipt
      await harness.device.advance(by: .seconds(1))
      for _ in 0..<2_000 where coordinator.lastReceipt == before { try await Task.sleep(for: .milliseconds(5)) }
      #expect(coordinator.lastReceipt != before)
    }
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    try await save()
    app.root.list.query = "typed"
    app.root.list.invalidateRestorableState()
    try await save()
    harness.killWithoutNotice()
    #expect(try await harness.launch { NotesApp() }.root.list.query == "typed")
  }

  @Test func `a background launch restores without a window`() async throws {
    let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice())
    try await harness.launch { NotesApp() }.root.editor.draft = "hello"
    try await harness.enterBackground()
    let app = try await harness.relaunch(.backgroundEvent("fetch"))
    #expect(app.root.editor.draft == "hello" && app.windowCount == 0)
    #expect(harness.lifecycle?.state == .suspended)
    try await harness.enterForeground()
    #expect(app.windowCount == 1)
  }

  @Test func `the disk can be put back to an earlier moment`() async throws {
    let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice())
    try await harness.launch { NotesApp() }.root.editor.draft = "first"
    try await harness.enterBackground()
    let disk = harness.snapshot()
    try await harness.enterForeground()
    harness.application?.root.editor.draft = "second"
    try await harness.enterBackground()
    #expect(try await harness.relaunch().root.editor.draft == "second")
    harness.restore(from: disk)
    #expect(try await harness.relaunch().root.editor.draft == "first")
  }

  @Test(arguments: [SimulatedDevice.DiskFault.full, .unreachable, .failingSyncs, .readOnly])
  func `a disk that goes wrong costs nothing that was acknowledged`(fault: SimulatedDevice.DiskFault) async throws {
    let device = try await SimulatedDevice()
    let harness = RestorationHarness<NotesApp>(on: device)
    try await harness.launch { NotesApp() }.root.editor.draft = "first"
    try await harness.enterBackground()
    try await harness.enterForeground()
    device.failDisk(fault)
    harness.application?.root.editor.draft = "second"
    try await harness.enterBackground()
    device.healDisk()
    device.cutPower()
    #expect(try await harness.relaunch().root.editor.draft == "first")
  }

  @Test func `an acknowledged save survives a power cut that takes everything unsynchronised`() async throws {
    let device = try await SimulatedDevice()
    let harness = RestorationHarness<NotesApp>(on: device)
    try await harness.launch { NotesApp() }.root.editor.draft = "hello"
    try await harness.enterBackground()
    device.cutPower()
    #expect(try await harness.relaunch().root.editor.draft == "hello")
  }
}
