import Sealing
import Synchronization

@testable import DataProtection

/// Class keys that a test locks and unlocks, for the real sealing code.
final class TestClassKeys: ClassKeys {
  private final class Key: Sendable {
    let key: SecretKey
    init() throws { key = try SecretKey(from: SystemRandom()) }
  }

  private struct State {
    var isLocked = false
    var wipes: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }

  private let keys: [ProtectionClass: Key]
  private let publicKey: [UInt8]
  private let state = Mutex(State())

  init(device: UInt8 = 5) throws {
    keys = try Dictionary(uniqueKeysWithValues: ProtectionClass.allCases.map { ($0, try Key()) })
    publicKey = try X25519.publicKey(of: keys[.completeUnlessOpen]!.key)
  }

  func lock() {
    let wipes = state.withLock { state in
      state.isLocked = true
      defer { state.wipes = [:] }
      return state.wipes.values.map { $0 }
    }
    for wipe in wipes { wipe() }
  }

  func unlock() { state.withLock { $0.isLocked = false } }

  private func identifier(_ protection: ProtectionClass) -> ClassKeyIdentifier {
    ClassKeyIdentifier(bytes: [UInt8](repeating: protection.rawValue, count: 16))
  }

  private func require(_ protection: ProtectionClass) throws(ProtectionError) {
    guard protection == .none || protection == .completeUntilFirstUserAuthentication || !state.withLock(\.isLocked)
    else { throw ProtectionError(.locked, "Locked.") }
  }

  func isAvailable(_ protection: ProtectionClass) -> Bool {
    protectionCode { () throws(ProtectionError) in try require(protection) } == nil
  }

  func withSealingKey<R>(
    for protection: ProtectionClass,
    _ body: (ClassKeyIdentifier, borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try require(protection)
    return try body(identifier(protection), keys[protection]!.key)
  }

  func withOpeningKey<R>(
    for protection: ProtectionClass, identifier: ClassKeyIdentifier,
    _ body: (borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    guard identifier == self.identifier(protection) else { throw ProtectionError(.otherDevice, "Another key.") }
    try require(protection)
    return try body(keys[protection]!.key)
  }

  func withOneWaySealingKeys<R>(
    _ body: (ClassKeyIdentifier, _ publicKey: [UInt8], _ sender: borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try body(identifier(.completeUnlessOpen), publicKey, keys[.none]!.key)
  }

  func withOneWayOpeningKeys<R>(
    identifier: ClassKeyIdentifier,
    _ body: (
      _ privateKey: borrowing SecretKey, _ publicKey: [UInt8], _ sender: borrowing SecretKey
    ) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try require(.completeUnlessOpen)
    return try body(keys[.completeUnlessOpen]!.key, publicKey, keys[.none]!.key)
  }

  func onWipe(of protection: ProtectionClass, _ body: @escaping @Sendable () -> Void) -> WipeRegistration {
    guard protection == .complete else { return WipeRegistration {} }
    let number = state.withLock { state in
      state.next += 1
      state.wipes[state.next] = body
      return state.next
    }
    return WipeRegistration { [weak self] in self?.state.withLock { $0.wipes[number] = nil } }
  }
}
