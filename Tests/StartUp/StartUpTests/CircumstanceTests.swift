import Foundation
import OwnThread
import TestTraits
import Testing

/// Where and how a program can be started, in the words of the article *When something does not come back*.
enum Circumstance: String, CaseIterable, Sendable {
  case brokenError = "Nobody reads its standard error"
  case closedDescriptors = "Its descriptors 0 to 2 are closed"
  case linkedHome = "The home is a link to another directory"
  case absentHome = "The home does not exist yet"
  case noHome = "Neither `HOME` nor `XDG_STATE_HOME` is set"
  case forbiddenHome = "The home does not exist, and the user may not make it"
  case readOnlyFirst = "The home is read-only, and there is no state yet"
  case readOnlyLater = "The home is read-only, and there is state"
  case fullFirst = "The home is full, and there is no state yet"
  case fullLater = "The home is full, and there is state"
  case sudoFirst = "It is started with `sudo`, in the home of a user who has no state yet"
  case sudoLater = "It is started with `sudo`, in the home of a user who has state"
  case afterSudo = "Root made the directory once, and now the user starts it"
  case openDirectory = "The state's directory is open to others"
  case linkedDirectory = "The state's directory is a link"
  case fileInTheWay = "A file is in the place of the directory"
  case runsAlready = "It runs already"

  /// Whether a test has to be root for it: to mount a disk, or to be somebody else.
  var needsRoot: Bool {
    switch self {
    case .forbiddenHome, .readOnlyFirst, .readOnlyLater, .fullFirst, .fullLater: true
    case .sudoFirst, .sudoLater, .afterSudo: true
    default: false
    }
  }
}

/// Every row of the table *where and how it is started* is made here, with processes, and `run` says what the table says.
@Suite(.serialized) struct CircumstanceTests {
  /// The article's words by circumstance; nil where nothing is said.
  static func table() throws -> [String: String?] {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let article = root.appending(path: "Sources/StateRestoration/StateRestoration.docc/WhenSomethingDoesNotComeBack.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    let sections = text.components(separatedBy: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix("Where and how it is started\n") })
    var rows: [String: String?] = [:]
    for line in section.split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, cells[2] == "nothing" || cells[2].hasPrefix("“") else { continue }
      rows[cells[0]] = .some(cells[2] == "nothing" ? nil : String(cells[2].dropFirst().dropLast()))
    }
    return rows
  }

  @Test func `the table has a row for each circumstance, and none more`() throws {
    #expect(try Set(Self.table().keys) == Set(Circumstance.allCases.map(\.rawValue)))
  }

  @Test(arguments: Circumstance.allCases.filter { !$0.needsRoot || SmallDisk.isPossible })
  func `in every circumstance the program says what the table says, and what was saved is there`(
    _ circumstance: Circumstance
  ) async throws {
    let words = try #require(try Self.table()[circumstance.rawValue])
    let said = try await onThread {
      let place = try StartingPlace()
      defer { place.remove() }
      return try place.make(circumstance)
    }
    if let words { #expect(said.contains(words), "said: \(said)") } else { #expect(said == "") }
  }
}

/// A directory with a home in it, for one circumstance.
private final class StartingPlace {
  /// What one process said: its own notes, and what stood on standard error.
  private struct Run {
    var status: Int32
    var notes: String
    var error: String
    /// What `run` and the log said.
    var said: String {
      notes.split(separator: "\n").filter { $0.hasPrefix("error: ") }.joined(separator: "\n") + error
    }
  }

  private let folder: URL
  private var home: URL { folder.appendingPathComponent("home") }
  private var state: URL { home.appendingPathComponent(".local/state/com.example.start-up") }
  private var program: URL { folder.appendingPathComponent("program") }
  private var disk: SmallDisk?
  private let user: UInt32 = 65534

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("place-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    try FileManager.default.createDirectory(at: notes, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: notes.path)
    // Another user can't reach the one that was built. Another process copies it: a child that a test beside this one starts
    // could keep it open for writing.
    let copy = Process()
    copy.executableURL = URL(filePath: "/bin/cp")
    copy.arguments = [Bundle.main.bundleURL.appendingPathComponent("start-up-async").path, program.path]
    try copy.run()
    copy.waitUntilExit()
  }

  func remove() {
    disk?.unmount()
    try? FileManager.default.removeItem(at: folder)
  }

  private var notes: URL { folder.appendingPathComponent("notes") }

  private func makeHome(at url: URL? = nil, ownedBy owner: UInt32? = nil) throws {
    let url = url ?? home
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    if let owner { #expect(unsafe chown(url.path, owner, owner) == 0) }
  }

  /// Runs the program once, through a shell.
  ///
  /// - Parameters:
  ///   - typing: What it types into its draft.
  ///   - shell: What the shell does; `"$@"` is the program.
  private func run(
    typing text: String? = nil, _ shell: String = #"exec "$@""#, as user: UInt32? = nil, home: String? = nil,
    blocking: Bool = false
  ) throws -> Run {
    let (file, error) = (notes.appendingPathComponent("\(UUID())"), folder.appendingPathComponent("error-\(UUID())"))
    try Data().write(to: error)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    let changing = user.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
    process.arguments = ["-c", shell, "sh"] + changing + [program.path, "circumstances"]
    var environment = ProcessInfo.processInfo.environment
    environment["XDG_STATE_HOME"] = nil
    environment["HOME"] = home ?? self.home.path
    if home == "" { environment["HOME"] = nil }
    environment["SWIFT_BACKTRACE"] = "enable=no"
    environment["START_UP_NOTES"] = file.path
    environment["START_UP_TYPES"] = text
    environment["START_UP_BLOCKS"] = blocking ? "1" : nil
    process.environment = environment
    process.currentDirectoryURL = URL(filePath: "/")
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: error)
    try process.run()
    process.waitUntilExit()
    let notes = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return Run(
      status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus, notes: notes,
      error: try String(contentsOf: error, encoding: .utf8))
  }

