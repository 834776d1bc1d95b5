import DataProtection
import FaultyFileSystem
import Foundation
import RestorationArchive
import Testing
import restore_inspect

/// Every kind of damage has its own outcome, file by file.
@MainActor @Suite struct VerifyTests {
  /// What `verify --json` says of one file.
  struct File: Decodable, Equatable {
    var directory: String
    var name: String
    var kind: String
    var outcome: String
    var slot: String?
    var generation: String?
    var bytes: Int?
    var isCurrent: Bool

    /// The path below the archives, or below the device.
    var shown: String {
      switch directory {
      case "": name
      case let path where path.hasPrefix("archives/"): "\(path.dropFirst(9))/\(name)"
      default: "\(directory)/\(name)"
      }
    }
  }

  private struct Report: Decodable {
    struct Problem: Decodable {
      var slot: String
      var problem: String
    }
    var files: [File]
    var problems: [Problem]
  }

  private func verify(
    _ state: InspectedState, passcode: String? = nil
  ) async throws -> (code: InspectExitCode, files: [File], problems: [String]) {
    let result = await state.run("verify", InspectedState.path, "--json", passcode: passcode)
    let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    let text = await state.run("verify", InspectedState.path, passcode: passcode)
    #expect(text.code == result.code)
    for file in report.files {
      let word = file.outcome == "notRead" ? "not read" : file.outcome
      #expect(text.output.contains("\(word)  \(file.shown)  "), "text and JSON say the same")
    }
    return (result.code, report.files, report.problems.map(\.problem))
  }

  /// The outcomes of the generations, oldest first.
  private func outcomes(_ files: [File], _ kind: String = "generation") -> [String] {
    files.filter { $0.kind == kind }.sorted { $0.name < $1.name }.map(\.outcome)
  }

  @Test func `what is whole is said to be, the ledger and the keybag too`() async throws {
    let state = try await InspectedState()
    let (code, files, problems) = try await verify(state)
    #expect(code == .success && problems.isEmpty)
    #expect(outcomes(files) == ["whole", "whole"])
    #expect(files.filter(\.isCurrent).map(\.shown) == [try #require(state.generations.last)])
    #expect(outcomes(files, "ledger") == ["whole"] && outcomes(files, "keybag") == ["whole"])
  }

  @Test func `every flipped byte of a generation is found`() async throws {
    let state = try await InspectedState()
    let path = try state.newest
    let bytes = try #require(state.disk.content(atPath: path))
    for offset in stride(from: 0, to: bytes.count, by: 5) {
      try state.edit(path) { $0[offset] ^= 0x10 }
      let result = await state.run("verify", InspectedState.path)
      #expect(result.code != .success, "byte \(offset)")
      #expect(!result.output.contains("whole  \(try #require(state.generations.last))"), "byte \(offset)")
      state.disk.plant(bytes, atPath: path)
    }
  }

  @Test func `a truncated generation is corrupt, wherever it ends, and the other one is whole`() async throws {
    let state = try await InspectedState()
    let path = try state.newest
    let bytes = try #require(state.disk.content(atPath: path))
    for count in [0, 1, 8, 80, 100, 200, bytes.count - 1] {
      state.disk.plant(Array(bytes.prefix(count)), atPath: path)
      let (code, files, _) = try await verify(state)
      #expect(code == .damaged && outcomes(files) == ["whole", "corrupt"], "\(count) bytes")
    }
  }

