import DataProtection
import Foundation
import Testing
import restore_inspect

/// The tool as a process of its own, on a real disk.
@Suite struct InspectProcessTests {
  @Test func `the program prints to the right places and ends with the right code`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "inspect-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let device = try await ProtectedDevice.open(at: .directory(directory.path))
    let keybag = try run(["keybag", directory.path])
    #expect(keybag.code == 0 && keybag.output.contains("no passcode") && keybag.error.isEmpty)
    let tree = try run(["tree", directory.path])
    #expect(tree.code == InspectExitCode.notFound.rawValue && tree.output.isEmpty)
    #expect(tree.error.hasPrefix("restore-inspect: ") && tree.error.split(separator: "\n").count == 1)
    let usage = try run(["look"])
    #expect(usage.code == InspectExitCode.usage.rawValue)
    let help = try run(["--help"])
    #expect(help.code == 0 && help.output.contains("EXAMPLES") && !help.output.contains("\u{1B}"))
    withExtendedLifetime(device) {}
  }

  private func run(_ arguments: [String]) throws -> (code: Int32, output: String, error: String) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "restore-inspect")
    process.arguments = arguments
    let (output, error) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = error
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let complaint = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text, complaint)
  }
}
