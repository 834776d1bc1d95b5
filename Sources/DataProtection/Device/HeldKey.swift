import Sealing

/// A class key in memory with the name it has in files.
///
/// A class so that it can stand in a collection. The key goes when it is taken, whoever still has a reference, or with the
/// last reference.
final class HeldKey: TakenAtLock {
  /// The name, derived from the key.
  let identifier: ClassKeyIdentifier
  private let box: SecretBox<SecretKey>
  /// The public key of a pair.
  let publicKey: [UInt8]?

  /// Takes a symmetric key.
  init(symmetric key: consuming SecretKey) throws(SealingError) {
    identifier = try Self.identifier(of: key)
    box = SecretBox(key)
    publicKey = nil
  }

  /// Takes the private key of a pair.
  init(privateKey key: consuming SecretKey) throws(SealingError) {
    let publicKey = try X25519.publicKey(of: key)
    identifier = ClassKeyIdentifier(bytes: Array(publicKey.prefix(ClassKeyIdentifier.byteCount)))
    box = SecretBox(key)
    self.publicKey = publicKey
  }

  /// Wipes the key.
  func take() { box.take() }

  /// Whether the key was wiped.
  var isTaken: Bool { box.isTaken }

  /// Lends the key to a computation, the private one of a pair; throws `locked` once it was taken.
  func withKey<R: ~Copyable>(
    _ body: (borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try box.lend(orThrow: { ProtectionError($0, while: "use a class key") }, to: body)
  }

  /// The key, wrapped under another one.
  func wrapped(with key: borrowing SecretKey) throws(SealingError) -> [UInt8] { try KeyWrap.wrap(box, with: key) }

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
