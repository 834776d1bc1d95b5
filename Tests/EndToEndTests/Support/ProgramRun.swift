import Foundation
import Patience

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program that ran without a terminal: what it printed and how it ended.
struct ProgramRun {
  /// The exit status, or the negative number of the signal that ended it.
  let status: Int32
  let output: String
  let error: String

  /// Runs a program to its end.
  ///
  /// The task is suspended meanwhile; output goes through files, so that no pipe can fill up.
  ///
  /// - Parameters:
  ///   - environment: Variables that are set besides this process's; those that are empty are taken away.
  ///   - input: What the program reads from standard input.
  ///   - patience: After so long it is killed, and the test fails.
  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], input: String = "",
    directory: String? = nil, patience: Duration = .seconds(180)
  ) async throws {
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let files = ["input", "output", "error"].map { scratch.appendingPathComponent($0) }
    for file in files { try Data(file == files[0] ? Array(input.utf8) : []).write(to: file) }

    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }.filter { !$0.value.isEmpty }
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    let (ends, end) = AsyncStream.makeStream(of: Never.self)
    process.terminationHandler = { @Sendable _ in end.finish() }
    try process.run()
    let limit = Task { [patience, identifier = process.processIdentifier] in
      try await Task.sleep(for: patience)
      kill(identifier, SIGKILL)
    }
    for await _ in ends {}
    limit.cancel()
    status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    output = String(decoding: try Data(contentsOf: files[1]), as: UTF8.self)
    error = String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
    if case .success = await limit.result {
      throw TimedOut(description: "\(program) \(arguments) was not at an end after \(patience):\n\(output)\n\(error)")
    }
  }
}
