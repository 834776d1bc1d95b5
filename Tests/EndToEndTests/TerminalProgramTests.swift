import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The program in a real pseudo-terminal, used as a person uses it.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct TerminalProgramTests {
  @Test func `typed, locked, killed, started again, unlocked: everything is where it was`() async throws {
    let harness = try DemoHarness()
    var terminal = try await harness.startFresh()
    try await harness.setPasscode("correct horse", in: terminal)
    await terminal.type("\u{1B}OQ")
    try await terminal.wait(forText: "Plans  (2)")
    try await harness.openTrip(in: terminal)
    await terminal.type("Bring: 한국 지도, crème, 😀\r")
    try await terminal.wait(forText: "😀")
    await terminal.type("second line")
    try await terminal.wait(forText: "second line")
    let before = body(of: terminal)
    try await harness.lock(terminal)
    #expect(!terminal.screen.text.contains("second line"))
    #expect(terminal.screen.text.contains("Folders › Plans › Trip.md"))
    await terminal.type("\tbuy mil")
    try await terminal.wait(forText: "buy mil")
    try await terminal.killProgram()
    #expect(terminal.screen.complaints.isEmpty, "\(terminal.screen.complaints)")

    terminal = try await harness.startLocked()
    #expect(!terminal.screen.text.contains("second line"))
    await terminal.type("correct horse\r")
    try await terminal.wait(forText: "second line")
    #expect(body(of: terminal) == before)
    await terminal.type("\u{1B}\u{1B}")
    try await terminal.quit()
  }

  @Test func `leaving without unlocking leaves the state as it was, byte for byte`() async throws {
    let harness = try DemoHarness()
    var terminal = try await harness.startFresh()
    try await harness.setPasscode("0000", in: terminal)
    await terminal.type("\u{1B}OQ")
    try await terminal.wait(forText: "save ")
    while await terminal.pump(milliseconds: 600) {}
    try await terminal.killProgram()
    let before = try harness.stateBytes()

    terminal = try await harness.startLocked()
    try await terminal.quit()
    // There may be a marker of the restoration, and a snapshot.
    let after = try harness.stateBytes()
    #expect(before.filter { after[$0.key] != $0.value }.isEmpty)
  }

  @Test func `wrong passcodes are counted and delayed across restarts`() async throws {
    let harness = try DemoHarness()
    var terminal = try await harness.startFresh()
    try await harness.setPasscode("right", in: terminal)
    try await harness.lock(terminal)
    for guess in 1...5 {
      try await give("wrong \(guess)", to: terminal)
    }
    try await terminal.killProgram()
    terminal = try await harness.startLocked()
    // Five wrong ones in a row cost a minute, also in the next process: the right one is not even looked at.
    try await give("right", to: terminal)
    #expect(terminal.screen.text.contains("Locked"))
    #expect(!terminal.screen.text.contains("The passcode is wrong"))
    try await terminal.quit()
  }

  @Test func `Ctrl-Z preserves, gives the terminal back and stops; continuing draws everything again`() async throws {
    let harness = try DemoHarness()
    let terminal = try await harness.startFresh()
    await terminal.type("\u{1B}OR")
    try await terminal.wait(forText: "Type what to look for")
    await terminal.type("Trip")
    try await terminal.wait(for: "the result") { $0.text.contains("Search: Trip") && $0.text.contains("Plans/Trip.md") }
    let before = body(of: terminal)
    await terminal.type("\u{1A}")
    try await terminal.waitForStop()
    // What the program has written last may still be on its way.
    try await terminal.wait(for: "the terminal given back") { !$0.isAlternate && $0.isCursorVisible }
    terminal.send(SIGCONT)
    try await terminal.wait(for: "the screen again") {
      $0.isAlternate && $0.text.contains("Search: Trip") && $0.text.contains("Plans/Trip.md")
    }
    #expect(body(of: terminal) == before)
    try await terminal.killProgram()

    let again = try await harness.start()
    try await again.wait(for: "the query") { $0.text.contains("Search: Trip") && $0.text.contains("Plans/Trip.md") }
    #expect(body(of: again) == before)
    again.hangUp()
    _ = try await again.waitForEnd()
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT])
  func `a signal that ends the program saves first and gives the terminal back`(_ signal: Int32) async throws {
    let harness = try DemoHarness()
    let terminal = try await harness.startFresh()
    await terminal.type("\u{1B}ORunfinished quer")
    try await terminal.wait(forText: "unfinished quer")
    await terminal.type("y")
    terminal.send(signal)
    #expect(try await terminal.waitForEnd() == -signal)
    #expect(!terminal.screen.isAlternate)
    let again = try await harness.start()
    try await again.wait(forText: "unfinished quer")
    try await again.quit()
  }

  @Test func `an open sheet and its text come back, and its result reaches the restored owner`() async throws {
    let harness = try DemoHarness()
    var terminal = try await harness.startFresh()
    try await harness.openPlans(in: terminal)
    await terminal.type("\u{0E}")
    try await terminal.wait(forText: "New name:")
    await terminal.type("\u{15}Journey.md")
    try await terminal.wait(forText: "Journey.md")
    // Ten of the intervals in which changes are gathered, without a word: everything is preserved.
    while await terminal.pump(milliseconds: 3_000) {}
    #expect(terminal.screen.text.contains("generation"))
    try await terminal.killProgram()
    terminal = try await harness.start()
    try await terminal.wait(for: "the sheet") { $0.text.contains("New name:") && $0.text.contains("Journey.md") }
    await terminal.type("\r")
    try await terminal.wait(forText: "Trip.md is Journey.md now")
    #expect(FileManager.default.fileExists(atPath: harness.folder + "/Plans/Journey.md"))
    try await terminal.quit()
  }

  @Test func `files that were added and renamed meanwhile move the selection with its note`() async throws {
    let harness = try DemoHarness()
    var terminal = try await harness.startFresh()
    try await harness.openPlans(in: terminal)
    try await terminal.quit()
    let plans = harness.folder + "/Plans"
    try FileManager.default.moveItem(atPath: plans + "/Trip.md", toPath: plans + "/Zzz.md")
    try Data("new".utf8).write(to: URL(fileURLWithPath: plans + "/Aaa.md"))
    terminal = try await harness.start()
    try await terminal.wait(forText: "▸ Zzz.md")
    try await terminal.quit()
  }

  @Test func `a note that was deleted meanwhile ends the stack one earlier, and the status line says why`() async throws
  {
    let harness = try DemoHarness()
    var terminal = try await harness.startFresh()
    try await harness.openTrip(in: terminal)
    try await terminal.quit()
    try FileManager.default.removeItem(atPath: harness.folder + "/Plans/Trip.md")
    terminal = try await harness.start()
    try await terminal.wait(forText: "Work.md")
    #expect(!terminal.screen.text.contains("Pack."))
    #expect(terminal.screen.text.contains("editor"))
    await terminal.type("\u{12}")
    try await terminal.wait(forText: "Report")
    #expect(terminal.screen.text.contains("editor"))
    await terminal.type("x\u{11}")
    _ = try await terminal.waitForEnd()
  }

  @Test func `two columns at a wide terminal, with the divider where it was`() async throws {
    let harness = try DemoHarness()
    var terminal = try await harness.start(columns: 120)
    try await terminal.wait(forText: "Open a note with Enter.")
    var before = body(of: terminal)
    for _ in 0..<2 {
      let last = before
      await terminal.type("\u{1B}[1;3C")
      try await terminal.wait(for: "the divider to move") { body(of: $0) != last }
      before = body(of: terminal)
    }
    try await terminal.quit()
    terminal = try await harness.start(columns: 120)
    try await terminal.wait(for: "the divider") { body(of: $0) == before }
    try await terminal.quit()
  }

  @Test func `a force quit forgets`() async throws {
    let harness = try DemoHarness()
    var terminal = try await harness.startFresh()
    await terminal.type("\u{1B}ORsecret plan")
    try await terminal.wait(forText: "secret plan")
    try await terminal.wait(for: "a receipt") { $0.text.contains("generation") }
    await terminal.type("\u{1C}")
    #expect(try await terminal.waitForEnd() == 0)
    terminal = try await harness.startFresh()
    await terminal.type("\u{1B}OR")
    try await terminal.wait(forText: "Type what to look for")
    try await terminal.quit()
  }
}

/// Gives a passcode that will not unlock, and waits for the answer: then the field is empty again.
private func give(_ passcode: String, to terminal: PseudoTerminal) async throws {
  let dots = String(repeating: "•", count: passcode.count)
  await terminal.type(passcode)
  try await terminal.wait(forText: dots)
  await terminal.type("\r")
  try await terminal.wait(for: "an answer") { !$0.text.contains("•") && !$0.text.contains("Checking") }
}

/// The screen without its status line, which tells of saves.
private func body(of terminal: PseudoTerminal) -> String { body(of: terminal.screen) }

private func body(of screen: ScreenEmulator) -> String {
  var lines = screen.text.split(separator: "\n", omittingEmptySubsequences: false)
  lines.remove(at: lines.count - 2)
  return lines.joined(separator: "\n")
}
