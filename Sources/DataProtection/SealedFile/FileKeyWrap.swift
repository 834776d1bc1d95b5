import Sealing

/// How a file key is wrapped in a file's header, for each protection class.
///
/// Bodies run while a class key is lent, so they only compute.
struct FileKeyWrap: Sendable {
  let keys: any ClassKeys
  let random: any RandomSource

  /// Makes a new file key and lends it with the header that holds it.
  func withNewKey<Result>(
    for fields: SealedFields, _ body: (SealedFileHeader, borrowing SecretKey) throws(SealingError) -> Result
  ) throws(ProtectionError) -> Result {
    let keybag = keys.keybagIdentifier
    func wrap(
      _ identifier: ClassKeyIdentifier, ephemeral: [UInt8] = [],
      under kek: (_ bound: [UInt8]) throws(SealingError) -> SecretKey
    ) throws(ProtectionError) -> Result {
      try sealing("seal the file") { () throws(SealingError) in
        let bound = SealedFileHeader.boundBytes(fields, keybag: keybag, classKey: identifier)
        let fileKey = try SecretKey(from: random)
        let wrapped = try KeyWrap.wrap(fileKey, with: try kek(bound))
        let header = SealedFileHeader(
          fields: fields, keybag: keybag, classKey: identifier, wrapping: ephemeral + wrapped)
        return try body(header, fileKey)
      }
    }

    guard fields.protection == .completeUnlessOpen else {
      return try keys.withSealingKey(for: fields.protection) { (identifier, classKey) throws(ProtectionError) in
        try wrap(identifier) { (bound) throws(SealingError) in try Self.wrappingKey(classKey, bound) }
      }
    }
    return try keys.withOneWaySealingKeys { (identifier, publicKey, sender) throws(ProtectionError) in
      let ephemeral = try sealing("seal the file") { () throws(SealingError) in try SecretKey(from: random) }
      let ephemeralPublic = try sealing("seal the file") { () throws(SealingError) in
        try X25519.publicKey(of: ephemeral)
      }
      return try wrap(identifier, ephemeral: ephemeralPublic) { (bound) throws(SealingError) in
        let shared = try X25519.sharedSecret(ephemeral, with: publicKey.span)
        return try Self.oneWayWrappingKey(shared, sender, ephemeralPublic + publicKey + bound)
      }
    }
  }

  /// Unwraps a header's file key and lends it; throws `corrupt` when the header was changed or forged.
  ///
  /// `whileLent` runs while the class key is still lent: what it registers is found by a lock that comes next.
  func withKey<Result>(
    of header: SealedFileHeader, _ body: (borrowing SecretKey) throws(SealingError) -> Result,
    whileLent register: (Result) -> Void = { _ in }
  ) throws(ProtectionError) -> Result {
    let protection = header.fields.protection
    let bound = Array(header.bytes.prefix(SealedFileHeader.boundByteCount))
    guard protection == .completeUnlessOpen else {
      return try keys.withOpeningKey(for: protection, identifier: header.classKey) {
        (classKey) throws(ProtectionError) in
        let result = try sealing("open the file") { () throws(SealingError) in
          try body(try KeyWrap.unwrapKey(header.wrapping.span, with: try Self.wrappingKey(classKey, bound)))
        }
        register(result)
        return result
      }
    }
    return try keys.withOneWayOpeningKeys(identifier: header.classKey) {
      (privateKey, publicKey, sender) throws(ProtectionError) in
      let result = try sealing("open the file") { () throws(SealingError) in
        let ephemeral = Array(header.wrapping.prefix(X25519.publicKeyByteCount))
        let wrapped = Array(header.wrapping.dropFirst(X25519.publicKeyByteCount))
        let shared = try X25519.sharedSecret(privateKey, with: ephemeral.span)
        let kek = try Self.oneWayWrappingKey(shared, sender, ephemeral + publicKey + bound)
        return try body(try KeyWrap.unwrapKey(wrapped.span, with: kek))
      }
      register(result)
      return result
    }
  }

  /// The key that wraps a file key under a symmetric class key, bound to the header before it.
  private static func wrappingKey(
    _ classKey: borrowing SecretKey, _ bound: [UInt8]
  ) throws(SealingError) -> SecretKey {
    let info = KeyLabel.fileKeyWrap.bytes + bound
    return try HKDF.expand(classKey, info: info.span)
  }

  /// The key that wraps a file key one way: the public key alone doesn't suffice to make it.
  ///
  /// The salt comes from the `none` class key, which the device has while it is locked and a mere writer of files
  /// never has. Without it anyone could seal a file that opens as genuine.
  private static func oneWayWrappingKey(
    _ shared: borrowing SecretKey, _ sender: borrowing SecretKey, _ bound: [UInt8]
  ) throws(SealingError) -> SecretKey {
    let senderLabel = KeyLabel.oneWaySender.bytes
    let salt = try HKDF.expand(sender, info: senderLabel.span)
    let info = KeyLabel.oneWayWrap.bytes + bound
    return try HKDF.expand(try HKDF.extract(salt: salt, inputKey: shared), info: info.span)
  }
}
