import DesktopSession
import Foundation
import Glibc
import StateRestoration
import Testing

/// A day of a session is run once to count its messages, and then again with a fault at each of them.
@Suite(.serialized) @MainActor struct EveryMessageTests {
  let bus: FaultyBus
  let program: SessionProgram

  init() async throws {
    let bus = try await FaultyBus()
    self.bus = bus
    // The keys come back without a passcode, whose check would take most of the time.
    program = try await SessionProgram(
      on: bus.desktop, grace: .zero, custody: SharedCustody(forgets: false),
      options: { options in
        (options.systemBus, options.sessionBus) = (bus.address, bus.address)
        options.callTimeout = .milliseconds(150)
        options.reconnectDelays = .milliseconds(5) ... .milliseconds(20)
      })
    program.driver.stop()
  }

  @Test(arguments: FaultyBus.Fault.allCases.filter { $0 != .none })
  func `a fault at any message costs nothing but announcements`(_ fault: FaultyBus.Fault) async throws {
    let count = try await messageCount()
    #expect(count > 50)
    let sockets = openSockets
    for number in 1...count {
      do {
        try await run(fault, at: number)
      } catch {
        let ends = [bus.lines, program.log.all, (try? bus.desktop.mock.output) ?? []]
          .map { $0.suffix(20).joined(separator: "\n") }.joined(separator: "\n\n")
        Issue.record("\(fault) at message \(number): \(error)\n\(program.driver.report)\n\(ends)")
        return
      }
    }
    try await Machine.wait(for: "the end of lost connections: \(openSockets)") {
      openSockets.count <= sockets.count
    }
  }

  /// The number of messages in a day without a fault.
  private func messageCount() async throws -> Int {
    try await run(.none, at: 0)
    let position = bus.lines.count
    try await bus.prepare(.none, at: 0)
    program.driver.start()
    #expect(try await day { false })
    let count = bus.lines.dropFirst(position).count { $0.hasPrefix("message") }
    try await stop()
    return count
  }

  /// A day with a fault, the repair, and then everything that must work again.
  private func run(_ fault: FaultyBus.Fault, at number: Int) async throws {
    let position = bus.lines.count
    try await bus.prepare(fault, at: number)
    let bus = bus
    program.driver.start()
    let isWhole = try await day { bus.lines.dropFirst(position).contains { $0.hasPrefix("fault") } }
    // A day that had fewer messages than the first one had no fault, and the checks must not have it.
    if isWhole { try await bus.prepare(.none, at: 0) }
    // Longer than a call may take.
    if fault == .hang || fault == .drop { try await Task.sleep(for: .milliseconds(200)) }
    if !isWhole || fault == .kill { try await bus.mend(fault) }
    // A machine whose sleep went unnoticed wakes.
    try bus.desktop.mock.tell("PrepareForSleep 0")
    try await expectSleepIsSafe()
    try await tell("Lock", "the lock") {
      program.driver.report.isScreenLocked && program.device.lockState == .locked
    }
    try await tell("Unlock", "the foreground") {
      program.application.lifecycle.state == .active && program.device.lockState == .unlocked
    }
    try await stop()
  }

  /// Connects, locks, unlocks, blanks, asks, sleeps and wakes.
  ///
  /// - Returns: Whether it came to its end; false when `isOver` said that something went wrong.
  private func day(unless isOver: () -> Bool) async throws -> Bool {
    let (device, lifecycle, mock) = (program.device, program.application.lifecycle, try bus.desktop.mock)
    let (lines, entries) = (mock.output.count, program.log.all.count)
    func said(_ word: String) -> Bool { mock.output.dropFirst(lines).contains { $0.hasPrefix(word) } }
    func noted(_ text: String) -> Bool { program.log.position(of: text, after: entries) != nil }
    let steps: [(command: String?, isDone: () -> Bool)] = [
      (nil, { isConnected }),
      ("Lock", { program.driver.report.isScreenLocked && device.lockState == .locked }),
      ("Unlock", { lifecycle.state == .active && device.lockState == .unlocked }),
      ("blank 1", { noted("screenBlanked: on → blank") }),
      ("blank 0", { noted("screenBlanked: blank → on") }),
      ("state 2 0", { said("answered") }),
      ("state 1 0", { said("done state") }),
      ("PrepareForSleep 1", { said("released") }),
      ("PrepareForSleep 0", { program.driver.report.holdsInhibitor && lifecycle.state == .active }),
    ]
    program.draft.text += "a"
    for (command, isDone) in steps where !isOver() {
      if let command { mock.tell(command) }
      try await Machine.wait(for: "\(command ?? "the services"): \(program.driver.report)") { isDone() || isOver() }
    }
    return !isOver()
  }

  private var isConnected: Bool {
    let report = program.driver.report
    return report.holdsInhibitor && report.services[.portal]?.isConnected == true
      && report.services[.logind] == .connected("session /org/freedesktop/login1/session/c1")
  }

  /// A sleep finds everything durable and no keys.
  private func expectSleepIsSafe() async throws {
    let mock = try bus.desktop.mock
    var (position, entries, attempts) = (0, 0, 0)
    repeat {
      // The report is behind the driver's thread: a day's inhibitor may have gone by the time of the sleep. On a busy machine
      // calls are not answered in time, and the connection is lost again.
      attempts += 1
      try #require(attempts <= 30, "no inhibitor is held")
      if attempts > 1 { mock.tell("PrepareForSleep 0") }
      try await Machine.wait(for: "the services: \(program.driver.report)") { isConnected }
      (position, entries) = (mock.output.count, program.log.all.count)
      program.draft.text += "b"
      mock.tell("PrepareForSleep 1")
      try await Machine.wait(for: "the end of the work before sleep") {
        program.log.position(of: "the inhibitor is let go", after: entries) != nil
      }
    } while program.log.position(of: "no inhibitor is held", after: entries) != nil
    #expect(program.device.lockState == .locked)
    #expect(program.application.lastPreservation.map { (try? $0.get()) != nil } == true)
    // An inhibitor of an earlier connection may go as well, but with other bytes.
    let bytes = try await bus.desktop.digest().dropFirst("digest ".count)
    try await Machine.wait(for: "a release after the last write") {
      mock.output.dropFirst(position).contains("released \(bytes)")
    }
    mock.tell("PrepareForSleep 0")
    try await Machine.wait(for: "the morning: \(program.driver.report)") { program.driver.report.holdsInhibitor }
  }

  private func tell(_ command: String, _ what: String, until isDone: () -> Bool) async throws {
    try bus.desktop.mock.tell(command)
    try await Machine.wait(for: "\(what): \(program.driver.report)") { isDone() }
  }

  /// Ends the day; the inhibitor goes with it.
  private func stop() async throws {
    let position = try bus.desktop.mock.output.count
    program.driver.stop()
    try await bus.desktop.mock.line("released", after: position)
  }

  /// The sockets of this process: the connections to the buses.
  private var openSockets: [String] {
    let (folder, files) = ("/proc/self/fd/", FileManager.default)
    let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { try? files.destinationOfSymbolicLink(atPath: folder + $0) }
      .filter { $0.hasPrefix("socket:") }
  }
}
