import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The program driven by scripts, with nothing but what its help says.
@Suite(.serialized) struct ScriptTests {
  private static let setPasscode = [
    "key f4", "key enter", "text 1234", "key enter", "text 1234", "key enter", "key f2",
  ]
  private static let openTrip = ["key f2", "key down", "key enter", "key enter"]

  @Test func `locked, killed, started again, unlocked: the screen is the same`() async throws {
    let harness = try DemoHarness()
    let steps = Self.setPasscode + Self.openTrip + ["text Bring: 한국 지도, cre\u{300}me, 😀👨‍👩‍👧", "key enter", "text more"]
    let before = try await harness.run(steps + ["wait preserved", "screen", "lock", "screen", "kill"])
    #expect(before.status == -SIGKILL && before.error.isEmpty)
    let (open, locked) = try screens(before.output)
    #expect(open.contains("Bring: 한국 지도, cre\u{300}me, 😀👨‍👩‍👧") && open.contains("more"))
    #expect(locked.contains("Locked") && locked.contains("Folders › Plans › Trip.md\n") && !locked.contains("more"))

    let after = try await harness.run(["screen", "unlock 1234", "screen"])
    #expect(after.status == 0)
    let (asked, restored) = try screens(after.output)
    #expect(body(asked) == body(locked))
    #expect(body(restored) == body(open))
  }

