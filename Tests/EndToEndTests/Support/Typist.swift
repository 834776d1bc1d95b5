import Foundation
import SeededRandom
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Somebody who types into a note of the program through its terminal, and keeps a log of what was typed and which
/// receipts were shown: the oracle of the kill tests.
///
/// The program's log has a line when a capture begins and one when it is preserved; captures don't overlap. So when a
/// receipt appears, all of the note that stood on the screen before its capture began is acknowledged, and every later start
/// must show it. What was typed after that may be lost, but nothing else may be in its place.
struct Typist {
  let harness: DemoHarness
  /// The note as it was typed so far, where nothing is lost.
  private var typed = ""
  /// How much of it must not be lost.
  private var acknowledged = 0
  /// How much of it was on the screen when so many captures had begun: the next one has at least that.
  private var shown: [(count: Int, captures: Int)] = []
  private var lastReceipt = ""
  /// How many receipts were seen.
  private(set) var acknowledgements = 0
  /// How the life before ended, for a failure's message.
  private var lastLife = "the beginning"

  /// Sets a passcode and opens the note, whose file says only "end".
  init(_ harness: DemoHarness) async throws {
    self.harness = harness
    let terminal = try await harness.start()
    try await terminal.wait(forText: "Folders")
    try await harness.setPasscode("0", in: terminal)
    await terminal.type("\u{1B}OQ\r")
    try await terminal.wait(forText: "Diary.md")
    await terminal.type("\r")
    try await terminal.wait(forText: "end")
    await terminal.type("\u{11}")
    #expect(try await terminal.waitForEnd() == 0)
  }

  // MARK: - Lives

