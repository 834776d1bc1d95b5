extension KeybagCodec {
  /// Takes bytes apart; exactly what `encode` writes is taken, and nothing else.
  ///
  /// Throws `.unsupportedVersion` for a keybag of the future and `.corrupt` for everything else that isn't one.
  static func parse(_ bytes: [UInt8]) throws(ProtectionError) -> Parsed {
    guard bytes.count >= headerByteCount, bytes.count <= maximumByteCount, bytes.starts(with: magic) else {
      throw corrupt
    }
    var header = FieldReader(bytes[magic.count..<headerByteCount])
    let version: UInt16 = header.integer()
    guard version == self.version else {
      throw ProtectionError(
        .unsupportedVersion,
        "The keybag has format \(version), which only a newer version of this program knows; use that one.")
    }
    let flags: UInt16 = header.integer()
    let byteCount: UInt32 = header.integer()
    guard flags <= 1, Int(byteCount) == bytes.count else { throw corrupt }
    let isForTests = flags == 1
    let deviceIdentifier = Array(header.take(16))
    var fields = Fields(bytes, from: headerByteCount)

    let identifier = KeybagIdentifier(bytes: try fields.take(.identifier, KeybagIdentifier.byteCount))
    var revision = FieldReader(try fields.take(.revision, 8)[...])
    var derivation = FieldReader(try fields.take(.derivation, 6)[...])
    let salt = try fields.take(.salt, 32)
    var entries: [Keybag.Entry] = []
    while let value = try fields.takeIf(.classKey) { entries.append(try entry(value)) }
    guard areOrdered(entries) else { throw corrupt }
    let passcodeMessage = fields.upToNextValue()
    let passcodeMAC = try fields.take(.passcodeMAC, 32)
    let deviceMessage = fields.upToNextValue()
    let deviceMAC = try fields.take(.deviceMAC, 32)
    guard fields.isAtEnd else { throw corrupt }
    return Parsed(
      keybag: Keybag(
        isForTests: isForTests, deviceIdentifier: deviceIdentifier, identifier: identifier,
        revision: revision.integer(), derivation: try profile(&derivation, isForTests: isForTests), salt: salt,
        entries: entries),
      passcodeMessage: passcodeMessage, passcodeMAC: passcodeMAC, deviceMessage: deviceMessage,
      deviceMAC: deviceMAC)
  }

  private static let corrupt = ProtectionError(
    .corrupt, "The keybag is damaged; put a good copy back, or erase the device.")

  private static func profile(
    _ reader: inout FieldReader, isForTests: Bool
  ) throws(ProtectionError) -> ScryptProfile? {
    let kind: UInt8 = reader.integer()
    let exponent: UInt8 = reader.integer()
    let blockSize: UInt16 = reader.integer()
    let parallelism: UInt16 = reader.integer()
    switch kind {
    case 0 where exponent == 0 && blockSize == 0 && parallelism == 0: return nil
    // Whether the cost may be computed is checked once the keybag is known to be ours.
    case 1:
      return ScryptProfile(
        workExponent: exponent, blockSize: blockSize, parallelism: parallelism, isForTests: isForTests)
    default: throw corrupt
    }
  }

  private static func entry(_ value: ArraySlice<UInt8>) throws(ProtectionError) -> Keybag.Entry {
    guard value.count >= 58 else { throw corrupt }
    var reader = FieldReader(value)
    let (number, standing): (UInt8, UInt8) = (reader.integer(), reader.integer())
    guard let protection = ProtectionClass(rawValue: number), standing <= 1,
      value.count == (protection == .completeUnlessOpen ? 90 : 58)
    else { throw corrupt }
    return Keybag.Entry(
      protection: protection, isRetired: standing == 1,
      identifier: ClassKeyIdentifier(bytes: Array(reader.take(16))), wrapped: Array(reader.take(40)),
      publicKey: Array(reader.take(value.count - 58)))
  }

  /// One active key of every class, by class; after it the retired ones of that class, never of `none`.
  private static func areOrdered(_ entries: [Keybag.Entry]) -> Bool {
    let active = entries.filter { !$0.isRetired }.map(\.protection)
    guard active == ProtectionClass.allCases, entries.count <= active.count + retiredLimit else { return false }
    var last: ProtectionClass?
    for entry in entries {
      if entry.isRetired, entry.protection != last || entry.protection == .none { return false }
      last = entry.protection
    }
    return true
  }

  /// Fields in their order, each checked against the bytes that are left.
  private struct Fields {
    private let bytes: [UInt8]
    private var position: Int

    init(_ bytes: [UInt8], from position: Int) {
      self.bytes = bytes
      self.position = position
    }

    var isAtEnd: Bool { position == bytes.count }

    /// Everything so far, and the next field's tag and length.
    func upToNextValue() -> [UInt8] {
      Array(bytes[..<min(position + 4, bytes.count)])
    }

    mutating func takeIf(_ tag: Tag) throws(ProtectionError) -> ArraySlice<UInt8>? {
      guard bytes.count - position >= 4 else { throw corrupt }
      var reader = FieldReader(bytes[position..<position + 4])
      let (found, count): (UInt16, UInt16) = (reader.integer(), reader.integer())
      guard found == tag.rawValue else { return nil }
      guard bytes.count - position - 4 >= Int(count) else { throw corrupt }
      let start = position + 4
      position = start + Int(count)
      return bytes[start..<position]
    }

    mutating func take(_ tag: Tag, _ count: Int) throws(ProtectionError) -> [UInt8] {
      guard let value = try takeIf(tag), value.count == count else { throw corrupt }
      return Array(value)
    }
  }
}
