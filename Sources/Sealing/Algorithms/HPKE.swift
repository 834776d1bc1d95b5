/// Agreement on a key with the holder of a private key (HPKE, RFC 9180): DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, export only,
/// with a key that both have had before (mode PSK) or without (mode base).
///
/// libcrypto has it from version 3.2 on; this makes the same bytes of X25519 and HKDF on every one.
package enum HPKE {
  /// The length of the bytes that tell the other side the key: an ephemeral public key.
  package static let encapsulatedByteCount = X25519.publicKeyByteCount

  /// A key that both sides have had before.
  package final class SharedKey: Sendable {
    let key: SecretKey
    let identifier: [UInt8]

    /// Takes a key with the name that both sides have for it; neither is empty.
    package init(_ key: consuming SecretKey, identifier: [UInt8]) {
      self.key = key
      self.identifier = identifier
    }
  }

  /// What both sides derive keys from.
  package struct Exporter: ~Copyable {
    /// What tells the receiver the key: the ephemeral public key.
    package let encapsulated: [UInt8]
    private let secret: SecretKey

    fileprivate init(_ secret: consuming SecretKey, encapsulated: [UInt8]) {
      self.secret = secret
      self.encapsulated = encapsulated
    }

    /// A key for one context, of at most 900 bytes.
    package borrowing func export(_ context: [UInt8]) throws(SealingError) -> SecretKey {
      try HPKE.expand(secret, suite, "sec", context)
    }
  }

  /// The sender's side.
  ///
  /// - Parameters:
  ///   - publicKey: The receiver's public key.
  ///   - ephemeral: A private key that is used for this and nothing else.
  ///   - info: What both sides agree on besides.
  ///   - shared: A key that both have.
  package static func send(
    to publicKey: [UInt8], ephemeral: borrowing SecretKey, info: [UInt8], shared: SharedKey? = nil
  ) throws(SealingError) -> Exporter {
    let encapsulated = try X25519.publicKey(of: ephemeral)
    let agreed = try X25519.sharedSecret(ephemeral, with: publicKey.span)
    return try exporter(agreed, encapsulated, publicKey, info, shared)
  }

  /// The receiver's side; throws `invalidPublicKey` for an ephemeral key of low order.
  package static func receive(
    _ encapsulated: [UInt8], privateKey: borrowing SecretKey, publicKey: [UInt8], info: [UInt8],
    shared: SharedKey? = nil
  ) throws(SealingError) -> Exporter {
    let agreed = try X25519.sharedSecret(privateKey, with: encapsulated.span)
    return try exporter(agreed, encapsulated, publicKey, info, shared)
  }

  // MARK: RFC 9180, sections 4 and 5

  private static let kem: [UInt8] = Array("KEM".utf8) + [0, 0x20]
  /// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, export only.
  private static let suite: [UInt8] = Array("HPKE".utf8) + [0, 0x20, 0, 1, 0xFF, 0xFF]

  private static func exporter(
    _ agreed: borrowing SecretKey, _ encapsulated: [UInt8], _ publicKey: [UInt8], _ info: [UInt8],
    _ shared: SharedKey?
  ) throws(SealingError) -> Exporter {
    let nothing = try SecretBytes(copying: [UInt8]().span)
    let kemKey = try extract(salt: nothing, kem, "eae_prk", agreed)
    let secret = try expand(kemKey, kem, "shared_secret", encapsulated + publicKey)
    let identifier = try SecretBytes(copying: (shared == nil ? [] : shared!.identifier).span)
    let schedule =
      try [shared == nil ? 0 : 1] + bytes(of: extract(salt: nothing, suite, "psk_id_hash", identifier))
      + bytes(of: extract(salt: nothing, suite, "info_hash", SecretBytes(copying: info.span)))
    let mixed =
      shared == nil
      ? try extract(salt: secret, suite, "secret", nothing) : try extract(salt: secret, suite, "secret", shared!.key)
    return Exporter(try expand(mixed, suite, "exp", schedule), encapsulated: encapsulated)
  }

  private static func extract(
    salt: borrowing some Secret & ~Copyable, _ suite: [UInt8], _ label: String,
    _ input: borrowing some Secret & ~Copyable
  ) throws(SealingError) -> SecretKey {
    let prefix = version + suite + label.utf8
    return try HKDF.extract(
      salt: salt, inputKey: try SecretBytes(joining: SecretBytes(copying: prefix.span), input))
  }

  private static func expand(
    _ key: borrowing SecretKey, _ suite: [UInt8], _ label: String, _ info: [UInt8]
  ) throws(SealingError) -> SecretKey {
    let length: [UInt8] = [0, UInt8(SecretKey.byteCount)]
    return try HKDF.expand(key, info: (length + version + suite + Array(label.utf8) + info).span)
  }

  /// The bytes of a hash that is no secret.
  private static func bytes(of hash: consuming SecretKey) throws(SealingError) -> [UInt8] {
    try hash.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
      unsafe bytes.withUnsafeBytes { bytes in unsafe Array(bytes) }
    }
  }

  private static let version = Array("HPKE-v1".utf8)
}
