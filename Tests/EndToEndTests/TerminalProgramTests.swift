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
  @Test func `typed, locked, killed, started again, unlocked: everything is where it was`() throws {
    let harness = try DemoHarness()
    var terminal = try harness.start()
    try terminal.wait(forText: "Folders")
    try harness.setPasscode("correct horse", in: terminal)
    terminal.type("\u{1B}OP")
    try terminal.wait(forText: "Plans  (2)")
    terminal.type("\u{1B}[B\r")
    try terminal.wait(forText: "Trip.md")
    terminal.type("\r")
    try terminal.wait(forText: "Pack.")
    terminal.type("Bring: 한국 지도, crème, 😀\r")
    try terminal.wait(forText: "😀")
    terminal.type("second line")
    try terminal.wait(forText: "second line")
    let before = body(of: terminal)
    terminal.type("\u{0C}")
    try terminal.wait(forText: "Locked")
    #expect(!terminal.screen.text.contains("second line"))
    #expect(!terminal.screen.text.contains("Trip"))
    terminal.type("\tbuy mil")
    try terminal.wait(forText: "buy mil")
    terminal.send(SIGKILL)
    #expect(try terminal.waitForEnd() == -SIGKILL)
    #expect(terminal.screen.complaints.isEmpty, "\(terminal.screen.complaints)")

    terminal = try harness.start()
    try terminal.wait(forText: "Locked")
    #expect(!terminal.screen.text.contains("second line"))
    terminal.type("correct horse\r")
    try terminal.wait(forText: "second line")
    #expect(body(of: terminal) == before)
    terminal.type("\u{1B}\u{1B}")
    terminal.type("\u{11}")
    #expect(try terminal.waitForEnd() == 0)
    #expect(!terminal.screen.isAlternate && terminal.screen.isCursorVisible)
    #expect(terminal.screen.complaints.isEmpty, "\(terminal.screen.complaints)")
  }

  @Test func `leaving without unlocking leaves the state as it was, byte for byte`() throws {
    let harness = try DemoHarness()
    var terminal = try harness.start()
    try terminal.wait(forText: "Folders")
    try harness.setPasscode("0000", in: terminal)
    terminal.type("\u{11}")
    #expect(try terminal.waitForEnd() == 0)
    let before = try harness.stateBytes()

    terminal = try harness.start()
    try terminal.wait(forText: "Locked")
    terminal.type("\u{11}")
    #expect(try terminal.waitForEnd() == 0)
    let after = try harness.stateBytes()
    let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    #expect(changed.isEmpty)
  }

  @Test func `wrong passcodes are counted and delayed across restarts`() throws {
    let harness = try DemoHarness()
    var terminal = try harness.start()
    try terminal.wait(forText: "Folders")
    try harness.setPasscode("right", in: terminal)
    terminal.type("\u{0C}")
    try terminal.wait(forText: "Locked")
    for guess in 1...5 {
      terminal.type("wrong \(guess)\r")
      try terminal.wait(forText: "Checking")
      try terminal.wait(for: "an answer to guess \(guess)") { !$0.text.contains("Checking") }
    }
    terminal.send(SIGKILL)
    _ = try terminal.waitForEnd()
    terminal = try harness.start()
    try terminal.wait(forText: "Locked")
    terminal.type("right\r")
    // Five wrong ones in a row cost a minute, also in the next process: the right one is not even looked at.
    try terminal.wait(forText: "Checking")
    try terminal.wait(for: "an answer") { !$0.text.contains("Checking") }
    #expect(terminal.screen.text.contains("Locked"))
    #expect(!terminal.screen.text.contains("The passcode is wrong"))
    terminal.type("\u{11}")
    _ = try terminal.waitForEnd()
  }

  @Test func `Ctrl-Z preserves, gives the terminal back and stops; continuing draws everything again`() throws {
    let harness = try DemoHarness()
    let terminal = try harness.start()
    try terminal.wait(forText: "Folders")
    terminal.type("\u{1B}OQ")
    try terminal.wait(forText: "Type what to look for")
    terminal.type("Trip")
    try terminal.wait(for: "the result") { $0.text.contains("Search: Trip") && $0.text.contains("Plans/Trip.md") }
    let before = body(of: terminal)
    terminal.type("\u{1A}")
    try terminal.waitForStop()
    #expect(!terminal.screen.isAlternate && terminal.screen.isCursorVisible)
    terminal.send(SIGCONT)
    try terminal.wait(for: "the screen again") {
      $0.isAlternate && $0.text.contains("Search: Trip") && $0.text.contains("Plans/Trip.md")
    }
    #expect(body(of: terminal) == before)
    terminal.send(SIGKILL)
    _ = try terminal.waitForEnd()

    let again = try harness.start()
    try again.wait(for: "the query") { $0.text.contains("Search: Trip") && $0.text.contains("Plans/Trip.md") }
    #expect(body(of: again) == before)
    again.hangUp()
    _ = try again.waitForEnd()
  }

  @Test(arguments: [SIGTERM, SIGHUP])
  func `a signal that ends the program saves first and gives the terminal back`(_ signal: Int32) throws {
    let harness = try DemoHarness()
    let terminal = try harness.start()
    try terminal.wait(forText: "Folders")
    terminal.type("\u{1B}OQunfinished quer")
    try terminal.wait(forText: "unfinished quer")
    terminal.type("y")
    terminal.send(signal)
    #expect(try terminal.waitForEnd() == -signal)
    #expect(!terminal.screen.isAlternate)
    let again = try harness.start()
    try again.wait(forText: "unfinished quer")
    again.type("\u{11}")
    _ = try again.waitForEnd()
  }

  @Test func `an open sheet and its text come back, and its result reaches the restored owner`() throws {
    let harness = try DemoHarness()
    var terminal = try harness.start()
    try terminal.wait(forText: "Plans  (2)")
    terminal.type("\u{1B}[B\r")
    try terminal.wait(forText: "Trip.md")
    terminal.type("\u{0E}")
    try terminal.wait(forText: "New name:")
    terminal.type("\u{15}Journey.md")
    try terminal.wait(forText: "Journey.md")
    try terminal.wait(for: "a receipt") { $0.text.contains("generation") }
    while terminal.pump(milliseconds: 700) {}
    terminal.send(SIGKILL)
    _ = try terminal.waitForEnd()
    terminal = try harness.start()
    try terminal.wait(for: "the sheet") { $0.text.contains("New name:") && $0.text.contains("Journey.md") }
    terminal.type("\r")
    try terminal.wait(forText: "Trip.md is Journey.md now")
    #expect(FileManager.default.fileExists(atPath: harness.folder + "/Plans/Journey.md"))
    terminal.type("\u{11}")
    _ = try terminal.waitForEnd()
  }

  @Test func `files that were added and renamed meanwhile move the selection with its note`() throws {
    let harness = try DemoHarness()
    var terminal = try harness.start()
    try terminal.wait(forText: "Plans  (2)")
    terminal.type("\u{1B}[B\r")
    try terminal.wait(forText: "▸ Trip.md")
    terminal.type("\u{11}")
    _ = try terminal.waitForEnd()
    let plans = harness.folder + "/Plans"
    try FileManager.default.moveItem(atPath: plans + "/Trip.md", toPath: plans + "/Zzz.md")
    try Data("new".utf8).write(to: URL(fileURLWithPath: plans + "/Aaa.md"))
    terminal = try harness.start()
    try terminal.wait(forText: "▸ Zzz.md")
    terminal.type("\u{11}")
    _ = try terminal.waitForEnd()
  }

  @Test func `a note that was deleted meanwhile ends the stack one earlier, and the status line says why`() throws {
    let harness = try DemoHarness()
    var terminal = try harness.start()
    try terminal.wait(forText: "Plans  (2)")
    terminal.type("\u{1B}[B\r")
    try terminal.wait(forText: "Trip.md")
    terminal.type("\r")
    try terminal.wait(forText: "Pack.")
    terminal.type("\u{11}")
    _ = try terminal.waitForEnd()
    try FileManager.default.removeItem(atPath: harness.folder + "/Plans/Trip.md")
    terminal = try harness.start()
    try terminal.wait(forText: "Work.md")
    #expect(!terminal.screen.text.contains("Pack."))
    #expect(terminal.screen.text.contains("editor"))
    terminal.type("\u{12}")
    try terminal.wait(forText: "Report")
    #expect(terminal.screen.text.contains("editor"))
    terminal.type("x\u{11}")
    _ = try terminal.waitForEnd()
  }

  @Test func `two columns at a wide terminal, with the divider where it was`() throws {
    let harness = try DemoHarness()
    var terminal = try harness.start(columns: 120)
    try terminal.wait(forText: "Open a note with Enter.")
    terminal.type("\u{1B}[1;3C\u{1B}[1;3C")
    while terminal.pump(milliseconds: 300) {}
    let before = body(of: terminal)
    terminal.type("\u{11}")
    _ = try terminal.waitForEnd()
    terminal = try harness.start(columns: 120)
    try terminal.wait(for: "the divider") { body(of: $0) == before }
    terminal.type("\u{11}")
    _ = try terminal.waitForEnd()
  }

  @Test func `a force quit forgets`() throws {
    let harness = try DemoHarness()
    var terminal = try harness.start()
    try terminal.wait(forText: "Folders")
    terminal.type("\u{1B}OQsecret plan")
    try terminal.wait(forText: "secret plan")
    try terminal.wait(for: "a receipt") { $0.text.contains("generation") }
    terminal.type("\u{1C}")
    #expect(try terminal.waitForEnd() == 0)
    terminal = try harness.start()
    try terminal.wait(forText: "Folders")
    terminal.type("\u{1B}OQ")
    try terminal.wait(forText: "Type what to look for")
    terminal.type("\u{11}")
    _ = try terminal.waitForEnd()
  }

  @Test func `a second instance says what it does and preserves nothing`() throws {
    let harness = try DemoHarness()
    let first = try harness.start()
    try first.wait(forText: "Folders")
    let second = try harness.start()
    try second.wait(forText: "another restore-demo uses this state")
    second.type("\u{1B}OQfrom the second")
    try second.wait(forText: "from the second")
    first.type("\u{1B}OQfrom the first")
    try first.wait(forText: "from the first")
    second.type("\u{11}")
    #expect(try second.waitForEnd() == 0)
    first.type("\u{11}")
    #expect(try first.waitForEnd() == 0)
    let third = try harness.start()
    try third.wait(forText: "from the first")
    third.type("\u{11}")
    _ = try third.waitForEnd()
  }
}

/// The screen without its status line, which tells of saves.
private func body(of terminal: PseudoTerminal) -> String { body(of: terminal.screen) }

private func body(of screen: ScreenEmulator) -> String {
  var lines = screen.text.split(separator: "\n", omittingEmptySubsequences: false)
  lines.remove(at: lines.count - 2)
  return lines.joined(separator: "\n")
}
