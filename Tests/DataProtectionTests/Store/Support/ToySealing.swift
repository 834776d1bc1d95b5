import FoundationEssentials
import Sealing
import Synchronization

@testable import DataProtection

/// A stand-in for the sealing code, so that thousands of power cuts can be tried in a second.
///
/// It protects nothing, but fails in the same ways: locked classes, wrong identities, damage anywhere.
final class ToySealing: StoreSealing {
  /// The classes whose keys are there.
  private let unlocked = Mutex<Set<ProtectionClass>>(Set(ProtectionClass.allCases))
  /// Which device it is.
  let device: UInt8

  static let headerByteCount = 64

  init(device: UInt8 = 1) {
    self.device = device
  }

  func lock() { unlocked.withLock { $0 = [.none, .completeUntilFirstUserAuthentication] } }
  func unlock() { unlocked.withLock { $0 = Set(ProtectionClass.allCases) } }

  func isAvailable(_ protection: ProtectionClass) -> Bool { unlocked.withLock { $0.contains(protection) } }

  func require(_ protection: ProtectionClass) throws(ProtectionError) {
    guard unlocked.withLock({ $0.contains(protection) }) else { throw ProtectionError(.locked, "Locked.") }
  }

  func seal(_ plaintext: Data, _ fields: SealedFields) throws(ProtectionError) -> SealedBytes {
    if fields.protection != .completeUnlessOpen { try require(fields.protection) }
    var fields = fields
    let body = [UInt8](plaintext)
    fields.messageByteCount = body.count + 64
    let header = header(fields)
    let commitment = toyHash(header + [7])
    return SealedBytes(
      fields: fields, bytes: Data(header + commitment + body + toyHash(header + body)), commitment: commitment,
      frames: ToyFrames(sealing: self, protection: fields.protection, header: header))
  }

  func open(
    _ source: any SealedSource, protection: ProtectionClass, identity: [UInt8], generation: UInt64
  ) throws(ProtectionError) -> any SealedContent {
    var bytes = try source.read(0..<min(source.byteCount, Self.headerByteCount))
    let fields = try fields(bytes[...])
    let length = min(source.byteCount, Self.headerByteCount + fields.messageByteCount)
    bytes += try source.read(Self.headerByteCount..<max(length, Self.headerByteCount))
    guard fields.protection == protection else { throw ProtectionError(.wrongClass, "Another class.") }
    guard bytes[2] == device else { throw ProtectionError(.otherDevice, "Another device.") }
    try require(protection)
    guard fields.identity == identity else { throw ProtectionError(.wrongIdentity, "Another slot.") }
    guard fields.generation == generation else { throw corrupt }
    let header = Array(bytes[..<ToySealing.headerByteCount])
    let end = header.count + fields.messageByteCount
    guard fields.messageByteCount >= 64, bytes.count >= end,
      Array(bytes[header.count..<header.count + 32]) == toyHash(header + [7])
    else { throw corrupt }
    let body = Array(bytes[(header.count + 32)..<(end - 32)])
    return ToyContent(
      sealing: self, fields: fields, commitment: toyHash(header + [7]), plaintext: body, endOffset: end,
      frames: ToyFrames(sealing: self, protection: protection, header: header),
      isWhole: Array(bytes[(end - 32)..<end]) == toyHash(header + body))
  }

  func claims(of start: ArraySlice<UInt8>) throws(ProtectionError) -> SealedClaims {
    SealedClaims(fields: try fields(start), headerByteCount: Self.headerByteCount)
  }

  private func header(_ fields: SealedFields) -> [UInt8] {
    var bytes: [UInt8] = [1, fields.protection.rawValue, device, 0]
    bytes.appendInteger(fields.generation)
    bytes.appendInteger(UInt32(fields.messageByteCount))
    bytes += [fields.flags.rawValue, fields.place.rawValue]
    // No two are the same.
    bytes += randomBytes(14)
    bytes.appendZeroes(SealedFileHeader.identityRange.lowerBound - bytes.count)
    return bytes + fields.identity
  }

