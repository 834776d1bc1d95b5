import ApplicationLifecycle
import DataProtection
import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

#if canImport(Glibc)
import Glibc
#endif

/// Windows do for a program with several hierarchies what a session does for one.
@MainActor @Suite(.tags(.threads)) struct RestoredWindowsTests {
  typealias Windows = RestoredWindows<StoredValue<String>>

  private func run<Result>(
    _ device: SimulatedDevice, log: MemoryLog = MemoryLog(), instances: RestorationSession.Instances = .one,
    _ body: @MainActor (Windows) async throws -> Result
  ) async throws -> Result {
    let process = try await device.startProcess()
    var configuration = RestorationConfiguration()
    configuration.log = log.log
    return try await RestorationSession.run(
      on: process.device, windows: { _ in StoredValue("text", "") }, configuration: configuration,
      instances: instances, body)
  }

  /// A device whose program had two windows open, the second in front; restarted, and locked if it has a passcode.
  private func deviceWithTwoWindows(passcode: String? = nil) async throws -> SimulatedDevice {
    let device = try await SimulatedDevice(passcode: passcode)
    try await run(device) { windows in
      #expect(windows.roots.isEmpty && windows.reports.isEmpty)
      try await windows.open("first").value = "one"
      try await windows.open("second").value = "two"
    }
    device.reboot()
    return device
  }

  @Test func `the windows that were open come back, the frontmost first`() async throws {
    let device = try await deviceWithTwoWindows()
    try await run(device) { windows in
      #expect(windows.roots.map(\.value) == ["two", "one"])
      #expect(windows.reports.mapValues(\.outcome) == ["first": .restored, "second": .restored])
      let first = windows["first"]
      let again = try await windows.open("first")
      #expect(again === first)
      #expect(windows.roots.map(\.value) == ["one", "two"])
    }
  }

  @Test func `a closed window stays closed, and opens again with its state`() async throws {
    let device = try await deviceWithTwoWindows()
    weak var former: StoredValue<String>?
    try await run(device) { windows in
      former = windows["second"]
      windows["second"]?.value = "last"
      try await windows.close("second")
      #expect(windows["second"] == nil && former == nil)
      #expect(windows.roots.map(\.value) == ["one"])
    }
    device.reboot()
    try await run(device) { windows in
      #expect(windows.roots.map(\.value) == ["one"])
      let reopened = try await windows.open("second")
      #expect(reopened.value == "last")
      // Closed by the list itself.
      try await windows.scenes.close("second")
      #expect(windows["second"] == nil && windows.coordinator(of: "second") == nil)
      let closed = try await windows.open("second")
      #expect(closed.value == "last" && windows.coordinator(of: "second") != nil)
      try await windows.activate("first")
      #expect(windows.frontmost?.id == "first" && windows.known.map(\.id) == ["first", "second"])
      try await windows.activate("second")
      try await windows.discard("second")
      #expect(windows.known.map(\.id) == ["first"])
      let discarded = try await windows.open("second")
      #expect(discarded.value == "")
    }
  }

  @Test func `a window that was closed is reopened with its state, the last one first`() async throws {
    let device = try await deviceWithTwoWindows()
    try await run(device) { windows in
      #expect(try await windows.reopen() == nil)
      try await windows.close("first", title: "One")
      try await windows.close("second", title: "Two")
    }
    device.reboot()
    try await run(device) { windows in
      #expect(windows.roots.isEmpty)
      #expect(windows.recentlyClosed.map(\.title) == ["Two", "One"])
      let last = try await windows.reopen()
      #expect(last?.value == "two")
      #expect(try await windows.reopen("second") == nil)
      let first = try await windows.reopen("first")
      #expect(first?.value == "one" && windows.recentlyClosed.isEmpty)
    }
  }

  @Test func `windows that a toolkit closes after the end was announced are open at the next launch`() async throws {
    let device = try await deviceWithTwoWindows()
    try await run(device) { windows in
      windows["first"]?.value = "last"
      windows.announceEnd()
      for id in ["first", "second"] as [RestoredWindow.ID] { try await windows.close(id, title: "title") }
      #expect(windows.roots.isEmpty && windows.recentlyClosed.isEmpty)
    }
    device.reboot()
    try await run(device) { #expect($0.roots.map(\.value) == ["two", "last"]) }
  }

  @Test func `a new window has a name of its own`() async throws {
    let device = try await deviceWithTwoWindows()
    try await run(device) { windows in
      for text in ["three", "four"] { try await windows.openNew(role: "note").value = text }
      #expect(windows.roots.map(\.value) == ["four", "three", "two", "one"])
      #expect(windows.known.map(\.role) == ["note", "note", "", ""])
    }
  }

  /// A program with a life cycle of its own.
  private final class Program: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
    var rootController: (any RestorableController)? { nil }
    var response = Lifecycle.LaunchResponse.proceed

    func willFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse { response }
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
  }

  /// How an unlock meets a program that was launched while locked.
  enum Unlock: CaseIterable { case active, suspended, declined }

  @Test(arguments: Unlock.allCases)
  func `in an application of its own the windows come back at the unlock, once it is awake`(unlock: Unlock) async throws
  {
    let device = try await deviceWithTwoWindows(passcode: "1234")
    let process = try await device.startProcess()
    let program = Program()
    if unlock == .declined { program.response = .declinesRestoring }
    let windows = try RestoredWindows(device: process.device, delegate: program) { _ in StoredValue("text", "") }
    let application = try RestorableApplication(device: process.device, windows: windows, delegate: program)
    try await application.launch()
    #expect(windows.roots.isEmpty)
    if unlock == .suspended { try await application.lifecycle.enterBackground() }
    try await process.device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    func turn() async throws {
      for _ in 0..<10_000 where windows.reports.values.count(where: { $0.outcome == .restored }) < 2 {
        await Task.yield()
        try await Task.sleep(for: .microseconds(100))
        if unlock != .active, windows.roots.isEmpty, application.lifecycle.state == .suspended { break }
        if unlock == .declined { break }
      }
    }
    try await turn()
    #expect(windows.roots.map(\.value) == (unlock == .active ? ["two", "one"] : []))
    if unlock == .suspended {
      try await application.lifecycle.enterForeground()
      try await turn()
      #expect(windows.roots.map(\.value) == ["two", "one"])
    }
    // Changes are preserved by themselves, and at the end.
    for root in windows.roots { root.value += "!" }
    try await application.lifecycle.terminate()
    await windows.letGo()
    device.reboot()
    try await run(device) { windows in
      try await windows.unlock(passcode: "1234")
      #expect(windows.roots.map(\.value) == (unlock == .declined ? ["two", "one"] : ["two!", "one!"]))
    }
  }

  @Test func `the parts find the state of the windows`() async throws {
    let device = try await deviceWithTwoWindows()
    let program = try ScenesOfAnApplicationTests.Program(try await device.startProcess().device)
    try await program.scenes.load()
    #expect(program.scenes.sessions.filter(\.isOpen).map(\.id) == ["second", "first"])
    let text = StoredValue("text", "")
    try await program.scenes.coordinator(for: "first").restore(into: text)
    #expect(text.value == "one")
  }

  // MARK: - Locked

  @Test func `after a locked launch an unlock brings every window, and keeps edits made while locked`() async throws {
    let device = try await deviceWithTwoWindows(passcode: "1234")
    try await run(device) { windows in
      #expect(windows.roots.isEmpty && !windows.device.isProtectedDataAvailable)
      let first = try await windows.open("first")
      let third = try await windows.open("third")
      #expect(first.value == "" && windows.reports["first"]?.outcome == .locked)
      third.value = "three"
      await #expect { try await windows.unlock(passcode: "wrong") } throws: {
        ($0 as? RestorationError)?.code == .wrongPasscode
      }
      #expect(windows.roots.count == 2)
      await device.advance(by: try await windows.device.remainingPasscodeDelay())
      let reports = try await windows.unlock(passcode: "1234")
      // At once, with nothing to wait for.
      #expect(windows["first"] === first && first.value == "one" && third.value == "three")
      #expect(windows["second"]?.value == "two")
      #expect(reports["first"]?.outcome == .restored && reports.count == 3)
    }
    device.reboot()
    try await run(device) { windows in
      try await windows.unlock(passcode: "1234")
      #expect(windows.roots.map(\.value) == ["three", "one", "two"])
    }
  }

  @Test func `a window closed while locked stays closed, and keeps what was typed`() async throws {
    let device = try await deviceWithTwoWindows(passcode: "1234")
    try await run(device) { windows in
      try await windows.open("second").value = "typed"
      try await windows.close("second")
      try await windows.unlock(passcode: "1234")
      #expect(windows.roots.map(\.value) == ["one"])
      let second = try await windows.open("second")
      #expect(second.value == "typed")
    }
  }

  @Test func `a kill while locked loses no window and no edit`() async throws {
    let device = try await deviceWithTwoWindows(passcode: "1234")
    _ = try? await run(device) { windows in
      try await windows.open("first").value = "typed"
      try await windows.open("third").value = "three"
      try await windows.preserve()
      device.reboot()
    }
    try await run(device) { windows in
      #expect(windows.roots.isEmpty)
      try await windows.unlock(passcode: "1234")
      #expect(windows.roots.map(\.value) == ["three", "typed", "two"])
    }
  }

  @Test func `an unlock by the device brings the windows too`() async throws {
    let device = try await deviceWithTwoWindows(passcode: "1234")
    try await run(device) { windows in
      try await windows.device.unlock(passcode: ProtectedDevice.Passcode("1234"))
      for _ in 0..<10_000 where windows.reports.values.count(where: { $0.outcome == .restored }) < 2 {
        await Task.yield()
        try await Task.sleep(for: .microseconds(100))
      }
      #expect(windows.roots.map(\.value) == ["two", "one"])
    }
  }

  @Test func `an unlock of a running program leaves its windows alone`() async throws {
    let device = try await deviceWithTwoWindows(passcode: "1234")
    try await run(device) { windows in
      try await windows.unlock(passcode: "1234")
      let first = try #require(windows["first"])
      windows.device.lock(gracePeriod: .zero)
      first.value = "typed"
      try await windows.unlock(passcode: "1234")
      #expect(windows["first"] === first && first.value == "typed" && windows.roots.count == 2)
    }
  }

  @Test func `a disk that fails once during an unlock costs no window`() async throws {
    let before = try await deviceWithTwoWindows(passcode: "1234").contents
    let log = MemoryLog()
    for call in 1...60 {
      let device = try await SimulatedDevice(passcode: "1234")
      device.contents = before
      try await run(device, log: log) { windows in
        device.failDisk(atCall: call, .unreachable)
        do throws(RestorationError) {
          try await windows.unlock(passcode: "1234")
        } catch {
          device.healDisk()
          try await windows.unlock(passcode: "1234")
        }
        device.healDisk()
        #expect(windows.roots.count == 2, "call \(call)")
        for (id, text) in [("first", "one"), ("second", "two")] as [(RestoredWindow.ID, String)] {
          #expect(windows[id]?.value == text || windows.reports[id]?.outcome == .unavailable, "call \(call), \(id)")
        }
      }
    }
    // The notification or the call above met it.
    #expect(log.lines.contains { $0.contains("the windows did not come back") })
  }

  // MARK: - Failures

  @Test(arguments: [false, true])
  func `the second process of a program is refused, whatever windows the first has`(hasWindows: Bool) async throws {
    let device = try await deviceWithTwoWindows()
    try await run(device) { windows in
      if !hasWindows { for id in ["first", "second"] as [RestoredWindow.ID] { try await windows.close(id) } }
      let log = MemoryLog()
      await #expect { try await run(device, log: log) { _ in } } throws: { error in
        (error as? RestorationError)?.code == .inUse
      }
      #expect(log.lines.isEmpty)
      #expect(windows.roots.map(\.value) == (hasWindows ? ["two", "one"] : []))
    }
    // Who comes after it is not.
    try await run(device) { #expect($0.roots.count == (hasWindows ? 2 : 0)) }
  }

  @Test func `a window in use by a program of other parts does not keep the others from coming back`() async throws {
    let device = try await deviceWithTwoWindows()
    let program = try ScenesOfAnApplicationTests.Program(try await device.startProcess().device)
    try await program.scenes.load()
    let coordinator = try program.scenes.coordinator(for: "first")
    let log = MemoryLog()
    try await run(device, log: log) { #expect($0.roots.map(\.value) == ["two"]) }
    #expect(log.lines.count { $0.contains("did not come back") } == 1)
    await coordinator.letGo()
  }

  // MARK: - A lock screen

  @Test func `a lock screen asks until the passcode is right, and is told what was wrong and how long to wait`()
    async throws
  {
    let device = try await deviceWithTwoWindows(passcode: "1234")
    try await run(device) { windows in
      var prompts: [RestorationSession.PasscodePrompt] = []
      let isUnlocked = try await windows.unlock { prompt in
        prompts.append(prompt)
        if prompts.count == 1 { return "" }
        // Wrong until there is a delay, then right and too soon, then right.
        guard prompt.delay > .zero else { return "wrong \(prompts.count)" }
        if prompts.dropLast().last?.delay != .zero { await device.advance(by: prompt.delay) }
        return "1234"
      }
      #expect(isUnlocked && windows.roots.map(\.value) == ["two", "one"])
      #expect(prompts.map(\.isAfterWrongPasscode) == [false] + prompts.dropFirst().map { _ in true })
      #expect(prompts[0].description == "" && prompts[1].description == "Not right. ")
      #expect(prompts.count > 4 && prompts.suffix(3).map { $0.delay > .zero } == [false, true, true])
      #expect(prompts.last?.description.hasPrefix("Not right. Wait ") == true)
      // Nobody is asked twice.
      let again = try await windows.unlock { _ in nil }
      #expect(again)
      // While a lock has a grace period the user sees nothing either.
      windows.device.lock(gracePeriod: .seconds(3600))
      #expect(windows.device.isProtectedDataAvailable)
      let withoutAnswer = try await windows.unlock { _ in nil }
      let withAnswer = try await windows.unlock { _ in "1234" }
      #expect(!withoutAnswer && withAnswer)
    }
  }

  @Test func `a lock screen that is given up leaves the windows locked, and so does one that throws`() async throws {
    let device = try await deviceWithTwoWindows(passcode: "1234")
    try await run(device) { windows in
      let isUnlocked = try await windows.unlock { _ in nil }
      #expect(!isUnlocked && windows.roots.isEmpty)
      await #expect(throws: CancellationError.self) { try await windows.unlock { _ in throw CancellationError() } }
      // Unlocked by other means meanwhile.
      let isUnlockedElsewhere = try await windows.unlock { _ in
        try await windows.device.unlock(passcode: "1234")
        return nil
      }
      #expect(isUnlockedElsewhere && windows.roots.count == 2)
    }
  }

  // MARK: - The end

  nonisolated private static func makeFolder() -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "windows-\(UUID())").path
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder
  }

  enum End: String, CaseIterable, Codable, Sendable {
    case returns, throwsAnError, exits, isTerminated, isKilled
  }

  @Test(arguments: End.allCases) func `the last change of every window is saved however the program ends`(
    _ end: End
  ) async throws {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let expected: ExitTest.Condition =
      switch end {
      case .returns, .throwsAnError: .exitCode(3)
      case .exits: .exitCode(4)
      case .isTerminated: .signal(SIGTERM)
      case .isKilled: .signal(SIGKILL)
      }
    await #expect(processExitsWith: expected) { @MainActor [folder = folder as String, end = end as End] in
      try? await RestorationSession.run(at: .directory(folder), windows: { _ in StoredValue("text", "") }) { windows in
        try await windows.open("first").value = "one"
        try await windows.open("second").value = "two"
        // The interval after a save has not passed: nothing but the end saves the next change.
        if end != .isKilled { try await windows.preserve() }
        for root in windows.roots { root.value += "!" }
        switch end {
        case .returns: return
        case .throwsAnError: throw CancellationError()
        case .exits: exit(4)
        case .isTerminated:
          kill(getpid(), SIGTERM)
          try await Task.sleep(for: .seconds(10))
        case .isKilled:
          try await Task.sleep(for: .milliseconds(750))
          kill(getpid(), SIGKILL)
          try await Task.sleep(for: .seconds(10))
        }
      }
      exit(3)
    }
    let texts = try await RestorationSession.run(
      at: .directory(folder), windows: { _ in StoredValue("text", "") }, answering: []
    ) { windows in windows.roots.map(\.value) }
    #expect(texts == ["two!", "one!"])
  }
}
