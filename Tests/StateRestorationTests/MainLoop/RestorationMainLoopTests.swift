import DataProtection
import Foundation
import Patience
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// A program whose main thread belongs to a loop of its own: the main actor has no turns but those of the loop.
@MainActor @Suite(.tags(.threads)) struct MainLoopTests {
  private func open(
    _ root: any RestorableController, on device: SimulatedDevice, _ loop: RestorationMainLoop.Pollable? = nil
  ) async throws -> RestorationSession {
    let process = try await device.startProcess()
    return try RestorationSession.openNow(
      on: process.device, root: root, configuration: RestorationConfiguration(mainLoop: loop?.mainLoop))
  }

  @Test func `changes are saved in turns of the loop alone, one interval after the other`() async throws {
    let (device, loop, draft) = (try await SimulatedDevice(), RestorationMainLoop.Pollable(), StoredValue("draft", ""))
    let session = try await open(draft, on: device, loop)
    for number in 1...4 {
      draft.value = "change \(number)"
      let before = session.coordinator.lastReceipt
      loop.turn { session.coordinator.lastReceipt != before }
    }
    session.coordinator.letGoNow()
    let again = StoredValue("draft", "")
    _ = try await open(again, on: device)
    #expect(again.value == "change 4")
  }

  @Test func `without a loop, changes are saved once the main actor is free`() async throws {
    let (device, draft) = (try await SimulatedDevice(), StoredValue("draft", ""))
    let session = try await open(draft, on: device)
    draft.value = "typed"
    try await waitUntil("a save") { session.coordinator.lastReceipt != nil }
    session.coordinator.letGoNow()
    let again = StoredValue("draft", "")
    _ = try await open(again, on: device)
    #expect(again.value == "typed")
  }

  @Test func `a session that is closed at once lets its state go`() async throws {
    let (device, draft) = (try await SimulatedDevice(), StoredValue("draft", ""))
    let process = try await device.startProcess()
    let session = try RestorationSession.openNow(on: process.device, root: draft)
    draft.value = "last"
    try session.closeNow()
    try session.closeNow()
    let again = StoredValue("draft", "")
    _ = try RestorationSession.openNow(on: process.device, root: again)
    #expect(again.value == "last")
  }

  @Test func `a synchronous save takes note of the asynchronous one that is being written`() async throws {
    let (device, draft) = (try await SimulatedDevice(), StoredValue("draft", ""))
    let session = try await open(draft, on: device)
    draft.value = "first"
    let first = Task.immediate { try await session.preserve() }
    #expect(session.coordinator.handedSave != nil)
    draft.value = "second"
    let second = try session.preserveNow()
    guard case .preserved(let receipt) = second else {
      Issue.record("the second save: \(second)")
      return
    }
    let former = try await first.value.receipt
    #expect(receipt.generation > (former?.generation ?? 0) || receipt.kind == .change)
    session.coordinator.letGoNow()
    let again = StoredValue("draft", "")
    _ = try await open(again, on: device)
    #expect(again.value == "second")
  }

  @Test func `opening at once has the outcomes and errors of opening`() async throws {
    let draft = StoredValue("draft", "")
    let place = ProtectedDevice.Location.directory("/proc/\(UUID())")
    let now = #expect(throws: RestorationError.self) { try RestorationSession.openNow(at: place, root: draft) }
    let later = await #expect(throws: RestorationError.self) {
      try await RestorationSession.open(at: place, root: draft)
    }
    #expect(now?.code == .deviceNotOpened && now?.code == later?.code && now?.message == later?.message)
  }

  // MARK: - Locks

  /// A device that holds a draft, restarted and locked.
  private func lockedDevice() async throws -> SimulatedDevice {
    let device = try await SimulatedDevice(passcode: "1234")
    let draft = StoredValue("draft", "")
    let session = try await open(draft, on: device)
    draft.value = "kept"
    try session.closeNow()
    device.reboot()
    return device
  }

  @Test func `an unlock at once gives the state back before it returns`() async throws {
    let (device, draft) = (try await lockedDevice(), StoredValue("draft", ""))
    let session = try await open(draft, on: device, RestorationMainLoop.Pollable())
    #expect(session.report.outcome == .locked)
    #expect(throws: RestorationError.self) { try session.unlockNow(passcode: "99") }
    #expect(try session.unlockNow(passcode: "1234").outcome == .restored && draft.value == "kept")
  }

  @Test func `an unlock by somebody else gives the state back in a turn of the loop`() async throws {
    let (device, draft, loop) = (try await lockedDevice(), StoredValue("draft", ""), RestorationMainLoop.Pollable())
    let session = try await open(draft, on: device, loop)
    let unlock = Task.detached { [device = session.device] in try await device.unlock(passcode: "1234") }
    loop.turn { session.report.outcome == .restored }
    #expect(draft.value == "kept")
    try await unlock.value
  }

  // MARK: - After a crash

  /// An object at which restoring may die.
  final class Fragile: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "fragile"
    var text = ""
    var onDecode: () -> Void = {}
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "text") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      text = try coder.decodeIfPresent(String.self, forKey: "text") ?? ""
      onDecode()
    }
  }

  @Test func `what a crash left out is restored at once on request, and an edit made before stays`() async throws {
    let device = try await SimulatedDevice()
    let fragile = Fragile()
    let first = try await open(RestorationScope("window", fragile), on: device)
    fragile.text = "kept"
    try first.closeNow()
    let process = try await device.startProcess()
    let dying = Fragile()
    dying.onDecode = { process.fileSystem.die() }
    _ = try? RestorationSession.openNow(on: process.device, root: RestorationScope("window", dying))

    let last = Fragile()
    let scope = RestorationScope("window", last)
    let session = try await open(scope, on: device, RestorationMainLoop.Pollable())
    #expect(session.report.leftOut == [["window", "fragile"]] && last.text == "")
    scope.value("draft", default: "").value = "typed"
    var refusals: [RestorationError.Code] = []
    last.onDecode = {
      do throws(RestorationError) {
        try session.coordinator.restoreNow(into: scope)
      } catch {
        refusals.append(error.code)
      }
    }
    let report = try session.coordinator.restoreNow(into: scope, retriesLeftOut: true)
    #expect(report[["window", "fragile"]]?.isRestored == true && last.text == "kept")
    #expect(scope.value("draft", default: "").value == "typed" && session.report == report)
    #expect(refusals == [.restorationInProgress])
    try session.closeNow()
  }

  // MARK: - Hooks

  /// Runs something while its values are copied.
  final class Page: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "page"
    var onEncode: () -> Void = {}
    func encodeRestorableState(with coder: RestorationEncoder) {
      onEncode()
      coder.encode("text", forKey: "text")
    }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}
  }

  @Test func `a loop that turns inside a hook waits with its save, and a synchronous call there is refused`()
    async throws
  {
    let (device, page, loop) = (try await SimulatedDevice(), Page(), RestorationMainLoop.Pollable())
    let session = try await open(page, on: device, loop)
    var refusals: [RestorationError.Code] = []
    page.onEncode = {
      loop.runDueBlocks()
      do throws(RestorationError) { try session.preserveNow() } catch { refusals.append(error.code) }
    }
    page.invalidateRestorableState()
    try session.preserveNow()
    #expect(refusals == [.restorationInProgress])
    page.onEncode = {}
    page.invalidateRestorableState()
    let before = session.coordinator.lastReceipt
    loop.turn { session.coordinator.automatic.interval == nil && session.coordinator.changes.isEmpty }
    #expect(before != nil)
  }

  // MARK: - The warning

  /// Collects warnings, from any thread.
  final class Warnings: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    var log: RestorationLog {
      RestorationLog { level, message in
        let text = message()
        if level == .warning { self.texts.withLock { $0.append(text) } }
      }
    }
  }

  @Test func `a program that blocks right after opening is told once`() async throws {
    let (device, draft, warnings) = (try await SimulatedDevice(), StoredValue("draft", ""), Warnings())
    var configuration = RestorationConfiguration()
    configuration.log = warnings.log
    let session = try await RestorationSession.open(
      on: try await device.startProcess().device, root: draft, configuration: configuration)
    let end = ContinuousClock().now + .seconds(60)
    while warnings.all.isEmpty, ContinuousClock().now < end { usleep(10_000) }
    draft.value = "typed"
    usleep(1_200_000)
    #expect(warnings.all.count == 1)
    #expect(warnings.all.first?.contains("In a program that owns its main thread") == true)
    // Free again, it saves.
    try await waitUntil("a save") { session.coordinator.lastReceipt != nil }
  }

  @Test func `a program in a loop of its own is told when it has not kept its session`() async throws {
    let (device, draft, warnings) = (try await SimulatedDevice(), StoredValue("draft", ""), Warnings())
    let loop = RestorationMainLoop.Pollable()
    var configuration = RestorationConfiguration(mainLoop: loop.mainLoop)
    configuration.log = warnings.log
    let process = try await device.startProcess()
    _ = try RestorationSession.openNow(on: process.device, root: draft, configuration: configuration)
    loop.turn { !warnings.all.isEmpty }
    #expect(warnings.all.first?.contains("“main” is gone; keep the session") == true)
    withExtendedLifetime(draft) {}
  }

  @Test func `a process without the standard descriptors gets none of them for its turns`() async {
    await #expect(processExitsWith: .exitCode(3)) {
      for descriptor in 0...2 as ClosedRange<Int32> { close(descriptor) }
      let loop = RestorationMainLoop.Pollable()
      guard loop.descriptor > 2 else { exit(4) }
      for descriptor in 0...2 as ClosedRange<Int32> {
        var status = stat()
        // Somebody else of the process may have it by now, but it is no pipe.
        if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO { exit(5) }
      }
      exit(3)
    }
  }

  // MARK: - Signals

  nonisolated private static func makeFolder() -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "loop-\(UUID())").path
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder
  }

  private func stored(_ name: String, in folder: String) throws -> String {
    let draft = StoredValue("draft", "")
    let session = try RestorationSession.openNow(at: .directory("\(folder)/\(name)"), root: draft, answering: [])
    try session.closeNow()
    return draft.value
  }

  @Test func `of two runs in one process the second leaves signals to the first, and both are saved`() async throws {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect(processExitsWith: .signal(SIGTERM)) { @MainActor [folder = folder as String] in
      let (outer, inner) = (StoredValue("draft", ""), StoredValue("draft", ""))
      try await RestorationSession.run(at: .directory("\(folder)/outer"), root: outer) { _ in
        try await RestorationSession.run(at: .directory("\(folder)/inner"), root: inner) { session in
          try await session.preserve()
          (outer.value, inner.value) = ("one", "two")
          kill(getpid(), SIGTERM)
          try await Task.sleep(for: .seconds(10))
        }
      }
    }
    #expect(try stored("outer", in: folder) == "one")
    #expect(try stored("inner", in: folder) == "two")
  }

  @Test func `a signal ends a program whose session was opened, after the save and the program's last word`()
    async throws
  {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = await #expect(processExitsWith: .signal(SIGHUP), observing: [\.standardOutputContent]) {
      @MainActor [folder = folder as String] in
      let draft = StoredValue("draft", "")
      let session = try await RestorationSession.open(at: .directory("\(folder)/one"), root: draft)
      session.willEnd = { signal in FileHandle.standardOutput.write(Data("ended by \(signal)".utf8)) }
      try await session.preserve()
      draft.value = "last"
      kill(getpid(), SIGHUP)
      try await Task.sleep(for: .seconds(10))
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(output.contains("ended by SIGHUP"))
    #expect(try stored("one", in: folder) == "last")
  }

  nonisolated static func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

  @Test func `Ctrl-Z saves, has the program give its terminal back and stops it, and fg has it taken again`()
    async throws
  {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
      @MainActor [folder = folder as String] in
      let draft = StoredValue("draft", "")
      let session = try await RestorationSession.open(at: .directory("\(folder)/one"), root: draft)
      session.willStop = { Self.say("given back, changes: \(session.coordinator.changes.isEmpty ? "none" : "some")") }
      session.didResume = {
        Self.say("taken")
        kill(getpid(), SIGKILL)
      }
      draft.value = "last"
      try JobControl.stopAndContinue()
      try await Task.sleep(for: .seconds(30))
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(output.split(separator: "\n") == ["given back, changes: none", "stopped", "taken"])
    #expect(try stored("one", in: folder) == "last")
  }

  /// A program in which a callback of the life cycle is the place where the user quits by force.
  final class Quitter: RestorationSessionDelegate {
    var application: RestorableApplication?
    var quitsAtEnd = false
    func didEnterBackground() async { if !quitsAtEnd { try? await application?.forceQuit() } }
    func willTerminate() async { if quitsAtEnd { try? await application?.forceQuit() } }
  }

  @Test(arguments: [false, true])
  func `a force quit in a callback has deleted the state when the program ends`(_ atEnd: Bool) async throws {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect(processExitsWith: .exitCode(3)) { @MainActor [folder = folder as String, atEnd = atEnd as Bool] in
      let (draft, quitter) = (StoredValue("draft", ""), Quitter())
      quitter.quitsAtEnd = atEnd
      try? await RestorationSession.run(
        at: .directory("\(folder)/one"), root: draft, delegate: quitter, answering: []
      ) { session in
        quitter.application = session.application
        draft.value = "typed"
        try await session.preserve()
        if !atEnd { try? await session.application?.lifecycle.enterBackground() }
      }
      exit(3)
    }
    #expect(try stored("one", in: folder) == "")
  }

  @Test func `a driver with a life cycle takes the signals of a session that was opened`() async throws {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect(processExitsWith: .exitCode(9)) { @MainActor [folder = folder as String] in
      let draft = StoredValue("draft", "")
      let session = try RestorationSession.openNow(at: .directory("\(folder)/one"), root: draft)
      let lifecycle = Lifecycle()
      let driver = SignalDriver { _ in exit(9) }
      driver.start(driving: lifecycle)
      kill(getpid(), SIGTERM)
      try await Task.sleep(for: .seconds(10))
      withExtendedLifetime((session, driver)) {}
    }
  }
}
