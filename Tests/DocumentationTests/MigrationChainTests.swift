import Foundation
import OwnThread
import Testing

/// A chain of migrations with a missing or a wrong step must not compile.
@Suite struct MigrationChainTests {
  private static let states = """
    import StateRestoration
    nonisolated struct V1: Codable, Sendable { var text = "" }
    nonisolated struct V2: Codable, Sendable { var text = "", caret = 0 }
    nonisolated struct V3: Codable, Sendable { var draft = "" }
    nonisolated func migrations() -> StateMigrations<V3> { chain() }

    """

  @Test func `an unbroken chain compiles`() async throws {
    let errors = try await typecheck(
      """
      @StateMigrationsBuilder nonisolated func chain() -> StateMigrations<V3> {
        Migration(from: 1) { (old: V1) in V2(text: old.text) }
        Migration(from: 2) { (old: V2) in V3(draft: old.text) }
      }
      """)
    #expect(errors == [])
  }

  @Test(arguments: [
    // The second step does not begin where the first has come to.
    """
    @StateMigrationsBuilder nonisolated func chain() -> StateMigrations<V3> {
      Migration(from: 1) { (old: V1) in V2(text: old.text) }
      Migration(from: 2) { (old: V1) in V3(draft: old.text) }
    }
    """,
    // The chain ends before it has come to today's state.
    """
    @StateMigrationsBuilder nonisolated func chain() -> StateMigrations<V3> {
      Migration(from: 1) { (old: V1) in V2(text: old.text) }
    }
    """,
    // The steps are in the wrong order.
    """
    @StateMigrationsBuilder nonisolated func chain() -> StateMigrations<V3> {
      Migration(from: 2) { (old: V2) in V3(draft: old.text) }
      Migration(from: 1) { (old: V1) in V2(text: old.text) }
    }
    """,
  ])
  func `a broken chain is an error of the compiler, in the chain`(_ chain: String) async throws {
    let errors = try await typecheck(chain)
    #expect(!errors.isEmpty)
    let first = Self.states.split(separator: "\n", omittingEmptySubsequences: false).count
    #expect(errors.allSatisfy { $0 >= first }, "errors at \(errors), the chain begins at \(first)")
  }

  /// The lines at which the compiler finds errors.
  private func typecheck(_ chain: String) async throws -> [Int] {
    let (lines, text, status) = try await onThread { try Self.compile(chain) }
    #expect(lines.isEmpty == (status == 0), "\(text)")
    #expect(!lines.contains(0), "an error that is not in the chain: \(text)")
    return lines
  }

  private static func compile(_ chain: String) throws -> (lines: [Int], output: String, status: Int32) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Chain.swift")
    try (states + chain).write(to: file, atomically: true, encoding: .utf8)
    let products = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let sources = root.appendingPathComponent("Sources")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    var arguments = ["swiftc", "-typecheck", "-swift-version", "6"]
    // With the modules that the build has made of the system's headers, or each run makes them anew.
    arguments += ["-module-cache-path", products.appendingPathComponent("ModuleCache").path]
    arguments += ["-I", products.appendingPathComponent("Modules").path]
    for module in ["CSystem", "CLibcrypto"] {
      arguments += ["-Xcc", "-fmodule-map-file=\(sources.path)/\(module)/module.modulemap"]
    }
    process.arguments = arguments + [file.path]
    let output = Pipe()
    process.standardError = output
    process.standardOutput = Pipe()
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let lines = text.split(separator: "\n").compactMap { line -> Int? in
      guard line.contains(": error: ") else { return nil }
      let parts = line.split(separator: ":")
      return parts.count > 2 && line.contains("Chain.swift") ? Int(parts[1]) : 0
    }
    return (lines, text, process.terminationStatus)
  }
}
