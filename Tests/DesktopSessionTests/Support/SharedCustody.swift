import Dispatch
import StateRestoration
import Synchronization

/// Class keys that several programs share, kept in memory; it can hang.
final class SharedCustody: ProtectedDevice.KeyCustody {
  private let forgets: Bool
  private let keys = Mutex<[ProtectedDevice.KeyCustodyEntry: [UInt8]]>([:])
  private let isStuck = Atomic<Bool>(false)
  private let mayGo = DispatchSemaphore(value: 0)

  /// Makes a custody.
  ///
  /// - Parameter forgets: Whether a lock takes the keys away; otherwise every program can unlock without a passcode.
  init(forgets: Bool = true) { self.forgets = forgets }

  func keep(_ key: Span<UInt8>, for entry: ProtectedDevice.KeyCustodyEntry) {
    let bytes = key.indices.map { key[$0] }
    keys.withLock { $0[entry] = bytes }
  }

  func lend(_ entry: ProtectedDevice.KeyCustodyEntry, to body: (Span<UInt8>) -> Void) {
    if isStuck.load(ordering: .acquiring) { mayGo.wait() }
    if let bytes = keys.withLock({ $0[entry] }) { body(bytes.span) }
  }

  func forget(_ entry: ProtectedDevice.KeyCustodyEntry) {
    if forgets { keys.withLock { $0[entry] = nil } }
  }

  /// Answers nobody from now on.
  func hang() { isStuck.store(true, ordering: .releasing) }

  /// Answers again, also those who wait.
  func goOn() {
    isStuck.store(false, ordering: .releasing)
    for _ in 0..<3 { mayGo.signal() }
  }
}
