import Sealing

/// The key of each sealed file, derived from its class's key, its header and its salt: nothing of it is stored.
///
/// Bodies run while a class key is lent, so they only compute.
struct FileKeys: Sendable {
  let keys: any ClassKeys
  let random: any RandomSource

  /// Makes the header of a new file, and lends the file's key with it.
  func withNewKey<Result>(
    for fields: SealedFields, salt: [UInt8],
    _ body: (SealedFileHeader, borrowing SecretKey) throws(SealingError) -> Result
  ) throws(ProtectionError) -> Result {
    guard fields.protection == .completeUnlessOpen else {
      return try keys.withSealingKey(for: fields.protection) { (identifier, classKey) throws(ProtectionError) in
        try sealing("seal the file") { () throws(SealingError) in
          let header = SealedFileHeader(fields: fields, classKey: identifier)
          return try body(header, try Self.key(classKey, header, salt))
        }
      }
    }
    return try keys.withOneWaySealingKeys { (identifier, publicKey, sender) throws(ProtectionError) in
      try sealing("seal the file") { () throws(SealingError) in
        let sent = try HPKE.send(
          to: publicKey, ephemeral: try SecretKey(from: random), info: KeyLabel.oneWay.bytes,
          shared: try Self.shared(sender))
        let header = SealedFileHeader(fields: fields, classKey: identifier, encapsulated: sent.encapsulated)
        return try body(header, try sent.export(header.bytes + salt))
      }
    }
  }

  /// Lends the key of a file; another one than it was sealed under if the header was changed or forged.
  ///
  /// `whileLent` runs while the class key is still lent: what it registers is found by a lock that comes next.
  func withKey<Result>(
    of header: SealedFileHeader, salt: [UInt8], _ body: (borrowing SecretKey) throws(SealingError) -> Result,
    whileLent register: (Result) -> Void = { _ in }
  ) throws(ProtectionError) -> Result {
    let protection = header.fields.protection
    guard protection == .completeUnlessOpen else {
      return try keys.withOpeningKey(for: protection, identifier: header.classKey) {
        (classKey) throws(ProtectionError) in
        let result = try sealing("open the file") { () throws(SealingError) in
          try body(try Self.key(classKey, header, salt))
        }
        register(result)
        return result
      }
    }
    return try keys.withOneWayOpeningKeys(identifier: header.classKey) {
      (privateKey, publicKey, sender) throws(ProtectionError) in
      let result = try sealing("open the file") { () throws(SealingError) in
        let exporter = try HPKE.receive(
          header.encapsulated, privateKey: privateKey, publicKey: publicKey, info: KeyLabel.oneWay.bytes,
          shared: try Self.shared(sender))
        return try body(try exporter.export(header.bytes + salt))
      }
      register(result)
      return result
    }
  }

  private static func key(
    _ classKey: borrowing SecretKey, _ header: SealedFileHeader, _ salt: [UInt8]
  ) throws(SealingError) -> SecretKey {
    try HKDF.expand(classKey, info: (KeyLabel.fileKey.bytes + header.bytes + salt).span)
  }

  /// What the public key alone doesn't give, made from the `none` class key.
  ///
  /// The device has that while it is locked, and a mere writer of files never has it. Without it anyone could seal a
  /// file that opens as genuine.
  private static func shared(_ sender: borrowing SecretKey) throws(SealingError) -> HPKE.SharedKey {
    let label = KeyLabel.oneWaySender.bytes
    return HPKE.SharedKey(try HKDF.expand(sender, info: label.span), identifier: label)
  }
}
