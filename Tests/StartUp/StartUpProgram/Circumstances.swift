import Foundation
import StateRestoration

/// A program that is started somewhere, without a terminal: it writes what it finds and what `run` says into a file.
///
/// The environment has the file's name in `START_UP_NOTES`, and in `START_UP_TYPES` what it types: `TERM` and `AGAIN` do more.
@MainActor public struct Circumstances {
  private let environment = ProcessInfo.processInfo.environment
  private var file: String { environment["START_UP_NOTES"] ?? "/dev/null" }

  /// Makes one of this process's environment.
  public init() {}

  private func note(_ line: String) {
    let data = Data((line + "\n").utf8)
    guard let handle = FileHandle(forUpdatingAtPath: file) else {
      return _ = FileManager.default.createFile(atPath: file, contents: data)
    }
    handle.seekToEndOfFile()
    handle.write(data)
    handle.closeFile()
  }

  /// Runs it to its end.
  public func run() async {
    let draft = StoredValue("draft", "")
    do {
      try await RestorationSession.run(at: StartUpProgram.location, root: draft) { session in
        note("draft: \(draft.value).")
        if let text = environment["START_UP_TYPES"] { draft.value = text }
        // Long enough for a warning.
        if environment["START_UP_BLOCKS"] != nil { usleep(1_200_000) }
        switch environment["START_UP_TYPES"] {
        case "TERM":
          kill(getpid(), SIGTERM)
          try await Task.sleep(for: .seconds(30))
        case "AGAIN": try await startAgain()
        default: break
        }
      }
      note("ended")
    } catch {
      note("error: \(error)")
    }
  }

  /// Starts the program once more, while this process runs.
  private func startAgain() async throws {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = ["circumstances"]
    var environment = environment
    environment["START_UP_TYPES"] = nil
    environment["START_UP_NOTES"] = file + ".second"
    process.environment = environment
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { @Sendable _ in continuation.resume() }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    note("second: \(file).second")
  }
}