  /// One life: start, unlock, check what came back, type until the kill lands or the life is long
  /// enough, then cut.
  ///
  /// - Parameter hasSecond: Whether a second instance is started and typed into meanwhile; by the seed it is killed first.
  mutating func live(
    phase: KillPhase, kill: String, cut: PowerCut, seed: UInt64, hasSecond: Bool = false
  ) async throws {
    let terminal = try await harness.start(
      kill: kill, isArmedLater: phase.isArmedLater, power: cut.variable, rows: 40)
    var second: PseudoTerminal?
    do {
      if phase == .jot {
        try await jot(terminal)
        throw PseudoTerminal.Ended()
      }
      var random = SplitMix64(seed: seed)
      let told = try await unlock(terminal)
      // The life before died restoring a node: this one does without it and must not cost what is left out.
      if told.contains("is left out") { throw PseudoTerminal.Ended() }
      try await waitForNote(in: terminal, told)
      takeUp(terminal.screen)
      if hasSecond { second = try await startSecond() }
      if phase != .promotion { harness.arm() }
      for number in 0..<(phase.isLocking ? 3 : 10) {
        let word = (0..<Int(random.next() % 4 + 1)).map { _ in "abcdefgh".randomElement(using: &random) ?? "x" }
        try await type(String(word), into: terminal)
        await second?.type("z")
        if number == 3, seed % 2 == 0 { second?.send(SIGKILL) }
      }
      if phase.isLocking { try await lockAndJot(terminal, armsAtUnlock: phase == .promotion) }
    } catch is PseudoTerminal.Ended {
      // The kill landed while somebody waited for something.
    }
    try await end(terminal, "\(kill), \(cut)\(hasSecond ? ", beside a second instance" : "")")
    guard let second else { return }
    while await second.pump(milliseconds: 50) {}
    if case .none = cut, seed % 2 == 1 { #expect(second.isRunning) }
    try await second.killProgram()
    #expect(second.screen.complaints.isEmpty, "\(second.screen.complaints)")
  }

  /// Starts a second instance, which begins anew, and opens the note; it preserves nothing.
  private func startSecond() async throws -> PseudoTerminal {
    let second = try await harness.start(rows: 40)
    try await unlock(second)
    try await second.wait(forText: "Folders")
    await second.type("\r")
    try await second.wait(forText: "Diary.md")
    await second.type("\r")
    try await second.wait(forText: "end")
    return second
  }

  /// One life while the note's file is away, so that its editor is not made and nobody asks for its state.
  mutating func liveWithoutNote(cut: PowerCut, seed: UInt64) async throws {
    let note = harness.folder + "/Diary.md"
    let away = harness.folder + "/.away"
    try FileManager.default.moveItem(atPath: note, toPath: away)
    let terminal = try await harness.start(kill: "none:1:before", power: cut.variable, rows: 40)
    let told = try await unlock(terminal)
    // Diary.md is all there was: where the list is asked for before the editor, it is the folder that is told of.
    let truths = ["Diary.md is gone", "holds no notes any more", "is left out"]
    #expect(truths.contains { told.contains($0) }, "after \(lastLife): \(told)")
    // Something else changes and is preserved, so that what nobody asked for has to be carried over.
    await terminal.type("\u{1B}OR")
    try await terminal.wait(forText: "Search:")
    await terminal.type("\u{15}\(seed % 1000)")
    try await terminal.wait(for: "a receipt") { Self.receipt(on: $0) != nil }
    try await end(terminal, "the note was away, \(cut)")
    try FileManager.default.moveItem(atPath: away, toPath: note)
  }

  /// And at the end, undisturbed, everything that was acknowledged is there.
  mutating func checkUndisturbed() async throws {
    var terminal = try await harness.start(rows: 40)
    var told = try await unlock(terminal)
    if told.contains("is left out") {
      // The last life died restoring a node: this one does without it, and has to leave it for the next.
      await terminal.type("\u{11}")
      #expect(try await terminal.waitForEnd() == 0)
      terminal = try await harness.start(rows: 40)
      told = try await unlock(terminal)
    }
    try await waitForNote(in: terminal, told)
    takeUp(terminal.screen)
    await terminal.type("\u{11}")
    #expect(try await terminal.waitForEnd() == 0)
  }

  /// Unlocks and goes to the notes: a life may have ended in another tab.
  ///
  /// - Returns: What the status line said about the restoration, before a key took it away.
  @discardableResult
  private func unlock(_ terminal: PseudoTerminal) async throws -> String {
    try await terminal.wait(forText: "Locked")
    await terminal.type("0\r")
    // A terminal hands over 4 KiB at a time: the status line has come once the hints below it have.
    try await terminal.wait(for: "the unlock") { !$0.text.contains("Locked") && !$0.text.contains("⏎ unlock") }
    while await terminal.pump(milliseconds: 20) {}
    let rows = terminal.screen.text.split(separator: "\n", omittingEmptySubsequences: false)
    await terminal.type("\u{1B}OQ")
    return String(rows[rows.count - 2])
  }

  /// Waits until the note is shown; otherwise the failure names the life before, and what was said of the restoration.
  private func waitForNote(in terminal: PseudoTerminal, _ told: String) async throws {
    try await terminal.wait(for: "Diary.md after \(lastLife), with \"\(told)\"") { $0.text.contains("Diary.md") }
  }

  /// Jots on a device that is locked from the start, and lets the program save it.
  private func jot(_ terminal: PseudoTerminal) async throws {
    try await terminal.wait(forText: "Locked")
    harness.arm()
    await terminal.type("\tjot")
    try await terminal.wait(forText: "Jot: jot")
    try await terminal.wait(for: "a receipt") { Self.receipt(on: $0) != nil }
    harness.killNow()
    await terminal.type("s")
  }

  /// A jot while locked is sealed one-way; the save after the unlock joins it.
  private func lockAndJot(_ terminal: PseudoTerminal, armsAtUnlock: Bool) async throws {
    try await harness.lock(terminal)
    await terminal.type("\tjot")
    try await terminal.wait(forText: "Jot: jot")
    await terminal.pump(milliseconds: 700)
    if armsAtUnlock { harness.arm() }
    await terminal.type("\t0\r")
    try await terminal.wait(for: "the unlock") { !$0.text.contains("Locked") }
    await terminal.pump(milliseconds: 400)
  }

  private mutating func end(_ terminal: PseudoTerminal, _ life: String) async throws {
    lastLife = life
    if terminal.isRunning {
      // The next write, if only that of the screen, is the last; and then the power is cut.
      harness.killNow()
      await terminal.type("\u{12}")
    }
    #expect(try await terminal.waitForEnd() == -SIGKILL)
    #expect(terminal.screen.complaints.isEmpty, "\(terminal.screen.complaints)")
  }

  // MARK: - The log

  private mutating func type(_ word: String, into terminal: PseudoTerminal) async throws {
    typed += word
    await terminal.type(word)
    // Long enough for a save to begin, short enough for words to be typed during one.
    for _ in 0..<4 {
      await terminal.pump(milliseconds: 60)
      watch(terminal.screen)
    }
    guard terminal.isRunning else { throw PseudoTerminal.Ended() }
  }

  /// Notes a receipt, if the status line shows a new one.
  private mutating func watch(_ screen: ScreenEmulator) {
    guard !screen.isUpdating else { return }
    // The log is read after the screen: whatever capture it doesn't have yet begins later than what is shown.
    let log = harness.logLines
    shown.append((Self.note(on: screen).count, log.count { $0.hasSuffix("capturing") }))
    guard let receipt = Self.receipt(on: screen), receipt != lastReceipt else { return }
    lastReceipt = receipt
    acknowledgements += 1
    guard let end = log.lastIndex(where: { $0.contains("preserved generation") }) else { return }
    let capture = log[..<end].count { $0.hasSuffix("capturing") }
    acknowledged = shown.reduce(acknowledged) { $1.captures < capture ? max($0, $1.count) : $0 }
  }

  /// Compares a restored screen: a beginning of what was typed, with all that was acknowledged; and goes on from there.
  private mutating func takeUp(_ screen: ScreenEmulator) {
    let shown = Self.note(on: screen)
    #expect(typed.hasPrefix(shown), "after \(lastLife): something that was never typed: …\(shown.suffix(40))")
    #expect(
      shown.count >= acknowledged,
      "after \(lastLife): acknowledged were \(acknowledged) of \(typed.count) characters, found \(shown.count)")
    #expect(Self.offset(ofCursorOn: screen) == shown.count, "after \(lastLife): the caret is not where it was")
    typed = shown
    acknowledged = shown.count
    self.shown = []
    lastReceipt = Self.receipt(on: screen) ?? ""
  }

  private static func receipt(on screen: ScreenEmulator) -> String? {
    screen.text.split(separator: "\n").first { $0.hasPrefix("save ") }.map(String.init)
  }

  /// The typed text as the editor shows it: the rows of the note up to the file's own "end".
  ///
  /// The rows are joined before the end is looked for: it may itself be broken over two of them.
  private static func note(on screen: ScreenEmulator) -> String {
    let text = screen.text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).joined()
    return text.range(of: "end").map { String(text[..<$0.lowerBound]) } ?? text
  }

  /// Where the cursor stands in the note, which is one long line broken at 79 columns.
  private static func offset(ofCursorOn screen: ScreenEmulator) -> Int {
    (screen.cursor.row - 2) * 79 + screen.cursor.column
  }
}
