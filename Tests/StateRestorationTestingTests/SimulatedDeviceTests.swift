import DataProtection
import Foundation
import SimulatedTime
import StateRestoration
import StateRestorationTesting
import Testing

@MainActor @Suite struct SimulatedDeviceTests {
  @Test(arguments: SimulatedDevice.Storage.allCases)
  func `both kinds of disk keep, go back, fail, restart and erase alike`(storage: SimulatedDevice.Storage) async throws
  {
    let device = try await SimulatedDevice(passcode: "1234", storage: storage)
    let harness = RestorationHarness<NotesApp>(on: device)
    try await harness.launch { NotesApp() }.root.editor.draft = "first"
    try await harness.enterBackground()
    let disk = harness.snapshot()
    try await harness.enterForeground()
    harness.application?.root.editor.draft = "second"
    #expect(try await harness.restartAndRestore().root.editor.draft == "second")
    #expect(disk.files != harness.snapshot().files)
    harness.restore(from: disk)
    #expect(!harness.isRunning && harness.snapshot().files == disk.files)
    #expect(try await harness.relaunch().root.editor.draft == "first")
    device.failDisk(.full)
    harness.application?.root.editor.draft = "lost"
    try await harness.enterBackground()
    device.healDisk()
    device.reboot()
    try await device.unlock()
    #expect(try await harness.relaunch().root.editor.draft == "first")
    try await device.erase()
    #expect(try await harness.relaunch().root.editor.draft == "")
  }

  @Test(arguments: SimulatedDevice.Storage.allCases)
  func `several programs on one device have state, life and death of their own`(
    storage: SimulatedDevice.Storage
  ) async throws {
    let device = try await SimulatedDevice(passcode: "1234", storage: storage)
    let harnesses = ["a", "b", "c"].map { name in
      var configuration = RestorationConfiguration()
      configuration.application = name
      return RestorationHarness<NotesApp>(on: device, configuration: configuration)
    }
    for harness in harnesses {
      try await harness.launch { NotesApp() }.root.editor.draft = harness.configuration.application
    }
    harnesses[0].killWithoutNotice()
    #expect(harnesses.map(\.isRunning) == [false, true, true])
    for harness in harnesses.dropFirst() { try await harness.enterBackground() }
    try await harnesses[1].forceQuit()
    try await device.lock()
    try await device.unlock()
    var drafts: [String] = []
    for harness in harnesses { drafts.append(try await harness.relaunch().root.editor.draft) }
    #expect(drafts == ["", "", "c"])
  }

  @Test func `a folder is a device that other programs can look at, and goes with it`() async throws {
    var device: SimulatedDevice? = try await SimulatedDevice(storage: .temporaryFolder)
    let path = try #require(device?.folder)
    do {
      let harness = RestorationHarness<NotesApp>(on: try #require(device))
      try await harness.launch { NotesApp() }.root.editor.draft = "hello"
      try await harness.enterBackground()
      #expect(harness.snapshot().files.keys.contains { $0.hasPrefix("archives/") })
      #expect(try FileManager.default.subpathsOfDirectory(atPath: path).count > harness.snapshot().files.count)
    }
    let isPrivate = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700
    #expect(isPrivate)
    device = nil
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try await SimulatedDevice().folder == nil)
  }

  @Test func `the power of a folder can be cut only if nothing is to be lost`() async throws {
    let device = try await SimulatedDevice(storage: .temporaryFolder)
    let harness = RestorationHarness<NotesApp>(on: device)
    try await harness.launch { NotesApp() }.root.editor.draft = "hello"
    try await harness.enterBackground()
    #expect(device.unsynchronizedChanges == 0)
    device.cutPower(losing: .nothing)
    #expect(!harness.isRunning)
    #expect(try await harness.relaunch().root.editor.draft == "hello")
    await #expect(processExitsWith: .failure) {
      try await SimulatedDevice(storage: .temporaryFolder).cutPower()
    }
  }

  @Test func `every part of what was not synchronised can be lost, and costs nothing acknowledged`() async throws {
    let device = try await SimulatedDevice()
    let harness = RestorationHarness<NotesApp>(on: device)
    try await harness.launch { NotesApp() }.root.editor.draft = "old"
    try await harness.enterBackground()
    let disk = harness.snapshot()
    var number = 0
    repeat {
      harness.restore(from: disk)
      try await harness.relaunch().root.editor.draft = "new"
      try await harness.enterBackground()
      harness.killWithoutNotice()
      device.cutPower(losing: .one(number))
      #expect(try await harness.relaunch().root.editor.draft == "new", "without change \(number)")
      number += 1
    } while number < device.unsynchronizedChanges
  }

  @Test func `time belongs to the device and moves only when told`() async throws {
    let devices = [try await SimulatedDevice(passcode: "1"), try await SimulatedDevice(passcode: "1")]
    let start = devices.map(\.clock.now)
    await devices[0].advance(by: .seconds(3_600))
    #expect(start[0].duration(to: devices[0].clock.now) == .seconds(3_600))
    #expect(devices[1].clock.now == start[1])
  }

  @Test func `devices share nothing: many in parallel come each to its own end`() async throws {
    let tasks = (0..<12).map { number in Task { try await Self.life(number) } }
    for (number, task) in tasks.enumerated() { #expect(try await task.value == "draft \(number)") }
  }

  /// What comes back at the end of a device's life with locks or a restart in it.
  private static func life(_ number: Int) async throws -> String {
    let storage = SimulatedDevice.Storage.allCases[number % 2]
    let device = try await SimulatedDevice(passcode: "\(number)", storage: storage)
    let harness = RestorationHarness<NotesApp>(on: device)
    try await harness.launch { NotesApp() }.root.editor.draft = "draft \(number)"
    try await harness.enterBackground()
    if number % 3 == 0 { device.reboot() } else { try await device.lock() }
    try await device.unlock()
    return try await harness.relaunch().root.editor.draft
  }
}
