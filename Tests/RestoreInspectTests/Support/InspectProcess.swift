import Foundation
import Glibc
import OwnThread
import Testing

/// The tool as a process of its own.
enum InspectProcess {
  /// What a run came to.
  struct Result: Sendable {
    let code: Int32
    let output: String
    let error: String
  }

  /// The program as built beside these tests.
  static var program: String {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "restore-inspect").path
  }

  /// Runs the tool with pipes in the place of a terminal.
  ///
  /// - Parameters:
  ///   - arguments: The command line.
  ///   - input: What the standard input gives.
  ///   - whileWaiting: Runs before the input is given, with the process's number.
  static func run(
    _ arguments: [String], input: String = "", whileWaiting: @escaping @Sendable (pid_t) throws -> Void = { _ in }
  ) async throws -> Result {
    try await run(program, arguments, input: input, whileWaiting: whileWaiting)
  }

  /// Runs a line of shell in which `$0` is the tool.
  static func shell(_ line: String, _ arguments: [String]) async throws -> Result {
    try await run("/bin/sh", ["-c", line, program] + arguments)
  }

  private static func run(
    _ executable: String, _ arguments: [String], input: String = "",
    whileWaiting: @escaping @Sendable (pid_t) throws -> Void = { _ in }
  ) async throws -> Result {
    try await onThread {
      let process = Process()
      process.executableURL = URL(filePath: executable)
      process.arguments = arguments
      let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
      process.standardInput = stdin
      process.standardOutput = stdout
      process.standardError = stderr
      try process.run()
      // A tool that does not end is ended, so that reading ends too.
      let limit = DispatchWorkItem { [identifier = process.processIdentifier] in kill(identifier, SIGKILL) }
      DispatchQueue.global().asyncAfter(deadline: .now() + 180, execute: limit)
      defer { limit.cancel() }
      try whileWaiting(process.processIdentifier)
      if !input.isEmpty { try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
      try stdin.fileHandleForWriting.close()
      let output = String(decoding: stdout.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      let error = String(decoding: stderr.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return Result(code: process.terminationStatus, output: output, error: error)
    }
  }
}

/// The tool in a pseudo-terminal of its own, as its controlling terminal.
final class TerminalRun {
  /// The test waited too long.
  struct TimedOut: Error {
    let shown: String
  }

  /// Everything that the terminal showed.
  private(set) var shown = ""
  let processIdentifier: pid_t
  private let master: Int32
  private let slave: Int32
  private var status: Int32?

  /// `POSIX_SPAWN_SETSID` of glibc's `spawn.h`, which Swift's Glibc module lacks.
  private static let newSession: Int16 = 0x80

  init(_ arguments: [String], environment: [String: String] = [:]) throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var name = [CChar](repeating: 0, count: 256)
    try #require(unsafe openpty(&master, &slave, &name, nil, nil) == 0)
    for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // Opened by the new session's leader, the terminal becomes its controlling terminal.
    unsafe posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(&attributes, Self.newSession)
    var all = ProcessInfo.processInfo.environment
    all["NO_COLOR"] = nil
    all["TERM"] = "xterm"
    all.merge(environment) { $1 }
    let words = unsafe ([InspectProcess.program] + arguments).map { unsafe strdup($0) } + [nil]
    let variables = unsafe all.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer {
      unsafe words.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var identifier: pid_t = 0
    let failure = unsafe posix_spawn(
      &identifier, InspectProcess.program, &actions, &attributes, words, variables)
    try #require(failure == 0)
    self.master = master
    self.slave = slave
    processIdentifier = identifier
  }

  deinit {
    if status == nil {
      kill(processIdentifier, SIGKILL)
      var status: Int32 = 0
      unsafe waitpid(processIdentifier, &status, 0)
    }
    close(master)
    close(slave)
  }

  /// Types a text.
  func type(_ text: String) {
    var bytes = Array(text.utf8)
    _ = unsafe write(master, &bytes, bytes.count)
  }

  /// Whether the terminal shows what is typed.
  var echoes: Bool {
    var settings = termios()
    return unsafe tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Waits until the terminal shows a text.
  func wait(for text: String) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while !shown.contains(text) {
      guard ContinuousClock.now < end else { throw TimedOut(shown: shown) }
      let didRun = isRunning
      guard await pump() || didRun else { throw TimedOut(shown: shown) }
    }
  }

  /// Waits for the end: the exit status, or the negative number of the signal.
  func waitForEnd() async throws -> Int32 {
    let end = ContinuousClock.now + .seconds(30)
    while isRunning {
      guard ContinuousClock.now < end else { throw TimedOut(shown: shown) }
      await pump()
    }
    while await pump(milliseconds: 0) {}
    let status = status ?? 0
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }

  private var isRunning: Bool {
    if status != nil { return false }
    var status: Int32 = 0
    guard unsafe waitpid(processIdentifier, &status, WNOHANG) == processIdentifier else { return true }
    self.status = status
    return false
  }

  @discardableResult
  private func pump(milliseconds: Int32 = 50) async -> Bool {
    let isReady = await onThread { [master] in
      var descriptor = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&descriptor, 1, milliseconds) > 0
    }
    guard isReady else { return false }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(master, &buffer, buffer.count)
    guard count > 0 else { return false }
    shown += String(decoding: buffer[..<count], as: UTF8.self)
    return true
  }
}
