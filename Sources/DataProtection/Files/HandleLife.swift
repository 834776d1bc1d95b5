import FoundationShim
import Synchronization

/// The plaintext that a handle keeps, until the keys of its class go.
final class HandleLife: Sendable {
  private enum State {
    case alive(written: Data?)
    case over
  }

  private final class Holder: Sendable {
    let state: Mutex<State>

    init(_ written: Data?) { state = Mutex(.alive(written: written)) }
  }

  private let holder: Holder
  private let registration: WipeRegistration

  /// Begins a life, with the bytes that were written and can't be opened for reading.
  init(_ keys: KeyRing, _ protection: ProtectionClass, written: Data? = nil) {
    holder = Holder(written)
    registration = keys.onWipe(of: protection) { [holder] in holder.state.withLock { $0 = .over } }
  }

  /// Keeps bytes that were written, unless the keys have gone meanwhile.
  func keep(_ written: Data?) {
    holder.state.withLock { state in
      if case .alive = state { state = .alive(written: written) }
    }
  }

  /// The bytes that were written; throws `locked` once the keys have gone.
  func written(_ protection: ProtectionClass) throws(ProtectionError) -> Data? {
    guard case .alive(let written) = holder.state.withLock({ $0 }) else { throw .locked(protection) }
    return written
  }
}