  private func fields(_ bytes: ArraySlice<UInt8>) throws(ProtectionError) -> SealedFields {
    guard bytes.count >= ToySealing.headerByteCount else { throw corrupt }
    var reader = FieldReader(bytes)
    let version: UInt8 = reader.integer()
    guard version < 2 else { throw ProtectionError(.unsupportedVersion, "A newer version.") }
    guard version == 1, let protection = ProtectionClass(rawValue: reader.integer()) else {
      throw corrupt
    }
    _ = reader.take(2)
    let generation: UInt64 = reader.integer()
    let length: UInt32 = reader.integer()
    let flags: UInt8 = reader.integer()
    guard let place = PartPlace(rawValue: reader.integer()) else { throw corrupt }
    return SealedFields(
      kind: .archive, protection: protection,
      identity: Array(bytes.dropFirst(SealedFileHeader.identityRange.lowerBound).prefix(32)), generation: generation,
      place: place, flags: .init(rawValue: flags), messageByteCount: Int(length))
  }

  fileprivate var corrupt: ProtectionError { ProtectionError(.corrupt, "Damaged.") }
}

/// An opened archive of the stand-in.
struct ToyContent: SealedContent {
  let sealing: ToySealing
  let fields: SealedFields
  let commitment: [UInt8]
  let plaintext: [UInt8]
  let endOffset: Int
  let frames: any FrameSealing
  let isWhole: Bool
  var byteCount: Int { plaintext.count }
  var chunksOpened: Int { 0 }

  func read(_ range: Range<Int>) throws(ProtectionError) -> Data {
    try sealing.require(fields.protection)
    guard isWhole else { throw sealing.corrupt }
    return Data(plaintext[range])
  }
}

/// The frames of the stand-in.
struct ToyFrames: FrameSealing {
  let sealing: ToySealing
  let protection: ProtectionClass
  let header: [UInt8]

  private func context(_ number: UInt64, _ previous: [UInt8]) -> [UInt8] {
    var bytes = header
    bytes.appendInteger(number)
    return bytes + previous
  }

  func seal(
    _ frame: Data, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (message: [UInt8], commitment: [UInt8]) {
    try sealing.require(protection)
    let context = context(number, previous)
    let body = [UInt8](frame)
    // Like a fresh salt: the same frame in the same place is another message.
    let salt = randomBytes(8)
    let commitment = toyHash(context + salt + [9])
    return (salt + commitment + body + toyHash(context + salt + body), commitment)
  }

  func open(
    _ message: ArraySlice<UInt8>, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (frame: Data, commitment: [UInt8]) {
    try sealing.require(protection)
    let context = context(number, previous)
    guard message.count >= 72 else { throw sealing.corrupt }
    let salt = Array(message.prefix(8))
    let commitment = toyHash(context + salt + [9])
    let body = Array(message.dropFirst(40).dropLast(32))
    guard message.dropFirst(8).prefix(32).elementsEqual(commitment),
      message.suffix(32).elementsEqual(toyHash(context + salt + body))
    else { throw sealing.corrupt }
    return (Data(body), commitment)
  }
}

/// Keys that are as long as real ones, and as short-lived as a test.
struct ToyKeys: StoreKeys {
  func isOnDisk() -> Bool { true }
  var keybagIdentifier = KeybagIdentifier(bytes: [UInt8](repeating: 5, count: 16))
  var keybagRevision: UInt64 = 1
  var bootIdentifier = [UInt8](repeating: 1, count: 16)

  func refreshKeybagRevision() throws(ProtectionError) -> UInt64 { keybagRevision }

  func authenticationCode(
    _ purpose: StoreKeyPurpose, over message: [UInt8]
  ) throws(ProtectionError) -> [UInt8] {
    toyHash(Array("\(purpose)".utf8) + message)
  }

  func sealSlotName(_ name: [UInt8], of identity: [UInt8]) -> [UInt8] { name + toyHash(identity + name) }

  func openSlotName(_ sealed: [UInt8], of identity: [UInt8]) throws(ProtectionError) -> [UInt8] {
    let name = Array(sealed.dropLast(32))
    guard sealSlotName(name, of: identity) == sealed else { throw ProtectionError(.corrupt, "Another name.") }
    return name
  }
}

/// HMAC-SHA-256 under a key that everybody knows: thirty-two bytes that change when anything changes.
func toyHash(_ bytes: some Collection<UInt8>) -> [UInt8] {
  let bytes = Array(bytes)
  return try! HMACSHA256.authenticationCode(for: bytes.span, key: ToyKey.shared.key)
}

private final class ToyKey: Sendable {
  static let shared = ToyKey()
  let key = try! SecretKey(copying: [UInt8](repeating: 42, count: 32).span)
}
