import Foundation
import Glibc
import Synchronization

/// A running program whose lines of output are kept, and which gets lines on its standard input.
final class Helper: Sendable {
  private let process: Mutex<Process>
  private let input: FileHandle
  private let lines = Mutex<[String]>([])
  let identifier: pid_t

  init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    // A library that the tests are run with is not the helper's.
    process.environment = ProcessInfo.processInfo.environment.merging(["LD_LIBRARY_PATH": ""]) { $1 }
      .merging(environment) { $1 }.filter { !$0.value.isEmpty }
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    self.input = input.fileHandleForWriting
    try process.run()
    identifier = process.processIdentifier
    self.process = Mutex(process)
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
  }

  deinit { end() }

  /// Every line so far.
  var output: [String] { lines.withLock { $0 } }

  /// Gives the program a line.
  func tell(_ line: String) { try? input.write(contentsOf: Data((line + "\n").utf8)) }

  /// Gives the program its whole input.
  func finish(with text: String) {
    try? input.write(contentsOf: Data(text.utf8))
    try? input.close()
  }

  /// Waits for the next line after a position that begins with a word.
  @discardableResult
  func line(_ word: String, after position: Int = 0) async throws -> String {
    try await Machine.wait(for: "\(word) among \(output)") { self.find(word, position) != nil }
    return find(word, position) ?? ""
  }

  private func find(_ word: String, _ position: Int) -> String? {
    output.dropFirst(position).first { $0.split(separator: " ").first.map(String.init) == word }
  }

  /// Whether the program has not ended.
  var isAlive: Bool { process.withLock { $0.isRunning } }

  func signal(_ number: Int32) { kill(identifier, number) }

  /// Kills the program, and waits for its end.
  func end() {
    process.withLock { process in
      guard process.isRunning else { return }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }
}
