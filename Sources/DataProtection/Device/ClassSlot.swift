import Sealing

/// The keys of one class as far as they are in memory now.
///
/// `@unchecked Sendable`: every access to the stored variables happens in this slot's turn.
final class ClassSlot: @unchecked Sendable {
  private let turn = Turn()
  private let protection: ProtectionClass
  private var active: HeldKey?
  private var retired: [HeldKey] = []
  private var known: [ClassKeyIdentifier] = []
  private var publicKey: [UInt8] = []

  init(_ protection: ProtectionClass) {
    self.protection = protection
  }

  /// Notes which keys the keybag has, the active one first; the private ones may be out of reach.
  func adopt(_ entries: [Keybag.Entry]) {
    turn.take {
      let entries = entries.filter { $0.protection == protection }
      known = entries.map(\.identifier)
      publicKey = entries.first?.publicKey ?? []
    }
  }

  /// Puts the keys in.
  func install(active: HeldKey, retired: [HeldKey]) {
    turn.take {
      self.active = active
      self.retired = retired
      known = [active.identifier] + retired.map(\.identifier)
      publicKey = active.publicKey ?? []
    }
  }

  /// Whether a key that came from outside is the one that the keybag names as active.
  func names(_ key: HeldKey) -> Bool { turn.take { key.identifier == known.first } }

  /// Puts the active key in, alone.
  func install(active: HeldKey) {
    turn.take { self.active = active }
  }

  /// Wipes the keys from before the first passcode.
  func dropRetired() {
    turn.take {
      for key in retired { key.take() }
      retired = []
    }
  }

  /// Wipes the keys, whoever else has them; waits for whoever computes with one just now.
  func drop() {
    turn.take {
      for key in retired { key.take() }
      active?.take()
      active = nil
      retired = []
    }
  }

  /// Whether the keys are in memory.
  var isAvailable: Bool { turn.take { active != nil } }

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
      guard known.contains(identifier) else {
        throw ProtectionError(
          .otherDevice,
          "The file was sealed under a key that this device doesn't have: it is from another device or an old backup.")
      }
      guard let key = ([active].compactMap { $0 } + retired).first(where: { $0.identifier == identifier }) else {
        throw .locked(protection)
      }
      return try body(key)
    }
  }

  /// The public half of the pair.
  func publicPair() throws(ProtectionError) -> (bytes: [UInt8], identifier: ClassKeyIdentifier) {
    try turn.take { () throws(ProtectionError) in
      guard let identifier = known.first, !publicKey.isEmpty else { throw .locked(protection) }
      return (publicKey, identifier)
    }
  }
}
