import Foundation
import OwnThread
import SavedFiles
import Testing

/// Runs of one program with one place for its state.
struct StartUpRuns {
  private let style: StartUpTests.Style
  private let folder: URL

  init(_ style: StartUpTests.Style) throws {
    self.style = style
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("start-up-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Ends the program in every way; the next run has what was typed in the one before.
  func comeBackAfterEachEnd() async throws {
    try await onThread {
      defer { try? FileManager.default.removeItem(at: folder) }
      try run(showing: "draft: .") { program in
        try program.type("killed", "typed: killed.")
        waitForSave()
        kill(program.identifier, SIGKILL)
      }
      try run(showing: "draft: killed.") { program in
        try program.type("preserved", "typed: preserved.")
        try program.type("preserve", "outcome: ")
        kill(program.identifier, SIGKILL)
      }
      let end = try run(showing: "draft: preserved.") { program in
        try program.type("signalled", "typed: signalled.")
        kill(program.identifier, SIGTERM)
      }
      #expect(end == SIGTERM)
      try run(showing: "draft: signalled.") { program in
        try program.type("stopped", "typed: stopped.")
        kill(program.identifier, SIGTSTP)
        program.waitUntilStopped()
        kill(program.identifier, SIGKILL)
      }
      try run(showing: "draft: stopped.") { program in
        try program.type("exited", "typed: exited.")
        try program.type("exit", nil)
      }
      try run(showing: "draft: exited.") { program in
        try program.type("closed", "typed: closed.")
        try program.type("close", "closed.")
        kill(program.identifier, SIGKILL)
      }
      try run(showing: "draft: closed.") { kill($0.identifier, SIGKILL) }
    }
  }

  /// Ends a program with windows in every way; the next run has them all before it shows anything.
  func windowsComeBackAfterEachEnd() async throws {
    try await onThread {
      defer { try? FileManager.default.removeItem(at: folder) }
      try run(showing: "windows: none.") { program in
        try program.type("open one", "windows: one=.")
        try program.type("killed", "typed: killed.")
        try program.type("open two", "windows: two=, one=killed.")
        waitForSave()
        kill(program.identifier, SIGKILL)
      }
      try run(showing: "windows: two=, one=killed.") { program in
        try program.type("second", "typed: second.")
        try program.type("preserve", "outcomes: 2.")
        kill(program.identifier, SIGKILL)
      }
      let end = try run(showing: "windows: two=second, one=killed.") { program in
        try program.type("signalled", "typed: signalled.")
        kill(program.identifier, SIGTERM)
      }
      #expect(end == SIGTERM)
      try run(showing: "windows: two=signalled, one=killed.") { program in
        try program.type("close two", "windows: one=killed.")
        try program.type("stopped", "typed: stopped.")
        kill(program.identifier, SIGTSTP)
        program.waitUntilStopped()
        kill(program.identifier, SIGKILL)
      }
      try run(showing: "windows: one=stopped.") { program in
        try program.type("reopen", "windows: two=signalled, one=stopped.")
        try program.type("exited", "typed: exited.")
        try program.type("exit", nil)
      }
      try run(showing: "windows: two=exited, one=stopped.") { program in
        try program.type("order by name", "order: by name.")
        try program.type("discard two", "windows: one=stopped.")
        try program.type("ended", "typed: ended.")
        try program.type("end", "ended.")
        kill(program.identifier, SIGKILL)
      }
      try run(showing: "windows: one=ended.") { program in
        try program.type("order", "order: by name.")
        kill(program.identifier, SIGKILL)
      }
    }
  }

  /// Sets a passcode, locks, unlocks, changes the passcode and takes it away, all in calls that block.
  func keepAPasscode() async throws {
    try await onThread {
      defer { try? FileManager.default.removeItem(at: folder) }
      try run(showing: "draft: .") { program in
        try program.type("mine", "typed: mine.")
        try program.type("preserve", "outcome: ")
        try program.type("passcode set 1234", "passcode set: true, mine.")
        try program.type("passcode lock", "told: protectedDataWillBecomeUnavailable, mine.")
        try program.type("passcode unlock 4321", "failed: wrongPasscode")
        try program.type("passcode unlock 1234", "told: protectedDataDidBecomeAvailable, mine.")
        kill(program.identifier, SIGKILL)
      }
      // A locked launch shows nothing.
      try run(showing: "draft: .") { program in
        try program.type("passcode unlock 1234", "passcode unlock: true, mine.")
        try program.type("passcode change 1234 5678", "passcode change: true, mine.")
        kill(program.identifier, SIGKILL)
      }
      try run(showing: "draft: .") { program in
        try program.type("passcode remove 1234", "failed: ")
        try program.type("passcode elsewhere 5678", "told: protectedDataDidBecomeAvailable, mine.")
        try program.type("passcode remove 5678", "passcode remove: true, mine.")
        kill(program.identifier, SIGKILL)
      }
      try run(showing: "draft: mine.") { kill($0.identifier, SIGKILL) }
    }
  }

  /// Leaves a program alone for some seconds, and counts how often its threads are woken; what was typed before is there
  /// after a kill.
  ///
  /// - Returns: The counts of the main thread, and of all threads together.
  func countWakesWhileNothingHappens(for seconds: Int) async throws -> (main: Int, all: Int) {
    try await onThread {
      defer { try? FileManager.default.removeItem(at: folder) }
      var wakes = (main: 0, all: 0)
      try run(showing: "draft: .") { program in
        try program.type("kept", "typed: kept.")
        waitForSave()
        let before = program.wakes
        Thread.sleep(forTimeInterval: TimeInterval(seconds))
        let after = program.wakes
        wakes = (after.main - before.main, after.all - before.all)
        kill(program.identifier, SIGKILL)
      }
      try run(showing: "draft: kept.") { kill($0.identifier, SIGKILL) }
      return wakes
    }
  }

  /// Waits for the warning, and then for the end by a signal that nobody answers.
  func beTold(_ warning: String) async throws {
    try await onThread {
      defer { try? FileManager.default.removeItem(at: folder) }
      let program = try RunningProgram(style, in: folder)
      defer { program.end() }
      try program.expect("draft: .")
      try program.type("lost", "typed: lost.")
      try program.expect(warning, on: .error)
      try program.expect("In a program that owns its main thread", on: .error)
      kill(program.identifier, SIGTERM)
      try program.expect("SIGTERM ends the program without a last save", on: .error)
      #expect(program.waitForEnd() == SIGTERM)
    }
  }

  /// One run of the program: waits for what it shows first, does something, and waits for its end.
  @discardableResult
  private func run(
    showing text: String, _ body: (RunningProgram) throws -> Void
  ) throws -> Int32? {
    let program = try RunningProgram(style, in: folder)
    defer { program.end() }
    try program.expect(text)
    try body(program)
    return program.waitForEnd()
  }

  /// Waits until something was written, and then nothing for twice the interval of automatic preservation.
  private func waitForSave() {
    let end = Date.now + 60
    while Date.now < end {
      let newest = SavedFiles.newestChange(below: folder)
      if Date.now.timeIntervalSince(newest) > 0.75 { return }
      Thread.sleep(forTimeInterval: 0.05)
    }
  }
}

/// A program that runs, with its input and outputs.
final class RunningProgram {
  enum Stream { case output, error }

  private let process = Process()
  private let (input, output, error) = (Pipe(), Pipe(), Pipe())
  private var shown: [Stream: String] = [:]
  private let deadline: DispatchWorkItem

  var identifier: Int32 { process.processIdentifier }

  init(_ style: StartUpTests.Style, in folder: URL) throws {
    process.executableURL = Bundle.main.bundleURL.appendingPathComponent(style.program)
    process.arguments = style.argument.isEmpty ? [] : [style.argument]
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_STATE_HOME": folder.path]) { $1 }
      .merging(style.environment) { $1 }
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, error)
    // The program inherits what this thread holds back, and threads of libdispatch hold back all signals.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
    try process.run()
    // A program that doesn't answer ends, so that reading ends too.
    let identifier = process.processIdentifier
    deadline = DispatchWorkItem { kill(identifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: deadline)
  }

  /// Types a line and waits for the answer; nil for none.
  func type(_ line: String, _ answer: String?) throws {
    shown[.output] = ""
    try input.fileHandleForWriting.write(contentsOf: Array((line + "\n").utf8))
    if let answer { try expect(answer) }
  }

  /// Waits until the program has written a text.
  func expect(_ text: String, on stream: Stream = .output) throws {
    let handle = stream == .output ? output.fileHandleForReading : error.fileHandleForReading
    while shown[stream]?.contains(text) != true {
      let data = handle.availableData
      if data.isEmpty { throw Missing(text: text, shown: shown[stream] ?? "", error: errorText(after: stream)) }
      shown[stream, default: ""] += String(decoding: data, as: UTF8.self)
    }
  }

  private func errorText(after stream: Stream) -> String {
    stream == .error ? "" : String(decoding: error.fileHandleForReading.availableData, as: UTF8.self)
  }

  /// Waits until the program has ended; returns the signal that did it, nil for none.
  func waitForEnd() -> Int32? {
    process.waitUntilExit()
    return process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
  }

  /// Waits until the program has stopped itself.
  func waitUntilStopped() {
    func isThere(_ state: Character) -> Bool {
      let status = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
      return status?.split(separator: ")").last?.dropFirst().first == state
    }
    while !isThere("T"), !isThere("Z") { Thread.sleep(forTimeInterval: 0.01) }
  }

  /// How often the main thread, and all threads that live, have gone to sleep so far.
  var wakes: (main: Int, all: Int) {
    let folder = "/proc/\(identifier)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let counts = threads.map { thread -> (thread: String, count: Int) in
      let status = (try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return (thread, line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
    }
    let main = counts.first { $0.thread == "\(identifier)" }?.count ?? 0
    return (main, counts.reduce(0) { $0 + $1.count })
  }

  func end() {
    deadline.cancel()
    if process.isRunning { kill(identifier, SIGKILL) }
    process.waitUntilExit()
  }

  /// A text that did not come.
  struct Missing: Error {
    var text: String
    var shown: String
    var error: String
  }
}
