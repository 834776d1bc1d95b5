import DataProtection
import Foundation
import Glibc
import OwnThread
import Testing
import restore_inspect

/// The tool as a process of its own, on a real disk.
@Suite struct InspectProcessTests {
  @Test func `the program prints to the right places and ends with the right code`() async throws {
    let real = try await RealDevice()
    let keybag = try await InspectProcess.run(["keybag", real.path])
    #expect(keybag.code == 0 && keybag.output.contains("no passcode") && keybag.error.isEmpty)
    let other = try await InspectProcess.run(["tree", real.path, "--application", "nobody"])
    #expect(other.code == InspectExitCode.notFound.rawValue && other.output.isEmpty)
    #expect(other.error.hasPrefix("restore-inspect: ") && other.error.split(separator: "\n").count == 1)
    let usage = try await InspectProcess.run(["look"])
    #expect(usage.code == InspectExitCode.usage.rawValue && usage.output.isEmpty)
    let help = try await InspectProcess.run(["--help"])
    #expect(help.code == 0 && help.output == InspectHelp.text + "\n" && help.error.isEmpty)
  }

  @Test(arguments: InspectArguments.Verb.allCases)
  func `a device that another process holds open is read, and no byte, name or time changes`(
    verb: InspectArguments.Verb
  ) async throws {
    let real = try await RealDevice()
    let before = try real.contents()
    let result = try await InspectProcess.run([verb.rawValue, real.path, "--node", "root", "--json"])
    #expect(result.code == (verb == .diff ? 1 : 0), "\(result.error)")
    #expect(try real.contents() == before)
    try real.save("third")
    #expect(
      try await InspectProcess.run(["show", real.path, "--node", "root", "--node", "editor", "--reveal"]).output
        .contains(
          "third"))
  }

  @Test func `reading while another process saves disturbs neither`() async throws {
    let real = try await RealDevice()
    let (saves, saved) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let files = try real.device.files(in: "letters")
    // It never lets go of its thread.
    let saver = Task.detached(executorPreference: OwnThreads.shared) {
      var count = 0
      while !Task.isCancelled {
        count += 1
        try real.save("draft \(count)")
        let other = ArchiveSlot(application: "other", scene: "scene \(count % 3)", slot: "data")
        let store = try real.device.archives(for: other, protection: .none)
        let newest = try store.publish(Data("\(count)".utf8)).generation
        try store.append(Data("frame".utf8), to: newest)
        if count % 4 == 0 { try store.deleteAll() }
        try files.write(Data("letter \(count)".utf8), to: "letter \(count % 3)")
        if count % 5 == 0 { try files.delete("letter 0") }
        saved.yield()
      }
      return count
    }
    // However busy the machine is, the saver has had a turn before the first reading.
    for await _ in saves { break }
    for _ in 0..<8 {
      let verified = try await InspectProcess.run(["verify", real.path])
      #expect(verified.code == 0, "\(verified.output)\(verified.error)")
      let shown = try await InspectProcess.run(["show", real.path, "--node", "root", "--node", "editor", "--reveal"])
      #expect(shown.code == 0 && shown.output.contains("draft"), "\(shown.error)")
    }
    saver.cancel()
    #expect(try await saver.value > 0)
  }

  @Test func `the passcode is asked for without echo, and the terminal is given back`() async throws {
    let real = try await RealDevice(passcode: "correct horse")
    let terminal = try TerminalRun(["tree", real.path, "--passcode-prompt"])
    try await terminal.wait(for: "Passcode: ")
    #expect(!terminal.echoes)
    terminal.type("correct horse\n")
    #expect(try await terminal.waitForEnd() == 0)
    #expect(terminal.echoes)
    #expect(terminal.shown.contains("editor") && !terminal.shown.contains("horse"))
  }

  @Test(arguments: [("\u{3}", -SIGINT), ("\u{1C}", -SIGQUIT), ("\n", InspectExitCode.usage.rawValue)])
  func `a prompt that is left gives the echo back`(key: String, end: Int32) async throws {
    let real = try await RealDevice(passcode: "correct horse")
    let terminal = try TerminalRun(["tree", real.path, "--passcode-prompt"])
    try await terminal.wait(for: "Passcode: ")
    terminal.type(key)
    #expect(try await terminal.waitForEnd() == end)
    #expect(terminal.echoes)
  }

  @Test func `a signal to end at the prompt gives the echo back`() async throws {
    let real = try await RealDevice(passcode: "correct horse")
    let terminal = try TerminalRun(["tree", real.path, "--passcode-prompt"])
    try await terminal.wait(for: "Passcode: ")
    kill(terminal.processIdentifier, SIGTERM)
    #expect(try await terminal.waitForEnd() == -SIGTERM)
    #expect(terminal.echoes)
  }

  @Test func `without a terminal the prompt says so`() async throws {
    let real = try await RealDevice(passcode: "correct horse")
    let result = try await InspectProcess.shell(
      "exec setsid --wait \"$0\" tree \"$1\" --passcode-prompt < /dev/null", [real.path])
    #expect(result.code == InspectExitCode.usage.rawValue && result.error.contains("--passcode-fd"))
  }

  @Test func `the passcode comes from any descriptor, up to a line break, and a wrong one is only counted`()
    async throws
  {
    let real = try await RealDevice(passcode: "correct horse")
    let before = try real.contents()
    let right = try await InspectProcess.run(
      ["verify", real.path, "--passcode-fd", "0"], input: "correct horse\nnot this")
    #expect(right.code == 0, "\(right.error)")
    let third = try await InspectProcess.shell(
      "printf 'correct horse' > \"$1.passcode\"; \"$0\" tree \"$1\" --passcode-fd 3 3< \"$1.passcode\"; code=$?; "
        + "rm \"$1.passcode\"; exit $code", [real.path])
    #expect(third.code == 0 && third.output.contains("editor"), "\(third.error)")
    let wrong = try await InspectProcess.run(["tree", real.path, "--passcode-fd", "0"], input: "wrong cow\n")
    #expect(wrong.code == InspectExitCode.wrongPasscode.rawValue)
    #expect(!(wrong.error + wrong.output).contains("cow"))
    // A small number may be open: what another test opens at this moment is inherited.
    let closed = try await InspectProcess.run(["tree", real.path, "--passcode-fd", "999999999"])
    #expect(closed.code == InspectExitCode.usage.rawValue && closed.error.contains("999999999"))
    let after = try real.contents()
    // The counter is replaced, which changes its directory's time.
    #expect(Set(after.filter { before[$0.key] != $0.value }.keys) == ["attempts", "."])
    #expect(Set(after.keys) == Set(before.keys))
  }

  @Test func `memory is shielded before the passcode is read`() async throws {
    let real = try await RealDevice(passcode: "correct horse")
    let result = try await InspectProcess.run(
      ["tree", real.path, "--passcode-fd", "0"], input: "correct horse\n",
      whileWaiting: { identifier in
        // The process waits for its passcode, and has only so long to turn its core dumps off.
        let end = ContinuousClock.now + .seconds(20)
        var limits = ""
        while ContinuousClock.now < end {
          limits = (try? String(contentsOfFile: "/proc/\(identifier)/limits", encoding: .utf8)) ?? ""
          if limits.contains(#/Max core file size +0 +0 /#) { return }
        }
        Issue.record("core dumps are not off: \(limits)")
      })
    #expect(result.code == 0)
  }

  @Test func `colours are for terminals, and for nothing else`() async throws {
    let real = try await RealDevice()
    let escape = "\u{1B}["
    func shown(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> String {
      let terminal = try TerminalRun(arguments, environment: environment)
      #expect(try await terminal.waitForEnd() == 0)
      return terminal.shown
    }
    #expect(try await shown(["tree", real.path]).contains(escape))
    #expect(try await shown(["tree", real.path], ["NO_COLOR": ""]).contains(escape), "an empty one counts as none")
    #expect(try await !shown(["tree", real.path], ["NO_COLOR": "1"]).contains(escape))
    #expect(try await !shown(["tree", real.path], ["TERM": "dumb"]).contains(escape))
    #expect(try await !shown(["tree", real.path, "--json"]).contains(escape))
    #expect(try await !InspectProcess.run(["tree", real.path]).output.contains(escape))
  }

  @Test func `output that can't be written is no success`() async throws {
    let real = try await RealDevice()
    let result = try await InspectProcess.shell("\"$0\" tree \"$1\" --json > /dev/full", [real.path])
    #expect(result.code == InspectExitCode.unavailable.rawValue && result.error.contains("could not be written"))
  }

  @Test func `a reader that goes away is no reason to crash`() async throws {
    let real = try await RealDevice()
    let result = try await InspectProcess.shell("{ \"$0\" tree \"$1\"; echo $? >&2; } | true", [real.path])
    #expect(result.error == "0\n")
  }
}
