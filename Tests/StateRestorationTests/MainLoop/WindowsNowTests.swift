import DataProtection
import Foundation
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// Windows of a program whose main thread belongs to a loop of its own: each call is over when it returns.
@MainActor @Suite(.tags(.threads)) struct WindowsNowTests {
  typealias Windows = RestoredWindows<StoredValue<String>>

  private func open(
    _ device: SimulatedDevice, _ loop: RestorationMainLoop.Pollable? = nil,
    instances: RestorationSession.Instances = .one
  ) async throws -> Windows {
    let process = try await device.startProcess()
    return try RestorationSession.openNow(
      on: process.device, windows: { _ in StoredValue("text", "") },
      configuration: RestorationConfiguration(mainLoop: loop?.mainLoop), instances: instances)
  }

  /// A device whose program had two windows open, the second in front; restarted, and locked if it has a passcode.
  private func deviceWithTwoWindows(passcode: String? = nil) async throws -> SimulatedDevice {
    let device = try await SimulatedDevice(passcode: passcode)
    let windows = try await open(device)
    #expect(windows.roots.isEmpty && windows.reports.isEmpty)
    try windows.openNow("first").value = "one"
    try windows.openNow("second").value = "two"
    try windows.endNow()
    device.reboot()
    return device
  }

  @Test func `all windows have their state when opening returns, the frontmost first`() async throws {
    let windows = try await open(try await deviceWithTwoWindows())
    #expect(windows.roots.map(\.value) == ["two", "one"])
    #expect(windows.reports.mapValues(\.outcome) == ["first": .restored, "second": .restored])
    let first = windows["first"]
    #expect(try windows.openNow("first") === first)
    #expect(windows.roots.map(\.value) == ["one", "two"])
  }

  @Test func `changes are saved in turns of the loop alone`() async throws {
    let (device, loop) = (try await deviceWithTwoWindows(), RestorationMainLoop.Pollable())
    let windows = try await open(device, loop)
    for (id, text) in [("first", "1"), ("second", "2")] as [(RestoredWindow.ID, String)] {
      windows[id]?.value = text
      let coordinator = try #require(windows.coordinator(of: id))
      let before = coordinator.lastReceipt
      loop.turn { coordinator.lastReceipt != before }
    }
    device.reboot()
    #expect(try await open(device).roots.map(\.value) == ["2", "1"])
  }

  @Test func `windows open, close, come back and go at once`() async throws {
    let device = try await deviceWithTwoWindows()
    let windows = try await open(device)
    windows["second"]?.value = "last"
    try windows.closeNow("second", title: "Second")
    #expect(windows["second"] == nil && windows.roots.map(\.value) == ["one"])
    #expect(windows.recentlyClosed.map(\.title) == ["Second"])
    #expect(try windows.reopenNow()?.value == "last" && windows.frontmost?.id == "second")
    #expect(try windows.reopenNow() == nil)
    try windows.activateNow("first")
    #expect(windows.frontmost?.id == "first")
    try windows.discardNow("first")
    #expect(windows.known.map(\.id) == ["second"])
    let new = try windows.openNewNow(role: "note")
    new.value = "new"
    #expect(windows.frontmost?.role == "note")
    #expect(try windows.preserveNow().count == 2)
    device.reboot()
    #expect(try await open(device).roots.map(\.value) == ["new", "last"])
  }

  @Test func `windows that are ended let their state go, and are open the next time`() async throws {
    let device = try await deviceWithTwoWindows()
    let process = try await device.startProcess()
    let windows: Windows = try RestorationSession.openNow(
      on: process.device, windows: { _ in StoredValue("text", "") })
    windows["first"]?.value = "last"
    try windows.endNow()
    try windows.endNow()
    let again: Windows = try RestorationSession.openNow(on: process.device, windows: { _ in StoredValue("text", "") })
    #expect(again.roots.map(\.value) == ["two", "last"])
    try await again.end()
    let third: Windows = try RestorationSession.openNow(on: process.device, windows: { _ in StoredValue("text", "") })
    #expect(third.roots.count == 2)
  }

  @Test func `windows that are closed after the end was announced are open the next time`() async throws {
    let device = try await deviceWithTwoWindows()
    let windows = try await open(device)
    windows.announceEnd()
    for id in ["first", "second"] as [RestoredWindow.ID] { try windows.closeNow(id) }
    #expect(windows.roots.isEmpty)
    device.reboot()
    #expect(try await open(device).roots.map(\.value) == ["two", "one"])
  }

  @Test func `a synchronous save takes note of the asynchronous one that is being written`() async throws {
    let device = try await deviceWithTwoWindows()
    let windows = try await open(device)
    windows["first"]?.value = "3"
    let first = Task.immediate { try await windows.preserve() }
    windows["second"]?.value = "4"
    try windows.preserveNow()
    try windows.closeNow("second")
    _ = try await first.value
    device.reboot()
    #expect(try await open(device).roots.map(\.value) == ["3"])
  }

  @Test func `a synchronous call in the middle of an asynchronous one is refused`() async throws {
    let windows = try await open(try await deviceWithTwoWindows())
    let opening = Task.immediate { try await windows.open("third") }
    for call in [
      { _ = try windows.openNow("fourth") }, { try windows.closeNow("first") }, { try windows.discardNow("first") },
      { try windows.activateNow("first") },
    ] as [@MainActor () throws -> Void] {
      let error = #expect(throws: RestorationError.self) { try call() }
      #expect(error?.code == .restorationInProgress)
    }
    _ = try await opening.value
    try windows.closeNow("first")
    #expect(windows.roots.count == 2)
  }

  @Test func `opening at once has the outcomes and errors of opening`() async throws {
    let place = ProtectedDevice.Location.directory("/proc/\(UUID())")
    let now = #expect(throws: RestorationError.self) {
      try RestorationSession.openNow(at: place, windows: { _ in StoredValue("text", "") })
    }
    let later = await #expect(throws: RestorationError.self) {
      try await RestorationSession.open(at: place, windows: { _ in StoredValue("text", "") })
    }
    #expect(now?.code == .deviceNotOpened && now?.code == later?.code && now?.message == later?.message)
    let device = try await deviceWithTwoWindows()
    let windows = try await open(device)
    let second = await #expect(throws: ProtectionError.self) { try await open(device) }
    #expect(second?.code == .inUse)
    withExtendedLifetime(windows) {}
  }

  // MARK: - Values of the program

  @Test func `values of the program are there at once, and saved with the windows`() async throws {
    let device = try await deviceWithTwoWindows()
    let windows = try await open(device)
    let order = try windows.openScopeNow().value("order", default: "by date")
    #expect(order.value == "by date")
    order.value = "by name"
    try windows.preserveNow()
    #expect(try windows.openScopeNow().value("order", default: "").value == "by name")
    device.reboot()
    let again = try await open(device)
    #expect(try again.openScopeNow().value("order", default: "").value == "by name")
    // The asynchronous call has them as well.
    try again.openScopeNow().value("order", default: "").value = "by size"
    try await again.preserve()
    device.reboot()
    #expect(try await open(device).openScope().value("order", default: "").value == "by size")
  }

  @Test func `each of several processes has values of the program's own, which come back to the next one`() async throws
  {
    let device = try await SimulatedDevice()
    func order(_ windows: Windows) throws -> StoredValue<String> {
      try windows.openScopeNow().value("order", default: "none")
    }
    let one = try await open(device, instances: .several)
    try order(one).value = "one"
    let two = try await open(device, instances: .several)
    #expect(try order(two).value == "none")
    try order(two).value = "two"
    try two.endNow()
    let next = try await open(device, instances: .several)
    #expect(try order(next).value == "two" && order(one).value == "one")
    try one.endNow()
    device.reboot()
    #expect(try order(try await open(device, instances: .several)).value == "one")
  }

  // MARK: - Locks

  @Test func `an unlock at once brings the windows back before it returns`() async throws {
    let device = try await deviceWithTwoWindows(passcode: "1234")
    let windows = try await open(device, RestorationMainLoop.Pollable())
    #expect(windows.roots.isEmpty)
    try windows.openNow("third").value = "locked"
    #expect(throws: RestorationError.self) { try windows.unlockNow(passcode: "99") }
    let reports = try windows.unlockNow(passcode: "1234")
    #expect(reports.count == 3 && reports["first"]?.outcome == .restored)
    #expect(Set(windows.roots.map(\.value)) == ["one", "two", "locked"])
  }

  @Test func `an unlock by somebody else brings the windows back in a turn of the loop`() async throws {
    let (device, loop) = (try await deviceWithTwoWindows(passcode: "1234"), RestorationMainLoop.Pollable())
    let windows = try await open(device, loop)
    try windows.openNow("first").value = "edited"
    let unlock = Task.detached { [device = windows.device] in try await device.unlock(passcode: "1234") }
    loop.turn { windows.roots.count == 2 && windows.reports["first"]?.outcome == .restored }
    #expect(Set(windows.roots.map(\.value)) == ["edited", "two"])
    try await unlock.value
  }

  @Test func `without a loop, an unlock by somebody else brings the windows back once the main actor is free`()
    async throws
  {
    let windows = try await open(try await deviceWithTwoWindows(passcode: "1234"))
    try await windows.device.unlock(passcode: "1234")
    while windows.reports.values.count(where: { $0.outcome == .restored }) < 2 {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(windows.roots.map(\.value) == ["two", "one"])
  }

  // MARK: - Calls inside of others

  @Test func `a call while windows are made is refused, and the others come back`() async throws {
    let device = try await deviceWithTwoWindows()
    let process = try await device.startProcess()
    var refusals: [RestorationError.Code] = []
    let box = Box()
    let windows: Windows = try RestorationSession.openNow(on: process.device) { session in
      do throws(RestorationError) { try box.windows?.closeNow(session.id) } catch { refusals.append(error.code) }
      return StoredValue("text", "")
    }
    box.windows = windows
    #expect(windows.roots.count == 2 && refusals.isEmpty)
    try windows.openNow("third")
    #expect(refusals == [.restorationInProgress] && windows.roots.count == 3)
  }

  @MainActor final class Box { weak var windows: Windows? }

  // MARK: - The end

  nonisolated private static func makeFolder() -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "windows-\(UUID())").path
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder
  }

  @Test(arguments: [SIGHUP, 0])
  func `a signal or exit ends a program whose windows were opened, after the save and the last word`(
    _ signal: Int32
  ) async throws {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = await #expect(
      processExitsWith: signal == 0 ? .exitCode(3) : .signal(signal), observing: [\.standardOutputContent]
    ) { @MainActor [folder = folder as String, signal = signal as Int32] in
      let windows = try RestorationSession.openNow(
        at: .directory("\(folder)/state"), windows: { _ in StoredValue("text", "") })
      windows.willEnd = { signal in FileHandle.standardOutput.write(Data("ended by \(signal)".utf8)) }
      try windows.openNow("first")
      try windows.openNow("second")
      windows["first"]?.value = "1"
      windows["second"]?.value = "2"
      try windows.openScopeNow().value("order", default: "").value = "by name"
      if signal == 0 { exit(3) }
      kill(getpid(), signal)
      try await Task.sleep(for: .seconds(10))
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(output.contains("ended by SIGHUP") == (signal != 0))
    let windows = try RestorationSession.openNow(
      at: .directory("\(folder)/state"), windows: { _ in StoredValue("text", "") }, answering: [])
    #expect(windows.roots.map(\.value) == ["2", "1"])
    #expect(try windows.openScopeNow().value("order", default: "").value == "by name")
  }

  @Test func `in a loop that polls, Ctrl-Z and fg are told in turns of the loop`() async throws {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = await #expect(processExitsWith: .exitCode(3), observing: [\.standardOutputContent]) {
      @MainActor [folder = folder as String] in
      let loop = RestorationMainLoop.Pollable()
      let windows = try RestorationSession.openNow(
        at: .directory("\(folder)/state"), windows: { _ in StoredValue("text", "") },
        configuration: RestorationConfiguration(mainLoop: loop.mainLoop))
      var isOver = false
      windows.willStop = { MainLoopTests.say("given back") }
      windows.didResume = {
        MainLoopTests.say("taken")
        isOver = true
      }
      try windows.openNow("first").value = "1"
      try JobControl.stopAndContinue()
      loop.turn { isOver }
      exit(3)
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(output.split(separator: "\n") == ["given back", "stopped", "taken"])
  }
}