  @Test func `a wrong passcode is told on the screen, and the script goes on`() async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(Self.setPasscode + ["text x", "wait preserved"])
    let tries = try await harness.run((1...5).flatMap { ["unlock wrong \($0)", "screen"] })
    #expect(tries.status == 0)
    #expect(tries.output.contains("The passcode is wrong"))
    // Five wrong ones in a row cost a minute, in the next process too: the right one is not even looked at. Where the next
    // process takes a minute to start, the sixth wrong one is looked at, and costs five minutes.
    let delayed = try await harness.run(["unlock wrong 6", "unlock 1234", "screen"])
    #expect(delayed.status == 0)
    #expect(delayed.output.contains("Locked") && !delayed.output.contains("The passcode is wrong"))
    #expect(delayed.output.contains("Too many wrong passcodes; none is checked"), "\(delayed.output)")
  }

  @Test func `leaving while locked leaves every byte of the state`() async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(Self.setPasscode + Self.openTrip + ["text draft", "wait preserved", "kill"])
    let before = try harness.stateBytes()
    for script in [["screen"], ["report", "status", "quit"], ["key ctrl-q"], ["kill"]] {
      _ = try await harness.run(script)
      // There may be a marker of the restoration, and a snapshot.
      let after = try harness.stateBytes()
      #expect(before.filter { after[$0.key] != $0.value }.isEmpty, "\(script)")
    }
  }

  @Test(arguments: ["key f1", "key ?"]) func `the help says what the keys do, and any key closes it`(_ key: String)
    async throws
  {
    let harness = try DemoHarness()
    let run = try await harness.run([key, "screen", "key escape", "screen"])
    let (help, after) = try screens(run.output)
    #expect(help.contains("Help (any key closes)") && help.contains("F2 Notes, F3 Search, F4 Settings"))
    #expect(!after.contains("Help (any key closes)") && after.contains("F1 help"))
    // Where something is typed, a question mark is one.
    #expect(try await harness.run(["key f3", "key ?", "screen"]).output.contains("Search: ?"))
  }

  @Test func `the mouse chooses, opens and goes to a tab`() async throws {
    let keys = try await DemoHarness().run(["key down", "key enter", "screen"])
    let mouse = try await DemoHarness().run(["key f3", "click 1 3", "click 4 5", "click 4 5", "screen"])
    #expect(keys.output.contains("Plans"))
    #expect(body(keys.output) == body(mouse.output))
  }

  @Test func `waiting for a save that nothing needs returns at once`() async throws {
    let harness = try DemoHarness()
    #expect(try await harness.run(["wait preserved", "wait preserved"]).status == 0)
    #expect(try await harness.run(["wait preserved"]).status == 0)
    let again = try await harness.run(["key f3", "text a", "wait preserved", "status", "wait preserved", "status"])
    #expect(again.status == 0)
    let lines = again.output.split(separator: "\n")
    #expect(lines.count == 2 && lines[0] == lines[1] && lines[0].hasPrefix("save "), "\(again.output)")
  }

  @Test func `a force quit forgets, and a crash doesn't`() async throws {
    let harness = try DemoHarness()
    let crashed = try await harness.run(["key f3", "text needle", "wait preserved", "crash"])
    #expect(crashed.status == -SIGABRT)
    #expect(try await harness.run(["screen"]).output.contains("Search: needle"))
    #expect(try await harness.run(["force-quit", "screen"]).output.isEmpty)
    let fresh = try await harness.run(["key f3", "screen", "report"])
    #expect(!fresh.output.contains("needle") && fresh.output.contains("nothing stored yet"))
  }

  @Test func `a draft stays with its note, whatever happens to the others`() async throws {
    let harness = try DemoHarness(notes: ["A.md": "first\n", "B.md": "second\n", "C.md": "third\n"])
    _ = try await harness.run(["key enter", "key down", "key enter", "text draft ", "wait preserved", "kill"])
    let folder = harness.folder
    // B is renamed, a new B stands in its place, and A is gone.
    try FileManager.default.moveItem(atPath: folder + "/B.md", toPath: folder + "/Z.md")
    try Data("other\n".utf8).write(to: URL(fileURLWithPath: folder + "/B.md"))
    try FileManager.default.removeItem(atPath: folder + "/A.md")
    let moved = try await harness.run(["screen", "key escape", "screen", "key home", "key enter", "screen"])
    #expect(moved.status == 0)
    let all = screenList(moved.output)
    #expect(all[0].contains("Z.md •") && all[0].contains("draft second"))
    #expect(all[1].contains("▸ Z.md"))
    #expect(all[2].contains("B.md") && all[2].contains("other") && !all[2].contains("draft"))
  }

  @Test func `a deleted note ends the stack one earlier, and its state waits for its return`() async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(Self.openTrip + ["text draft", "wait preserved"])
    let trip = harness.folder + "/Plans/Trip.md"
    try FileManager.default.moveItem(atPath: trip, toPath: harness.folder + "/.away")
    let without = try await harness.run(["status", "screen", "report", "key f3", "text q", "wait preserved", "kill"])
    #expect(without.output.hasPrefix("Plans/Trip.md is gone, so its editor did not come back (^R)\n"))
    #expect(without.output.contains("▸ Work.md") && without.output.contains("✗ editor"))
    try FileManager.default.moveItem(atPath: harness.folder + "/.away", toPath: trip)
    let back = try await harness.run(["key f2", "screen"])
    #expect(back.output.contains("draftPack."), "\(back.output)")
  }

  @Test(arguments: [
    "frobnicate", "key nonsense", "key", "text", "unlock", "wait for it", "resize 0 0", "resize 99999999999999999999 1",
    "lock now", " screen",
  ])
  func `a line that is no command is named, and nothing is performed`(line: String) async throws {
    let harness = try DemoHarness()
    let run = try await harness.run(["key f3", "text typed", "# a remark", "", line, "screen"])
    #expect(run.status == 1 && run.output.isEmpty)
    #expect(run.error == "restore-demo: line 5 of the script is no command: \(line)\n")
    #expect(!FileManager.default.fileExists(atPath: harness.state))
  }

  @Test func `what can't be done ends the script, and its line is named`() async throws {
    let harness = try DemoHarness()
    let run = try await harness.run(["screen", "foreground", "screen"])
    #expect(run.status == 1)
    #expect(run.error.hasPrefix("restore-demo: line 2 of the script failed: "), "\(run.error)")
    #expect(screenList(run.output).count == 1)
  }

  @Test func `locking without a passcode is told, and unlocking what is open`() async throws {
    let harness = try DemoHarness()
    let run = try await harness.run(["lock", "status", "unlock 1", "status"])
    #expect(run.status == 0)
    #expect(
      run.output == "there is no passcode yet: set one in Settings, then lock\nthe device is not locked\n")
  }

  // MARK: - Screens

  private func screenList(_ output: String) -> [String] {
    let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
    return stride(from: 0, to: lines.count - 23, by: 24).map { lines[$0..<$0 + 24].joined(separator: "\n") }
  }

  private func screens(_ output: String) throws -> (String, String) {
    let all = screenList(output)
    try #require(all.count == 2, "\(output)")
    return (all[0], all[1])
  }

  /// Without the status line, which tells of saves.
  private func body(_ screen: String) -> [Substring] {
    var lines = screen.split(separator: "\n", omittingEmptySubsequences: false)
    lines.remove(at: lines.count - 2)
    return lines
  }
}
