import Foundation
import StateRestoration
import Synchronization

/// The framework's log in a file, a line a message.
final class FileLog: RestorationLog {
  private let file: Mutex<FileHandle>

  /// Opens a file to append to; nil when it can't be.
  init?(path: String) {
    if !FileManager.default.fileExists(atPath: path) {
      guard FileManager.default.createFile(atPath: path, contents: nil) else { return nil }
    }
    guard let handle = FileHandle(forWritingAtPath: path) else { return nil }
    _ = try? handle.seekToEnd()
    file = Mutex(handle)
  }

  func log(_ level: RestorationLogLevel, _ message: @autoclosure () -> String) {
    let line = "\(level) \(message())\n"
    file.withLock { try? $0.write(contentsOf: Data(line.utf8)) }
  }
}
