import Foundation
import OwnThread
import Testing

/// R9.2, from outside: a process counts every call of libcrypto, of the disk and of its own encoding, by the thread.
///
/// The main actor has its turns on the thread with which the process began, and nothing else runs there.
struct MainThreadCallsTests {
  /// What was counted in one step.
  struct Counts {
    var step: String
    var main: [String: Int]
    var elsewhere: [String: Int]

    /// A line such as “save: main crypto 0, write 0; elsewhere crypto 12, write 3”.
    init?(_ line: Substring) {
      guard let match = line.wholeMatch(of: /(.+): main (.+); elsewhere (.+)/) else { return nil }
      func counts(_ text: Substring) -> [String: Int] {
        let pairs = text.split(separator: ", ").map { $0.split(separator: " ") }
          .map { (String($0[0]), Int($0[1]) ?? -1) }
        return Dictionary(uniqueKeysWithValues: pairs).filter { $0.value != 0 }
      }
      (step, main, elsewhere) = (String(match.1), counts(match.2), counts(match.3))
    }
  }

  /// Runs the program once.
  private func run(_ step: String, in folder: URL) throws -> [Counts] {
    let process = Process()
    process.executableURL = Bundle.main.bundleURL.appendingPathComponent("main-thread-calls")
    process.arguments = [folder.appendingPathComponent("state").path, step]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(step): \(text)")
    #expect(!text.contains("wrong: "), "\(step): \(text)")
    return text.split(separator: "\n").compactMap(Counts.init)
  }

  /// The steps of a program with one root, and of one with windows, as three processes each.
  @Test(arguments: [["first", "again", "locked"], ["windows", "windows-again", "windows-locked"], ["several"]])
  func `nothing is encoded, sealed, read or written on the main thread in a save, an unlock and a launch`(
    _ runs: [String]
  ) async throws {
    let all = try await onThread {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("calls-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      return try runs.map { (run: $0, counted: try self.run($0, in: folder)) }
    }
    for (run, counted) in all {
      #expect(counted.count > 1)
      for counts in counted {
        var main = counts.main
        // The number of the object whose code runs next, so that a crash is put down to it: four bytes, which wait for
        // nothing. On most volumes not even a call.
        if counts.step.contains(/launch|unlock|open/) { main["note"] = nil }
        #expect(main == [:], "\(run), \(counts.step): on the main thread")
        #expect(!counts.elsewhere.isEmpty || counts.step == "foreground", "\(run), \(counts.step)")
      }
    }
  }
}
