import Foundation
import StateRestoration
import Synchronization

/// The framework's log in a file.
nonisolated final class FileLog: RestorationLog {
  private let file: Mutex<FileHandle>

  init?(_ path: String) {
    if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    guard let handle = FileHandle(forWritingAtPath: path) else { return nil }
    _ = try? handle.seekToEnd()
    file = Mutex(handle)
  }

  func log(_ level: RestorationLogLevel, _ message: @autoclosure () -> String) {
    let line = "\(message())\n"
    file.withLock { try? $0.write(contentsOf: Data(line.utf8)) }
  }
}
