import Sealing

/// The small file whose destruction makes a keybag worthless: the keybag key, and the revision that counts.
///
/// 120 bytes: magic, version, zeroes, device identifier, keybag identifier, revision, keybag key, code. The layout is
/// in `Docs/ProtectedFileFormat.md`.
struct Effaceable: Sendable {
  static let magic = Array("SRPEFFAC".utf8)
  static let version: UInt16 = 1
  static let byteCount = 120
  private static let keyRange = 56..<88

  static let damaged = ProtectionError(
    .corrupt, "The keybag's key is damaged; put a good copy back, or erase the device.")

  /// Whether the file was overwritten, or was being when something cut it short: its first byte went first.
  static func isDestroyed(_ bytes: borrowing SecretBytes) throws(SealingError) -> Bool {
    try bytes.withBytes { (bytes: Span<UInt8>) throws(SealingError) in bytes[0] == 0 }
  }

  let deviceIdentifier: [UInt8]
  let keybag: KeybagIdentifier
  let revision: UInt64

  /// Writes the file's bytes into protected memory.
  static func encode(
    keybag: KeybagIdentifier, revision: UInt64, key: SecretBox<SecretKey>, deviceKey: borrowing ProtectedDevice.Key
  ) throws(ProtectionError) -> SecretBytes {
    var head = magic
    head.appendInteger(version)
    head.appendZeroes(6)
    head += try deviceKey.identifier() + keybag.bytes
    head.appendInteger(revision)
    let macKey = try deviceKey.derive(.effaceable)
    return try sealing("make the keybag's key") { () throws(SealingError) in
      let body = try SecretBytes(joining: SecretBytes(copying: head.span), key)
      let code = try body.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        try HMACSHA256.authenticationCode(for: bytes, key: macKey)
      }
      return try SecretBytes(joining: body, SecretBytes(copying: code.span))
    }
  }

  /// Reads a file's bytes, and gives the keybag key with the result.
  ///
  /// Throws `.unsupportedVersion` for one of the future and `.corrupt` for one that is damaged; a whole one of another
  /// device fails its code as well, and the caller compares `deviceIdentifier` with the keybag's to tell.
  ///
  /// - Parameters:
  ///   - bytes: The file's bytes.
  ///   - code: The key of its code, derived from the device key.
  static func open(
    _ bytes: borrowing SecretBytes, code: borrowing SecretKey
  ) throws(ProtectionError) -> (effaceable: Effaceable, isAuthentic: Bool, key: SecretBox<SecretKey>) {
    var version: UInt16?
    var result: (Effaceable, Bool, SecretBox<SecretKey>)?
    try sealing("read the keybag's key") { () throws(SealingError) in
      try bytes.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        guard bytes.count == byteCount else { return }
        let head = bytes.extracting(first: keyRange.lowerBound).copied()
        guard head.starts(with: magic) else { return }
        var reader = FieldReader(head[magic.count...])
        version = reader.integer(UInt16.self)
        _ = reader.take(6)
        let effaceable = Effaceable(
          deviceIdentifier: Array(reader.take(16)), keybag: KeybagIdentifier(bytes: Array(reader.take(16))),
          revision: reader.integer())
        let isAuthentic = try HMACSHA256.isValid(
          bytes.extracting(droppingFirst: keyRange.upperBound), for: bytes.extracting(first: keyRange.upperBound),
          key: code)
        let key = try SecretKey(copying: bytes.extracting(keyRange))
        result = (effaceable, isAuthentic, SecretBox(key))
      }
    }
    guard version == nil || version == Self.version else {
      throw ProtectionError(
        .unsupportedVersion,
        "The keybag's key has format \(version ?? 0), which only a newer version of this program knows; use that one.")
    }
    guard let result else { throw damaged }
    return (result.0, result.1, result.2)
  }
}
