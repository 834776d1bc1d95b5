import Synchronization

/// Notices when the keys of a handle's class go.
final class HandleLife: Sendable {
  private final class Flag: Sendable {
    let isSet = Mutex(false)
  }

  private let flag = Flag()
  private let registration: WipeRegistration

  init(_ keys: KeyRing, _ protection: ProtectionClass) {
    registration = keys.onWipe(of: protection) { [flag] in flag.isSet.withLock { $0 = true } }
  }

  /// Whether they have gone since the handle was opened.
  var isOver: Bool { flag.isSet.withLock { $0 } }
}
