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
  let arm: String
  private let scratch: String

  init(notes: [String: String] = ["Diary.md": "", "Plans/Trip.md": "Pack.\n", "Plans/Work.md": "Do.\n"]) throws {
    scratch = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString)").path
    folder = scratch + "/notes"
    state = scratch + "/state"
    log = scratch + "/log"
    kills = scratch + "/kills"
    arm = scratch + "/arm"
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
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("restore-demo").path
  }

  /// Starts the program, with a kill switch if one is given ("pwrite:2:torn").
  func start(kill: String? = nil, rows: Int = 24, columns: Int = 80) throws -> PseudoTerminal {
    var environment: [String: String] = ["SWIFT_BACKTRACE": "enable=no"]
    if let kill {
      environment["LD_PRELOAD"] = try KillSwitch.library.get()
      environment["KILL_SWITCH"] = kill
      environment["KILL_SWITCH_LOG"] = kills
      environment["KILL_SWITCH_ARM"] = arm
    }
    return try PseudoTerminal(
      Self.program, arguments: [folder, "--state", state, "--log", log], environment: environment, rows: rows,
      columns: columns)
  }

  /// The kills that landed so far, as the switch noted them.
  var landedKills: [String] {
    ((try? String(contentsOfFile: kills, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
  }

  /// The bytes of every file below the state directory, by path.
  func stateBytes() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: state) {
      files[name] = FileManager.default.contents(atPath: state + "/" + name)
    }
    return files
  }

  /// Sets a passcode through Settings, as a person does.
  func setPasscode(_ passcode: String, in terminal: PseudoTerminal) throws {
    terminal.type("\u{1B}OR")
    try terminal.wait(forText: "Set a passcode")
    terminal.type("\r")
    try terminal.wait(forText: "New passcode")
    terminal.type(passcode + "\r")
    try terminal.wait(forText: "Once more")
    terminal.type(passcode + "\r")
    try terminal.wait(forText: "the passcode is set")
  }
}

/// The preloaded library that kills a process at a chosen system call, built once per run.
enum KillSwitch {
  struct NotBuilt: Error, CustomStringConvertible { var description: String }

  static let library: Result<String, any Error> = Result {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let source = tests.appendingPathComponent("Fixtures/KillSwitch/kill-switch.c").path
    let library = FileManager.default.temporaryDirectory.appendingPathComponent("kill-switch-\(getpid()).so").path
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = ["clang", "-shared", "-fPIC", "-O1", "-o", library, source]
    try compiler.run()
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else {
      throw NotBuilt(description: "the toolchain's clang did not build \(source)")
    }
    return library
  }
}
