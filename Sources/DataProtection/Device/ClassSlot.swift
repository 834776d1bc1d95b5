import Sealing

/// The keys of one class as far as they are in memory now.
///
/// `@unchecked Sendable`: every access to `active`, `retired` and `publicKey` happens in this slot's turn.
final class ClassSlot: @unchecked Sendable {
  private let turn = Turn()
  private let protection: ProtectionClass
  private var active: HeldKey?
  private var retired: [HeldKey] = []
  private var publicPair: (identifier: ClassKeyIdentifier, publicKey: [UInt8])?

  init(_ protection: ProtectionClass) {
    self.protection = protection
  }

  /// Puts keys in; the public key of a pair stays when they are dropped.
  func install(active: HeldKey, retired: [HeldKey]) {
    turn.take {
      self.active = active
      self.retired = retired
      if let publicKey = active.publicKey { publicPair = (active.identifier, publicKey) }
    }
  }

  /// Puts the public half in, while the private one is out of reach.
  func install(publicKey: [UInt8], identifier: ClassKeyIdentifier) {
    turn.take { publicPair = (identifier, publicKey) }
  }

  /// Forgets the keys; waits for whoever computes with one just now.
  func drop() {
    turn.take {
      active = nil
      retired = []
    }
  }

  /// Whether the keys are in memory.
  var isAvailable: Bool { turn.take { active != nil } }

  /// The keys that are in memory, the active one first.
  var keys: [HeldKey] { turn.take { active.map { [$0] + retired } ?? [] } }

  /// Runs the body with the active key.
  func withActive<R>(_ body: (HeldKey) throws(ProtectionError) -> R) throws(ProtectionError) -> R {
    try turn.take { () throws(ProtectionError) in
      guard let active else { throw .locked(protection) }
      return try body(active)
    }
  }

  /// Runs the body with the key of that name, active or retired.
  func withKey<R>(
    _ identifier: ClassKeyIdentifier, _ body: (HeldKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try turn.take { () throws(ProtectionError) in
      guard let active else { throw .locked(protection) }
      if active.identifier == identifier { return try body(active) }
      guard let key = retired.first(where: { $0.identifier == identifier }) else {
        throw ProtectionError(
          .keysMissing,
          "The file was sealed under a key that the keybag no longer has; it is from an old copy or a backup.")
      }
      return try body(key)
    }
  }

  /// Runs the body with the public half of the pair.
  func withPublicKey<R>(
    _ body: (ClassKeyIdentifier, [UInt8]) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try turn.take { () throws(ProtectionError) in
      guard let publicPair else { throw .locked(protection) }
      return try body(publicPair.identifier, publicPair.publicKey)
    }
  }
}

extension ProtectionError {
  /// The refusal of the class table.
  static func locked(_ protection: ProtectionClass) -> ProtectionError {
    ProtectionError(
      .locked,
      "The device is locked and \(protection) data is out of reach; unlock it and try again. The data is untouched.")
  }
}
