import Foundation
import StateRestoration
import Synchronization

extension RestorationLog {
  /// A log in a file, a line a message, which is appended to it; nil when the file can't be opened.
  static func file(at path: String) -> RestorationLog? {
    if !FileManager.default.fileExists(atPath: path) {
      guard FileManager.default.createFile(atPath: path, contents: nil) else { return nil }
    }
    guard let handle = FileHandle(forWritingAtPath: path) else { return nil }
    _ = try? handle.seekToEnd()
    let file = LogFile(handle)
    return RestorationLog { level, message in file.append("\(level) \(message())\n") }
  }
}

/// A file that several threads append to.
private final class LogFile: Sendable {
  private let handle: Mutex<FileHandle>

  init(_ handle: sending FileHandle) { self.handle = Mutex(handle) }

  func append(_ line: String) { handle.withLock { try? $0.write(contentsOf: Data(line.utf8)) } }
}
