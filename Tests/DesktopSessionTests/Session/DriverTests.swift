import DesktopSession
import Glibc
import StateRestoration
import Testing

/// Everything the session says, against real libsystemd and a real bus.
@Suite(.serialized) @MainActor struct DriverTests {
  let desktop: MockDesktop

  init() throws { desktop = try MockDesktop() }

  private func program(
    grace: Duration = .seconds(10), options: (inout DesktopSessionDriver.Options) -> Void = { _ in }
  ) async throws -> SessionProgram {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop, grace: grace, options: options)
    try await program.connect()
    return program
  }

  @Test func `a driver finds its session, and delays sleep and shutdown`() async throws {
    let program = try await program()
    let report = program.driver.report
    #expect(report.services[.logind] == .connected("session /org/freedesktop/login1/session/c1"))
    #expect(report.services[.screenSaver]?.isConnected == true)
    #expect(report.services[.gnomeScreenSaver]?.isConnected == false)
    #expect(try await desktop.mock.line("inhibited") == "inhibited sleep:shutdown delay")
    #expect(report.incidents == [])
    #expect(report.custody.first == "the device key is kept by a file beside the data")
  }

  @Test func `a driver that stops lets go of the inhibitor`() async throws {
    let program = try await program()
    program.driver.stop()
    try await desktop.mock.line("released")
    #expect(!program.driver.report.holdsInhibitor)
  }

  // MARK: - The screen

  @Test(arguments: ["Lock", "hint 1"])
  func `a locked screen preserves and locks the device, and an unlocked one leaves it locked`(
    _ command: String
  ) async throws {
    var unlocks = 0
    let program = try await program(grace: .zero) { $0.onUnlock = { unlocks += 1 } }
    program.draft.text = "unsaved"
    try await desktop.tell(command)
    try await program.wait(forEntry: "preserved and locked with the screen")
    #expect(program.device.lockState == .locked)
    #expect(program.driver.report.isScreenLocked)
    let log = program.log
    let saved = try #require(log.position(of: "preserved durable"))
    let locked = try #require(log.position(of: "preserved and locked with the screen"))
    #expect(saved < locked)

    try await desktop.tell(command == "Lock" ? "Unlock" : "hint 0")
    try await program.wait(for: .active)
    try await Machine.wait(for: "the handler") { unlocks == 1 }
    #expect(program.device.lockState == .locked)
  }

  /// A program with a shared custody, whose screen and device are locked.
  private func lockedProgram(_ custody: SharedCustody) async throws -> SessionProgram {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop, grace: .zero, custody: custody)
    try await program.connect()
    try await desktop.tell("Lock")
    try await program.wait(forEntry: "preserved and locked with the screen")
    return program
  }

  @Test func `an unlocked screen takes the keys that another program was given the passcode for`() async throws {
    let custody = SharedCustody()
    let program = try await lockedProgram(custody)
    var options = ProtectedDevice.Options()
    options.custody = custody
    let other = try await ProtectedDevice.open(at: .directory(desktop.state), options: options)
    try await other.unlock(passcode: ProtectedDevice.Passcode(SessionProgram.passcode))
    #expect(program.device.lockState == .locked)
    try await desktop.tell("Unlock")
    try await program.wait(for: .active)
    #expect(program.device.lockState == .unlocked)
    #expect(program.driver.report.incidents == [])
  }

  @Test func `a custody that hangs keeps no program in the background`() async throws {
    let custody = SharedCustody()
    let program = try await lockedProgram(custody)
    custody.hang()
    try await desktop.tell("Unlock")
    try await program.wait(for: .active)
    #expect(program.device.lockState == .locked)
    #expect(program.driver.report.incidents.contains { $0.contains("custody") })
    custody.goOn()
  }

  @Test func `a handler that waits for a passcode holds up no sleep`() async throws {
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    var isAsked = false
    let program = try await program(grace: .zero) { options in
      options.onUnlock = {
        isAsked = true
        for await _ in answers {}
      }
    }
    try await desktop.tell("Lock", "Unlock")
    try await Machine.wait(for: "the handler") { isAsked }
    program.draft.text = "unsaved"
    try await desktop.tell("PrepareForSleep 1")
    try await desktop.mock.line("released")
    #expect(program.log.position(of: "preserved and locked before sleep") != nil)
    #expect(program.driver.report.incidents == [])
    answer.finish()
  }

  @Test func `limits without an end are limits`() async throws {
    let program = try await program { options in
      options.callTimeout = .seconds(Int64.max)
      options.inhibitorBudget = .seconds(Int64.max)
      options.queryEndBudget = .seconds(Int64.max)
      options.reconnectDelays = .zero ... .seconds(Int64.max)
    }
    try await desktop.tell("state 2 0", "PrepareForSleep 1")
    try await desktop.mock.line("answered")
    try await desktop.mock.line("released")
    #expect(program.driver.report.incidents == [])
  }

  @Test func `a lock that only a signal told of outlasts a lost bus`() async throws {
    let program = try await program(grace: .zero)
    try await desktop.tell("Lock")
    try await program.wait(forEntry: "preserved and locked with the screen")
    // logind comes back and says that LockedHint is false, as this desktop never sets it.
    desktop.killServices()
    try await Machine.wait(for: "the loss") { !program.driver.report.holdsInhibitor }
    try await desktop.startServices()
    try await program.connect()
    #expect(program.driver.report.isScreenLocked && program.application.lifecycle.state != .active)
    try await desktop.tell("Unlock")
    try await program.wait(for: .active)
  }

  @Test func `a lock told twice locks once`() async throws {
    let program = try await program(grace: .zero)
    try await desktop.tell("Lock", "hint 1", "Unlock", "hint 0")
    try await program.wait(forEntry: "the screen is unlocked")
    try await program.wait(for: .active)
    #expect(program.log.all.filter { $0.contains("the screen is locked") }.count == 1)
    #expect(program.log.all.filter { $0.contains("the screen is unlocked") }.count == 1)
  }

  @Test func `a blanked screen is no locked one, unless the program says so`() async throws {
    let program = try await program()
    try await desktop.tell("blank 1")
    try await program.wait(forEntry: "screenBlanked: on → blank")
    #expect(program.device.lockState == .unlocked && program.application.lifecycle.state == .active)
    try await desktop.tell("blank 0")
    try await program.wait(forEntry: "screenBlanked: blank → on")
  }

  @Test(arguments: [("blank 1", "blank 0"), ("state 1 1", "state 1 0")])
  func `a blanked screen locks where the program says so`(_ commands: (String, String)) async throws {
    let program = try await program(grace: .zero) { $0.locksWhenBlanked = true }
    try await desktop.tell(commands.0)
    try await program.wait(forEntry: "preserved and locked with the screen")
    #expect(program.device.lockState == .locked)
    try await desktop.tell(commands.1)
    try await program.wait(for: .active)
    #expect(program.device.lockState == .locked)
  }

  @Test func `a screen that is blanked and locked is unlocked once`() async throws {
    var unlocks = 0
    let program = try await program(grace: .zero) { options in
      options.locksWhenBlanked = true
      options.onUnlock = { unlocks += 1 }
    }
    try await desktop.tell("blank 1", "Lock", "Unlock")
    try await program.wait(forEntry: "the screen is unlocked")
    try await desktop.tell("PrepareForSleep 1")
    try await desktop.mock.line("released")
    try await desktop.tell("PrepareForSleep 0")
    try await Machine.wait(for: "the inhibitor") { program.driver.report.holdsInhibitor }
    // The blanked screen counts as locked, also when the machine wakes.
    #expect(program.application.lifecycle.state != .active && unlocks == 0)
    try await desktop.tell("blank 0")
    try await program.wait(for: .active)
    try await Machine.wait(for: "the handler") { unlocks == 1 }
  }

  @Test func `a storm of locks and unlocks holds up no sleep`() async throws {
    let program = try await program(grace: .zero)
    program.draft.text = "unsaved"
    try desktop.mock.tell((0..<1000).map { $0.isMultiple(of: 2) ? "Lock" : "Unlock" }.joined(separator: "\n"))
    try await desktop.tell("PrepareForSleep 1")
    try await desktop.mock.line("released")
    #expect(program.device.lockState == .locked)
    #expect(program.log.position(of: "preserved and locked before sleep") != nil)
    #expect(program.driver.report.incidents == [])
  }

  @Test func `two sleeps without a morning between them are two`() async throws {
    let program = try await program(grace: .zero)
    try await desktop.tell("PrepareForSleep 1", "PrepareForSleep 1")
    try await desktop.mock.line("released")
    try await program.wait(forEntry: "preserved and locked before sleep")
    try await desktop.tell("PrepareForSleep 0")
    try await program.connect()
    try await program.wait(for: .active)
    let position = try desktop.mock.output.count
    try await desktop.tell("PrepareForSleep 1")
    try await desktop.mock.line("released", after: position)
  }

  @Test func `two drivers of one program lock it and wake it`() async throws {
    let program = try await program(grace: .zero)
    let second = DesktopSessionDriver(
      application: program.application, device: program.device, options: desktop.options(log: program.log),
      onEnd: { _ in })
    second.start()
    try await Machine.wait(for: "the second inhibitor") { second.report.holdsInhibitor }
    try await desktop.tell("Lock", "PrepareForSleep 1")
    try await Machine.wait(for: "both releases") {
      try desktop.mock.output.count { $0.hasPrefix("released") } == 2
    }
    #expect(program.device.lockState == .locked)
    try await desktop.tell("PrepareForSleep 0", "Unlock")
    try await program.wait(for: .active)
    #expect(program.driver.report.incidents == [] && second.report.incidents == [])
  }

  @Test func `a driver that goes while its calls are open takes the inhibitor with it`() async throws {
    let program = try await program()
    var second: DesktopSessionDriver? = DesktopSessionDriver(
      application: program.application, device: program.device, options: desktop.options(log: program.log))
    try desktop.mock.signal(SIGSTOP)
    second?.start()
    try await Machine.wait(for: "a start") { second?.report.services[.logind] == .connecting }
    weak let gone = second
    second = nil
    #expect(gone == nil)
    try desktop.mock.signal(SIGCONT)
    try await program.connect()
  }

  // MARK: - Sleep and shutdown

  @Test func `before sleep the state is durable and the keys are gone when the inhibitor is let go`() async throws {
    let program = try await program(grace: .seconds(10))
    let before = try await desktop.digest()
    program.draft.text = "unsaved"
    let position = try desktop.mock.output.count
    try await desktop.tell("PrepareForSleep 1")
    let released = try await desktop.mock.line("released", after: position)
    #expect(program.device.lockState == .locked, "ten seconds of grace are more than the system waits")
    #expect(released.dropFirst("released ".count) == (try await desktop.digest()).dropFirst("digest ".count))
    #expect(released.dropFirst("released ".count) != before.dropFirst("digest ".count))
    let log = program.log
    let order = [
      "PrepareForSleep(true)", "preserved durable", "preserved and locked before sleep; the device is locked",
      "the inhibitor is let go",
    ].map { log.position(of: $0) ?? -1 }
    #expect(order.allSatisfy { $0 >= 0 } && order == order.sorted(), "\(order) in \(log.all)")
    #expect(program.driver.report.incidents == [])
  }

  @Test func `a machine that wakes takes the inhibitor again and shows the program`() async throws {
    let program = try await program()
    for _ in 0..<3 {
      var position = try desktop.mock.output.count
      try await desktop.tell("PrepareForSleep 1")
      try await desktop.mock.line("released", after: position)
      position = try desktop.mock.output.count
      try await desktop.tell("PrepareForSleep 0")
      try await desktop.mock.line("inhibited", after: position)
      try await program.wait(for: .active)
    }
  }

  @Test func `a machine that wakes with a locked screen shows nothing`() async throws {
    let program = try await program()
    let position = try desktop.mock.output.count
    try await desktop.tell("Lock", "PrepareForSleep 1")
    try await desktop.mock.line("released", after: position)
    try await desktop.tell("PrepareForSleep 0")
    try await desktop.mock.line("inhibited", after: position)
    try await desktop.tell("hint 1")
    #expect(program.application.lifecycle.state != .active)
    try await desktop.tell("Unlock")
    try await program.wait(for: .active)
  }

  @Test func `before a shutdown the program preserves, ends and lets go`() async throws {
    let program = try await program()
    program.draft.text = "unsaved"
    try await desktop.tell("PrepareForShutdown 1")
    let released = try await desktop.mock.line("released")
    #expect(released.dropFirst("released ".count) == (try await desktop.digest()).dropFirst("digest ".count))
    try await Machine.wait(for: "the end") { program.ends == [.shutdown] }
    #expect(program.application.lifecycle.state == .notRunning)
    let saved = try #require(program.log.position(of: "preserved durable"))
    #expect(saved < (program.log.position(of: "the inhibitor is let go") ?? -1))
  }

  // MARK: - The end of the session

  @Test func `the session's question is answered after preserving`() async throws {
    let program = try await program()
    program.draft.text = "unsaved"
    let before = try await desktop.digest()
    let mock = try desktop.mock
    var isEarly: Bool?
    program.delegate.onSave = {
      // Time enough for an answer that does not wait for the save.
      if isEarly == nil {
        usleep(200_000)
        isEarly = mock.output.contains { $0.hasPrefix("answered") }
      }
    }
    try await desktop.tell("state 2 0")
    let answer = try await desktop.mock.line("answered")
    #expect(answer.dropFirst("answered ".count) == (try await desktop.digest()).dropFirst("digest ".count))
    #expect(answer.dropFirst("answered ".count) != before.dropFirst("digest ".count))
    #expect(isEarly == false)
    #expect(program.application.lifecycle.state == .active && program.ends == [])
    // Somebody else said no: the session goes on, and is asked about again.
    let position = try desktop.mock.output.count
    try await desktop.tell("state 1 0", "state 2 0")
    try await desktop.mock.line("answered", after: position)
    try await desktop.tell("state 3 0")
    try await Machine.wait(for: "the end") { program.ends == [.session] }
    #expect(program.application.lifecycle.state == .notRunning)
  }
}
