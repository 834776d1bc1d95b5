import Sealing

/// The class keys of a keybag, unwrapped.
struct KeybagKeys: Sendable {
  /// The keys of one class.
  struct Entry: Sendable {
    /// The key that seals.
    var active: HeldKey?
    /// The keys that still open.
    var retired: [HeldKey] = []
  }

  /// By the class's number; an array, as a dictionary's type is dear to make in a process that has just begun.
  private var entries = [Entry](repeating: Entry(), count: ProtectionClass.allCases.count)

  /// The keys of a class.
  subscript(protection: ProtectionClass) -> Entry {
    get { entries[Int(protection.rawValue) - 1] }
    set { entries[Int(protection.rawValue) - 1] = newValue }
  }

  /// New random keys for some classes, taking the others and retiring those that are replaced.
  static func renewing(
    _ classes: [ProtectionClass], of old: KeybagKeys?, random: any RandomSource
  ) throws(ProtectionError) -> KeybagKeys {
    var keys = old ?? KeybagKeys()
    for protection in classes {
      if let key = keys[protection].active { keys[protection].retired.append(key) }
      keys[protection].active = try sealing("make class keys") { () throws(SealingError) in
        try HeldKey(SecretKey(from: random), for: protection)
      }
    }
    return keys
  }

  /// The keys that a lock or a reboot takes, active or retired.
  var lockable: [HeldKey] {
    ProtectionClass.allCases.filter { $0 != .none }.flatMap { protection in
      [self[protection].active].compactMap { $0 } + self[protection].retired
    }
  }

  /// How many keys only open older files.
  var retiredCount: Int { entries.reduce(0) { $0 + $1.retired.count } }

  /// Lets the keys go that only open older files.
  mutating func dropRetired() {
    for index in entries.indices { entries[index].retired = [] }
  }

  /// The keybag of these keys, as bytes.
  func seal(
    identifier: KeybagIdentifier, revision: UInt64, isForTests: Bool, binding: KeybagBinding,
    stretched: StretchedPasscode
  ) throws(ProtectionError) -> [UInt8] {
    let passcodeKey = try binding.passcodeKey(stretched)
    var entries: [Keybag.Entry] = []
    for protection in ProtectionClass.allCases {
      guard let key = self[protection].active else { preconditionFailure("A keybag has a key of every class.") }
      entries.append(try wrap(key, protection, isRetired: false, binding, passcodeKey))
      for key in self[protection].retired {
        entries.append(try wrap(key, protection, isRetired: true, binding, passcodeKey))
      }
    }
    let keybag = Keybag(
      isForTests: isForTests, deviceIdentifier: binding.deviceIdentifier, identifier: identifier,
      revision: revision, derivation: stretched.profile, salt: stretched.salt, entries: entries)
    return try KeybagCodec.encode(keybag) { message throws(ProtectionError) in
      try passcodeKey.passcodeMAC(over: message)
    } deviceMAC: { message throws(ProtectionError) in
      try binding.deviceMAC(over: message)
    }
  }

  private func wrap(
    _ held: HeldKey, _ protection: ProtectionClass, isRetired: Bool, _ binding: KeybagBinding,
    _ passcodeKey: PasscodeKey
  ) throws(ProtectionError) -> Keybag.Entry {
    let wrapped = try sealing("wrap a class key") { () throws(SealingError) in
      if protection == .none {
        let key = try binding.alwaysAvailableKey(held.identifier)
        return try held.wrapped(with: key)
      }
      let key = try passcodeKey.wrappingKey(protection, held.identifier)
      return try held.wrapped(with: key)
    }
    return Keybag.Entry(
      protection: protection, isRetired: isRetired, identifier: held.identifier, wrapped: wrapped,
      publicKey: held.publicKey ?? [])
  }
}
