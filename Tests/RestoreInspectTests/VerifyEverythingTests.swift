import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import RestorationArchive
import Testing
import restore_inspect

/// A check of everything finds what nobody can name: other programs' state, what was set aside, protected files.
@MainActor @Suite struct VerifyEverythingTests {
  private struct Report: Decodable {
    struct File: Decodable {
      var directory: String
      var name: String
      var kind: String
      var outcome: String
      var slot: String?
      var path: String { directory.isEmpty ? name : "\(directory)/\(name)" }
    }
    struct Problem: Decodable {
      var directory: String
      var slot: String?
      var problem: String
    }
    var files: [File]
    var problems: [Problem]

    /// The outcome of the file at a path below the device.
    func outcome(_ path: String) -> String? { files.first { $0.path == path }?.outcome }
  }

  private func verify(
    _ state: InspectedState, _ options: String..., passcode: String? = nil
  ) async throws -> (code: InspectExitCode, report: Report) {
    let before = Self.everything(state.disk)
    let tool = InspectTool(
      environment: InspectedState.environment(state.disk), style: InspectStyle(hasColours: false))
    let result = await tool.run(["verify", InspectedState.path, "--json"] + options) { _ throws(InspectFailure) in
      guard let passcode else { return nil }
      do throws(ProtectionError) { return try Passcode(passcode) } catch { throw InspectFailure(error) }
    }
    var after = Self.everything(state.disk)
    if passcode != nil { after["/device/attempts"] = before["/device/attempts"] }
    #expect(after == before, "verify changed something")
    return (result.code, try JSONDecoder().decode(Report.self, from: Data(result.output.utf8)))
  }

  /// Every file below the device, with its content.
  private static func everything(_ disk: MemoryFileSystem, _ path: String = InspectedState.path) -> [String: [UInt8]] {
    guard disk.status(atPath: path)?.kind == .directory else { return [path: disk.content(atPath: path) ?? []] }
    var found: [String: [UInt8]] = [path: []]
    for name in disk.names(atPath: path) { found.merge(everything(disk, "\(path)/\(name)")) { $1 } }
    return found
  }

  /// Does something with the device as a program would.
  @concurrent private static func inProgram(
    _ state: InspectedState, passcode: String? = nil, isLocked: Bool = false,
    _ body: @Sendable (ProtectedDevice) throws -> Void
  ) async throws {
    let device = try await ProtectedDevice.open(
      at: .directory(InspectedState.path), environment: InspectedState.environment(state.disk))
    if let passcode, !isLocked { try await device.unlock(passcode: Passcode(passcode)) }
    try body(device)
  }

  /// A whole archive with one node.
  nonisolated private static func archive(_ draft: String) throws -> Data {
    var writer = RestorationArchive.Writer(
      context: RestorationArchive.Context(timeSaved: Date(timeIntervalSince1970: 1.7e9)))
    let root = try writer.insert("root")
    try writer.setRecord(
      of: root, entries: [RestorationArchive.Entry(key: "draft", value: draft)],
      attributes: RestorationArchive.Attributes())
    return try writer.makeArchive()
  }

  /// Adds an archive for another application or scene; returns the name of its file.
  private func add(
    _ application: String, _ scene: String, slot: String = "archive", to state: InspectedState,
    protection: ProtectionClass = .complete, passcode: String? = nil, _ content: Data? = nil
  ) async throws -> String {
    let before = Set(state.disk.names(atPath: InspectedState.store))
    let content = try content ?? Self.archive("of \(application)")
    try await Self.inProgram(state, passcode: passcode) { device in
      let slot = ArchiveSlot(application: application, scene: scene, slot: slot)
      try device.archives(for: slot, protection: protection).publish(content)
    }
    let added = Set(state.disk.names(atPath: InspectedState.store)).subtracting(before)
    return try #require(added.first { $0.hasSuffix(".archive") })
  }

