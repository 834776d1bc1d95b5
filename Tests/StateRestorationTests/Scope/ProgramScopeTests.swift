import DataProtection
import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

#if canImport(Glibc)
import Glibc
#endif

/// The values of a program that belong to no window.
@MainActor @Suite(.tags(.threads)) struct ProgramScopeTests {
  private func run<Result>(
    _ device: SimulatedDevice, _ body: @MainActor (RestoredWindows<StoredValue<String>>) async throws -> Result
  ) async throws -> Result {
    let process = try await device.startProcess()
    return try await RestorationSession.run(on: process.device, windows: { _ in StoredValue("text", "") }, body)
  }

  @Test func `they come back without any window, and are one scope for all who ask`() async throws {
    let device = try await SimulatedDevice()
    try await run(device) { windows in
      try await windows.open("program").value = "a window of that name is another thing"
      let scope = try await windows.openScope()
      scope.value("order", default: "name").value = "date"
      #expect(try await windows.openScope() === scope)
      try await windows.close("program")
    }
    device.reboot()
    try await run(device) { windows in
      #expect(windows.roots.isEmpty && windows.programReport == nil)
      let scope = try await windows.openScope()
      #expect(windows.programReport?.outcome == .restored)
      #expect(scope.value("order", default: "name").value == "date")
    }
  }

  @Test func `a scope that is given to run has its values before the first window is made`() async throws {
    let device = try await SimulatedDevice()
    for expected in ["name", "date"] {
      let settings = RestorationScope("program")
      let order = settings.value("order", default: "name")
      var seen: [String] = []
      try await RestorationSession.run(
        on: try await device.startProcess().device,
        windows: { session in
          seen.append("\(session.id.rawValue) by \(order.value)")
          return StoredValue("text", "")
        }, scope: settings
      ) { windows in
        #expect(try await windows.openScope() === settings)
        if expected == "name" {
          try await windows.open("first")
          order.value = "date"
        }
      }
      #expect(seen == ["first by \(expected)"])
      device.reboot()
    }
    // It is the state that the windows' own scope has.
    let kept = try await run(device) { try await $0.openScope().value("order", default: "name").value }
    #expect(kept == "date")
  }

  @Test(arguments: [false, true]) func `so has one that is given where windows are opened`(isNow: Bool) async throws {
    let device = try await SimulatedDevice()
    try await run(device) { windows in
      try await windows.open("first")
      try await windows.openScope().value("order", default: "name").value = "date"
    }
    device.reboot()
    let settings = RestorationScope("program")
    let order = settings.value("order", default: "name")
    var seen: [String] = []
    let process = try await device.startProcess()
    let make: @MainActor (RestoredWindow) -> StoredValue<String> = { _ in
      seen.append(order.value)
      return StoredValue("text", "")
    }
    let windows =
      isNow
      ? try RestorationSession.openNow(on: process.device, windows: make, scope: settings)
      : try await RestoredWindows.open(
        on: process.device, scope: settings, configuration: .init(), registry: RestorationRegistry(), instances: .one,
        makeRoot: make)
    #expect(seen == ["date"])
    order.value = "size"
    try await windows.end()
    device.reboot()
    let kept = try await run(device) { try await $0.openScope().value("order", default: "name").value }
    #expect(kept == "size")
  }

  @Test func `they come with the unlock`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    try await run(device) { try await $0.openScope().value("order", default: "name").value = "date" }
    device.reboot()
    try await run(device) { windows in
      let order = try await windows.openScope().value("order", default: "name")
      #expect(order.value == "name")
      _ = try await windows.unlock(passcode: "1234")
      #expect(order.value == "date")
    }
  }

  @Test(arguments: [6, 300_000])
  func `the conflict of a value that was changed while locked can be settled`(size: Int) async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let stored = String(repeating: "s", count: size)
    try await run(device) { try await $0.openScope().value("list", default: "").value = stored }
    device.reboot()
    try await run(device) { windows in
      let scope = try await windows.openScope()
      let list = scope.value("list", default: "")
      list.value = "typed"
      _ = try await windows.unlock(passcode: "1234")
      #expect(list.value == "typed")
      var numbers: [Int]?
      #expect(!scope.settleConflict(ofKey: "list") { numbers = $0 })
      #expect(numbers == [])
      #expect(scope.settleConflict(ofKey: "list") { (older: [String]) in list.value += " after " + older.joined() })
      #expect(!scope.settleConflict(ofKey: "list") { (_: [String]) in })
      #expect(!scope.settleConflict(ofKey: "other") { (_: [String]) in })
    }
    device.reboot()
    try await run(device) { windows in
      _ = try await windows.unlock(passcode: "1234")
      let list = try await windows.openScope().value("list", default: "")
      #expect(list.value == "typed after \(stored)")
      #expect(windows.programReport?.nodes.allSatisfy { $0.remarks.isEmpty } == true)
    }
  }

  @Test func `the last change is saved when the program is terminated`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "program-scope-\(UUID())").path
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect(processExitsWith: .signal(SIGTERM)) { @MainActor [folder = folder as String] in
      try? await RestorationSession.run(at: .directory(folder), windows: { _ in StoredValue("text", "") }) { windows in
        let order = try await windows.openScope().value("order", default: "")
        for value in ["first", "last"] { order.value = value }
        kill(getpid(), SIGTERM)
        try await Task.sleep(for: .seconds(10))
      }
    }
    let order = try await RestorationSession.run(
      at: .directory(folder), windows: { _ in StoredValue("text", "") }, answering: []
    ) { windows in
      try await windows.openScope().value("order", default: "").value
    }
    #expect(order == "last")
  }
}
