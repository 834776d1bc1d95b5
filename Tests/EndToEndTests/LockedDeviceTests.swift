import DataProtection
import Foundation
import StateRestoration
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The program on a locked device: tabs and lists are there at once, and what is secret comes with the passcode.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct LockedDeviceTests {
  private static let setPasscode = [
    "key f4", "key enter", "text 1234", "key enter", "text 1234", "key enter", "key f2",
  ]
  private static let openWork = ["key f2", "key down", "key enter", "key down", "key enter"]
  /// What is typed into Work.md, in front of its text; with characters of one and of two cells.
  private static let draft = "Bring: 한국 지도, cre\u{300}me, 😀 "

  /// A device with a passcode, and a draft in the editor of Plans/Work.md.
  private func prepare(_ options: [String] = []) async throws -> DemoHarness {
    let harness = try DemoHarness()
    let run = try await run(
      harness, options, Self.setPasscode + Self.openWork + ["text \(Self.draft)", "wait preserved", "kill"])
    #expect(run.status == -SIGKILL, "\(run.error)")
    return harness
  }

  private func run(_ harness: DemoHarness, _ options: [String] = [], _ script: [String]) async throws -> ProgramRun {
    try await harness.run(script, arguments: [harness.folder, "--state", harness.state] + options)
  }

  // MARK: - The screen

  @Test(arguments: [(24, 80), (12, 40), (24, 110)])
  func `the lock stands over the editor, and nothing moves at the unlock`(rows: Int, columns: Int) async throws {
    let harness = try await prepare()
    let size = "resize \(rows) \(columns)"
    let before = try await harness.run([size, "unlock 1234", "screen", "lock", "screen", "kill"])
    let (open, locked) = try screens(before.output, rows: rows)
    let after = try await harness.run([size, "screen", "unlock 1234", "screen"])
    let (asked, restored) = try screens(after.output, rows: rows)
    // At a locked start it shows what it shows when it is locked while it runs.
    #expect(asked == locked)
    #expect(restored == open)
    #expect(asked[0].hasPrefix("  Notes   Search   Settings"))
    #expect(asked[1] == " Folders › Plans › Work.md" && restored[1] == " Folders › Plans › Work.md •")
    let text = asked.joined(separator: "\n")
    #expect(text.contains("Type the passcode, then Enter.") && text.contains("⏎ unlock  Tab jot"))
    #expect(!text.contains("Bring") && !text.contains("Do."))
    // In two columns the list stands beside the lock.
    #expect(asked.contains { $0.hasPrefix("▸ Work.md") } == (columns >= 100))
  }

  @Test func `a list is seen and scrolls while locked, and its place is kept`() async throws {
    let harness = try DemoHarness(
      notes: Dictionary(uniqueKeysWithValues: (10..<60).map { ("Plans/\($0).md", "text") }))
    let down = Array(repeating: "key down", count: 30)
    _ = try await harness.run(Self.setPasscode + ["key enter"] + down + ["wait preserved", "kill"])
    let first = try await harness.run(["screen", "key up", "key pageup", "screen", "wait preserved", "kill"])
    let (asked, scrolled) = try screens(first.output)
    #expect(asked.contains("▸ 40.md") && asked.contains { $0.contains("Passcode:") })
    let row = try #require(scrolled.first { $0.hasPrefix("▸") })
    #expect(row < "▸ 39.md")
    let second = try await harness.run(["screen", "unlock 1234", "screen"])
    let (again, open) = try screens(second.output)
    #expect(again == scrolled)
    #expect(open.contains(row))
    // Beginning with the same row as before: more rows are seen, and none has moved.
    #expect(open[2] == again[2])
  }

  @Test func `with --hide-titles dots stand for all names, and the place is not told`() async throws {
    let options = ["--hide-titles"]
    let harness = try await prepare(options)
    let before = try await run(harness, options, ["unlock 1234", "screen", "lock", "screen", "kill"])
    let (open, locked) = try screens(before.output)
    let after = try await run(harness, options, ["screen", "key down", "unlock 1234", "screen"])
    let (asked, restored) = try screens(after.output)
    #expect(asked == locked && restored == open)
    #expect(asked[1...3] == [" Notes", "  ••••••••", "  ••••••••"])
    for name in ["Plans", "Work", "Trip", "Diary", "(2)", "▸"] {
      #expect(!asked.contains { $0.contains(name) }, "\(name)")
    }
    #expect(restored.contains { $0.hasPrefix(Self.draft) })
  }

  @Test func `the search, a sheet and what was jotted come with the passcode`() async throws {
    let harness = try await prepare()
    _ = try await harness.run([
      "unlock 1234", "key ctrl-n", "key ctrl-u", "text Journey.md", "key f3", "text cat", "wait preserved", "lock",
      "key tab", "text buy milk", "wait preserved", "kill",
    ])
    let run = try await harness.run(["screen", "unlock 1234", "screen"])
    let (asked, restored) = try screens(run.output)
    #expect(!asked.contains { $0.contains("cat") || $0.contains("milk") || $0.contains("Journey") })
    #expect(restored.contains(" Search: cat"))
    let later = try await harness.run([
      "unlock 1234", "key f2", "screen", "key escape", "key escape", "key escape", "screen",
    ])
    let (sheet, folders) = try screens(later.output)
    #expect(sheet.contains { $0.contains("Journey.md") })
    #expect(folders.contains(" ✎ buy milk"))
  }

  // MARK: - The bytes

  @Test func `without the passcode nobody reads a draft, a text, a search, a new name or a jot`() async throws {
    let harness = try DemoHarness(notes: ["Plans/Trip.md": "body-word\n"])
    let steps = [
      "key enter", "key enter", "text draft-word", "key ctrl-n", "key ctrl-u", "text name-word.md", "key f3",
      "text query-word", "background", "foreground", "wait preserved", "lock", "key tab", "text jot-word",
      "wait preserved", "kill",
    ]
    let run = try await harness.run(Self.setPasscode + steps)
    #expect(run.status == -SIGKILL, "\(run.error)")
    let bytes = try await Self.openedWithoutPasscode(harness.state)
    #expect(bytes.contains("Trip.md"), "the list's place can be read")
    for secret in ["draft-word", "body-word", "name-word", "query-word", "jot-word", "rename", "caret"] {
      #expect(!bytes.contains(secret), "\(secret)")
    }
  }

  @Test func `names that are hidden from now on go from what opens without the passcode`() async throws {
    let harness = try await prepare()
    #expect(try await Self.openedWithoutPasscode(harness.state).contains("Work.md"))
    let options = ["--hide-titles"]
    let run = try await run(harness, options, ["unlock 1234", "screen", "wait preserved", "kill"])
    #expect(run.output.contains(Self.draft))
    let bytes = try await Self.openedWithoutPasscode(harness.state)
    #expect(bytes.contains("notes-tab"))
    for secret in ["Work.md", "Trip.md", "Plans", "folders", "editor"] { #expect(!bytes.contains(secret), "\(secret)") }
    #expect(try await self.run(harness, options, ["unlock 1234", "screen"]).output.contains(Self.draft))
  }

  /// All that the files of a state hold for somebody who has the device's keys and no passcode.
  @concurrent private static func openedWithoutPasscode(_ state: String) async throws -> ReadableBytes {
    let device = try await ProtectedDevice.open(at: .directory(state))
    #expect(device.lockState == .locked)
    var found = ReadableBytes()
    for slot in ["archive", "snapshot"] {
      let store = try device.archives(
        for: ArchiveSlot(application: "restore-demo", scene: "main", slot: slot), protection: .none)
      for open in [store.openNewestParts, store.openPredecessorParts] {
        do throws(ProtectionError) {
          for part in try open().parts {
            guard let archive = part.archive else { continue }
            #expect(slot == "archive" && part.protection == .none)
            found.all += [try archive.readAll()] + archive.frames
          }
        } catch {
          #expect([.notFound, .locked].contains(error.code), "\(error)")
        }
      }
    }
    for file in try FileManager.default.subpathsOfDirectory(atPath: state) {
      found.all.append(FileManager.default.contents(atPath: state + "/" + file) ?? Data())
    }
    return found
  }

  /// Bytes to be looked through.
  private struct ReadableBytes {
    var all: [Data] = []

    func contains(_ text: String) -> Bool { all.contains { $0.firstRange(of: Data(text.utf8)) != nil } }
  }

  // MARK: - Kills

  /// When the kill switch begins to count.
  enum Moment: CaseIterable {
    /// From the start on, so that restoring what can be read is hit.
    case start
    /// Once the locked screen is there: then the list is scrolled and a line is jotted.
    case typing
    /// When the passcode is given, after all that.
    case unlock

    /// Where the kills land, as `kill-switch.c` reads it.
    var calls: [String] {
      switch self {
      case .start:
        ["restoring/pwrite:2:torn", "restoring/pwrite:6:after", "restoring/fdatasync:1:after", "openat:9:after"]
      case .typing:
        [
          "capturing/log:1:after", "pwrite:1:before", "pwrite:1:torn", "pwrite:2:torn", "fsync:1:after",
          "fdatasync:1:before", "renameat2:1:before", "renameat2:1:after", "renameat2:2:after",
        ]
      case .unlock:
        [
          "pwrite:1:torn", "pwrite:4:after", "fsync:2:before", "fdatasync:2:after", "renameat2:1:after",
          "renameat2:2:before", "restoring/pwrite:2:torn", "restoring/pwrite:9:after",
        ]
      }
    }
  }

  @Test(arguments: Moment.allCases)
  func `killed on a locked device, everything is back to the character after the passcode`(_ moment: Moment)
    async throws
  {
    var landed = 0
    for call in moment.calls {
      let harness = try await prepare()
      let terminal = try await harness.start(kill: call, isArmedLater: moment != .start, columns: 110)
      var isJotKept = false
      do {
        try await terminal.wait(forText: "Locked")
        if moment == .typing { harness.arm() }
        await terminal.type("\u{1B}[A\tbuy milk")
        try await terminal.wait(forText: "Jot: buy milk")
        try await terminal.wait(for: "a receipt") { $0.text.contains("save ") }
        // Twice the interval in which changes are gathered, without a word: all is acknowledged.
        while await terminal.pump(milliseconds: 600) {}
        isJotKept = terminal.isRunning
        if moment == .unlock { harness.arm() }
        await terminal.type("\t1234\r")
        try await terminal.wait(for: "the unlock") { !$0.text.contains("Locked") }
        harness.killNow()
        await terminal.type("\u{12}")
      } catch is PseudoTerminal.Ended {
        // The kill landed before.
      }
      #expect(try await terminal.waitForEnd() == -SIGKILL, "\(call)")
      landed += harness.landedKills.count
      try await checkEverything(
        harness, hasDiedRestoring: moment != .typing, isJotKept: isJotKept, "\(moment), \(call)")
    }
    #expect(landed > moment.calls.count / 2)
  }

  /// That a start after a kill shows the list, and after the passcode everything else.
  ///
  /// - Parameters:
  ///   - hasDiedRestoring: Whether the locked screen may be without the object at which restoring has died.
  ///   - isJotKept: Whether the whole jot was acknowledged.
  private func checkEverything(
    _ harness: DemoHarness, hasDiedRestoring: Bool, isJotKept: Bool, _ life: String
  ) async throws {
    for isLast in [false, true] {
      let terminal = try await harness.start(columns: 110)
      try await terminal.wait(forText: "Locked")
      while await terminal.pump(milliseconds: 20) {}
      let locked = terminal.screen.text
      #expect(!locked.contains("Bring") && !locked.contains("milk"), "\(life)")
      await terminal.type("1234\r")
      try await terminal.wait(for: "the unlock") { !$0.text.contains("Locked") }
      while await terminal.pump(milliseconds: 20) {}
      // The life before died while restoring an object: this start does without it, and the next one has it.
      if terminal.screen.text.contains("is left out"), !isLast {
        try await terminal.quit()
        continue
      }
      let lines = terminal.screen.text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(locked.contains(hasDiedRestoring ? " Folders" : " Folders › Plans › Work.md"), "\(life): \(locked)")
      #expect(lines[1] == " Folders › Plans › Work.md •", "\(life): \(terminal.screen.text)")
      #expect(lines[2...4].contains { $0.hasSuffix("│ " + Self.draft + "Do.") }, "\(life): \(terminal.screen.text)")
      #expect(terminal.screen.cursor.row == 2, "\(life)")
      await terminal.type("\u{1B}[D\u{1B}")
      try await terminal.wait(for: "the list") { $0.text.contains(" Folders › Plans\n") }
      await terminal.type("\u{1B}")
      try await terminal.wait(for: "the folders") { $0.text.contains(" Folders\n") }
      let jot = terminal.screen.text.split(separator: "\n").first { $0.hasPrefix(" ✎ ") }.map { $0.dropFirst(3) }
      #expect("buy milk".hasPrefix(jot ?? "") && (!isJotKept || jot == "buy milk"), "\(life): \(jot ?? "no jot")")
      try await terminal.quit()
      return
    }
  }

  // MARK: - Screens

  /// The two screens that a script has printed, without the status line, which tells of saves.
  private func screens(_ output: String, rows: Int = 24) throws -> ([Substring], [Substring]) {
    let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines.count == 2 * rows + 1, "\(output)")
    func body(_ first: Int) -> [Substring] {
      var body = Array(lines[first..<first + rows])
      body.remove(at: rows - 2)
      return body
    }
    return (body(0), body(rows))
  }
}
