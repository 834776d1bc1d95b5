import Foundation
import SeededRandom
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How the program treats the terminal that it was lent.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct TerminalMannersTests {
  @Test(arguments: [SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS])
  func `a crash gives the terminal back, and ends as a crash`(_ signal: Int32) async throws {
    let harness = try DemoHarness()
    let terminal = try await harness.start()
    try await terminal.wait(forText: "Folders")
    terminal.send(signal)
    #expect(try await terminal.waitForEnd() == -signal)
    #expect(!terminal.screen.isAlternate && terminal.screen.isCursorVisible && !terminal.screen.isUpdating)
    #expect(terminal.screen.ordinaryText.isEmpty, "\(terminal.screen.ordinaryText)")
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
  func `a signal during the launch gives the terminal back`(_ signal: Int32) async throws {
    let harness = try DemoHarness()
    let terminal = try await harness.start()
    try await terminal.wait(for: "the terminal is taken") { $0.isAlternate }
    terminal.send(signal)
    #expect(try await terminal.waitForEnd() == -signal)
    #expect(!terminal.screen.isAlternate && terminal.screen.isCursorVisible && !terminal.screen.isUpdating)
  }

  @Test(arguments: ["", "dumb"])
  func `a terminal that can't move its cursor is told, and left as it is`(_ kind: String) async throws {
    let harness = try DemoHarness()
    let terminal = try await harness.start(terminal: kind)
    #expect(try await terminal.waitForEnd() == 2)
    let text = terminal.screen.ordinaryText
    #expect(text.hasPrefix("restore-demo: TERM is \(kind.isEmpty ? "not set" : kind)"), "\(text)")
    #expect(text.contains("--script FILE") && text.split(separator: "\r\n").count == 1)
    #expect(terminal.screen.complaints.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: harness.state))
  }

  @Test func `every screen fits any window`() async throws {
    // All at the same time: most of it is waiting.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (rows, columns) in [(1, 1), (1, 80), (24, 1), (2, 2), (3, 9), (5, 14), (4, 100), (6, 101), (200, 300)] {
        group.addTask { try await Self.visitEveryScreen(rows: rows, columns: columns) }
      }
      try await group.waitForAll()
    }
  }

  /// Goes through all the program has to show in a window of a size.
  private static func visitEveryScreen(rows: Int, columns: Int) async throws {
    let harness = try DemoHarness()
    let terminal = try await harness.start(rows: rows, columns: columns)
    try await terminal.wait(for: "a screen") { $0.updates > 0 }
    let keys = [
      "\u{1B}OR", "한국어 x", "\u{1B}OS", "\r", "secret", "\r", "secret", "\r", "\u{1B}OQ", "\u{1B}[B", "\r", "\r",
      "wörds\r",
      "\u{0E}", "\u{15}name", "\u{1B}", "\u{12}", "\u{1B}[B", "x", "\u{1B}[1;3C", "\u{0C}", "\tjot", "\twrong\r",
    ]
    for key in keys {
      await terminal.type(key)
      while await terminal.pump(milliseconds: 80) {}
      #expect(terminal.isRunning, "ended by \(key.debugDescription) at \(rows)×\(columns)")
    }
    await terminal.type("\u{11}")
    #expect(try await terminal.waitForEnd() == 0)
    #expect(terminal.screen.complaints.isEmpty, "\(terminal.screen.complaints) at \(rows)×\(columns)")
    #expect(!terminal.screen.isAlternate)
  }

  @Test func `a window that is dragged about is drawn right in the end`() async throws {
    let harness = try DemoHarness()
    let terminal = try await harness.start()
    try await terminal.wait(forText: "Folders")
    await terminal.type("\u{1B}OR")
    var random = SplitMix64(seed: 7)
    for _ in 0..<200 {
      terminal.resize(rows: Int(random.next() % 60) + 1, columns: Int(random.next() % 160) + 1)
      await terminal.type("x")
      if random.next() % 8 == 0 { await terminal.pump(milliseconds: 1) }
    }
    terminal.resize(rows: 30, columns: 90)
    try await terminal.wait(forText: "Search: \(String(repeating: "x", count: 78))")
    terminal.resize(rows: 24, columns: 240)
    let all = "Search: \(String(repeating: "x", count: 200))"
    try await terminal.wait(forText: all)
    // What was on its way to a window of another size is none of the program's faults; it knows this one now.
    terminal.screen.forgive()
    await terminal.type("y")
    try await terminal.wait(forText: all + "y")
    #expect(terminal.screen.complaints.isEmpty, "\(terminal.screen.complaints)")
    await terminal.type("\u{11}")
    #expect(try await terminal.waitForEnd() == 0)
  }
}
