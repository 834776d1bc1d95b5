import Sealing

/// Opens the two files of a keybag from bytes, as far as no passcode is needed: for tests of hostile bytes and fuzzing.
package struct KeybagInspection: Hashable, Sendable {
  /// Whether the keys need a passcode.
  package let hasPasscode: Bool
  /// The keybag's revision.
  package let revision: UInt64

  /// Does what opening a device does with the bytes, in the same order: effaceable file, form, device code, bounds.
  ///
  /// - Parameters:
  ///   - keybag: The keybag's bytes.
  ///   - effaceable: The effaceable file's bytes.
  ///   - deviceKey: The device key, 32 bytes.
  /// - Throws: `corrupt`, `otherDevice` or `unsupportedVersion`.
  package static func open(
    keybag: [UInt8], effaceable: [UInt8], deviceKey: [UInt8]
  ) throws(ProtectionError) -> KeybagInspection {
    let deviceKey = try ProtectedDevice.Key(copying: deviceKey.span)
    guard effaceable.count == Effaceable.byteCount else { throw Effaceable.damaged }
    let secret = try sealing("read the keybag's key") { () throws(SealingError) in
      try SecretBytes(copying: effaceable.span)
    }
    let found = try Effaceable.open(secret, code: deviceKey.derive(.effaceable))
    let opened = try KeybagStorage.open(keybag, found, deviceKey, allowsTestProfile: true)
    return KeybagInspection(hasPasscode: opened.keybag.hasPasscode, revision: opened.keybag.revision)
  }

  /// Takes a keybag's bytes apart and puts them together again; returns whether the same bytes came out.
  ///
  /// - Parameter keybag: Any bytes.
  /// - Throws: `corrupt` or `unsupportedVersion` for what no keybag looks like.
  package static func isCanonical(_ keybag: [UInt8]) throws(ProtectionError) -> Bool {
    let parsed = try KeybagCodec.parse(keybag)
    let bytes = try KeybagCodec.encode(parsed.keybag) { _ throws(ProtectionError) in
      parsed.passcodeMAC
    } deviceMAC: { _ throws(ProtectionError) in
      parsed.deviceMAC
    }
    return bytes == keybag
  }
}
