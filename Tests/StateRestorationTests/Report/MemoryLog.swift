import FoundationEssentials
import StateRestoration
import Synchronization

/// A log in memory.
final class MemoryLog: RestorationLog {
  private let stored = Mutex<[String]>([])

  var lines: [String] { stored.withLock { $0 } }

  func log(_ level: RestorationLogLevel, _ message: @autoclosure () -> String) {
    let line = message()
    stored.withLock { $0.append(line) }
  }
}

extension MemoryStore {
  /// The newest whole archive.
  var newestBase: Data? { state.withLock { $0.generations.last?.base } }
}