  /// Expects that a run has found a draft and ended by itself, whatever it said.
  private func expect(_ run: Run, drafts text: String, at place: SourceLocation = #_sourceLocation) {
    #expect(run.status == 0, "\(run)", sourceLocation: place)
    #expect(run.notes.contains("draft: \(text).\n"), "\(run)", sourceLocation: place)
  }

  // MARK: - The circumstances

  /// Makes one, and returns what was said.
  func make(_ circumstance: Circumstance) throws -> String {
    switch circumstance {
    case .brokenError:
      // The main thread blocks for long enough that a warning is written.
      let first = try run(typing: "kept", #"{ "$@" 2>&3 3>&-; echo $? > /dev/null; } 3>&1 | true"#, blocking: true)
      #expect(first.status == 0 && first.notes.contains("ended"), "\(first)")
      expect(try run(), drafts: "kept")
      return first.said
    case .closedDescriptors:
      let first = try run(typing: "kept", #"exec "$@" <&- >&- 2>&-"#, blocking: true)
      #expect(first.notes.contains("ended"), "\(first)")
      // A signal is heard, and ends it after a save.
      let second = try run(typing: "TERM", #"exec "$@" <&- >&- 2>&-"#, blocking: true)
      #expect(second.status == -SIGTERM && second.notes.contains("draft: kept."), "\(second)")
      expect(try run(), drafts: "TERM")
      return first.said + second.said
    case .linkedHome:
      try makeHome(at: folder.appendingPathComponent("real"))
      try FileManager.default.createSymbolicLink(
        at: home, withDestinationURL: folder.appendingPathComponent("real"))
      return try keepingState()
    case .absentHome: return try keepingState()
    case .noHome: return try run(home: "").said
    case .forbiddenHome: return try run(as: user).said
    case .readOnlyFirst, .fullFirst:
      try makeScarce(circumstance)
      // Who changes nothing loses nothing, and ends well.
      let idle = try run()
      expect(idle, drafts: "")
      #expect(idle.notes.contains("ended") && idle.error.contains("nothing saved before is lost"), "\(idle)")
      let run = try run(typing: "lost")
      expect(run, drafts: "")
      #expect(run.notes.contains("error: "), "\(run)")
      return run.said
    case .readOnlyLater, .fullLater:
      try makeScarce(circumstance)
      // More than what is free in the blocks of the archive.
      let run = try run(typing: String(repeating: "lost", count: 15_000))
      expect(run, drafts: "kept")
      expect(try self.run(), drafts: "kept")
      if circumstance == .fullLater {
        try disk?.makeRoom()
        expect(try self.run(typing: "saved"), drafts: "kept")
        expect(try self.run(), drafts: "saved")
      }
      return run.said
    case .sudoFirst:
      try makeHome(ownedBy: user)
      let said = try run(typing: "root's").said
      // Nothing is in the user's way.
      expect(try run(typing: "kept", as: user), drafts: "")
      expect(try run(as: user), drafts: "kept")
      return said
    case .sudoLater:
      try makeHome(ownedBy: user)
      expect(try run(typing: "kept", as: user), drafts: "")
      let said = try run(typing: "root's").said
      expect(try run(as: user), drafts: "kept")
      return said
    case .afterSudo:
      try makeHome(ownedBy: user)
      try FileManager.default.createDirectory(
        at: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      return try run(typing: "lost", as: user).said
    case .openDirectory:
      try FileManager.default.createDirectory(
        at: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      return try run(typing: "lost").said
    case .linkedDirectory:
      try FileManager.default.createDirectory(at: state.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(at: state, withDestinationURL: folder)
      return try run(typing: "lost").said
    case .fileInTheWay:
      try FileManager.default.createDirectory(at: state.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: state)
      let said = try run(typing: "lost").said
      #expect(try String(contentsOf: state, encoding: .utf8) == "mine")
      return said
    case .runsAlready:
      // The first process starts a second one while it runs.
      let run = try run(typing: "AGAIN")
      let second = try String(contentsOf: URL(filePath: run.notes.noteFile), encoding: .utf8)
      return second + run.said
    }
  }

  private func keepingState() throws -> String {
    let first = try run(typing: "kept")
    expect(first, drafts: "")
    let second = try run()
    expect(second, drafts: "kept")
    return first.said + second.said
  }

  private func makeScarce(_ circumstance: Circumstance) throws {
    let disk = try SmallDisk(at: home.path, kilobytes: 256)
    self.disk = disk
    if circumstance == .readOnlyLater || circumstance == .fullLater { expect(try run(typing: "kept"), drafts: "") }
    if circumstance == .readOnlyFirst || circumstance == .readOnlyLater {
      try disk.remount(isReadOnly: true)
    } else {
      try disk.fill()
    }
  }
}

extension String {
  /// Where the process that was started by another one has its notes.
  fileprivate var noteFile: String {
    split(separator: "\n").first { $0.hasPrefix("second: ") }.map { String($0.dropFirst("second: ".count)) } ?? ""
  }
}
