import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import RestorationArchive
import Testing
import restore_inspect

/// What somebody else puts in the way: odd paths, odd files, odd names; one clear line or one JSON object, never a trap.
@MainActor @Suite struct InspectHostileTests {
  /// With `--json` there is one object, whatever happens; a failure says the same in one line besides.
  private func expectObject(_ result: InspectTool.Result, _ comment: Comment) throws {
    let json = try? JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let object = try #require(json, comment)
    #expect(object["format"] as? Int == InspectOutput.format, comment)
    #expect(!result.output.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" }, comment)
    #expect(result.error.split(separator: "\n", omittingEmptySubsequences: false).count <= 2, comment)
    #expect(result.error.isEmpty == (object["error"] == nil), comment)
    if object["error"] != nil { #expect(object["exitStatus"] as? Int == Int(result.code.rawValue), comment) }
  }

  @Test(arguments: InspectArguments.Verb.allCases)
  func `no path makes more than one line or one object`(verb: InspectArguments.Verb) async throws {
    let state = try await InspectedState()
    state.disk.plant([1, 2, 3], atPath: "/file")
    state.disk.plant(.symbolicLink, atPath: "/link")
    state.disk.plant(.other, atPath: "/fifo")
    state.disk.plant(.directory, atPath: "/empty")
    let before = state.contents()
    for path in [
      "/", ".", "..", "/file", "/file/below", "/link", "/fifo", "/empty", "/empty/below", "/device/archives",
      "/device/device.key", "/device/../nothing", "/\u{1B}[2J\u{9B}\u{7F}\u{202E}", "\n", " ",
      String(repeating: "x", count: 5000), String(repeating: "/x", count: 300), "\u{FFFD}", "file:///device",
    ] {
      let result = await state.run(verb.rawValue, "--node", "root", "--json", "--", path)
      #expect(result.code != .success && result.code != .different, "\(path.prefix(40)): \(result)")
      try expectObject(result, "\(path.prefix(40).debugDescription)")
      let text = await state.run(verb.rawValue, "--node", "root", "--", path)
      #expect(text.code == result.code && text.error == result.error)
      #expect(!text.error.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
    }
    #expect(state.contents() == before && state.disk.names(atPath: "/empty").isEmpty)
  }

  @Test(arguments: [
    ["--json"], ["tree", "--json"], ["tree", "/device", "--json", "--odd"], ["\u{1B}[2J", "/device", "--json"],
    ["tree", "/device", "--json", "--passcode-fd", "\u{1B}"], ["show", "/device", "--json"],
    ["diff", "/a", "/b", "/c", "--json"], ["tree", "--json", ""],
  ])
  func `a command line that makes no sense is an object too`(words: [String]) async throws {
    let tool = InspectTool(
      environment: InspectedState.environment(MemoryFileSystem()), style: InspectStyle(hasColours: false))
    let result = await tool.run(words) { _ in nil }
    #expect(result.code == .usage)
    try expectObject(result, "\(words)")
  }

  @Test func `every file of a device cut short anywhere is one object`() async throws {
    let state = try await InspectedState(passcode: "1234")
    for (path, bytes) in state.contents().sorted(by: { $0.key < $1.key }) {
      for count in [0, 1, bytes.count / 2, max(0, bytes.count - 1)] where count < bytes.count {
        state.disk.plant(Array(bytes.prefix(count)), atPath: path)
        for verb in ["tree", "verify", "keybag", "export"] {
          try expectObject(
            await state.run(verb, InspectedState.path, "--json", passcode: "1234"), "\(verb), \(count) of \(path)")
        }
      }
      state.disk.plant(bytes, atPath: path)
    }
  }

  @Test(arguments: [FileStatus.Kind.directory, .symbolicLink, .other])
  func `something that is no file in any file's place is one object`(kind: FileStatus.Kind) async throws {
    let state = try await InspectedState()
    for (path, bytes) in state.contents().sorted(by: { $0.key < $1.key }) {
      state.disk.remove(atPath: path)
      state.disk.plant(kind, atPath: path)
      for verb in ["tree", "verify", "keybag", "export"] {
        try expectObject(await state.run(verb, InspectedState.path, "--json"), "\(verb): \(path)")
      }
      state.disk.remove(atPath: path)
      state.disk.plant(bytes, atPath: path)
    }
    state.disk.plant(kind, atPath: InspectedState.path + "/keybag-odd")
    let result = await state.run("keybag", InspectedState.path)
    #expect(result.code == .damaged && result.output.contains("revision"), "the other one is shown: \(result)")
  }

  @Test func `a wrong passcode opens nothing in a check, and only it is counted`() async throws {
    let state = try await InspectedState(passcode: "1234")
    let before = state.contents()
    for verb in ["verify", "export", "tree"] {
      let result = await state.run(verb, InspectedState.path, "--json", passcode: "0000")
      #expect(result.code == .wrongPasscode && !result.output.contains("0000"))
      try expectObject(result, "\(verb)")
    }
    let changed = state.contents().filter { before[$0.key] != $0.value }.keys
    #expect(Array(changed) == ["\(InspectedState.path)/attempts"])
    _ = await state.run("verify", InspectedState.path)
    let after = state.contents()
    #expect(after["\(InspectedState.path)/attempts"] == state.contents()["\(InspectedState.path)/attempts"])
    #expect(await state.run("verify", InspectedState.path, passcode: "1234").code == .success)
  }

  @Test func `a store that another process keeps locked is read all the same`() async throws {
    let state = try await InspectedState()
    let slots = state.generations.map { "\(InspectedState.store)/\($0.prefix { $0 != "/" })" }
    for path in Set([InspectedState.store] + slots) {
      // A directory is its own lock.
      #expect(try state.disk.tryLock(state.disk.openDirectory(atPath: path), .exclusive))
    }
    for verb in ["verify", "tree", "export"] {
      let result = await state.run(verb, InspectedState.path, "--json")
      try expectObject(result, "\(verb)")
      #expect(result.code == .success, "\(verb): \(result)")
    }
  }

  @Test func `identifiers and keys can't command the terminal, in any command`() async throws {
    let state = try await InspectedState()
    let odd = "\u{1B}[2J\u{9B}1m\u{7F}\u{202E}\u{2028}\r\n"
    try await state.inProgram { store in
      for version in ["1", odd] {
        let context = RestorationArchive.Context(
          applicationVersion: RestorationArchive.ApplicationVersion(rawValue: version),
          timeSaved: Date(timeIntervalSince1970: 1.7e9))
        var writer = RestorationArchive.Writer(context: context)
        let root = try writer.insert(RestorationIdentifier(odd))
        try writer.setRecord(
          of: root, entries: [RestorationArchive.Entry(key: odd, value: odd + version)],
          attributes: RestorationArchive.Attributes())
        try store.publish(try writer.makeArchive())
      }
    }
    for verb in ["tree", "show", "sizes", "diff", "verify", "export"] {
      for options in [[], ["--reveal"], ["--json"], ["--json", "--reveal"]] {
        let tool = InspectTool(
          environment: InspectedState.environment(state.disk), style: InspectStyle(hasColours: false))
        let result = await tool.run([verb, InspectedState.path, "--node", odd] + options) { _ in nil }
        for scalar in (result.output + result.error).unicodeScalars where scalar != "\n" {
          let isSafe =
            scalar == "\u{200D}"
            || ![.control, .format, .lineSeparator, .paragraphSeparator]
              .contains(scalar.properties.generalCategory)
          #expect(isSafe, "\(verb) \(options): U+\(String(scalar.value, radix: 16))")
        }
      }
    }
  }
}
