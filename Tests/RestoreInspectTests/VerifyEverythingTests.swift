import FaultyFileSystem
import FileSystem
import Foundation
import RestorationArchive
import Testing
import restore_inspect

@testable import DataProtection

/// A check of everything finds what nobody can name: other programs' state, and what was set aside.
@MainActor @Suite struct VerifyEverythingTests {
  @Test func `every application's and every scene's archive is read, whole`() async throws {
    let state = try await InspectedState()
    let names = [
      try await state.addArchive("other", "main"), try await state.addArchive("main", "second"),
      try await state.addArchive("third", "", slot: "odd", protection: .none, Data("no archive at all".utf8)),
      try await state.addArchive("fourth", "x", protection: .completeUntilFirstUserAuthentication),
    ]
    let (code, report) = try await state.verifyEverything()
    #expect(code == .success && report.problems.isEmpty)
    for name in names { #expect(report.outcome("archives/\(name)") == "whole") }
    #expect(report.files.allSatisfy { $0.outcome == "whole" }, "\(report.files)")
    #expect(!report.files.contains { $0.kind == "other" })
  }

  @Test func `every flipped byte of an archive that nobody named is found`() async throws {
    let state = try await InspectedState()
    let name = try await state.addArchive("other", "main")
    let path = "\(InspectedState.store)/\(name)"
    let bytes = try #require(state.disk.content(atPath: path))
    for offset in stride(from: 0, to: bytes.count, by: 3) {
      try state.edit(path) { $0[offset] ^= 0x20 }
      let (code, report) = try await state.verifyEverything()
      let outcome = report.outcome("archives/\(name)")
      #expect(code != .success && outcome != "whole" && outcome != "notRead", "byte \(offset): \(outcome ?? "-")")
      state.disk.plant(bytes, atPath: path)
    }
    #expect(try await state.verifyEverything().code == .success)
  }

  @Test func `an archive that nobody named and that is gone is missing`() async throws {
    let state = try await InspectedState()
    let name = try await state.addArchive("other", "main")
    state.disk.remove(atPath: "\(InspectedState.store)/\(name)")
    let (code, report) = try await state.verifyEverything()
    #expect(code == .damaged && report.outcome("archives/\(name)") == "missing")
  }

  @Test func `an older generation that is gone, and what was saved while locked, are missing too`() async throws {
    let state = try await InspectedState(passcode: "1234")
    state.disk.remove(atPath: "\(InspectedState.store)/\(try #require(state.generations.first))")
    var (code, report) = try await state.verifyEverything(passcode: "1234")
    #expect(code == .damaged && report.files.filter { $0.kind == "generation" }.map(\.outcome) == ["whole", "missing"])
    try await state.onDevice(isLocked: true) { device in
      let store = try device.archives(for: ArchiveSlot(application: "first", scene: "ever"))
      try store.publishPending(try InspectedState.archive("pending"))
    }
    let pending = try #require(state.files("p-").first)
    state.disk.remove(atPath: "\(InspectedState.store)/\(pending)")
    (code, report) = try await state.verifyEverything(passcode: "1234")
    #expect(code == .damaged && report.outcome("archives/\(pending)") == "missing")
  }

  @Test func `without a ledger each file is read under its own class`() async throws {
    let state = try await InspectedState(passcode: "1234")
    try await state.onDevice(isLocked: true) { device in
      let store = try device.archives(for: ArchiveSlot(application: "main", scene: "main"))
      try store.publishPending(try InspectedState.archive("pending"))
    }
    let none = try await state.addArchive("other", "main", protection: .none)
    for ledger in state.files("ledger") { state.disk.remove(atPath: "\(InspectedState.store)/\(ledger)") }
    let (code, report) = try await state.verifyEverything(passcode: "1234")
    #expect(code == .damaged && report.problems.isEmpty, "\(report.problems)")
    #expect(report.files.filter { $0.kind == "ledger" }.map(\.outcome) == ["missing", "missing"])
    #expect(report.files.filter { $0.kind != "ledger" }.allSatisfy { $0.outcome == "whole" }, "\(report.files)")
    #expect(report.outcome("archives/\(none)") == "whole")
  }

  @Test func `another application's archive in a third one's place is told apart`() async throws {
    let state = try await InspectedState()
    let (one, two) = (try await state.addArchive("one", "main"), try await state.addArchive("two", "main"))
    state.disk.plant(
      try #require(state.disk.content(atPath: "\(InspectedState.store)/\(one)")),
      atPath: "\(InspectedState.store)/\(two)")
    let (code, report) = try await state.verifyEverything()
    #expect(code == .damaged && report.outcome("archives/\(one)") == "whole")
    #expect(["wrongIdentity", "rolledBack"].contains(report.outcome("archives/\(two)")))
  }

  @Test func `a node that can't be read is a problem of the archive that nobody named`() async throws {
    let state = try await InspectedState()
    var content = try InspectedState.archive("of other")
    // Authentic, and yet no archive behind its first bytes: what a faulty program could have written.
    for index in 40..<content.count { content[index] = 0xFF }
    let name = try await state.addArchive("other", "main", content)
    let (code, report) = try await state.verifyEverything()
    #expect(code == .damaged && report.outcome("archives/\(name)") == "whole")
    #expect(report.problems.map(\.problem) == ["corrupt"] && report.problems[0].slot == "other/main/archive")
  }

  @Test func `changes that are missing at the end of another application's archive are told`() async throws {
    let state = try await InspectedState()
    let name = try await state.addArchive("other", "main")
    try await state.onDevice { device in
      let store = try device.archives(for: ArchiveSlot(application: "other", scene: "main"))
      try InspectedState.appendNodes(["first", "second"], to: store)
    }
    #expect(try await state.verifyEverything().code == .success)
    try state.spoilFrames(of: name)
    let (code, report) = try await state.verifyEverything()
    #expect(code == .damaged && report.outcome("archives/\(name)") == "corrupt")
    #expect(report.problems.map(\.problem) == ["corrupt"], "\(report.problems)")
  }

  @Test func `damaged generations that were set aside are read and counted as damage of the past`() async throws {
    let state = try await InspectedState()
    try state.edit(try state.newest) { $0[$0.count - 20] ^= 1 }
    try await state.inProgram { store in
      let content = try store.openNewest().readAll()
      try store.publish(content)
    }
    let (code, report) = try await state.verifyEverything()
    #expect(code == .success)
    #expect(report.files.filter { $0.kind == "setAside" }.map(\.outcome) == ["corrupt"])
  }

  @Test func `what another program saved while locked is locked, and whole with the passcode`() async throws {
    let state = try await InspectedState(passcode: "1234")
    let archive = try await state.addArchive("other", "main", passcode: "1234")
    let open = try await state.addArchive("other", "main", slot: "open", protection: .none)
    try await state.onDevice(isLocked: true) { device in
      let store = try device.archives(for: ArchiveSlot(application: "first", scene: "ever"))
      try store.publishPending(try InspectedState.archive("pending"))
    }
    let pending = try #require(state.files("p-").first)
    var (code, report) = try await state.verifyEverything()
    #expect(code == .locked)
    #expect(report.outcome("archives/\(archive)") == "locked" && report.outcome("archives/\(pending)") == "locked")
    #expect(report.outcome("archives/\(open)") == "whole")
    (code, report) = try await state.verifyEverything(passcode: "1234")
    #expect(code == .success && report.problems.isEmpty)
    for name in [archive, open, pending] { #expect(report.outcome("archives/\(name)") == "whole") }
  }

  @Test func `a mark of another application's restoring is checked`() async throws {
    let state = try await InspectedState()
    _ = try await state.addArchive("other", "main")
    try await state.onDevice { device in
      let store = try device.archives(for: ArchiveSlot(application: "other", scene: "main"))
      _ = try store.beginAttempt(at: try store.openNewest())
    }
    let name = try #require(state.files("marker").first)
    #expect(try await state.verifyEverything().report.outcome("archives/\(name)") == "whole")
    try state.edit("\(InspectedState.store)/\(name)") { $0[3] ^= 1 }
    let (code, report) = try await state.verifyEverything()
    #expect(code == .damaged && report.outcome("archives/\(name)") == "corrupt")
  }

  @Test func `an old archive of another application put back is rolled back`() async throws {
    let state = try await InspectedState()
    let name = try await state.addArchive("other", "main")
    let old = try #require(state.disk.content(atPath: "\(InspectedState.store)/\(name)"))
    var newest = name
    for _ in 0..<3 { newest = try await state.addArchive("other", "main") }
    state.disk.plant(old, atPath: "\(InspectedState.store)/\(newest)")
    let (code, report) = try await state.verifyEverything()
    #expect(code == .damaged && report.outcome("archives/\(newest)") == "rolledBack")
  }

  @Test(arguments: [true, false])
  func `a ledger of a newer version leaves the files to be read, and one that only claims it is damaged`(
    isAuthentic: Bool
  ) async throws {
    let state = try await InspectedState()
    let name = try await state.addArchive("other", "main")
    let ledger = "\(name.prefix { $0 != "/" })/ledger"
    let path = "\(InspectedState.store)/\(ledger)"
    try state.edit(path) { $0[8] = 0xFF }
    if isAuthentic {
      let (disk, body) = (state.disk, try #require(state.disk.content(atPath: path)).dropLast(32))
      try await state.inProgram { store in
        disk.plant(body + (try store.store.keys.authenticationCode(.ledger, over: Array(body))), atPath: path)
      }
    }
    let (code, report) = try await state.verifyEverything()
    #expect(report.outcome("archives/\(ledger)") == (isAuthentic ? "unsupportedVersion" : "corrupt"))
    #expect(code == (isAuthentic ? .newerVersion : .damaged))
    #expect(report.outcome("archives/\(name)") == "whole")
  }

  @Test func `all archives gone is damage, not an empty device`() async throws {
    let state = try await InspectedState()
    state.removeArchives()
    var (code, report) = try await state.verifyEverything()
    #expect(code == .damaged && report.problems.map(\.problem) == ["missing"], "\(report)")
    // And with them their directory.
    state.disk.remove(atPath: InspectedState.store)
    (code, report) = try await state.verifyEverything()
    #expect(code == .damaged && report.problems.map(\.problem) == ["missing"], "\(report)")
    #expect(await state.run("tree", InspectedState.path).code == .damaged)
  }

  @Test(arguments: [["--application", "main"], ["--scene", "main"], ["--slot", "archive"]])
  func `an application, a scene or a slot that is named narrows the check to it`(options: [String]) async throws {
    let state = try await InspectedState()
    let other = try await state.addArchive("other", "main")
    let beside = try await state.addArchive("main", "main", slot: "snapshot")
    let file = try await state.addFile("letter", .none)
    for path in ["archives/\(other)", file] { try state.edit("\(InspectedState.path)/\(path)") { $0[60] ^= 1 } }
    let (code, report) = try await state.verifyEverything(options[0], options[1])
    #expect(code == .success && report.outcome("archives/\(other)") == nil, "\(report)")
    #expect(report.files.first { "archives/\(other)".hasPrefix($0.path) }?.kind == "other")
    #expect(report.outcome(file) == nil)
    #expect(try await state.verifyEverything().code == .damaged)
    let (absent, _) = try await state.verifyEverything(options[0], "absent")
    #expect(absent == .notFound)
    try state.edit("\(InspectedState.store)/\(beside)") { $0[60] ^= 1 }
    #expect(try await state.verifyEverything(options[0], options[1]).code == .damaged, "it belongs to the scene")
  }
}