  /// Creates a protected file; returns the path of its content below the device.
  private func addFile(
    _ name: String, _ protection: ProtectionClass, to state: InspectedState, in directory: String = "drafts",
    passcode: String? = nil, contents: Data = Data("secret".utf8)
  ) async throws -> String {
    let before = Set(filePaths(state))
    try await Self.inProgram(state, passcode: passcode) { device in
      try device.files(in: directory).create(name, contents: contents, protection: protection).close()
    }
    let added = Set(filePaths(state)).subtracting(before).filter { $0.hasSuffix(".archive") }
    // The content, and the list of names, which is another generation each time.
    return try #require(
      added.max { size(of: $0, in: state, protection) < size(of: $1, in: state, protection) })
  }

  private func filePaths(_ state: InspectedState) -> [String] {
    Self.everything(state.disk, InspectedState.path + "/files").keys
      .map { String($0.dropFirst(InspectedState.path.count + 1)) }
  }

  /// A header says the class; the list of names has none.
  private func size(of path: String, in state: InspectedState, _ protection: ProtectionClass) -> Int {
    let bytes = state.disk.content(atPath: "\(InspectedState.path)/\(path)") ?? []
    return bytes.count > 10 && bytes[10] == protection.rawValue ? bytes.count : 0
  }

  // MARK: Archives

  @Test func `every application's and every scene's archive is read, whole`() async throws {
    let state = try await InspectedState()
    let names = [
      try await add("other", "main", to: state), try await add("main", "second", to: state),
      try await add("third", "", slot: "odd", to: state, protection: .none, Data("no archive at all".utf8)),
      try await add("fourth", "x", to: state, protection: .completeUntilFirstUserAuthentication),
    ]
    let (code, report) = try await verify(state)
    #expect(code == .success && report.problems.isEmpty)
    for name in names { #expect(report.outcome("archives/\(name)") == "whole") }
    #expect(report.files.allSatisfy { $0.outcome == "whole" }, "\(report.files)")
    #expect(!report.files.contains { $0.kind == "other" })
  }

  @Test func `every flipped byte of an archive that nobody named is found`() async throws {
    let state = try await InspectedState()
    let name = try await add("other", "main", to: state)
    let path = "\(InspectedState.store)/\(name)"
    let bytes = try #require(state.disk.content(atPath: path))
    for offset in stride(from: 0, to: bytes.count, by: 3) {
      try state.edit(path) { $0[offset] ^= 0x20 }
      let (code, report) = try await verify(state)
      let outcome = report.outcome("archives/\(name)")
      #expect(code != .success && outcome != "whole" && outcome != "notRead", "byte \(offset): \(outcome ?? "-")")
      state.disk.plant(bytes, atPath: path)
    }
    #expect(try await verify(state).code == .success)
  }

  @Test func `an archive that nobody named and that is gone is missing`() async throws {
    let state = try await InspectedState()
    let name = try await add("other", "main", to: state)
    state.disk.remove(atPath: "\(InspectedState.store)/\(name)")
    let (code, report) = try await verify(state)
    #expect(code == .damaged && report.outcome("archives/\(name)") == "missing")
  }

  @Test func `an older generation that is gone, and what was saved while locked, are missing too`() async throws {
    let state = try await InspectedState(passcode: "1234")
    state.disk.remove(atPath: "\(InspectedState.store)/\(try #require(state.generations.first))")
    var (code, report) = try await verify(state, passcode: "1234")
    #expect(code == .damaged && report.files.filter { $0.kind == "generation" }.map(\.outcome) == ["whole", "missing"])
    try await Self.inProgram(state, isLocked: true) { device in
      let store = try device.archives(for: ArchiveSlot(application: "first", scene: "ever"))
      try store.publishPending(try Self.archive("pending"), kind: .touchedNodes)
    }
    let pending = try #require(state.disk.names(atPath: InspectedState.store).first { $0.hasSuffix(".pending") })
    state.disk.remove(atPath: "\(InspectedState.store)/\(pending)")
    (code, report) = try await verify(state, passcode: "1234")
    #expect(code == .damaged && report.outcome("archives/\(pending)") == "missing")
  }

  @Test func `without a ledger each file is read under its own class`() async throws {
    let state = try await InspectedState(passcode: "1234")
    try await Self.inProgram(state, isLocked: true) { device in
      let store = try device.archives(for: ArchiveSlot(application: "main", scene: "main"))
      try store.publishPending(try Self.archive("pending"), kind: .touchedNodes)
    }
    let none = try await add("other", "main", to: state, protection: .none)
    state.disk.remove(atPath: "\(InspectedState.store)/ledger")
    let (code, report) = try await verify(state, passcode: "1234")
    #expect(code == .damaged && report.outcome("archives/ledger") == "missing")
    #expect(report.files.filter { $0.kind != "ledger" }.allSatisfy { $0.outcome == "whole" }, "\(report.files)")
    #expect(report.outcome("archives/\(none)") == "whole")
  }

  @Test func `another application's archive in a third one's place is told apart`() async throws {
    let state = try await InspectedState()
    let (one, two) = (try await add("one", "main", to: state), try await add("two", "main", to: state))
    state.disk.plant(
      try #require(state.disk.content(atPath: "\(InspectedState.store)/\(one)")),
      atPath: "\(InspectedState.store)/\(two)")
    let (code, report) = try await verify(state)
    #expect(code == .damaged && report.outcome("archives/\(one)") == "whole")
    #expect(["wrongIdentity", "rolledBack"].contains(report.outcome("archives/\(two)")))
  }

  @Test func `a node that can't be read is a problem of the archive that nobody named`() async throws {
    let state = try await InspectedState()
    var content = try Self.archive("of other")
    // Authentic, and yet no archive behind its first bytes: what a faulty program could have written.
    for index in 40..<content.count { content[index] = 0xFF }
    let name = try await add("other", "main", to: state, content)
    let (code, report) = try await verify(state)
    #expect(code == .damaged && report.outcome("archives/\(name)") == "whole")
    #expect(report.problems.map(\.problem) == ["corrupt"] && report.problems[0].slot.map(name.hasPrefix) == true)
  }

  @Test func `changes that are missing at the end of another application's journal are told`() async throws {
    let state = try await InspectedState()
    _ = try await add("other", "main", to: state)
    try await Self.inProgram(state) { device in
      let store = try device.archives(for: ArchiveSlot(application: "other", scene: "main"))
      let reader = try RestorationArchive.Reader(
        base: RestorationArchive.Source(try store.openNewest().readAll()), deltas: [])
      var writer = try RestorationArchive.Writer(continuing: reader)
      for name in ["first", "second"] {
        _ = try writer.insert(RestorationIdentifier(name))
        if let delta = try writer.makeDelta() { try store.append(delta) }
      }
    }
    #expect(try await verify(state).code == .success)
    let name = try #require(state.disk.names(atPath: InspectedState.store).first { $0.hasSuffix(".journal") })
    try state.edit("\(InspectedState.store)/\(name)") { bytes in
      bytes[try #require(bytes.lastIndex { $0 != 0 }) - 4] ^= 1
    }
    let (code, report) = try await verify(state)
    #expect(code == .damaged && report.problems.map(\.problem) == ["corrupt"])
    // From its header on.
    try state.edit("\(InspectedState.store)/\(name)") { $0[40] ^= 1 }
    #expect(try await verify(state).report.outcome("archives/\(name)") == "corrupt")
  }

  @Test func `a state that was set aside is read like any other`() async throws {
    let state = try await InspectedState()
    let name = try await add("main", "main", slot: "archive.setaside.1", to: state)
    var (code, report) = try await verify(state)
    #expect(code == .success && report.files.first { $0.name == name }?.slot == "archive.setaside.1")
    try state.edit("\(InspectedState.store)/\(name)") { $0[$0.count - 5] ^= 1 }
    (code, report) = try await verify(state)
    #expect(code == .damaged && report.outcome("archives/\(name)") == "corrupt")
  }

  @Test func `damaged generations that were set aside are read and counted as damage of the past`() async throws {
    let state = try await InspectedState()
    try state.edit(try state.newest) { $0[$0.count - 20] ^= 1 }
    try await state.inProgram { store in
      let content = try store.openNewest().readAll()
      try store.publish(content)
    }
    let (code, report) = try await verify(state)
    #expect(code == .success)
    #expect(report.files.filter { $0.kind == "setAside" }.map(\.outcome) == ["corrupt"])
  }

  @Test func `what another program saved while locked is locked, and whole with the passcode`() async throws {
    let state = try await InspectedState(passcode: "1234")
    let archive = try await add("other", "main", to: state, passcode: "1234")
    let open = try await add("other", "main", slot: "open", to: state, protection: .none)
    try await Self.inProgram(state, isLocked: true) { device in
      let store = try device.archives(for: ArchiveSlot(application: "first", scene: "ever"))
      try store.publishPending(try Self.archive("pending"), kind: .touchedNodes)
    }
    let pending = try #require(state.disk.names(atPath: InspectedState.store).first { $0.hasSuffix(".pending") })
    var (code, report) = try await verify(state)
    #expect(code == .locked)
    #expect(report.outcome("archives/\(archive)") == "locked" && report.outcome("archives/\(pending)") == "locked")
    #expect(report.outcome("archives/\(open)") == "whole")
    (code, report) = try await verify(state, passcode: "1234")
    #expect(code == .success && report.problems.isEmpty)
    for name in [archive, open, pending] { #expect(report.outcome("archives/\(name)") == "whole") }
  }

  @Test func `a mark of another application's restoring is checked`() async throws {
    let state = try await InspectedState()
    _ = try await add("other", "main", to: state)
    try await Self.inProgram(state) { device in
      let store = try device.archives(for: ArchiveSlot(application: "other", scene: "main"))
      _ = try store.beginAttempt(for: try store.openNewest())
    }
    let name = try #require(state.disk.names(atPath: InspectedState.store).first { $0.hasSuffix(".marker") })
    #expect(try await verify(state).report.outcome("archives/\(name)") == "whole")
    try state.edit("\(InspectedState.store)/\(name)") { $0[3] ^= 1 }
    let (code, report) = try await verify(state)
    #expect(code == .damaged && report.outcome("archives/\(name)") == "corrupt")
  }

  @Test func `an old archive of another application put back is rolled back`() async throws {
    let state = try await InspectedState()
    let name = try await add("other", "main", to: state)
    let old = try #require(state.disk.content(atPath: "\(InspectedState.store)/\(name)"))
    for _ in 0..<3 { _ = try await add("other", "main", to: state) }
    state.disk.plant(old, atPath: "\(InspectedState.store)/\(name)")
    let (code, report) = try await verify(state)
    #expect(code == .damaged && report.outcome("archives/\(name)") == "rolledBack")
  }

  @Test func `a ledger of a newer version leaves the files to be read`() async throws {
    let state = try await InspectedState()
    let name = try await add("other", "main", to: state)
    // Of the version alone it would be told that the rest is of today.
    try state.edit("\(InspectedState.store)/ledger") { bytes in
      bytes[8] = 0xFF
      bytes[20] ^= 1
    }
    let (code, report) = try await verify(state)
    #expect(report.outcome("archives/ledger") == "unsupportedVersion" && code == .newerVersion)
    #expect(report.outcome("archives/\(name)") == "whole")
  }

  @Test func `all archives gone is damage, not an empty device`() async throws {
    let state = try await InspectedState()
    for name in state.disk.names(atPath: InspectedState.store) where name != "lock" {
      state.disk.remove(atPath: "\(InspectedState.store)/\(name)")
    }
    let (code, report) = try await verify(state)
    #expect(code == .damaged && report.outcome("archives/ledger") == "missing")
  }

  // MARK: Narrowed

  @Test(arguments: [["--application", "main"], ["--scene", "main"], ["--slot", "archive"]])
  func `an application, a scene or a slot that is named narrows the check to it`(options: [String]) async throws {
    let state = try await InspectedState()
    let other = try await add("other", "main", to: state)
    let beside = try await add("main", "main", slot: "archive.setaside.2", to: state)
    let file = try await addFile("letter", .none, to: state)
    for path in ["archives/\(other)", file] { try state.edit("\(InspectedState.path)/\(path)") { $0[60] ^= 1 } }
    let (code, report) = try await verify(state, options[0], options[1])
    #expect(code == .success && report.outcome("archives/\(other)") == "notRead", "\(report)")
    #expect(report.files.first { $0.name == other }?.kind == "other")
    #expect(report.outcome(file) == nil)
    #expect(try await verify(state).code == .damaged)
    let (absent, _) = try await verify(state, options[0], "absent")
    #expect(absent == .notFound)
    try state.edit("\(InspectedState.store)/\(beside)") { $0[60] ^= 1 }
    #expect(try await verify(state, options[0], options[1]).code == .damaged, "it belongs to the scene")
  }

  // MARK: Protected files

  @Test func `every protected file is read, whatever its directory and class`() async throws {
    let state = try await InspectedState()
    var paths: [String] = []
    for directory in ["", "drafts"] {
      for protection in ProtectionClass.allCases {
        paths.append(
          try await addFile(
            "a \(protection)", protection, to: state, in: directory,
            contents: Data(repeating: 7, count: 200_000)))
      }
    }
    let (code, report) = try await verify(state)
    #expect(code == .success && Set(paths).count == 8)
    for path in paths { #expect(report.outcome(path) == "whole", "\(path)") }
    #expect(report.files.filter { $0.path.hasPrefix("files/") }.allSatisfy { $0.outcome == "whole" })
    #expect(report.files.filter { $0.name == "ledger" }.map(\.directory).count == 3)
    for path in paths {
      for offset in [5, 100, 160, 70_000, 199_000] {
        try state.edit("\(InspectedState.path)/\(path)") { $0[offset] ^= 1 }
        let (code, report) = try await verify(state)
        #expect(code != .success && report.outcome(path) != "whole", "byte \(offset) of \(path)")
        try state.edit("\(InspectedState.path)/\(path)") { $0[offset] ^= 1 }
      }
    }
  }

  @Test func `a large protected file is read to its end`() async throws {
    let state = try await InspectedState()
    let path = try await addFile("large", .complete, to: state, contents: Data(repeating: 7, count: 3_500_000))
    #expect(try await verify(state).code == .success)
    for offset in [1_040_000, 2_200_000, 3_400_000] {
      try state.edit("\(InspectedState.path)/\(path)") { $0[offset] ^= 1 }
      let (code, report) = try await verify(state)
      #expect(code == .damaged && report.outcome(path) == "corrupt", "byte \(offset)")
      try state.edit("\(InspectedState.path)/\(path)") { $0[offset] ^= 1 }
    }
  }

  @Test func `protected files of a locked device are locked by their class, not damaged`() async throws {
    let state = try await InspectedState(passcode: "1234")
    var paths: [ProtectionClass: String] = [:]
    for protection in ProtectionClass.allCases {
      paths[protection] = try await addFile("a \(protection)", protection, to: state, passcode: "1234")
    }
    var (code, report) = try await verify(state)
    #expect(code == .locked)
    for (protection, path) in paths {
      #expect(report.outcome(path) == (protection == .none ? "whole" : "locked"), "\(protection)")
    }
    (code, report) = try await verify(state, passcode: "1234")
    #expect(code == .success)
    for path in paths.values { #expect(report.outcome(path) == "whole") }
  }

  @Test func `a protected file that is gone, or of another device, has its outcome`() async throws {
    let (state, foreign) = (try await InspectedState(), try await InspectedState())
    let path = try await addFile("letter", .complete, to: state)
    let other = try await addFile("letter", .complete, to: foreign)
    let bytes = try #require(foreign.disk.content(atPath: "\(InspectedState.path)/\(other)"))
    let own = try #require(state.disk.content(atPath: "\(InspectedState.path)/\(path)"))
    state.disk.remove(atPath: "\(InspectedState.path)/\(path)")
    #expect(try await verify(state).report.outcome(path) == "missing")
    state.disk.plant(bytes, atPath: "\(InspectedState.path)/\(path)")
    let (code, report) = try await verify(state)
    #expect(report.outcome(path) == "otherDevice" && code == .otherDevice)
    // An archive in a file's place is genuine, and another's.
    state.disk.plant(
      try #require(state.disk.content(atPath: try state.newest)), atPath: "\(InspectedState.path)/\(path)")
    #expect(try await verify(state).report.outcome(path) == "wrongIdentity")
    state.disk.plant(own, atPath: "\(InspectedState.path)/\(path)")
    #expect(try await verify(state).code == .success)
  }

  @Test func `protected files alone are something preserved`() async throws {
    let state = try await InspectedState()
    let path = try await addFile("letter", .complete, to: state)
    for name in state.disk.names(atPath: InspectedState.store) {
      state.disk.remove(atPath: "\(InspectedState.store)/\(name)")
    }
    state.disk.remove(atPath: InspectedState.store)
    let (code, report) = try await verify(state)
    #expect(code == .success && report.outcome(path) == "whole")
  }

  // MARK: Hostile directories

  @Test func `what is no file of ours is listed and does no harm`() async throws {
    let state = try await InspectedState()
    let name = try await add("other", "main", to: state)
    let path = try await addFile("letter", .complete, to: state)
    let slot = String(repeating: "a", count: 32)
    for directory in [InspectedState.store, InspectedState.path + "/files", (InspectedState.path + "/" + path).parent] {
      for odd in ["junk", "\u{1B}[2J", "aside-\(slot)-0000000000000001", ".", "aside-ledger-0000000000000001"]
      where odd != "." {
        state.disk.plant([1, 2, 3], atPath: "\(directory)/\(odd)")
      }
      state.disk.plant(.directory, atPath: "\(directory)/\(slot)-0000000000000001.archive")
      state.disk.plant(.directory, atPath: "\(directory)/\(slot)-0000000000000001-00000000.journal")
      state.disk.plant(.symbolicLink, atPath: "\(directory)/\(slot)-0000000000000002.pending")
      state.disk.plant(.other, atPath: "\(directory)/\(slot).marker")
      state.disk.plant([], atPath: "\(directory)/\(slot)-ffffffffffffffff.archive")
      state.disk.plant([0x53], atPath: "\(directory)/\(slot)-ffffffffffffffff-ffffffff.journal")
    }
    state.disk.plant([1], atPath: "\(InspectedState.path)/files/unreadable")
    let (code, report) = try await verify(state)
    #expect(code == .damaged && report.outcome("archives/\(name)") == "whole" && report.outcome(path) == "whole")
    #expect(report.outcome("archives/\(slot)-0000000000000001.archive") == "corrupt")
    #expect(report.outcome("archives/junk") == "notRead" && report.outcome("files/junk") == "notRead")
    #expect(report.files.contains { $0.name == "aside-ledger-0000000000000001" && $0.kind == "setAside" })
    #expect(report.problems.isEmpty, "each file says it itself: \(report.problems)")
    let text = await state.run("verify", InspectedState.path)
    #expect(!text.output.contains("\u{1B}") && text.code == code)
  }

  @Test(arguments: [FileStatus.Kind.symbolicLink, .other, .directory])
  func `something else in the place of a store is told in one line`(kind: FileStatus.Kind) async throws {
    let state = try await InspectedState()
    let path = try await addFile("letter", .complete, to: state)
    let store = (InspectedState.path + "/" + path).parent
    state.disk.remove(atPath: store)
    state.disk.plant(kind, atPath: store)
    let place = store.parent
    state.disk.plant(kind, atPath: InspectedState.path + "/files/beside")
    let (code, report) = try await verify(state)
    if kind == .directory {
      // A crash may have left it empty; what was in it nobody knows.
      #expect(code == .success && report.problems.isEmpty)
    } else {
      #expect(code == .unavailable && report.problems.map(\.directory) == [String(place.dropFirst(8)) + "/archives"])
    }
    #expect(report.outcome("files/beside") == "notRead")
    #expect(report.files.contains { $0.kind == "generation" && $0.outcome == "whole" })
  }

  @Test func `a file that may not be read is io, and the rest of its slot is read`() async throws {
    let state = try await InspectedState()
    let names = state.generations
    state.disk.setMode(0, atPath: try state.newest)
    let alone = try await add("other", "main", to: state)
    state.disk.setMode(0, atPath: "\(InspectedState.store)/\(alone)")
    let (code, report) = try await verify(state)
    #expect(code == .unavailable && report.problems.isEmpty)
    #expect(names.map { report.outcome("archives/\($0)") } == ["whole", "io"])
    #expect(report.outcome("archives/\(alone)") == "io")
  }

  @Test func `a store that others can enter is not read, and the rest is`() async throws {
    let state = try await InspectedState()
    let path = try await addFile("letter", .complete, to: state)
    state.disk.setMode(0o777, atPath: (InspectedState.path + "/" + path).parent)
    let (code, report) = try await verify(state)
    #expect(code == .unavailable && report.problems.map(\.problem) == ["unsafeLocation"])
    #expect(report.files.contains { $0.kind == "generation" && $0.outcome == "whole" })
  }

  @Test(.timeLimit(.minutes(2)))
  func `thousands of odd names cost so many calls each, not so many for each pair`() async throws {
    let state = try await InspectedState()
    let name = try await add("other", "main", to: state)
    let odd = 3000
    for number in 0..<odd / 3 {
      let digits = String(number, radix: 16)
      let slot = String(repeating: "0", count: 32 - digits.count) + digits
      state.disk.plant([UInt8(number & 0xFF)], atPath: "\(InspectedState.store)/\(slot)-0000000000000001.archive")
      state.disk.plant([1], atPath: "\(InspectedState.store)/\(name.prefix(49))-\(slot.suffix(8)).journal")
      state.disk.plant([1], atPath: "\(InspectedState.store)/odd \(number)")
    }
    let disk = FaultyFileSystem(state.disk)
    let result = await state.run("verify", InspectedState.path, on: disk)
    #expect(result.code == .damaged && result.output.contains("whole  \(name)"))
    #expect(result.output.split(separator: "\n").count > odd)
    #expect(disk.callCount < 20 * odd)
  }
}

extension String {
  /// The directory of a path.
  fileprivate var parent: String { split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } }
}
