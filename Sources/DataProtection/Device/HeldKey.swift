import Sealing

/// A class key in memory with the name it has in files.
///
/// A class so that it can stand in a collection; the key goes when the last reference does, and only `ClassSlot` and
/// values on their way into it have one.
final class HeldKey: Sendable {
  /// The name, derived from the key.
  let identifier: ClassKeyIdentifier
  /// The key; the private one of a pair.
  let key: SecretKey
  /// The public key of a pair.
  let publicKey: [UInt8]?

  /// Takes a symmetric key.
  init(symmetric key: consuming SecretKey) throws(SealingError) {
    identifier = try Self.identifier(of: key)
    self.key = key
    publicKey = nil
  }

  /// Takes the private key of a pair.
  init(privateKey key: consuming SecretKey) throws(SealingError) {
    let publicKey = try X25519.publicKey(of: key)
    identifier = ClassKeyIdentifier(bytes: Array(publicKey.prefix(ClassKeyIdentifier.byteCount)))
    self.key = key
    self.publicKey = publicKey
  }

  /// Takes a key of a class.
  convenience init(_ key: consuming SecretKey, for protection: ProtectionClass) throws(SealingError) {
    if protection == .completeUnlessOpen {
      try self.init(privateKey: key)
    } else {
      try self.init(symmetric: key)
    }
  }

  /// A name that only this key has, and that tells nothing about it.
  private static func identifier(of key: borrowing SecretKey) throws(SealingError) -> ClassKeyIdentifier {
    let name = try HKDF.expand(
      key, info: KeyLabel.classKeyIdentifier.bytes.span, byteCount: ClassKeyIdentifier.byteCount)
    return ClassKeyIdentifier(bytes: try name.withBytes { (bytes: Span<UInt8>) throws(SealingError) in bytes.copied() })
  }
}

extension Span<UInt8> {
  /// The bytes as an array; only for public ones.
  func copied() -> [UInt8] {
    unsafe withUnsafeBufferPointer { buffer in unsafe [UInt8](buffer) }
  }
}
