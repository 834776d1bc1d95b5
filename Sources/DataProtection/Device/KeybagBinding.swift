import Sealing

/// What ties a keybag to its device and to its effaceable file: device key and keybag key, in memory for one operation.
final class KeybagBinding: Sendable {
  /// Device key ‖ keybag key.
  let joined: SecretBox<SecretBytes>
  /// What names the device key.
  let deviceIdentifier: [UInt8]

  init(_ deviceKey: borrowing ProtectedDevice.Key, _ keybagKey: SecretBox<SecretKey>) throws(ProtectionError) {
    deviceIdentifier = try deviceKey.identifier()
    do throws(SealingError) {
      joined = SecretBox(try SecretBytes(joining: deviceKey.secret, keybagKey))
    } catch {
      throw ProtectionError(error, while: "take the device's keys")
    }
  }

  /// The code over the whole keybag that only this device, with this effaceable file, can make.
  func deviceMAC(over message: [UInt8]) throws(ProtectionError) -> [UInt8] {
    try sealing("authenticate the keybag") { () throws(SealingError) in
      let key = try HKDF.expand(joined, info: KeyLabel.keybagDevice.bytes.span, byteCount: 32)
      return try HMACSHA256.authenticationCode(for: message.span, key: key)
    }
  }

  /// The key that wraps the `none` class key: available whenever the device is there.
  func alwaysAvailableKey(_ identifier: ClassKeyIdentifier) throws(SealingError) -> SecretKey {
    try SecretKey(
      HKDF.expand(joined, info: (KeyLabel.alwaysAvailable.bytes + identifier.bytes).span, byteCount: 32))
  }

  /// The key-encryption key of a passcode, from what scrypt made of it.
  func passcodeKey(_ stretched: StretchedPasscode) throws(ProtectionError) -> PasscodeKey {
    try sealing("derive the passcode's key") { () throws(SealingError) in
      PasscodeKey(try HKDF.extract(salt: joined, inputKey: stretched.secret))
    }
  }
}

/// What scrypt makes of a passcode, or 32 zero bytes where there is none: then the device's keys alone protect.
final class StretchedPasscode: Sendable {
  let secret: SecretBox<SecretKey>
  /// What it was made with; `nil` for no passcode.
  let profile: ScryptProfile?
  let salt: [UInt8]

  /// No passcode.
  init(noneWithSalt salt: [UInt8]) throws(ProtectionError) {
    profile = nil
    self.salt = salt
    secret = try sealing("derive a key") { () throws(SealingError) in
      SecretBox(try unsafe SecretKey { (_) throws(SealingError) in })
    }
  }

  /// The bytes that follow every passcode: scrypt uses it as a key of HMAC, which can't tell one from the same with zero
  /// bytes behind it.
  private static let terminator: [UInt8] = [1]

  /// Takes about half a second and 128 MiB with the production profile.
  init(_ passcode: borrowing ProtectedDevice.Passcode, salt: [UInt8], profile: ScryptProfile) throws(ProtectionError) {
    self.profile = profile
    self.salt = salt
    do throws(SealingError) {
      let terminated = try SecretBytes(joining: passcode.secret, SecretBytes(copying: Self.terminator.span))
      secret = SecretBox(try Scrypt.derive(from: terminated, salt: salt.span, cost: profile.cost))
    } catch {
      throw ProtectionError(error, while: "check the passcode")
    }
  }
}

/// The key-encryption key of a passcode.
final class PasscodeKey: Sendable {
  private let key: SecretKey

  init(_ key: consuming SecretKey) {
    self.key = key
  }

  /// The code over the keybag that only the right passcode makes.
  func passcodeMAC(over message: [UInt8]) throws(ProtectionError) -> [UInt8] {
    try sealing("authenticate the keybag") { () throws(SealingError) in
      let key = try HKDF.expand(key, info: KeyLabel.keybagPasscode.bytes.span)
      return try HMACSHA256.authenticationCode(for: message.span, key: key)
    }
  }

  /// The key that wraps one class key.
  func wrappingKey(
    _ protection: ProtectionClass, _ identifier: ClassKeyIdentifier
  ) throws(SealingError) -> SecretKey {
    try HKDF.expand(
      key, info: (KeyLabel.classKeyWrap.bytes + [protection.rawValue] + identifier.bytes).span)
  }
}
