import DataProtection
import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// Windows of several classes of protection: which come on a locked device, with what, and what the list of windows tells.
@MainActor @Suite(.tags(.threads)) struct WindowClassesTests {
  typealias Windows = RestoredWindows<Screen>

  /// What of a window is secret.
  enum Secret: CaseIterable { case editor, root }

  /// A window with a list that can be seen, and an editor; either that is secret, or all.
  private static func window(_ secret: Secret) -> Screen {
    let editor = secret == .editor ? PartedBench.secret("editor") : Screen("editor")
    let root = secret == .root ? PartedBench.secret("root") : Screen("root")
    root.restorationChildren = [Screen("list"), editor]
    return root
  }

  private var configuration: RestorationConfiguration {
    var configuration = RestorationConfiguration()
    configuration.protection = .completeUntilFirstUserAuthentication
    configuration.log = .silent
    return configuration
  }

  private func run<Result>(
    _ device: SimulatedDevice, _ secret: Secret, _ body: @MainActor (Windows) async throws -> Result
  ) async throws -> Result {
    let process = try await device.startProcess()
    return try await RestorationSession.run(
      on: process.device, windows: { _ in Self.window(secret) }, configuration: configuration, body)
  }

  /// A device whose program had two windows open, the second in front; locked after that.
  private func lockedDevice(_ secret: Secret) async throws -> SimulatedDevice {
    let device = try await SimulatedDevice(passcode: "1234", gracePeriod: .zero)
    try await run(device, secret) { windows in
      for id in ["first", "second"] as [RestoredWindow.ID] {
        let root = try await windows.open(id)
        root["list"]?.text = "list of \(id)"
        root["editor"]?.text = "text of \(id)"
      }
    }
    try await device.lock()
    return device
  }

  @Test(arguments: Secret.allCases)
  func `a locked launch shows every window, and its secrets at the unlock`(secret: Secret) async throws {
    let device = try await lockedDevice(secret)
    try await run(device, secret) { windows in
      #expect(windows.known.filter(\.isOpen).map(\.id) == ["second", "first"])
      #expect(windows.roots.count == 2)
      let roots = windows.roots
      #expect(roots.map { $0["list"]?.text } == (secret == .editor ? ["list of second", "list of first"] : ["", ""]))
      #expect(roots.map { $0["editor"]?.text } == ["", ""])
      #expect(windows.reports.values.allSatisfy { $0.outcome == .partlyRestored })
      let reports = try await windows.unlock(passcode: "1234")
      #expect(reports.values.allSatisfy { $0.outcome == .restored } && reports.count == 2)
      #expect(zip(roots, windows.roots).allSatisfy { $0 === $1 })
      #expect(roots.map { $0["list"]?.text } == ["list of second", "list of first"])
      #expect(roots.map { $0["editor"]?.text } == ["text of second", "text of first"])
    }
  }

  @Test func `a window that is opened while locked has its secrets at the unlock, and what was typed meanwhile`()
    async throws
  {
    let device = try await lockedDevice(.editor)
    try await run(device, .editor) { windows in
      try await windows.open("third")["editor"]?.text = "typed"
      windows["first"]?["editor"]?.text = "typed over"
      try await windows.close("second")
      try await windows.preserve()
    }
    try await run(device, .editor) { windows in
      #expect(windows.roots.map { $0["editor"]?.text } == ["", ""])
      try await windows.unlock(passcode: "1234")
      #expect(windows["third"]?["editor"]?.text == "typed")
      #expect(windows["first"]?["editor"]?.text == "typed over")
      #expect(try await windows.reopen("second")?["editor"]?.text == "text of second")
    }
  }

  /// The list of windows has the configuration's class: a title is no place for what a stronger class keeps.
  @Test func `names, roles and titles of windows are under the class of the configuration`() async throws {
    let device = try await SimulatedDevice(passcode: "1234", gracePeriod: .zero)
    try await run(device, .root) { windows in
      try await windows.open("plan", role: "note")["editor"]?.text = "TEXT-OF-PLAN"
      try await windows.close("plan", title: "TITLE-OF-PLAN")
    }
    try await device.lock()
    let process = try await device.startProcess()
    let list = try process.device.listOfScenes(of: configuration)
    let opened = try list.openNewestParts()
    #expect(opened.parts.map(\.protection) == [.completeUntilFirstUserAuthentication])
    let archive = try #require(opened.parts[0].archive)
    let bytes = try ([archive.readAll()] + archive.frames).joined()
    #expect(String(decoding: bytes, as: UTF8.self).contains("TITLE-OF-PLAN"))
    try await run(device, .root) { windows in
      #expect(windows.recentlyClosed.map(\.title) == ["TITLE-OF-PLAN"])
      let root = try #require(try await windows.reopen())
      #expect(windows.reports["plan"]?.outcome == .partlyRestored)
      #expect(root["editor"]?.text == "")
      try await windows.unlock(passcode: "1234")
      #expect(root["editor"]?.text == "TEXT-OF-PLAN")
    }
  }

  @Test(arguments: Secret.allCases)
  func `windows of a main loop are told of an unlock when they have their secrets`(secret: Secret) async throws {
    let device = try await lockedDevice(secret)
    let process = try await device.startProcess()
    let loop = RestorationMainLoop.Pollable()
    var configuration = configuration
    configuration.mainLoop = loop.mainLoop
    let windows: Windows = try RestorationSession.openNow(
      on: process.device, windows: { _ in Self.window(secret) }, configuration: configuration)
    #expect(windows.roots.count == 2)
    var told: [(ProtectedDevice.Notification, [String?])] = []
    windows.protectedDataDidChange = { notification in
      told.append((notification, windows.roots.map { $0["editor"]?.text }))
    }
    windows["first"]?["editor"]?.text = "typed"
    try windows.preserveNow()
    try process.device.unlockNow(passcode: ProtectedDevice.Passcode("1234"))
    loop.turn { told.contains { $0.0 == .protectedDataDidBecomeAvailable } }
    #expect(told.last?.1 == ["text of second", "typed"])
    process.device.lock(gracePeriod: .zero)
    loop.turn { told.contains { $0.0 == .protectedDataWillBecomeUnavailable } }
    windows["second"]?["editor"]?.text = "typed after the lock"
    try windows.preserveNow()
    try windows.unlockNow(passcode: "1234")
    #expect(windows.roots.map { $0["editor"]?.text } == ["typed after the lock", "typed"])
    try windows.endNow()
    let again: Windows = try RestorationSession.openNow(
      on: process.device, windows: { _ in Self.window(secret) }, configuration: configuration)
    #expect(again.roots.map { $0["editor"]?.text } == ["typed after the lock", "typed"])
    try again.endNow()
  }
}
