import Foundation
import TestTraits
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the program is given and can't use: each one line that says what is wrong and what to do, and nothing destroyed.
@Suite(.serialized) struct BadInputTests {
  /// That a run ended with one line on standard error, and that it says this.
  private func expect(
    _ run: ProgramRun, says text: String, status: Int32 = 1, location: SourceLocation = #_sourceLocation
  ) {
    #expect(run.status == status, sourceLocation: location)
    #expect(run.output.isEmpty, sourceLocation: location)
    #expect(run.error.hasPrefix("restore-demo: ") && run.error.hasSuffix("\n"), sourceLocation: location)
    #expect(run.error.split(separator: "\n").count == 1, "\(run.error)", sourceLocation: location)
    #expect(run.error.contains(text), "\(run.error)", sourceLocation: location)
  }

  // MARK: - The folder

  @Test func `a folder that doesn't exist, is none or is nameless`() async throws {
    let harness = try DemoHarness()
    for (folder, text) in [
      (harness.folder + "/none", "No such file or directory. Name a folder that exists."),
      (harness.folder + "/Diary.md", "is not a folder. Name the folder that holds the notes."),
      (harness.folder + "/Diary.md/x", "Not a directory. Name a folder that exists."),
      ("", "Name a folder that exists."),
      (String(repeating: "x", count: 5000), "File name too long. Name a folder that exists."),
    ] {
      expect(try await harness.run([], arguments: [folder, "--state", harness.state]), says: text)
    }
    #expect(!FileManager.default.fileExists(atPath: harness.state))
  }

