import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// A log in memory.
final class MemoryLog: Sendable {
  private let stored = Mutex<[(level: RestorationLog.Level, line: String)]>([])

  var lines: [String] { stored.withLock { $0.map(\.line) } }

  var warnings: [String] { stored.withLock { $0.filter { $0.level >= .warning }.map(\.line) } }

  func takeWarnings() -> [String] {
    defer { stored.withLock { $0 = [] } }
    return warnings
  }

  /// The log that keeps its messages here.
  var log: RestorationLog {
    RestorationLog { level, message in
      let line = message()
      self.stored.withLock { $0.append((level, line)) }
    }
  }
}

extension MemoryStore {
  /// The newest whole archive.
  var newestBase: Data? { state.withLock { $0.generations.last?.base } }

  /// Changes one byte of the newest whole archive after the other, the ones before as they were, until a body has seen enough.
  ///
  /// - Returns: What the body has found; nil when no byte was it.
  @MainActor func changingEachByte<Found>(until found: () async throws -> Found?) async throws -> Found? {
    let sound = try #require(newestBase)
    for index in sound.indices {
      var changed = sound
      changed[index] ^= 0xff
      state.withLock { [changed] in $0.generations[$0.generations.count - 1].base = changed }
      if let found = try await found() { return found }
    }
    return nil
  }
}
