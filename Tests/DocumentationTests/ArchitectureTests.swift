import Foundation
import OwnThread
import Testing

/// The directions that Docs/Architecture.md draws, as `.ci/check-imports` enforces them.
struct ArchitectureTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Runs the check of a package's folder.
  private func check(_ package: URL) async throws -> (status: Int32, output: String) {
    try await onThread { try Self.runCheck(package) }
  }

  private static func runCheck(_ package: URL) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["bash", package.appendingPathComponent(".ci/check-imports").path]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  @Test func `every module imports only what it may`() async throws {
    let (status, output) = try await check(Self.root)
    #expect(status == 0, "\(output)")
  }

  @Test(arguments: [
    ("StateRestoration", "import StateRestorationTesting"), ("restore-demo", "public import StateRestorationTesting"),
    ("DataProtection", "@testable import FaultyFileSystem"), ("DataProtection", "import SimulatedTime"),
    ("DataProtection", "import StateRestoration"),
    ("StateRestoration", "import FoundationEssentials"), ("StateRestoration", "internal import Sealing"),
    ("RestorationArchive", "import Glibc"), ("NobodyKnows", "import Foundation"),
  ])
  func `an import upwards, of a transitive target or of the testing product is refused`(
    module: String, line: String
  ) async throws {
    let files = FileManager.default
    let package = files.temporaryDirectory.appendingPathComponent("imports-\(UUID().uuidString)")
    defer { try? files.removeItem(at: package) }
    let folder = package.appendingPathComponent("Sources/\(module)")
    for directory in [folder, package.appendingPathComponent(".ci"), package.appendingPathComponent("Benchmarks")] {
      try files.createDirectory(at: directory, withIntermediateDirectories: true)
    }
    try files.copyItem(
      at: Self.root.appendingPathComponent(".ci/check-imports"),
      to: package.appendingPathComponent(".ci/check-imports"))
    let file = folder.appendingPathComponent("File.swift")
    try "import Foundation\n".write(to: file, atomically: true, encoding: .utf8)
    if module != "NobodyKnows" { #expect(try await check(package).status == 0) }
    try "import Foundation\n\(line)\n".write(to: file, atomically: true, encoding: .utf8)
    let (status, output) = try await check(package)
    #expect(status != 0 && output.contains(module), "\(output)")
  }

  @Test func `the manifest gives the testing product to no product and no program`() throws {
    let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let lines = manifest.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    var targets: [(name: String, text: String)] = []
    for line in lines {
      let opening = #/^(?:\.)?(?:module|executableTarget|target|systemLibrary|tests)\((.*)$/#
      if let match = line.wholeMatch(of: opening) {
        targets.append((String(match.1.prefix(4)), String(match.1)))
      } else if !targets.isEmpty {
        targets[targets.count - 1].text += line
      }
      if line.hasPrefix("tests(") { targets[targets.count - 1].name = "tests" }
    }
    // What the manifest's own functions hand on is no target, and what lies among the tests is in no product.
    let named = targets.filter {
      $0.name != "tests" && !$0.text.hasPrefix("name: name") && !$0.text.contains("path: \"Tests/")
    }
    let users = named.filter { $0.text.contains("\"StateRestorationTesting\"") }
    #expect(targets.count > 20)
    #expect(users.map { String($0.text.prefix { $0 != "," }) } == ["\"StateRestorationTesting\""], "\(users)")
  }
}
