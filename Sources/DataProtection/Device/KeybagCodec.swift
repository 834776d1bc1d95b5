/// Reads and writes the keybag's bytes; it knows lengths and order, and nothing of keys.
enum KeybagCodec {
  /// The first bytes of every keybag.
  static let magic = Array("SRPKEYBG".utf8)
  /// The only version there is.
  static let version: UInt16 = 1
  /// Before the fields: magic, version, flags, length, device identifier.
  static let headerByteCount = 32
  /// No keybag is longer.
  static let maximumByteCount = 4096
  /// At most so many keys from before the first passcode.
  static let retiredLimit = 12
  private static let testFlag: UInt16 = 1
  private static let macByteCount = 32

  enum Tag: UInt16 {
    case identifier = 1
    case revision = 2
    case derivation = 3
    case salt = 4
    case classKey = 5
    case passcodeMAC = 6
    case deviceMAC = 7
  }

  /// A keybag's bytes taken apart; nothing in it is authentic before its codes were checked.
  struct Parsed: Sendable {
    let keybag: Keybag
    /// What the passcode's code covers.
    let passcodeMessage: [UInt8]
    let passcodeMAC: [UInt8]
    /// What the device's code covers.
    let deviceMessage: [UInt8]
    let deviceMAC: [UInt8]
  }

  // MARK: Writing

  /// The bytes of a keybag; each code is computed over everything before it, its own tag and length included.
  static func encode(
    _ keybag: Keybag, passcodeMAC: ([UInt8]) throws(ProtectionError) -> [UInt8],
    deviceMAC: ([UInt8]) throws(ProtectionError) -> [UInt8]
  ) throws(ProtectionError) -> [UInt8] {
    var fields: [UInt8] = []
    append(.identifier, keybag.identifier.bytes, to: &fields)
    append(.revision, integer(keybag.revision), to: &fields)
    append(.derivation, derivation(keybag.derivation), to: &fields)
    append(.salt, keybag.salt, to: &fields)
    for entry in keybag.entries {
      let value = [entry.protection.rawValue, entry.isRetired ? 1 : 0] + entry.identifier.bytes + entry.wrapped
      append(.classKey, value + entry.publicKey, to: &fields)
    }
    let byteCount = headerByteCount + fields.count + 2 * (4 + macByteCount)
    var bytes = magic
    bytes.appendInteger(version)
    bytes.appendInteger(keybag.isForTests ? testFlag : UInt16(0))
    bytes.appendInteger(UInt32(byteCount))
    bytes += keybag.deviceIdentifier + fields
    appendHead(.passcodeMAC, macByteCount, to: &bytes)
    bytes += try passcodeMAC(bytes)
    appendHead(.deviceMAC, macByteCount, to: &bytes)
    bytes += try deviceMAC(bytes)
    return bytes
  }

  private static func append(_ tag: Tag, _ value: [UInt8], to bytes: inout [UInt8]) {
    appendHead(tag, value.count, to: &bytes)
    bytes += value
  }

  private static func appendHead(_ tag: Tag, _ count: Int, to bytes: inout [UInt8]) {
    bytes.appendInteger(tag.rawValue)
    bytes.appendInteger(UInt16(count))
  }

  private static func integer(_ value: some FixedWidthInteger) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendInteger(value)
    return bytes
  }

  /// Kind (0 none, 1 scrypt), exponent of N, r, p.
  private static func derivation(_ profile: ScryptProfile?) -> [UInt8] {
    guard let profile else { return [UInt8](repeating: 0, count: 6) }
    return [1, profile.workExponent] + integer(profile.blockSize) + integer(profile.parallelism)
  }
}
