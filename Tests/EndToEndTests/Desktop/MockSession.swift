import Foundation
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// A private bus and the mock of a desktop on it, as programs of their own.
final class MockSession: Sendable {
  private let directory: String
  private let state: String
  private let programs = Mutex<[Process]>([])
  private let input = Pipe()
  private let lines = Mutex<[String]>([])

  init(state: String) throws {
    self.state = state
    directory = "/tmp/desk-" + UUID().uuidString.prefix(8).lowercased()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
  }

  deinit {
    programs.withLock { programs in
      for program in programs where program.isRunning {
        kill(program.processIdentifier, SIGKILL)
        program.waitUntilExit()
      }
    }
    try? FileManager.default.removeItem(atPath: directory)
  }

  var address: String { "unix:path=\(directory)/bus" }

  func start() async throws {
    let support = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("DesktopSessionTests/Support").path
    try run(
      "/usr/bin/dbus-daemon",
      ["--config-file=\(support)/private-bus.conf", "--address=\(address)", "--nofork", "--nopidfile"], output: nil)
    try await poll("the bus") { FileManager.default.fileExists(atPath: directory + "/bus") }
    let output = Pipe()
    try run("/usr/bin/python3", ["\(support)/desktop-mock.py", address, state], output: output)
    let handle = output.fileHandleForReading
    Thread.detachNewThread { [weak self] in
      var rest = Data()
      while case let chunk = handle.availableData, !chunk.isEmpty {
        rest += chunk
        while let end = rest.firstIndex(of: 10) {
          let line = String(decoding: rest[..<end], as: UTF8.self)
          rest = Data(rest[(end + 1)...])
          self?.lines.withLock { $0.append(line) }
        }
      }
    }
    try await wait(for: "ready")
  }

  private func run(_ program: String, _ arguments: [String], output: Pipe?) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    if let output {
      process.standardInput = input
      process.standardOutput = output
    }
    try process.run()
    programs.withLock { $0.append(process) }
  }

  /// Has the mock carry out a command.
  func tell(_ command: String) { try? input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8)) }

  /// Waits for a line that begins with a text.
  func wait(for text: String) async throws {
    try await poll(text) { lines.withLock { $0.contains { $0.hasPrefix(text) } } }
  }

  /// The words after the first of the last such line.
  func words(of text: String) -> String? {
    lines.withLock { $0.last { $0.hasPrefix(text) } }?.split(separator: " ", maxSplits: 1).last.map(String.init)
  }

  private func poll(_ what: String, until condition: () -> Bool) async throws {
    let end = ContinuousClock.now + PseudoTerminal.patience
    while !condition() {
      guard ContinuousClock.now < end else {
        throw PseudoTerminal.TimedOut(description: "waited for \(what) in \(lines.withLock { $0 })")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}
