import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The program killed again and again, in the middle of everything it does, while somebody types.
///
/// The oracle knows nothing of the framework: it keeps what was typed, and how much of it had been typed when a receipt was
/// seen. A receipt is for a capture that began after the receipt before it was shown; so when a receipt appears, all that
/// was typed before the previous one appeared is acknowledged and must be there after the next start.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct KillTests {
  /// Where a kill is meant to land.
  enum Phase: String, CaseIterable {
    case capture, write, sync, publish, restore, promotion

    /// The switch for the n-th life of the program; `n` spreads the kills over the calls.
    func kill(_ n: Int) -> String {
      switch self {
      case .capture: "log=capturing:\(1 + n % 3):before"
      case .write: "pwrite:\(1 + n % 9):\(["before", "torn", "after"][n % 3])"
      case .sync: "\(["fdatasync", "fsync"][n % 2]):\(1 + n % 4):\(["before", "after"][n / 2 % 2])"
      case .publish: "linkat:\(1 + n % 2):\(["before", "after"][n % 2])"
      case .restore: "log=restoring:1:\(["before", "after"][n % 2])"
      case .promotion: "log=promoting:1:\(["before", "after"][n % 2])"
      }
    }
  }

  /// How many lives the program has in a run; more with `RESTORATION_KILLS`.
  private static let lives = ProcessInfo.processInfo.environment["RESTORATION_KILLS"].flatMap(Int.init) ?? 54

  @Test func `no acknowledged save is lost and no screen is broken, wherever the kill lands`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    print("KillTests: seed \(seed)")
    var random = SplitMix64(state: seed)
    let harness = try DemoHarness(notes: ["Diary.md": "end\n"])
    var oracle = Oracle()
    try openNote(harness, &oracle)

    var landed: [Phase: Int] = [:]
    var life = 0
    while life < Self.lives || landed.count < Phase.allCases.count && life < Self.lives * 3 {
      let phase = Phase.allCases[life % Phase.allCases.count]
      let kills = harness.landedKills.count
      try live(harness, phase.kill(Int(random.next() % 64)), isLocking: phase == .promotion, &random, &oracle)
      if harness.landedKills.count > kills { landed[phase, default: 0] += 1 }
      life += 1
    }
    print("KillTests: \(life) lives, kills by phase \(landed.map { "\($0.key) \($0.value)" }.sorted())")
    for phase in Phase.allCases { #expect(landed[phase, default: 0] > 0, "no kill landed in \(phase)") }

    // And at the end, undisturbed, everything that was acknowledged is there.
    let terminal = try harness.start()
    try unlockIfNeeded(terminal)
    try terminal.wait(forText: "Diary.md")
    oracle.check(terminal.screen)
    terminal.type("\u{11}")
    _ = try terminal.waitForEnd()
  }

  /// What was typed, and what of it must not be lost.
  struct Oracle {
    var typed = ""
    /// How much was typed when the last receipt was seen, and when the one before it was.
    var atLastReceipt = 0
    var acknowledged = 0
    var lastStatus = ""

    /// Notes a receipt, if the status line shows a new one.
    mutating func watch(_ screen: ScreenEmulator) {
      guard let line = screen.text.split(separator: "\n").first(where: { $0.hasPrefix("save ") }) else { return }
      guard line != lastStatus else { return }
      lastStatus = String(line)
      acknowledged = max(acknowledged, atLastReceipt)
      atLastReceipt = typed.count
    }

    /// Compares a restored screen: a beginning of what was typed, with all that was acknowledged.
    func check(_ screen: ScreenEmulator) {
      let shown = Oracle.note(on: screen)
      #expect(typed.hasPrefix(shown), "the note holds something that was never typed: \(shown.suffix(40))")
      #expect(
        shown.count >= acknowledged, "acknowledged \(acknowledged) of \(typed.count) characters, found \(shown.count)")
      #expect(screen.complaints.isEmpty, "\(screen.complaints)")
    }

    /// The typed text as the editor shows it: rows of the note up to the file's own "end".
    static func note(on screen: ScreenEmulator) -> String {
      // The rows are joined before the end is looked for: it may itself be broken over two of them.
      let text = screen.text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).joined()
      return text.range(of: "end").map { String(text[..<$0.lowerBound]) } ?? text
    }
  }

  private func openNote(_ harness: DemoHarness, _ oracle: inout Oracle) throws {
    let terminal = try harness.start()
    try terminal.wait(forText: "Folders")
    try harness.setPasscode("0", in: terminal)
    terminal.type("\u{1B}OP\r")
    try terminal.wait(forText: "Diary.md")
    terminal.type("\r")
    try terminal.wait(forText: "end")
    terminal.type("\u{11}")
    #expect(try terminal.waitForEnd() == 0)
  }

  /// One life: start, unlock, check what came back, type until the kill lands or the life is long enough.
  private func live(
    _ harness: DemoHarness, _ kill: String, isLocking: Bool, _ random: inout SplitMix64, _ oracle: inout Oracle
  ) throws {
    try? FileManager.default.removeItem(atPath: harness.arm)
    let terminal = try harness.start(kill: kill, rows: 40)
    defer {
      terminal.send(SIGKILL)
      _ = try? terminal.waitForEnd()
      #expect(terminal.screen.complaints.isEmpty, "\(terminal.screen.complaints)")
    }
    do {
      try unlockIfNeeded(terminal)
      try terminal.wait(forText: "Diary.md")
    } catch is PseudoTerminal.Ended {
      return
    }
    _ = FileManager.default.createFile(atPath: harness.arm, contents: nil)
    oracle.check(terminal.screen)
    // What was not acknowledged may be lost; from here on the note is what the screen shows.
    oracle.typed = Oracle.note(on: terminal.screen)
    oracle.atLastReceipt = oracle.typed.count
    oracle.acknowledged = oracle.typed.count
    oracle.lastStatus = ""
    for _ in 0..<(isLocking ? 2 : 5) {
      guard terminal.isRunning else { return }
      let word = String((0..<Int(random.next() % 4 + 1)).map { _ in "abcdefgh".randomElement(using: &random) ?? "x" })
      oracle.typed += word
      terminal.type(word)
      for _ in 0..<4 {
        terminal.pump(milliseconds: 60)
        oracle.watch(terminal.screen)
      }
    }
    guard isLocking else { return }
    // A jot while locked is sealed one-way; the unlock promotes it, and there the kill lands.
    terminal.type("\u{0C}")
    do {
      try terminal.wait(forText: "Locked")
      terminal.type("\tjot")
      try terminal.wait(forText: "jot")
      terminal.pump(milliseconds: 500)
      terminal.type("\t0\r")
      try terminal.wait(forText: "Diary.md")
      terminal.pump(milliseconds: 400)
    } catch is PseudoTerminal.Ended {
      return
    }
  }

  private func unlockIfNeeded(_ terminal: PseudoTerminal) throws {
    try terminal.wait(forText: "Locked")
    terminal.type("0\r")
  }
}

/// A small generator of numbers that a seed repeats.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
