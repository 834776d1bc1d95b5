import StateRestoration
import Synchronization

/// Everything that a program's parts did, in one order.
final class EventLog: Sendable {
  private let entries = Mutex<[String]>([])

  /// The log whose messages are entries.
  var log: RestorationLog { RestorationLog { _, message in self.add(message()) } }

  func add(_ entry: String) { entries.withLock { $0.append(entry) } }

  var all: [String] { entries.withLock { $0 } }

  /// The position of the first entry that holds a text.
  func position(of text: String, after start: Int = 0) -> Int? {
    all.indices.dropFirst(start).first { all[$0].contains(text) }
  }
}
