import DesktopSession
import Foundation
import Glibc
import StateRestoration
import Testing

/// Buses and services that are missing, die, hang or lie: the program runs on, and says so.
@Suite(.serialized) @MainActor struct BrokenBusTests {
  let desktop: MockDesktop

  init() throws { desktop = try MockDesktop() }

  private func expectAlive(_ program: SessionProgram) async throws {
    program.draft.text += "more"
    _ = try await program.application.preserve()
    #expect(program.application.lastPreservation.map { (try? $0.get()) != nil } == true)
  }

  @Test func `without a bus the program runs, and the report says so`() async throws {
    let program = try await SessionProgram(on: desktop)
    try await Machine.wait(for: "the report") {
      if case .absent(let reason)? = program.driver.report.services[.logind] { reason.contains("bus") } else { false }
    }
    #expect(!program.driver.report.holdsInhibitor)
    try await expectAlive(program)
    // It comes later.
    try await desktop.start()
    try await program.connect()
  }

  @Test func `a bus that is not to be used is left alone`() async throws {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop) { $0.sessionBus = .none }
    try await Machine.wait(for: "logind") { program.driver.report.holdsInhibitor }
    #expect(program.driver.report.services[.portal] == .connecting)
    try await expectAlive(program)
  }

  /// The moments at which the bus is killed.
  enum Step: String, CaseIterable { case starting, connected, locking, locked, sleeping, slept, queried }

  @Test(arguments: Step.allCases)
  func `a bus that is killed costs nothing but its announcements`(_ step: Step) async throws {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop, grace: .zero)
    if step != .starting { try await program.connect() }
    let desktop = desktop
    switch step {
    case .starting, .connected: break
    case .locking, .sleeping, .queried:
      // In the middle: the bus dies while the state is captured.
      program.delegate.onSave = { desktop.kill() }
      program.draft.text = "changed"
      try desktop.mock.tell(step == .locking ? "Lock" : step == .sleeping ? "PrepareForSleep 1" : "state 2 0")
      try await Machine.wait(for: "the death of the bus") { (try? desktop.bus.isAlive) == false }
      program.delegate.onSave = {}
    case .locked:
      try await desktop.tell("Lock")
      try await program.wait(forEntry: "preserved and locked with the screen")
    case .slept:
      try await desktop.tell("PrepareForSleep 1")
      try await desktop.mock.line("released")
    }
    desktop.kill()
    if step == .locking || step == .sleeping {
      try await Machine.wait(for: "the lock") { program.device.lockState == .locked }
    }
    if step != .starting {
      try await Machine.wait(for: "the incident") { program.driver.report.incidentCount > 0 }
    }
    try await desktop.start()
    try await program.connect()
    let position = try desktop.mock.output.count
    try await desktop.tell("PrepareForSleep 1")
    try await desktop.mock.line("released", after: position)
    try await Machine.wait(for: "the lock") { program.device.lockState == .locked }
  }

  @Test func `services that are restarted are found again`() async throws {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop, grace: .zero)
    for _ in 0..<3 {
      try await program.connect()
      desktop.killServices()
      try await Machine.wait(for: "the loss") {
        !program.driver.report.holdsInhibitor && program.driver.report.services[.portal]?.isConnected == false
      }
      try await desktop.startServices()
    }
    try await program.connect()
    try await desktop.tell("Lock")
    try await Machine.wait(for: "the lock") { program.device.lockState == .locked }
  }

  @Test func `services that hang are reported and tried again`() async throws {
    try await desktop.startBus()
    try await desktop.startServices()
    try desktop.mock.signal(SIGSTOP)
    let program = try await SessionProgram(on: desktop)
    try await Machine.wait(for: "the report: \(program.driver.report)") {
      program.driver.report.incidents.contains { $0.contains("not answered in time") }
    }
    try await expectAlive(program)
    try desktop.mock.signal(SIGCONT)
    try await program.connect()
  }

  @Test func `a bus that hangs is reported, and tried again`() async throws {
    try await desktop.startBus()
    try desktop.bus.signal(SIGSTOP)
    let program = try await SessionProgram(on: desktop)
    try await Machine.wait(for: "the report: \(program.driver.report)") {
      if case .absent(let reason)? = program.driver.report.services[.logind] {
        reason.contains("greeting")
      } else {
        false
      }
    }
    try await expectAlive(program)
    try desktop.bus.signal(SIGCONT)
    try await desktop.startServices()
    try await program.connect()
  }

  @Test(arguments: [
    "OK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n" + String(repeating: "\u{1}garbage", count: 5000),
    "HTTP/1.1 400 Bad Request\r\n\r\n", String(repeating: "x", count: 100_000), "\r\n\r\n", "",
  ])
  func `a bus that talks nonsense is reported`(_ nonsense: String) async throws {
    let server = try NonsenseServer(at: desktop.directory + "/bus", saying: nonsense)
    let program = try await SessionProgram(on: desktop)
    try await Machine.wait(for: "three attempts") { server.count >= 3 }
    #expect(program.driver.report.services[.logind]?.isConnected == false)
    try await expectAlive(program)
    server.stop()
    try await desktop.start()
    try await program.connect()
  }

  @Test func `signals of others are not believed`() async throws {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop, grace: .zero)
    try await program.connect()
    try await desktop.tell("forge")
    // The bus keeps the order: the forged signals have arrived before this one.
    try await desktop.tell("blank 1")
    try await program.wait(forEntry: "screenBlanked")
    #expect(program.device.lockState == .unlocked && program.application.lifecycle.state == .active)
    #expect(program.ends == [] && program.driver.report.holdsInhibitor)
  }

  @Test func `messages that are not what they should be are reported, and the next good one counts`() async throws {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop, grace: .zero)
    try await program.connect()
    try await desktop.tell("garbage")
    try await Machine.wait(for: "the incidents") { program.driver.report.incidentCount >= 1000 }
    #expect(program.driver.report.incidents.count == 30)
    for culprit in ["PrepareForShutdown", "PropertiesChanged", "StateChanged", "ActiveChanged"] {
      #expect(program.log.position(of: "sent \(culprit)") != nil, "\(culprit)")
    }
    #expect(program.device.lockState == .unlocked && program.application.lifecycle.state == .active)
    try await desktop.tell("Lock")
    try await Machine.wait(for: "the lock") { program.device.lockState == .locked }
  }

  @Test func `a main actor that hangs delays the system no longer than the budget, and the keys go all the same`()
    async throws
  {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop) { $0.inhibitorBudget = .milliseconds(500) }
    try await program.connect()
    let (device, mock) = (program.device, try desktop.mock)
    program.draft.text = "changed"
    var seen: (ProtectedDevice.LockState, Bool)?
    program.delegate.onSave = {
      // Blocks the main actor for as long as the inhibitor is held, and longer.
      let end = ContinuousClock.now + Machine.patience
      while !mock.output.contains(where: { $0.hasPrefix("released") }), ContinuousClock.now < end { usleep(1000) }
      seen = (device.lockState, ContinuousClock.now < end)
    }
    mock.tell("PrepareForSleep 1")
    try await Machine.wait(for: "the block's end") { seen != nil }
    #expect(seen?.0 == .locked && seen?.1 == true)
    try await Machine.wait(for: "the incidents") { program.driver.report.incidentCount == 2 }
    #expect(program.driver.report.incidents.last?.contains("the system waits no longer") == true)
  }

  @Test func `a session is answered within its budget, whatever the main actor does`() async throws {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop) { $0.queryEndBudget = .milliseconds(200) }
    try await program.connect()
    let mock = try desktop.mock
    program.draft.text = "changed"
    var wasAnswered = false
    program.delegate.onSave = {
      let end = ContinuousClock.now + Machine.patience
      while !mock.output.contains(where: { $0.hasPrefix("answered") }), ContinuousClock.now < end { usleep(1000) }
      wasAnswered = ContinuousClock.now < end
    }
    mock.tell("state 2 0")
    try await Machine.wait(for: "the answer") { wasAnswered }
    try await Machine.wait(for: "the incident") { program.driver.report.incidentCount == 1 }
  }

  @Test func `a portal that never takes the answer is reported, and the next question is answered`() async throws {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop)
    try await program.connect()
    let mock = try desktop.mock
    program.draft.text = "changed"
    program.delegate.onSave = { mock.signal(SIGSTOP) }
    mock.tell("state 2 0")
    try await Machine.wait(for: "the report: \(program.driver.report)") {
      program.driver.report.incidents.contains { $0.contains("QueryEndResponse") && $0.contains("in time") }
    }
    #expect(program.application.lifecycle.state == .active && program.ends == [])
    program.delegate.onSave = {}
    mock.signal(SIGCONT)
    try await program.connect()
    let position = mock.output.count
    try await desktop.tell("state 1 0", "state 2 0")
    try await mock.line("answered", after: position)
  }

  @Test func `a question that is asked again while it is worked on is answered once`() async throws {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop) { $0.queryEndBudget = .seconds(5) }
    try await program.connect()
    let mock = try desktop.mock
    program.draft.text = "changed"
    program.delegate.onSave = { [weak program] in
      guard let program else { return }
      program.delegate.onSave = {}
      for _ in 0..<3 { mock.tell("state 2 0") }
      let end = ContinuousClock.now + Machine.patience
      while program.log.all.count(where: { $0.contains("asks whether it may end") }) < 4, ContinuousClock.now < end {
        usleep(1000)
      }
    }
    mock.tell("state 2 0")
    try await mock.line("answered")
    // Handled after everything that was asked.
    try await desktop.tell("blank 1")
    try await program.wait(forEntry: "screenBlanked")
    #expect(mock.output.count { $0.hasPrefix("answered") } == 1)
  }

  @Test func `a screen that is locked in the middle of a save loses nothing`() async throws {
    try await desktop.start()
    let program = try await SessionProgram(on: desktop, grace: .zero)
    try await program.connect()
    let mock = try desktop.mock
    program.draft.text = "one"
    program.delegate.onSave = { [weak program] in
      guard let program else { return }
      program.delegate.onSave = {}
      mock.tell("Lock")
      let end = ContinuousClock.now + Machine.patience
      while program.log.position(of: "the screen is locked") == nil, ContinuousClock.now < end { usleep(1000) }
    }
    _ = try await program.application.preserve()
    program.draft.text = "two"
    try await program.wait(forEntry: "preserved and locked with the screen")
    #expect(program.device.lockState == .locked)
    let locked = try #require(program.log.position(of: "the screen is locked"))
    #expect(locked < (program.log.position(of: "preserved durable") ?? -1), "it came before the save was over")
    try await program.device.unlock(passcode: ProtectedDevice.Passcode(SessionProgram.passcode))
    let again = SessionProgram.Draft()
    _ = try await program.coordinator.restore(into: again)
    #expect(again.text == "two")
  }
}
