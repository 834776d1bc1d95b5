import Foundation
import OwnThread

/// The compiler, asked about programs that use the package.
enum Compiler {
  /// An error of a program.
  struct Failure: Sendable {
    /// The program's name.
    let program: String
    /// The line in it.
    let line: Int
    /// The error and its notes, in the compiler's words.
    fileprivate(set) var message: String
  }

  /// The errors of programs, which must be in them and nowhere else.
  ///
  /// - Parameters:
  ///   - programs: The programs by name, each a file of one module.
  ///   - includingWarnings: Whether warnings count.
  static func failures(
    of programs: [String: String], includingWarnings: Bool = false
  ) async throws -> (failures: [Failure], output: String) {
    try await onThread { try compile(programs, includingWarnings) }
  }

  private static func compile(_ programs: [String: String], _ includingWarnings: Bool) throws -> (
    failures: [Failure], output: String
  ) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var files: [String] = []
    for (name, text) in programs {
      let file = folder.appendingPathComponent("\(name).swift")
      try text.write(to: file, atomically: true, encoding: .utf8)
      files.append(file.path)
    }
    let products = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let sources = root.appendingPathComponent("Sources")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    var arguments = [
      "swiftc", "-typecheck", "-continue-building-after-errors", "-swift-version", "6", "-diagnostic-style", "llvm",
    ]
    // With the modules that the build has made of the system's headers, or each run makes them anew.
    arguments += ["-module-cache-path", products.appendingPathComponent("ModuleCache").path]
    arguments += ["-I", products.appendingPathComponent("Modules").path]
    for module in ["CSystem", "CLibcrypto"] {
      arguments += ["-Xcc", "-fmodule-map-file=\(sources.path)/\(module)/module.modulemap"]
    }
    process.arguments = arguments + files
    let output = Pipe()
    process.standardError = output
    process.standardOutput = Pipe()
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    var failures: [Failure] = []
    for line in text.split(separator: "\n") {
      if let match = line.wholeMatch(of: /(.*):(\d+):\d+: (error|warning): (.*)/) {
        guard match.3 == "error" || includingWarnings else { continue }
        let program = URL(fileURLWithPath: String(match.1)).deletingPathExtension().lastPathComponent
        failures.append(Failure(program: program, line: Int(match.2) ?? 0, message: String(match.4)))
      } else if line.contains("error: ") {
        failures.append(Failure(program: "", line: 0, message: String(line)))
      } else if let match = line.firstMatch(of: /: note: (.*)/), let last = failures.indices.last {
        failures[last].message += "\n\(match.1)"
      }
    }
    return (failures, text)
  }
}