  @Test(.enabled(if: geteuid() == 0, "as root, to become somebody else"))
  func `a folder that can't be read`() async throws {
    let harness = try DemoHarness()
    #expect(unsafe chmod(harness.folder, 0o700) == 0)
    // The program is where somebody else may not reach it, so it is started from a copy. Another process makes it: a child
    // that a test beside this one starts could keep it open for writing.
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString)").path
    #expect(try await ProgramRun("/bin/cp", [DemoHarness.program, copy]).status == 0)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let run = try await ProgramRun(
      "/usr/bin/env",
      ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy, harness.folder, "--script", "/dev/null"],
      environment: ["SWIFT_BACKTRACE": "enable=no"], directory: "/")
    expect(run, says: "can't be read: Permission denied. Check its permissions.")
  }

  @Test func `binary, huge and endless files are listed, told and not opened`() async throws {
    let harness = try DemoHarness(notes: [
      "1 line.md": String(repeating: "x", count: 1_000_000), "2 binary.md": "a\0b", "4 empty.md": "",
    ])
    let sparse = try FileHandle(forWritingTo: newFile(harness.folder + "/3 huge.md"))
    try sparse.truncate(atOffset: 200 << 20)
    try sparse.close()
    try Data([0xFF, 0xFE, 0x41]).write(to: newFile(harness.folder + "/5 not UTF-8.md"))
    try Data(repeating: 0x79, count: 10_000_000).write(to: newFile(harness.folder + "/6 ten million.md"))
    #expect(unsafe mkfifo(harness.folder + "/7 pipe.md", 0o600) == 0)
    #expect(unsafe symlink("/etc/passwd", harness.folder + "/8 link.md") == 0)
    let openNext = ["key down", "key enter", "status"]
    let run = try await harness.run(
      ["key enter", "screen", "key enter", "text y", "screen", "key escape"] + openNext + openNext + openNext
        + ["key escape"] + openNext + openNext + ["key f3", "text xxxxx", "screen"])
    #expect(run.status == 0, "\(run.error)")
    #expect(!run.output.contains("7 pipe") && !run.output.contains("8 link"))
    #expect(run.output.contains("yxxxxxxxx"))
    for line in [
      "2 binary.md is not a text file, so it is not opened",
      "3 huge.md has 200 MiB; notes of up to 4 MiB can be opened",
      "5 not UTF-8.md is not a text file, so it is not opened",
      "6 ten million.md has 9 MiB; notes of up to 4 MiB can be opened",
    ] {
      #expect(run.output.contains("\n\(line)\n"), "\(line) in \(run.output)")
    }
  }

  // MARK: - The command line

  @Test func `unusable arguments end with 2`() async throws {
    let harness = try DemoHarness()
    for (arguments, text) in [
      (["--frobnicate"], "--frobnicate is not an option. See restore-demo --help."),
      (["--state"], "--state needs a value. See restore-demo --help."),
      (["a", "b"], "one folder at a time: b is one too many"),
      (
        [harness.folder, "--state", harness.state, "--script", "/nonexistent"], "the script /nonexistent can't be read"
      ),
      ([harness.folder, "--state", harness.state, "--script", "/"], "the script / can't be read"),
      ([harness.folder, "--state", harness.state], "standard input or output is not a terminal"),
    ] {
      let run = try await ProgramRun(DemoHarness.program, arguments, environment: ["SWIFT_BACKTRACE": "enable=no"])
      expect(run, says: text, status: 2)
    }
    #expect(!FileManager.default.fileExists(atPath: harness.state))
  }

  // MARK: - The state directory

  @Test func `a state directory that is a file, a link, everybody's or below a file`() async throws {
    let harness = try DemoHarness()
    let state = harness.state
    try Data("mine".utf8).write(to: newFile(state))
    expect(try await harness.run([]), says: "is a link or no directory; choose a directory of your own.")
    #expect(FileManager.default.contents(atPath: state) == Data("mine".utf8))
    expect(
      try await harness.run([], arguments: [harness.folder, "--state", state + "/below"]), says: "choose")

    try FileManager.default.removeItem(atPath: state)
    try FileManager.default.createDirectory(atPath: state + ".real", withIntermediateDirectories: false)
    #expect(unsafe symlink(state + ".real", state) == 0)
    expect(try await harness.run([]), says: "is a link or no directory; choose a directory of your own.")
    #expect(try FileManager.default.contentsOfDirectory(atPath: state + ".real").isEmpty)

    #expect(unsafe unlink(state) == 0 && rename(state + ".real", state) == 0 && chmod(state, 0o777) == 0)
    expect(try await harness.run([]), says: "is open to others; give it mode 0700")
    #expect(try FileManager.default.contentsOfDirectory(atPath: state).isEmpty)
  }

  @Test(.enabled(if: geteuid() == 0, "as root, to give the directory away"))
  func `a state directory of somebody else`() async throws {
    let harness = try DemoHarness()
    try FileManager.default.createDirectory(atPath: harness.state, withIntermediateDirectories: false)
    #expect(unsafe chmod(harness.state, 0o700) == 0 && chown(harness.state, 1234, 1234) == 0)
    expect(try await harness.run([]), says: "belongs to user 1234; choose a directory of your own.")
    #expect(try FileManager.default.contentsOfDirectory(atPath: harness.state).isEmpty)
  }

  @Test(.enabled(if: SmallDisk.isPossible, "as root, to mount a disk"))
  func `a full disk before the start, and one that fills up later`() async throws {
    let harness = try DemoHarness()
    let disk = try SmallDisk(at: harness.state, kilobytes: 256)
    defer { disk.unmount() }
    try disk.fill()
    // Who changes nothing loses nothing.
    let idle = try await harness.run([])
    #expect(idle.status == 0 && idle.error.isEmpty, "\(idle.error)")
    let early = try await harness.run(["key f3", "text early", "wait preserved"])
    #expect(early.status == 1)
    #expect(early.error.contains("No space left on device: make room, or choose another place with --state."))
    try disk.makeRoom()
    _ = try await harness.run(["key f3", "text kept", "wait preserved"])
    try disk.fill()
    let full = try await harness.run(["text more", "screen", "wait preserved"])
    #expect(full.status == 1)
    #expect(full.error.contains("No space left on device: make room"), "\(full.error)")
    #expect(full.error.split(separator: "\n").count == 1)
    try disk.makeRoom()
    let after = try await harness.run(["screen"])
    #expect(after.status == 0 && after.output.contains("Search: kept"), "\(after.output)")
  }

  @Test(.enabled(if: SmallDisk.isPossible, "as root, to mount a disk"))
  func `a disk that can't be written`() async throws {
    let harness = try DemoHarness()
    let disk = try SmallDisk(at: harness.state, kilobytes: 256)
    defer { disk.unmount() }
    _ = try await harness.run(["key f3", "text kept", "wait preserved"])
    let before = try harness.stateBytes()
    try disk.remount(isReadOnly: true)
    expect(
      try await harness.run(["screen"]),
      says: "Read-only file system: choose a place that can be written with --state.")
    try disk.remount(isReadOnly: false)
    #expect(try harness.stateBytes() == before)
  }

  @Test func `a file size limit while saving`() async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(["key f3", "text kept", "wait preserved", "kill"])
    let script = FileManager.default.temporaryDirectory.appendingPathComponent("script-\(UUID().uuidString)").path
    try Data("text more\nwait preserved\n".utf8).write(to: newFile(script))
    defer { try? FileManager.default.removeItem(atPath: script) }
    let run = try await ProgramRun(
      "/bin/sh",
      [
        "-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"", DemoHarness.program, harness.folder, "--state",
        harness.state, "--script", script,
      ],
      environment: ["SWIFT_BACKTRACE": "enable=no"])
    #expect(run.status == 1, "\(run.output)")
    let after = try await harness.run(["screen"])
    #expect(after.output.contains("Search: kept"), "\(after.output)")
  }

  // MARK: - Damaged and newer files

  @Test func `damaged keys are named, and nothing is touched`() async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(["key f3", "text kept", "wait preserved"])
    for (file, offset, text) in [
      ("keybag", 5, "The keybag is damaged; put a good copy back, or erase the device."),
      ("keybag", 300, "The keybag is damaged"), ("effaceable", 40, "The keybag's key is damaged"),
      ("device.key", 3, "put that key back, or erase and begin anew."),
    ] {
      let path = try #require(try harness.stateFile(beginning: file))
      try flip(path, offset)
      let before = try harness.stateBytes()
      expect(try await harness.run(["screen"]), says: text)
      #expect(try harness.stateBytes() == before)
      try flip(path, offset)
    }
    #expect(try await harness.run(["screen"]).output.contains("Search: kept"))
    for file in ["keybag", "effaceable", "device.key"] {
      let path = try #require(try harness.stateFile(beginning: file))
      try FileManager.default.moveItem(atPath: path, toPath: harness.folder + "/.away")
      let before = try harness.stateBytes()
      let run = try await harness.run(["screen"])
      #expect(run.status == 1 && run.error.split(separator: "\n").count == 1, "\(file): \(run.error)")
      #expect(try harness.stateBytes() == before, "\(file)")
      try FileManager.default.moveItem(atPath: harness.folder + "/.away", toPath: path)
    }
    #expect(try await harness.run(["screen"]).output.contains("Search: kept"))
  }

  @Test func `a damaged archive is set aside and told; nothing of it is deleted`() async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(["key f3", "text kept", "wait preserved", "kill"])
    // The first file has what is not secret, and the root.
    let path = try #require(try harness.stateFiles(beginning: "g-").first)
    try flip(path, 400)
    let bytes = try #require(FileManager.default.contents(atPath: path))
    let run = try await harness.run(["status", "key f3", "text new", "wait preserved", "screen"])
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("what was preserved is damaged: it is set aside, and this is a new beginning (^R)\n"))
    #expect(try harness.stateBytes().values.contains(bytes))
    #expect(try await harness.run(["screen"]).output.contains("Search: new"))
  }

  @Test func `damage of what is secret is told, and the rest comes back`() async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(["key f3", "text kept", "wait preserved", "kill"])
    let path = try #require(try harness.stateFiles(beginning: "g-").last)
    try flip(path, 400)
    let bytes = try #require(FileManager.default.contents(atPath: path))
    let run = try await harness.run(["status", "screen", "text new", "wait preserved"])
    #expect(run.status == 0)
    let line = "a part of what was preserved is damaged: it is set aside, and the rest is back (^R)\n"
    #expect(run.output.hasPrefix(line), "\(run.output)")
    // The tab is not secret, and what is looked for is.
    #expect(run.output.contains("Type what to look for."))
    #expect(try harness.stateBytes().values.contains(bytes))
    #expect(try await harness.run(["screen"]).output.contains("Search: new"))
  }

  @Test func `damaged changes are told, and the generation below them comes back`() async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(
      ["key f3", "text first", "wait preserved", "text second", "wait preserved", "kill"])
    let path = try #require(try harness.stateFiles(beginning: "g-").last)
    // The frames begin behind the base, of which the header tells the length.
    let header = [UInt8](try #require(FileManager.default.contents(atPath: path)).prefix(78))
    let length = header[72..<78].reversed().reduce(0) { $0 << 8 | Int($1) }
    try flip(path, Int(header[12]) + length + 8)
    let run = try await harness.run(["status", "screen"])
    #expect(run.output.hasPrefix("the last "), "\(run.output)")
    #expect(run.output.contains("of the journal were not whole and are not used"))
    #expect(run.output.contains("Search: first") && !run.output.contains("second"))
  }

  @Test(arguments: [("g-", 8), ("ledger", 8), ("keybag", 8)])
  func `a file with another version is told and kept as it is`(file: String, offset: Int) async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(["key f3", "text kept", "wait preserved", "kill"])
    let path = try #require(try harness.stateFiles(beginning: file).first)
    try flip(path, offset)
    let bytes = try #require(FileManager.default.contents(atPath: path))
    let run = try await harness.run(["status", "kill"])
    // A ledger's version is under its code, and the ledger vouches for a generation's: another one there is damage.
    let told = ["ledger": "the ledger was lost", "g-": "what was preserved is damaged"][file] ?? "newer version"
    #expect((run.output + run.error).contains(told), "\(run.output)\(run.error)")
    #expect(run.status == (file == "keybag" ? 1 : -SIGKILL))
    #expect(FileManager.default.contents(atPath: path) == bytes)
    try flip(path, offset)
    #expect(try await harness.run(["screen"]).output.contains("Search: kept"))
  }

  // MARK: - Files

  private func newFile(_ path: String) throws -> URL {
    try Data().write(to: URL(fileURLWithPath: path))
    return URL(fileURLWithPath: path)
  }

  /// Changes one byte, and changes it back the second time.
  private func flip(_ path: String, _ offset: Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[offset] ^= 0x55
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: bytes)
    try file.close()
  }
}
