import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// `restore-demo --desktop` in a pseudo-terminal, on a private bus with a mock of logind and the portal.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DesktopDemoTests {
  let harness: DemoHarness
  let desktop: MockSession

  init() throws {
    harness = try DemoHarness()
    desktop = try MockSession(state: harness.state)
  }

  /// The program with the inhibitor.
  ///
  /// - Parameter trace: The file that its system calls are written to; nil for none.
  private func start(trace: String? = nil) async throws -> PseudoTerminal {
    try await desktop.start()
    let arguments = [harness.folder, "--state", harness.state, "--log", harness.log, "--desktop"]
    let traced = trace.map { SystemCallTrace.arguments(writingTo: $0) + [DemoHarness.program] }
    let terminal = try PseudoTerminal(
      traced == nil ? DemoHarness.program : "/usr/bin/strace", arguments: (traced ?? []) + arguments,
      environment: [
        "SWIFT_BACKTRACE": "enable=no", "DBUS_SYSTEM_BUS_ADDRESS": desktop.address,
        "DBUS_SESSION_BUS_ADDRESS": desktop.address,
      ])
    try await terminal.wait(forText: "Plans  (2)")
    try await desktop.wait(for: "inhibited")
    return terminal
  }

  private func prepare(_ terminal: PseudoTerminal) async throws {
    try await harness.setPasscode("1234", in: terminal)
    await terminal.type("\u{1B}OQ")
    try await terminal.wait(forText: "Plans  (2)")
    try await harness.openTrip(in: terminal)
    await terminal.type("secret plans")
    try await terminal.wait(forText: "secret plans")
  }

  /// The positions of the log's first lines with these texts, which must follow one another.
  private func expectOrder(_ texts: [String], sourceLocation: SourceLocation = #_sourceLocation) {
    var rest = harness.logLines[...]
    for text in texts {
      guard let index = rest.firstIndex(where: { $0.contains(text) }) else {
        Issue.record("no \(text) where it should be in \(harness.logLines)", sourceLocation: sourceLocation)
        return
      }
      rest = rest[(index + 1)...]
    }
  }

  @Test func `the program locks with the screen, and its passcode opens it again`() async throws {
    let terminal = try await start()
    try await prepare(terminal)
    desktop.tell("Lock")
    try await terminal.wait(forText: "Locked")
    #expect(!terminal.screen.text.contains("secret plans") && terminal.screen.isAlternate)
    // The page is there before the device is locked; a passcode that is checked meanwhile has to be typed again.
    try await terminal.wait(for: "the device's lock") { _ in
      harness.logLines.contains { $0.contains("preserved and locked with the screen") }
    }
    desktop.tell("Unlock")
    try await desktop.wait(for: "done Unlock")
    await terminal.type("1234\r")
    try await terminal.wait(forText: "secret plans")
    expectOrder([
      "the inhibitor is taken", "the screen is locked", "preserved and locked with the screen; the device is locked",
    ])
    expectOrder(["the screen is locked", "the screen is unlocked"])
    await terminal.type("\u{12}")
    try await terminal.wait(forText: "logind connected")
    await terminal.type("\u{1B}")
    try await terminal.quit()
  }

  @Test func `before sleep the state is durable when the inhibitor is let go`() async throws {
    let terminal = try await start()
    try await prepare(terminal)
    desktop.tell("PrepareForSleep 1")
    try await desktop.wait(for: "released")
    try await terminal.wait(forText: "Locked")
    // The bytes at the moment of the release are the last ones: nothing was written later.
    desktop.tell("digest")
    try await desktop.wait(for: "digest")
    #expect(desktop.words(of: "released") == desktop.words(of: "digest"))
    expectOrder([
      "preserved generation", "preserved and locked before sleep; the device is locked", "the inhibitor is let go",
    ])
    expectOrder([
      "PrepareForSleep(true)", "preserved and locked before sleep; the device is locked", "the inhibitor is let go",
    ])
    // The power is cut while the machine sleeps.
    try await terminal.killProgram()
    let again = try await harness.startLocked()
    await again.type("1234\r")
    try await again.wait(forText: "secret plans")
    try await again.quit()
  }

  @Test func `every change is synced when the inhibitor's descriptor is closed, and none follows`() async throws {
    let path = harness.log + ".trace"
    let terminal = try await start(trace: path)
    try await prepare(terminal)
    desktop.tell("PrepareForSleep 1")
    try await desktop.wait(for: "released")
    try await terminal.wait(forText: "Locked")
    try await terminal.quit()
    let trace = try SystemCallTrace(at: path)
    let calls = trace.calls
    let told = try #require(calls.firstIndex { $0.name == "recvmsg" && $0.arguments.contains("PrepareForSleep") })
    // The bus hands the inhibitor over as a descriptor.
    let handed = try #require(calls.first { $0.name == "recvmsg" && $0.arguments.contains("SCM_RIGHTS") })
    let inhibitor = try #require(handed.files.last)
    let letGo = try #require(calls.lastIndex { $0.name == "close" && $0.files == [inhibitor] })
    #expect(trace.changeCount(below: harness.state, in: told..<letGo) > 0)
    // Generations that no ledger names any more may come back with a power cut, and go at the next save.
    let unsynced = trace.unsyncedChanges(below: harness.state, in: 0..<letGo).filter {
      !($0.name.hasPrefix("unlink") && $0.arguments.contains("\"g-"))
    }
    #expect(unsynced.isEmpty)
    #expect(trace.changeCount(below: harness.state, in: letGo..<calls.count) == 0)
  }

  @Test func `the end of the session ends the program with everything preserved`() async throws {
    let terminal = try await start()
    try await prepare(terminal)
    desktop.tell("PrepareForShutdown 1")
    #expect(try await terminal.waitForEnd() == 0)
    #expect(!terminal.screen.isAlternate && terminal.screen.complaints.isEmpty)
    let again = try await harness.startLocked()
    await again.type("1234\r")
    try await again.wait(forText: "secret plans")
    try await again.quit()
  }

  @Test func `without a desktop the program runs as ever`() async throws {
    let terminal = try PseudoTerminal(
      DemoHarness.program, arguments: [harness.folder, "--state", harness.state, "--desktop"],
      environment: [
        "SWIFT_BACKTRACE": "enable=no", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere",
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
      ])
    try await terminal.wait(forText: "Plans  (2)")
    // The report is the one of the moment of the key.
    for _ in 0..<50 {
      await terminal.type("\u{12}")
      try await terminal.wait(forText: "logind")
      if !terminal.screen.text.contains("logind connecting") { break }
      await terminal.type(" ")
      try await terminal.wait(for: "the report's end") { !$0.text.contains("logind") }
    }
    #expect(terminal.screen.text.contains("logind absent"))
    await terminal.type("\u{1B}")
    try await terminal.quit()
  }
}
