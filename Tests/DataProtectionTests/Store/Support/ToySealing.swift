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

  static let headerByteCount = 80

  init(device: UInt8 = 1) {
    self.device = device
  }

  func lock() { unlocked.withLock { $0 = [.none, .completeUntilFirstUserAuthentication] } }
  func unlock() { unlocked.withLock { $0 = Set(ProtectionClass.allCases) } }

  func require(_ protection: ProtectionClass) throws(ProtectionError) {
    guard unlocked.withLock({ $0.contains(protection) }) else { throw ProtectionError(.locked, "Locked.") }
  }

  func seal(_ plaintext: Data, _ fields: SealedFields) throws(ProtectionError) -> SealedBytes {
    if fields.protection != .completeUnlessOpen { try require(fields.protection) }
    let header = header(fields)
    let commitment = toyHash(header + [7])
    let body = [UInt8](plaintext)
    return SealedBytes(
      bytes: Data(header + commitment + body + toyHash(header + body)), commitment: commitment)
  }

  func openArchive(
    _ source: any SealedSource, protection: ProtectionClass, identity: [UInt8], generation: UInt64
  ) throws(ProtectionError) -> any SealedContent {
    try require(protection)
    let bytes = try source.read(0..<source.byteCount)
    let fields = try fields(bytes[...], .archive, protection, identity, generation)
    let header = bytes[..<ToySealing.headerByteCount]
    guard bytes.count >= header.count + 64, Array(bytes[header.count..<header.count + 32]) == toyHash(header + [7])
    else { throw corrupt }
    let body = Array(bytes[(header.count + 32)..<(bytes.count - 32)])
    return ToyContent(
      sealing: self, fields: fields, commitment: toyHash(header + [7]),
      plaintext: body,
      isWhole: Array(bytes.suffix(32)) == toyHash(header + body))
  }

  func makeJournal(
    _ fields: SealedFields, binding: [UInt8]
  ) throws(ProtectionError) -> any JournalSealing {
    try require(fields.protection)
    return ToyJournal(sealing: self, fields: fields, header: header(fields), binding: binding)
  }

  func headerByteCount(_ start: ArraySlice<UInt8>) throws(ProtectionError) -> Int { ToySealing.headerByteCount }

  func claimedProtection(_ start: ArraySlice<UInt8>) throws(ProtectionError) -> ProtectionClass {
    guard start.count > 1, let protection = ProtectionClass(rawValue: start[start.startIndex + 1]) else {
      throw corrupt
    }
    return protection
  }

  func openJournal(
    header: ArraySlice<UInt8>, binding: [UInt8], protection: ProtectionClass, identity: [UInt8],
    generation: UInt64
  ) throws(ProtectionError) -> any JournalOpening {
    try require(protection)
    return ToyJournal(
      sealing: self, fields: try fields(header, .journal, protection, identity, generation), header: Array(header),
      binding: binding)
  }

  private func header(_ fields: SealedFields) -> [UInt8] {
    var bytes: [UInt8] = [fields.kind == .archive ? 1 : 2, fields.protection.rawValue, device, 0]
    bytes.appendInteger(fields.generation)
    bytes.appendInteger(fields.schema)
    bytes.appendInteger(fields.flags)
    bytes += fields.identifier
    // Where the real header has it, for those who look whose file it is.
    bytes += [UInt8](repeating: 0, count: SealedFileHeader.identityRange.lowerBound - bytes.count)
    return bytes + fields.identity
  }

  private func fields(
    _ bytes: ArraySlice<UInt8>, _ kind: SealedFields.Kind, _ protection: ProtectionClass, _ identity: [UInt8],
    _ generation: UInt64
  ) throws(ProtectionError) -> SealedFields {
    guard bytes.count >= ToySealing.headerByteCount else { throw corrupt }
    var reader = FieldReader(bytes)
    guard reader.integer(UInt8.self) == (kind == .archive ? 1 : 2),
      let found = ProtectionClass(rawValue: reader.integer())
    else { throw corrupt }
    guard found == protection else { throw ProtectionError(.wrongClass, "Another class.") }
    guard reader.integer(UInt8.self) == device else { throw ProtectionError(.otherDevice, "Another device.") }
    _ = reader.integer(UInt8.self)
    let fields = SealedFields(
      kind: kind, protection: found,
      identity: Array(bytes.dropFirst(SealedFileHeader.identityRange.lowerBound).prefix(32)),
      generation: reader.integer(), schema: reader.integer(), flags: reader.integer(),
      identifier: Array(reader.take(16)))
    guard fields.identity == identity else { throw ProtectionError(.wrongIdentity, "Another slot.") }
    guard fields.generation == generation else { throw corrupt }
    return fields
  }

  fileprivate var corrupt: ProtectionError { ProtectionError(.corrupt, "Damaged.") }
}

/// An opened archive of the stand-in.
struct ToyContent: SealedContent {
  let sealing: ToySealing
  let fields: SealedFields
  let commitment: [UInt8]
  let plaintext: [UInt8]
  let isWhole: Bool
  var byteCount: Int { plaintext.count }
  var chunksOpened: Int { 0 }

  func read(_ range: Range<Int>) throws(ProtectionError) -> Data {
    try sealing.require(fields.protection)
    guard isWhole else { throw sealing.corrupt }
    return Data(plaintext[range])
  }
}

/// A journal of the stand-in.
struct ToyJournal: JournalSealing, JournalOpening {
  let sealing: ToySealing
  let fields: SealedFields
  let header: [UInt8]
  let binding: [UInt8]

  private func context(_ number: UInt64, _ previous: [UInt8]) -> [UInt8] {
    var bytes = header + binding
    bytes.appendInteger(number)
    return bytes + previous
  }

  func seal(
    _ frame: Data, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (message: [UInt8], commitment: [UInt8]) {
    try sealing.require(fields.protection)
    let context = context(number, previous)
    let body = [UInt8](frame)
    let commitment = toyHash(context + [9])
    return (commitment + body + toyHash(context + body), commitment)
  }

  var messagePrefixByteCount: Int { 32 }

  func claimedCommitment(of prefix: ArraySlice<UInt8>) -> [UInt8]? { prefix.count == 32 ? Array(prefix) : nil }

  func open(
    _ message: ArraySlice<UInt8>, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (frame: Data, commitment: [UInt8]) {
    let context = context(number, previous)
    guard message.count >= 64, Array(message.prefix(32)) == toyHash(context + [9]) else { throw sealing.corrupt }
    let body = Array(message.dropFirst(32).dropLast(32))
    guard Array(message.suffix(32)) == toyHash(context + body) else { throw sealing.corrupt }
    return (Data(body), toyHash(context + [9]))
  }
}

/// Keys that are as long as real ones, and as short-lived as a test.
struct ToyKeys: StoreKeys {
  var keybagIdentifier = KeybagIdentifier(bytes: [UInt8](repeating: 5, count: 16))
  var keybagRevision: UInt64 = 1
  var bootIdentifier = [UInt8](repeating: 1, count: 16)

  func refreshKeybagRevision() throws(ProtectionError) -> UInt64 { keybagRevision }

  func authenticationCode(
    _ purpose: StoreKeyPurpose, over message: [UInt8]
  ) throws(ProtectionError) -> [UInt8] {
    toyHash(Array("\(purpose)".utf8) + message)
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
