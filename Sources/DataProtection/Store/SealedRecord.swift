import Sealing

/// The frame of the store's own small files: magic, version, keybag, body, and a code over all of it.
///
/// Nothing in the body is believed before the code was checked.
enum SealedRecord {
  /// Magic, version, two zero bytes, and the keybag's identifier.
  static let headerByteCount = 28
  /// The authentication code at the end.
  static let codeByteCount = 32

  /// The bytes of a file.
  ///
  /// - Parameters:
  ///   - magic: Its first eight bytes.
  ///   - body: What it says.
  ///   - context: What the code covers besides.
  static func encode(
    magic: String, body: [UInt8], context: [UInt8] = [], purpose: StoreKeyPurpose, keys: any StoreKeys
  ) throws(ProtectionError) -> [UInt8] {
    var bytes = Array(magic.utf8)
    bytes.appendInteger(version)
    bytes.appendZeroes(2)
    bytes += keys.keybagIdentifier.bytes
    bytes += body
    return bytes + (try keys.authenticationCode(purpose, over: bytes + context))
  }

  /// The body of a file.
  ///
  /// Throws `.corrupt`; `.otherDevice` for one of another keybag; `.unsupportedVersion` for a layout of the future.
  static func decode(
    _ bytes: [UInt8], called name: String, magic: String, context: [UInt8] = [],
    purpose: StoreKeyPurpose, keys: any StoreKeys
  ) throws(ProtectionError) -> ArraySlice<UInt8> {
    let corrupt = ProtectionError(.corrupt, "\(name) is damaged; the newest authentic archive will be used.")
    guard bytes.count >= headerByteCount + codeByteCount, bytes.starts(with: magic.utf8) else { throw corrupt }
    var reader = FieldReader(bytes[8...])
    let found: UInt16 = reader.integer()
    _ = reader.take(2)
    guard reader.take(KeybagIdentifier.byteCount).elementsEqual(keys.keybagIdentifier.bytes) else {
      throw ProtectionError(
        .otherDevice, "\(name) was made on another device, or on this one before it was erased; its keys are not here.")
    }
    var body = bytes.dropLast(codeByteCount)
    func isAuthentic() throws(ProtectionError) -> Bool {
      let code = try keys.authenticationCode(purpose, over: Array(body) + context)
      return ConstantTime.areEqual(Array(bytes.suffix(codeByteCount)).span, code.span)
    }
    guard found <= version else {
      // A later format, unless it is only the version of one of ours that was damaged: then its code tells.
      body[8] = UInt8(truncatingIfNeeded: version)
      body[9] = UInt8(truncatingIfNeeded: version >> 8)
      if try isAuthentic() { throw corrupt }
      throw ProtectionError(.unsupportedVersion, "\(name) has format \(found), newer than this program; update it.")
    }
    guard found == version, try isAuthentic() else { throw corrupt }
    return body.dropFirst(headerByteCount)
  }

  private static let version: UInt16 = 1
}
