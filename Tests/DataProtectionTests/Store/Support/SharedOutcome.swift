import FoundationEssentials
import Synchronization

/// What a peer was told, handed out of a hook.
final class SharedOutcome: Sendable {
  private let outcome = Mutex<(frames: [Data], whole: Data??)?>(nil)

  var value: (frames: [Data], whole: Data??)? { outcome.withLock { $0 } }

  func set(_ value: (frames: [Data], whole: Data??)) {
    outcome.withLock { $0 = value }
  }
}
