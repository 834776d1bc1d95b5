/// The header of a sealed file: 152 bytes, or 184 for `completeUnlessOpen`; `Docs/ProtectedFileFormat.md` has the table.
///
/// All of it is the context of the chunked encryption behind it, so one mechanism authenticates every bit of it. Until
/// the commitment has been compared, its fields are only claims.
struct SealedFileHeader: Hashable, Sendable {
  /// The format that this program writes, and the only one it reads.
  static let formatVersion: UInt16 = 1
  /// The part that the key wrap binds: everything before the wrapped key.
  static let boundByteCount = 112
  /// Where the identity stands.
  static let identityRange = 48..<80
  /// The longest header.
  static let maximumByteCount = 184

  /// What the store or the protected files decide.
  let fields: SealedFields
  /// The keybag whose keys sealed it.
  let keybag: KeybagIdentifier
  /// The class key that wraps the file key.
  let classKey: ClassKeyIdentifier
  /// The wrapped file key; for `completeUnlessOpen` the ephemeral public key, then the wrapped file key.
  let wrapping: [UInt8]

  /// The length of a class's headers.
  static func byteCount(for protection: ProtectionClass) -> Int {
    boundByteCount + (protection == .completeUnlessOpen ? 72 : 40)
  }

  /// Puts a header together.
  init(fields: SealedFields, keybag: KeybagIdentifier, classKey: ClassKeyIdentifier, wrapping: [UInt8]) {
    self.fields = fields
    self.keybag = keybag
    self.classKey = classKey
    self.wrapping = wrapping
  }

  /// The first 112 bytes of a header, which exist before its file key is wrapped.
  static func boundBytes(
    _ fields: SealedFields, keybag: KeybagIdentifier, classKey: ClassKeyIdentifier
  ) -> [UInt8] {
    precondition(fields.identity.count == 32 && fields.identifier.count == 16, "Identity or identifier is too short.")
    precondition(fields.messageByteCount <= SealedFields.maximumMessageByteCount, "The file is too long to be sealed.")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(maximumByteCount)
    bytes += fields.kind.magic
    bytes.appendInteger(formatVersion)
    bytes.append(fields.protection.rawValue)
    bytes.append(0)
    bytes.appendInteger(UInt32(byteCount(for: fields.protection)))
    bytes += keybag.bytes
    bytes += classKey.bytes
    bytes += fields.identity
    bytes.appendInteger(fields.generation)
    bytes.appendInteger(UInt64(fields.messageByteCount) | UInt64(fields.flags.rawValue) << 48)
    bytes += fields.identifier
    return bytes
  }

  /// The bytes of the header.
  var bytes: [UInt8] { Self.boundBytes(fields, keybag: keybag, classKey: classKey) + wrapping }

  /// Reads the header that a file begins with.
  ///
  /// Throws `corrupt` for bytes that can't be a header, `wrongIdentity` for one of another kind of file, and
  /// `unsupportedVersion` for a later format, with any other content.
  ///
  /// - Parameters:
  ///   - start: The file's first bytes; as many as there are, up to 184.
  ///   - kind: What kind of file is expected.
  init(reading start: ArraySlice<UInt8>, kind: SealedFields.Kind) throws(ProtectionError) {
    guard start.count >= 10 else { throw .tooShort }
    let magic = Array(start.prefix(8))
    guard magic == kind.magic else {
      guard SealedFields.Kind.allCases.contains(where: { magic == $0.magic }) else { throw .noHeader }
      throw ProtectionError(
        .wrongIdentity, "A sealed file of another kind stands in the place of this one; nothing of it is used.")
    }
    let version = UInt16(start[start.startIndex + 8]) | UInt16(start[start.startIndex + 9]) << 8
    guard version <= Self.formatVersion else {
      throw ProtectionError(
        .unsupportedVersion,
        "The file has format \(version) and this program knows \(Self.formatVersion): a newer program wrote it.")
    }
    guard version > 0, start.count >= Self.boundByteCount else { throw .noHeader }
    var reader = FieldReader(start.dropFirst(10))
    guard let protection = ProtectionClass(rawValue: reader.integer()), reader.integer(UInt8.self) == 0 else {
      throw .noHeader
    }
    let byteCount = Int(reader.integer(UInt32.self))
    guard byteCount == Self.byteCount(for: protection) else { throw .noHeader }
    guard start.count >= byteCount else { throw .tooShort }
    keybag = KeybagIdentifier(bytes: Array(reader.take(KeybagIdentifier.byteCount)))
    classKey = ClassKeyIdentifier(bytes: Array(reader.take(ClassKeyIdentifier.byteCount)))
    let identity = Array(reader.take(32))
    let generation: UInt64 = reader.integer()
    let lengthAndFlags: UInt64 = reader.integer()
    fields = SealedFields(
      kind: kind, protection: protection, identity: identity, generation: generation,
      flags: .init(rawValue: UInt16(lengthAndFlags >> 48)),
      messageByteCount: Int(lengthAndFlags & UInt64(SealedFields.maximumMessageByteCount)),
      identifier: Array(reader.take(16)))
    wrapping = Array(reader.take(byteCount - Self.boundByteCount))
  }

  /// Refuses files that can't be opened here, as far as claims tell: another class, another device.
  func check(protection: ProtectionClass, keybag: KeybagIdentifier) throws(ProtectionError) {
    guard fields.protection == protection else {
      throw ProtectionError(
        .wrongClass, "The file has class \(fields.protection), and \(protection) was expected; nothing of it is used.")
    }
    guard self.keybag == keybag else {
      throw ProtectionError(
        .otherDevice,
        "The file was sealed on another device, or on this one before it was erased; its keys are not here.")
    }
  }
}

extension SealedFields.Kind {
  /// The first eight bytes of such files.
  var magic: [UInt8] {
    switch self {
    case .archive: Array("SRARCHIV".utf8)
    case .file: Array("SRPRFILE".utf8)
    }
  }
}

extension ProtectionError {
  /// A file that ends before it can have begun.
  static let tooShort = ProtectionError(.corrupt, "The file ends within its header: it was cut short.")
  /// A file that doesn't begin as sealed files do.
  static let noHeader = ProtectionError(.corrupt, "The file doesn't begin with the header of a sealed file.")
}
