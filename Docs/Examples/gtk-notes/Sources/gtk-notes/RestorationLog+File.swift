import Foundation
import StateRestoration
import Synchronization

nonisolated extension RestorationLog {
  /// The framework's log in a file.
  static func file(at path: String) -> RestorationLog? {
    if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    guard let handle = FileHandle(forWritingAtPath: path) else { return nil }
    _ = try? handle.seekToEnd()
    let file = LogFile(handle)
    return RestorationLog { _, message in file.append("\(message())\n") }
  }
}

/// A file that several threads append to.
nonisolated private final class LogFile: Sendable {
  private let handle: Mutex<FileHandle>

  init(_ handle: sending FileHandle) { self.handle = Mutex(handle) }

  func append(_ line: String) { handle.withLock { try? $0.write(contentsOf: Data(line.utf8)) } }
}