  @Test func `a generation under another one's number is told apart`() async throws {
    let state = try await InspectedState()
    let paths = state.generations.map { "\(InspectedState.store)/\($0)" }
    let contents = try paths.map { try #require(state.disk.content(atPath: $0)) }
    state.disk.plant(contents[1], atPath: paths[0])
    state.disk.plant(contents[0], atPath: paths[1])
    // A newer one under an older number is in the wrong place; an older one under a newer number was put back.
    let (code, files, _) = try await verify(state)
    #expect(code == .damaged && outcomes(files) == ["wrongIdentity", "rolledBack"], "\(outcomes(files))")
  }

  @Test func `a generation of another slot in an archive's place is told apart`() async throws {
    let state = try await InspectedState()
    try await state.inProgram(slot: "snapshot") { try $0.publish(Data("picture".utf8)) }
    let names = state.generations
    let (_, before, _) = try await verify(state)
    let snapshot = try #require(before.first { $0.slot == "snapshot" && $0.isCurrent }?.shown)
    let archive = try #require(before.first { $0.slot == "archive" && $0.isCurrent }?.shown)
    #expect(names.contains(snapshot))
    state.disk.plant(
      try #require(state.disk.content(atPath: "\(InspectedState.store)/\(snapshot)")),
      atPath: "\(InspectedState.store)/\(archive)")
    let (code, files, _) = try await verify(state)
    #expect(code == .damaged)
    #expect(files.first { $0.shown == archive }?.outcome == "wrongIdentity")
    #expect(files.first { $0.shown == snapshot }?.outcome == "whole")
  }

  @Test func `a generation of a newer version is told apart, and is damage where a ledger vouches for this one`()
    async throws
  {
    let state = try await InspectedState()
    try state.edit(try state.newest) { $0[8] = 0xFF }
    let (code, files, _) = try await verify(state)
    #expect(code == .damaged && outcomes(files) == ["whole", "corrupt"])
    state.disk.remove(atPath: "\(InspectedState.store)/\(try #require(state.files("ledger").first))")
    #expect(try await verify(state).1.contains { $0.outcome == "unsupportedVersion" })
  }

  @Test func `a generation that is gone is missing, not nothing`() async throws {
    let state = try await InspectedState()
    state.disk.remove(atPath: try state.newest)
    let (code, files, _) = try await verify(state)
    #expect(code == .damaged && outcomes(files) == ["whole", "missing"])
    #expect(files.first { $0.outcome == "missing" }?.isCurrent == true)
  }

  @Test func `an older generation put back is rolled back`() async throws {
    let state = try await InspectedState()
    let name = try #require(state.generations.first)
    let old = try #require(state.disk.content(atPath: "\(InspectedState.store)/\(name)"))
    try await state.inProgram { store in
      let content = try store.openNewest().readAll()
      for _ in 0..<3 { try store.publish(content) }
    }
    #expect(!state.generations.contains(name), "it was pruned")
    let newest = try #require(state.generations.last)
    state.disk.plant(old, atPath: "\(InspectedState.store)/\(newest)")
    let (code, files, _) = try await verify(state)
    #expect(code == .damaged && files.first { $0.shown == newest }?.outcome == "rolledBack")
    // Under its own name it is in no ledger, and nobody would restore it.
    state.disk.plant(old, atPath: "\(InspectedState.store)/\(name)")
    let (_, listed, _) = try await verify(state)
    #expect(listed.first { $0.shown == name }?.kind == "unlisted")
  }

  @Test func `what was saved while locked is locked, and whole with the passcode`() async throws {
    let state = try await InspectedState(passcode: "1234")
    try await state.inProgram(passcode: "1234", isLocked: true) { store in
      try store.publishPending(Data("pending".utf8))
    }
    let (code, files, _) = try await verify(state)
    #expect(code == .locked)
    #expect(outcomes(files, "pending") == ["locked"] && outcomes(files) == ["locked", "locked"])
    let (unlocked, again, _) = try await verify(state, passcode: "1234")
    #expect(unlocked == .success)
    #expect(outcomes(again, "pending") == ["whole"] && outcomes(again) == ["whole", "whole"])
  }

  @Test func `what was set aside is read, and not taken for damage of today`() async throws {
    let state = try await InspectedState()
    try state.edit(try state.newest) { $0[$0.count - 20] ^= 1 }
    try await state.inProgram { store in
      let content = try store.openNewest().readAll()
      try store.publish(content)
    }
    let (code, files, _) = try await verify(state)
    #expect(code == .success && outcomes(files, "setAside") == ["corrupt"])
  }

  @Test(arguments: [false, true])
  func `changes that are missing at the archive's end are told by every command`(isTail: Bool) async throws {
    let state = try await InspectedState()
    try await state.inProgram { store in
      try InspectedState.appendNodes(["first", "second"], to: store)
    }
    #expect(await state.run("verify", InspectedState.path).code == .success)
    try state.spoilFrames(of: try #require(state.generations.last), behind: isTail)
    let result = await state.run("verify", InspectedState.path)
    #expect(result.code == .damaged, "\(result)")
    for verb in ["tree", "sizes", "show", "export"] {
      let result = await state.run(verb, InspectedState.path, "--node", "root")
      #expect(result.code == .damaged, "\(verb): \(result)")
    }
    #expect(await state.run("tree", InspectedState.path).output.contains("changes may be missing"))
  }

  @Test func `the mark of an unfinished restoring is listed`() async throws {
    let state = try await InspectedState()
    try await state.inProgram { store in _ = try store.beginAttempt(at: try store.openNewest()) }
    let (code, files, _) = try await verify(state)
    #expect(code == .success && outcomes(files, "marker") == ["whole"])
  }

  @Test func `a ledger that is damaged or gone is said so, and the tree too`() async throws {
    let state = try await InspectedState()
    let path = "\(InspectedState.store)/\(try #require(state.files("ledger").first))"
    try state.edit(path) { $0[$0.count / 2] ^= 1 }
    let (code, files, _) = try await verify(state)
    #expect(code == .damaged && outcomes(files, "ledger") == ["corrupt"] && outcomes(files) == ["whole", "whole"])
    state.disk.remove(atPath: path)
    let (again, later, _) = try await verify(state)
    #expect(again == .damaged && outcomes(later, "ledger") == ["missing"])
    let tree = await state.run("tree", InspectedState.path)
    #expect(tree.code == .damaged && tree.output.contains("the ledger is gone") && tree.output.contains("editor"))
  }

  @Test func `a damaged keybag stops everything with one line`() async throws {
    let state = try await InspectedState()
    let name = try #require(state.disk.names(atPath: InspectedState.path).first { $0.hasPrefix("keybag-") })
    try state.edit("\(InspectedState.path)/\(name)") { $0[$0.count / 2] ^= 1 }
    let result = await state.run("verify", InspectedState.path)
    #expect(result.code == .damaged && result.output.isEmpty)
    #expect(result.error.split(separator: "\n").count == 1)
  }

  @Test func `an archive of another device is told apart, file by file`() async throws {
    let (mine, other) = (try await InspectedState(), try await InspectedState())
    let foreign = try #require(other.disk.content(atPath: try other.newest))
    mine.disk.plant(foreign, atPath: try mine.newest)
    let (code, files, _) = try await verify(mine)
    #expect(code == .otherDevice || code == .damaged)
    #expect(outcomes(files)[0] == "whole" && ["otherDevice", "wrongIdentity"].contains(outcomes(files)[1]))
  }
}
