import Sealing

/// A keybag that was found to be this device's and whole, with the keys to open it further.
///
/// It holds the device's and the keybag's key: let it go when the operation is over.
struct OpenKeybag: Sendable {
  let keybag: Keybag
  let binding: KeybagBinding
  private let passcodeMessage: [UInt8]
  private let passcodeMAC: [UInt8]

  /// Checks bytes in this order: form, device code, bounds of the parameters.
  ///
  /// Nothing that the passcode protects is touched and nothing is counted. Throws `.unsupportedVersion`,
  /// `.otherDevice` or `.corrupt`.
  init(
    _ bytes: [UInt8], effaceable: Effaceable, binding: KeybagBinding, allowsTestProfile: Bool
  ) throws(ProtectionError) {
    let parsed = try KeybagCodec.parse(bytes)
    self.binding = binding
    keybag = parsed.keybag
    passcodeMessage = parsed.passcodeMessage
    passcodeMAC = parsed.passcodeMAC
    let expected = try binding.deviceMAC(over: parsed.deviceMessage)
    guard ConstantTime.areEqual(expected.span, parsed.deviceMAC.span),
      keybag.identifier == effaceable.keybag, keybag.revision == effaceable.revision
    else {
      throw ProtectionError(
        .corrupt, "The keybag is damaged or belongs to another revision; put the right one back, or erase the device.")
    }
    guard allowsTestProfile || !keybag.isForTests else {
      throw ProtectionError(
        .corrupt, "The keybag was made with the cheap keys of a test; erase the device and begin anew.")
    }
    guard keybag.derivation?.isInBounds ?? true else {
      throw ProtectionError(
        .corrupt, "The keybag asks for an impossible or a far too cheap passcode check; erase the device.")
    }
  }

  /// The `none` class key, which needs no passcode.
  func alwaysAvailableKey() throws(ProtectionError) -> HeldKey {
    let entry = keybag.entries.first { $0.protection == .none }!
    let key = try sealing("unwrap the class keys") { () throws(SealingError) in
      try HeldKey(
        KeyWrap.unwrapKey(entry.wrapped.span, with: binding.alwaysAvailableKey(entry.identifier)), for: .none)
    }
    try check(key, entry)
    return key
  }

  /// Whether the passcode is the right one.
  func isRight(_ stretched: StretchedPasscode) throws(ProtectionError) -> Bool {
    let expected = try binding.passcodeKey(stretched).passcodeMAC(over: passcodeMessage)
    return ConstantTime.areEqual(expected.span, passcodeMAC.span)
  }

  /// All class keys; the passcode must have been found right.
  ///
  /// Throws `.corrupt` when a key doesn't fit its name or
  /// the public key its private one.
  func keys(_ stretched: StretchedPasscode) throws(ProtectionError) -> KeybagKeys {
    let passcodeKey = try binding.passcodeKey(stretched)
    var keys = KeybagKeys()
    keys[.none].active = try alwaysAvailableKey()
    for entry in keybag.entries where entry.protection != .none {
      let key = try sealing("unwrap the class keys") { () throws(SealingError) in
        let wrapping = try passcodeKey.wrappingKey(entry.protection, entry.identifier)
        return try HeldKey(KeyWrap.unwrapKey(entry.wrapped.span, with: wrapping), for: entry.protection)
      }
      try check(key, entry)
      if entry.isRetired {
        keys[entry.protection].retired.append(key)
      } else {
        keys[entry.protection].active = key
      }
    }
    return keys
  }

  private func check(_ key: HeldKey, _ entry: Keybag.Entry) throws(ProtectionError) {
    guard key.identifier == entry.identifier, key.publicKey ?? [] == entry.publicKey else {
      throw ProtectionError(
        .corrupt, "The keybag's \(entry.protection) key isn't the one it names; put a good copy back, or erase.")
    }
  }
}
