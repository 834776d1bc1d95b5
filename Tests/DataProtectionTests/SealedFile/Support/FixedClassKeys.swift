import Sealing
import Synchronization

@testable import DataProtection

/// Class keys that a test laid down, with a lock like the device's.
final class FixedClassKeys: ClassKeys {
  let identifier: ClassKeyIdentifier
  private let classKeys: [ProtectionClass: [UInt8]]
  private let state = Mutex(State())

  private struct State {
    var isLocked = false
    var next = 0
    var callbacks: [Int: (protection: ProtectionClass, body: @Sendable () -> Void)] = [:]
  }

  /// - Parameters:
  ///   - identifier: The identifier of every class key.
  ///   - classKeys: The keys; for `completeUnlessOpen` the private one.
  init(identifier: [UInt8], classKeys: [ProtectionClass: [UInt8]]) {
    self.identifier = ClassKeyIdentifier(bytes: identifier)
    self.classKeys = classKeys
  }

  /// The keys of a device: four of them, made of one number.
  convenience init(device: UInt8 = 1) {
    let keys = ProtectionClass.allCases.map { ($0, [UInt8](repeating: device &* 16 &+ $0.rawValue, count: 32)) }
    self.init(
      identifier: .init(repeating: device &+ 100, count: 16),
      classKeys: Dictionary(uniqueKeysWithValues: keys))
  }

  func lock() {
    let due = state.withLock { state in
      state.isLocked = true
      return state.callbacks.values.filter { $0.protection == .complete }
    }
    for callback in due { callback.body() }
  }

  func unlock() { state.withLock { $0.isLocked = false } }

  /// How many files and journals wait to be wiped.
  var holderCount: Int { state.withLock { $0.callbacks.count } }

  private func key(_ protection: ProtectionClass) throws(ProtectionError) -> SecretKey {
    let isWithheld = protection == .complete || protection == .completeUnlessOpen
    guard !isWithheld || !state.withLock({ $0.isLocked }) else { throw ProtectionError(.locked, "Locked.") }
    let bytes = classKeys[protection]!
    return try sealing("make a key") { () throws(SealingError) in try SecretKey(copying: bytes.span) }
  }

  private func check(_ identifier: ClassKeyIdentifier) throws(ProtectionError) {
    guard identifier == self.identifier else { throw ProtectionError(.otherDevice, "No such key.") }
  }

  func isAvailable(_ protection: ProtectionClass) -> Bool {
    protectionCode { () throws(ProtectionError) in _ = try key(protection) } == nil
  }

  func withSealingKey<R>(
    for protection: ProtectionClass,
    _ body: (ClassKeyIdentifier, borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try body(identifier, try key(protection))
  }

  func withOpeningKey<R>(
    for protection: ProtectionClass, identifier: ClassKeyIdentifier,
    _ body: (borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try check(identifier)
    return try body(try key(protection))
  }

  /// The public key of the pair.
  var publicKey: [UInt8] {
    get throws(ProtectionError) {
      let bytes = classKeys[.completeUnlessOpen]!
      return try sealing("make a key") { () throws(SealingError) in
        try X25519.publicKey(of: SecretKey(copying: bytes.span))
      }
    }
  }

  func withOneWaySealingKeys<R>(
    _ body: (ClassKeyIdentifier, [UInt8], borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try body(identifier, try publicKey, try key(.none))
  }

  func withOneWayOpeningKeys<R>(
    identifier: ClassKeyIdentifier,
    _ body: (borrowing SecretKey, [UInt8], borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try check(identifier)
    return try body(try key(.completeUnlessOpen), try publicKey, try key(.none))
  }

  func onWipe(of protection: ProtectionClass, _ body: @escaping @Sendable () -> Void) -> WipeRegistration {
    let number = state.withLock { state in
      state.next += 1
      state.callbacks[state.next] = (protection, body)
      return state.next
    }
    return WipeRegistration { [weak self] in
      _ = self?.state.withLock { $0.callbacks.removeValue(forKey: number) }
    }
  }
}
