import DataProtection
import Synchronization

/// Keeps a simulated device's class keys outside its processes, as a device's own hardware does.
///
/// A new process of an unlocked device is therefore unlocked. For tests only: the keys are in ordinary memory.
final class SimulatedCustody: ProtectedDevice.KeyCustody {
  private let keys = Mutex<[ProtectedDevice.KeyCustodyEntry: [UInt8]]>([:])

  func keep(_ key: Span<UInt8>, for entry: ProtectedDevice.KeyCustodyEntry) {
    var bytes: [UInt8] = []
    for index in key.indices { bytes.append(key[index]) }
    keys.withLock { $0[entry] = bytes }
  }

  func lend(_ entry: ProtectedDevice.KeyCustodyEntry, to body: (Span<UInt8>) -> Void) {
    guard let bytes = keys.withLock({ $0[entry] }) else { return }
    body(bytes.span)
  }

  func forget(_ entry: ProtectedDevice.KeyCustodyEntry) { keys.withLock { $0[entry] = nil } }

  /// The device locked: what a lock takes is gone, also when no program runs that could see to it.
  func forgetLocked() {
    keys.withLock { keys in
      keys = keys.filter { $0.key.protection != .complete && $0.key.protection != .completeUnlessOpen }
    }
  }

  /// The device restarted: every key is gone.
  func forgetAll() { keys.withLock { $0 = [:] } }
}
