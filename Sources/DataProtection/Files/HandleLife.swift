import FoundationShim
import Synchronization

/// The plaintext that a handle keeps, until the keys of its class go.
final class HandleLife: Sendable {
  private enum State {
    case alive(PatchedContent?)
    case over
  }

  private final class Holder: Sendable {
    let state = Mutex(State.alive(nil))
  }

  private let holder = Holder()
  private let registration: WipeRegistration
  private let protection: ProtectionClass

  /// Begins a life without content.
  init(_ keys: any ClassKeys, _ protection: ProtectionClass) {
    self.protection = protection
    registration = keys.onWipe(of: protection) { [holder] in holder.state.withLock { $0 = .over } }
  }

  /// Keeps the content that the handle reads, unless the keys have gone meanwhile.
  func keep(_ content: PatchedContent?) {
    holder.state.withLock { state in
      if case .alive = state { state = .alive(content) }
    }
  }

  /// The content; throws `locked` once the keys have gone.
  func content() throws(ProtectionError) -> PatchedContent? {
    guard case .alive(let content) = holder.state.withLock({ $0 }) else { throw .locked(protection) }
    return content
  }
}
