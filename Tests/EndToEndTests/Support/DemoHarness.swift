import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A folder of notes, a state directory, and the program started on them in a terminal, again and again.
final class DemoHarness {
  let folder: String
  let state: String
  let log: String
  let kills: String
  /// While this file is missing, the kill switch counts no system call.
  private let armed: String
  /// Once this file is there, the kill switch kills at the next write.
  private let now: String
  private let scratch: String

  init(notes: [String: String] = ["Diary.md": "", "Plans/Trip.md": "Pack.\n", "Plans/Work.md": "Do.\n"]) throws {
    scratch = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString)").path
    folder = scratch + "/notes"
    state = scratch + "/state"
    log = scratch + "/log"
    kills = scratch + "/kills"
    armed = scratch + "/armed"
    now = scratch + "/now"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, text) in notes {
      let url = URL(fileURLWithPath: folder + "/" + name)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: scratch) }

  /// The program as built beside these tests.
  static var program: String {
    URL(fileURLWithPath: testProgram).deletingLastPathComponent().appendingPathComponent("restore-demo").path
  }

  /// The program of these tests.
  static var testProgram: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  }

  /// Starts the program, with a kill switch if one is given.
  ///
  /// - Parameters:
  ///   - kill: Where the switch kills the program, as `kill-switch.c` reads it ("pwrite:2:torn").
  ///   - isArmedLater: Whether the switch waits for ``arm()``.
  ///   - power: What becomes of what was not synced when the kill is a power cut ("lost", "mixed:7"); nil when it is not.
  func start(
    kill: String? = nil, isArmedLater: Bool = true, power: String? = nil, rows: Int = 24, columns: Int = 80,
    terminal: String = "xterm-256color"
  ) async throws -> PseudoTerminal {
    for file in [armed, now] { try? FileManager.default.removeItem(atPath: file) }
    var environment: [String: String] = ["SWIFT_BACKTRACE": "enable=no", "TERM": terminal]
    if let kill {
      try? FileManager.default.removeItem(atPath: log)
      environment["LD_PRELOAD"] = try await KillSwitch.library()
      environment["KILL_SWITCH"] = kill
      environment["KILL_SWITCH_LOG"] = kills
      environment["KILL_SWITCH_ARM"] = isArmedLater ? armed : nil
      environment["KILL_SWITCH_NOW"] = now
      environment["POWER_CUT"] = power
      environment["POWER_CUT_ROOT"] = power == nil ? nil : state
    }
    return try PseudoTerminal(
      Self.program, arguments: [folder, "--state", state, "--log", kill == nil ? log + ".other" : log],
      environment: environment, rows: rows,
      columns: columns)
  }

  /// Runs the program on a script to its end.
  ///
  /// - Parameter arguments: The program's arguments besides the script; nil for this harness's folder and state.
  func run(
    _ script: [String], arguments: [String]? = nil, environment: [String: String] = [:]
  ) async throws -> ProgramRun {
    try await ProgramRun(
      Self.program, (arguments ?? [folder, "--state", state]) + ["--script", "-"],
      environment: ["SWIFT_BACKTRACE": "enable=no"].merging(environment) { $1 },
      input: script.joined(separator: "\n") + "\n")
  }

  /// Lets the kill switch count from now on.
  func arm() { _ = FileManager.default.createFile(atPath: armed, contents: nil) }

  /// Lets the kill switch kill at the next write.
  func killNow() { _ = FileManager.default.createFile(atPath: now, contents: nil) }

  /// The lines of the program's log since the last start of a program that is to be killed.
  var logLines: [Substring] {
    ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
  }

  /// The kills that landed so far, as the switch noted them.
  var landedKills: [String] {
    ((try? String(contentsOfFile: kills, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  /// The bytes of every file below the state directory, by path; but for locks, which say who had them last.
  func stateBytes() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: state)
    where URL(fileURLWithPath: name).lastPathComponent != "lock" {
      files[name] = FileManager.default.contents(atPath: state + "/" + name)
    }
    return files
  }

  /// The path of the only file of the state whose name begins so.
  func stateFile(beginning text: String) throws -> String? {
    let paths = try stateFiles(beginning: text)
    return paths.count == 1 ? paths.first : nil
  }

  /// The paths of the files of the state whose names begin so, in the order of their names.
  func stateFiles(beginning text: String) throws -> [String] {
    let names = try stateBytes().keys.filter { URL(fileURLWithPath: $0).lastPathComponent.hasPrefix(text) }
    return names.sorted().map { state + "/" + $0 }
  }

  /// Starts the program where nothing was preserved, and waits for its first screen.
  func startFresh() async throws -> PseudoTerminal {
    let terminal = try await start()
    try await terminal.wait(forText: "Plans  (2)")
    return terminal
  }

  /// Starts the program on a state with a passcode, and waits until it asks for it.
  func startLocked() async throws -> PseudoTerminal {
    let terminal = try await start()
    try await terminal.wait(forText: "Locked")
    return terminal
  }

  /// Locks the program, as a person does.
  func lock(_ terminal: PseudoTerminal) async throws {
    await terminal.type("\u{0C}")
    try await terminal.wait(forText: "Locked")
  }

  /// Opens the list of the second folder, as a person does.
  func openPlans(in terminal: PseudoTerminal) async throws {
    await terminal.type("\u{1B}[B\r")
    try await terminal.wait(forText: "▸ Trip.md")
  }

  /// Opens a note of the second folder.
  func openTrip(in terminal: PseudoTerminal) async throws {
    try await openPlans(in: terminal)
    await terminal.type("\r")
    try await terminal.wait(forText: "Pack.")
  }

  /// Sets a passcode through Settings, as a person does.
  func setPasscode(_ passcode: String, in terminal: PseudoTerminal) async throws {
    await terminal.type("\u{1B}OS")
    try await terminal.wait(forText: "Set a passcode")
    await terminal.type("\r")
    try await terminal.wait(forText: "New passcode")
    await terminal.type(passcode + "\r")
    try await terminal.wait(forText: "Once more")
    await terminal.type(passcode + "\r")
    try await terminal.wait(forText: "the passcode is set")
  }
}
