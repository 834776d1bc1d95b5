import Sealing

/// The header of a sealed file: 80 bytes, or 112 for `completeUnlessOpen`; `Docs/ProtectedFileFormat.md` has the table.
///
/// All of it is the context of the chunked encryption behind it, and the file's key is derived from it, so that every bit of it
/// is authenticated. Until the commitment has been compared, its fields are only claims.
struct SealedFileHeader: Hashable, Sendable {
  /// The format that this program writes, and the only one it reads.
  static let formatVersion: UInt16 = 1
  /// The part that the headers of all classes have.
  static let commonByteCount = 80
  /// Where the identity stands.
  static let identityRange = 32..<64
  /// The longest header.
  static let maximumByteCount = commonByteCount + HPKE.encapsulatedByteCount

  /// What the store or the protected files decide.
  let fields: SealedFields
  /// The class key that the file key is derived from.
  let classKey: ClassKeyIdentifier
  /// The encapsulated key of `completeUnlessOpen`; empty for the others.
  let encapsulated: [UInt8]

  /// The length of a class's headers.
  static func byteCount(for protection: ProtectionClass) -> Int {
    commonByteCount + (protection == .completeUnlessOpen ? HPKE.encapsulatedByteCount : 0)
  }

  /// Puts a header together.
  init(fields: SealedFields, classKey: ClassKeyIdentifier, encapsulated: [UInt8] = []) {
    precondition(fields.identity.count == 32, "Identity is too short.")
    precondition(fields.messageByteCount <= SealedFields.maximumMessageByteCount, "The file is too long to be sealed.")
    self.fields = fields
    self.classKey = classKey
    self.encapsulated = encapsulated
  }

  /// The bytes of the header.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.maximumByteCount)
    bytes += fields.kind.magic
    bytes.appendInteger(Self.formatVersion)
    bytes.append(fields.protection.rawValue)
    bytes.append(0)
    bytes.appendInteger(UInt32(Self.byteCount(for: fields.protection)))
    bytes += classKey.bytes
    bytes += fields.identity
    bytes.appendInteger(fields.generation)
    bytes.appendInteger(
      UInt64(fields.messageByteCount) | UInt64(fields.flags.rawValue) << 48 | UInt64(fields.place.rawValue) << 56)
    bytes += encapsulated
    return bytes
  }

  /// Reads the header that a file begins with.
  ///
  /// Throws `corrupt` for bytes that can't be a header, `wrongIdentity` for one of another kind of file, and
  /// `unsupportedVersion` for a later format, with any other content.
  ///
  /// - Parameters:
  ///   - start: The file's first bytes; as many as there are, up to 112.
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
    guard version > 0, start.count >= Self.commonByteCount else { throw .noHeader }
    var reader = FieldReader(start.dropFirst(10))
    guard let protection = ProtectionClass(rawValue: reader.integer()), reader.integer(UInt8.self) == 0 else {
      throw .noHeader
    }
    let byteCount = Int(reader.integer(UInt32.self))
    guard byteCount == Self.byteCount(for: protection) else { throw .noHeader }
    guard start.count >= byteCount else { throw .tooShort }
    classKey = ClassKeyIdentifier(bytes: Array(reader.take(ClassKeyIdentifier.byteCount)))
    let identity = Array(reader.take(32))
    let generation: UInt64 = reader.integer()
    let lengthAndFlags: UInt64 = reader.integer()
    guard let place = PartPlace(rawValue: UInt8(lengthAndFlags >> 56)) else { throw .noHeader }
    fields = SealedFields(
      kind: kind, protection: protection, identity: identity, generation: generation,
      place: place, flags: .init(rawValue: UInt8(truncatingIfNeeded: lengthAndFlags >> 48)),
      messageByteCount: Int(lengthAndFlags & UInt64(SealedFields.maximumMessageByteCount)))
    encapsulated = Array(reader.take(byteCount - Self.commonByteCount))
  }

  /// Refuses a file that claims another class.
  func check(protection: ProtectionClass) throws(ProtectionError) {
    guard fields.protection == protection else {
      throw ProtectionError(
        .wrongClass, "The file has class \(fields.protection), and \(protection) was expected; nothing of it is used.")
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
