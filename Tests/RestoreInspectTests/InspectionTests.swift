import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import RestorationArchive
import SeededRandom
import SimulatedTime
import StateRestoration
import Testing
import restore_inspect

@MainActor @Suite struct InspectionTests {
  @Test func `tree shows every node with its model identifier and no values`() async throws {
    let state = try await InspectedState()
    let result = await state.run("tree", InspectedState.path)
    #expect(result.code == .success && result.error == "")
    #expect(
      result.output.contains("root") && result.output.contains("editor") && result.output.contains("model note-7"))
    #expect(!result.output.contains("secret"))
  }

  @Test func `values are redacted until they are to be revealed`() async throws {
    let state = try await InspectedState()
    let redacted = await state.run("show", InspectedState.path, "--node", "root", "--node", "editor")
    #expect(redacted.code == .success && redacted.output.contains("draft: string, 14 bytes"))
    #expect(redacted.output.contains("rows: list of 3") && !redacted.output.contains("secret"))
    let revealed = await state.run("show", InspectedState.path, "--node", "root", "--node", "editor", "--reveal")
    #expect(revealed.output.contains("\"a secret draft\"") && revealed.output.contains("[1, 2, 3]"))
    let missing = await state.run("show", InspectedState.path, "--node", "nobody")
    #expect(missing.code == .notFound)
  }

  @Test func `export hides values too`() async throws {
    let state = try await InspectedState()
    let result = await state.run("export", InspectedState.path, "--json")
    #expect(result.code == .success && !result.output.contains("secret"))
    #expect(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) is [String: Any])
  }

  @Test func `two generations with the same state do not differ`() async throws {
    let state = try await InspectedState()
    let result = await state.run("diff", InspectedState.path)
    #expect(result.code == .success && result.output == "no difference\n")
  }

  @Test(arguments: InspectArguments.Verb.allCases)
  func `every command changes nothing on the disk`(verb: InspectArguments.Verb) async throws {
    let state = try await InspectedState()
    let before = state.contents()
    let result = await state.run(verb.rawValue, InspectedState.path, "--node", "root", "--json")
    #expect(result.code == .success, "\(result.error)")
    #expect(state.contents() == before)
    #expect(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) is [String: Any])
  }

  @Test func `verify says of each file that it is whole`() async throws {
    let state = try await InspectedState()
    let result = await state.run("verify", InspectedState.path)
    #expect(result.code == .success)
    for name in state.generations { #expect(result.output.contains("whole  \(name)")) }
  }

  @Test func `a locked device needs the passcode, and a wrong one changes only the counter`() async throws {
    let state = try await InspectedState(passcode: "1234")
    let locked = await state.run("tree", InspectedState.path)
    #expect(locked.code == .locked && locked.error.contains("--passcode-prompt"))
    let unlocked = await state.run("tree", InspectedState.path, passcode: "1234")
    #expect(unlocked.code == .success && unlocked.output.contains("editor"))
    let before = state.contents()
    let wrong = await state.run("tree", InspectedState.path, passcode: "0000")
    #expect(wrong.code == .wrongPasscode && !wrong.error.contains("0000"))
    let changed = state.contents().filter { before[$0.key] != $0.value }.keys
    #expect(Array(changed) == ["\(InspectedState.path)/attempts"])
    #expect(Set(state.contents().keys).subtracting(before.keys).isSubset(of: ["\(InspectedState.path)/attempts"]))
  }

  @Test func `a generation whose first chunk is damaged is not shown, and the older one stands in`() async throws {
    let state = try await InspectedState()
    try state.edit(try state.newest) { $0[80 + 56 + 3] ^= 1 }
    for verb in ["tree", "sizes", "export"] {
      let result = await state.run(verb, InspectedState.path)
      #expect(result.code == .damaged && result.error.isEmpty && result.output.contains("editor"), "\(verb)")
    }
    #expect(await state.run("tree", InspectedState.path).output.contains("this is the one before it"))
  }

  @Test(arguments: [0, 5000])
  func `a slot that is whole and holds no archive is no damage`(byteCount: Int) async throws {
    let state = try await InspectedState()
    try await state.inProgram(slot: "snapshot") { try $0.publish(Data(repeating: 7, count: byteCount)) }
    let result = await state.run("tree", InspectedState.path, "--slot", "snapshot")
    #expect(result.code == .notFound && result.error.contains("holds no archive"), "\(result)")
  }

  @Test func `a damaged generation is said to be, and the older one stands in`() async throws {
    let state = try await InspectedState()
    try state.edit(try state.newest) { $0[$0.count - 20] ^= 1 }
    let tree = await state.run("tree", InspectedState.path)
    #expect(tree.code == .damaged && tree.output.contains("editor"))
    #expect(tree.output.contains("The newest generation can't be used (corrupt): this is the one before it."))
    let difference = await state.run("diff", InspectedState.path)
    #expect(difference.code == .damaged && difference.output.isEmpty)
    expectOneLine(difference)
  }

  @Test func `a generation of a newer version is told apart`() async throws {
    let state = try await InspectedState()
    for name in state.generations {
      let path = "\(InspectedState.store)/\(name)"
      var bytes = try #require(state.disk.content(atPath: path))
      bytes[8] = 0xFF
      state.disk.plant(bytes, atPath: path)
    }
    #expect(await state.run("tree", InspectedState.path).code == .damaged, "the ledger vouches for this version")
    state.disk.remove(atPath: "\(InspectedState.store)/\(try #require(state.files("ledger").first))")
    let result = await state.run("tree", InspectedState.path)
    #expect(result.code == .newerVersion)
    expectOneLine(result)
  }

  @Test func `archives of another device are told apart`() async throws {
    let (mine, other) = (try await InspectedState(), try await InspectedState())
    for name in mine.disk.names(atPath: InspectedState.path)
    where name.hasPrefix("keybag-") || name.hasPrefix("effaceable-") {
      mine.disk.remove(atPath: "\(InspectedState.path)/\(name)")
    }
    for name in other.disk.names(atPath: InspectedState.path)
    where name.hasPrefix("keybag-") || name.hasPrefix("effaceable-") {
      let content = try #require(other.disk.content(atPath: "\(InspectedState.path)/\(name)"))
      mine.disk.plant(content, atPath: "\(InspectedState.path)/\(name)")
    }
    let result = await mine.run("tree", InspectedState.path)
    #expect(result.code == .otherDevice)
    expectOneLine(result)
  }

  @Test func `keys that are gone are told apart, and nothing is made anew`() async throws {
    let state = try await InspectedState()
    state.disk.remove(atPath: "\(InspectedState.path)/device.key")
    let before = state.contents()
    let result = await state.run("tree", InspectedState.path)
    #expect(result.code == .otherDevice)
    #expect(state.contents() == before)
  }

  @Test(arguments: 0..<40)
  func `random bytes in any file are one clear line and never a trap`(seed: Int) async throws {
    let state = try await InspectedState()
    var random = SplitMix64(seed: UInt64(seed))
    let files = state.contents().keys.sorted()
    let target = files[Int(random.next() % UInt64(files.count))]
    state.disk.plant(
      (0..<Int(random.next() % 600)).map { _ in UInt8(truncatingIfNeeded: random.next()) }, atPath: target)
    for verb in ["tree", "sizes", "diff", "keybag"] {
      let result = await state.run(verb, InspectedState.path)
      if result.code == .success || result.code == .different { continue }
      if result.output.isEmpty { expectOneLine(result) }
    }
    let verified = await state.run("verify", InspectedState.path)
    #expect(!verified.output.isEmpty || !verified.error.isEmpty)
  }

  @Test func `an empty or absent directory holds no device`() async throws {
    let state = try await InspectedState()
    let empty = MemoryFileSystem()
    for verb in InspectArguments.Verb.allCases {
      let result = await state.run(verb.rawValue, "/nothing", "--node", "a", on: empty)
      #expect(result.code == .notFound, "\(verb): \(result)")
      expectOneLine(result)
    }
    #expect(empty.names(atPath: "/").isEmpty, "nothing was made")
  }

  @Test func `another application's state is not found, and said so`() async throws {
    let state = try await InspectedState()
    let result = await state.run("tree", InspectedState.path, "--application", "other")
    #expect(result.code == .notFound && result.error.contains("other"))
  }

  @Test func `text from a file can't command the terminal`() {
    #expect(InspectStyle.safe("a\u{1B}[2Jb\u{202E}c\nd") == "a\\u{1b}[2Jb\\u{202e}c\\u{a}d")
    #expect(InspectStyle.safe("\u{1F468}\u{200D}\u{1F469} 한국어") == "\u{1F468}\u{200D}\u{1F469} 한국어")
  }

  private func expectOneLine(_ result: InspectTool.Result) {
    let lines = result.error.split(separator: "\n")
    #expect(result.code == .success || lines.count == 1, "\(result)")
  }
}
