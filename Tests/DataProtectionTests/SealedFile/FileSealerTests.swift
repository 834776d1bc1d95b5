import FoundationEssentials
import Sealing
import Synchronization
import Testing

@testable import DataProtection

struct FileSealerTests {
  let rig = SealedFileRig()
  let text = Data("The state of a window.".utf8)

  @Test(arguments: ProtectionClass.allCases, [0, 1, 16383, 16384, 100_000])
  func `what is sealed opens again`(protection: ProtectionClass, count: Int) throws {
    let plaintext = SealedFileRig.plaintext(count)
    let fields = rig.fields(protection)
    let sealed = try rig.sealer.seal(plaintext, fields)
    let file = try rig.open(BytesSource(sealed.bytes), protection)
    #expect(file.byteCount == count)
    var expected = fields
    expected.messageByteCount = ChunkedEncryption.sealedByteCount(of: count)
    #expect(file.fields == expected)
    #expect(file.commitment == sealed.commitment)
    #expect(try file.read(0..<count) == plaintext)
    let header = protection == .completeUnlessOpen ? 112 : 80
    #expect(sealed.bytes.count == header + ChunkedEncryption.sealedByteCount(of: count))
    let claims = try rig.sealer.claims(of: [UInt8](sealed.bytes)[...])
    #expect(claims.headerByteCount == header && claims.fields == expected && claims.endOffset == sealed.bytes.count)
  }

  @Test func `a lock between wrapping the key and sealing the file ends the sealing`() throws {
    let keys = try LockingClassKeys()
    let sealer = FileSealer(keys: keys)
    keys.locksAfterLending.withLock { $0 = true }
    let error = #expect(throws: ProtectionError.self) { try sealer.seal(text, rig.fields(.complete)) }
    #expect(error?.code == .locked)
    keys.keys.unlock()
    keys.locksAfterLending.withLock { $0 = false }
    #expect(try sealer.seal(text, rig.fields(.complete)).bytes.count > text.count)
  }

  @Test func `the same state sealed twice shares no key, salt or byte of ciphertext`() throws {
    let (first, second) = (try rig.seal(text), try rig.seal(text))
    #expect(first[..<80] == second[..<80])
    #expect(first[80..<104] != second[80..<104])
    #expect(first[104..<136] != second[104..<136])
    #expect(zip(first[136...], second[136...]).filter(==).count < 8)
  }

  @Test func `the plaintext is nowhere in the file`() throws {
    for protection in ProtectionClass.allCases {
      let sealed = try rig.sealer.seal(text, rig.fields(protection)).bytes
      #expect(sealed.firstRange(of: text) == nil)
      #expect(sealed.firstRange(of: Data("state".utf8)) == nil)
    }
  }

  @Test(arguments: ProtectionClass.allCases, ProtectionClass.allCases)
  func `a file of another class than the expected one is refused, whatever its own class is`(
    sealed: ProtectionClass, expected: ProtectionClass
  ) throws {
    let bytes = try rig.seal(text, rig.fields(sealed))
    #expect(rig.outcome(bytes, expected) == (sealed == expected ? nil : .wrongClass))
  }

  @Test func `another device's file is told from a damaged one`() throws {
    let bytes = try SealedFileRig(FixedClassKeys(device: 2)).seal(text)
    #expect(rig.outcome(bytes) == .otherDevice)
  }

  @Test func `a genuine file in the place of another is refused for what it is`() throws {
    let other = try rig.seal(text, rig.fields(identity: [UInt8](repeating: 9, count: 32)))
    #expect(rig.outcome(other) == .wrongIdentity)
    #expect(rig.outcome(try rig.seal(text, rig.fields(generation: 6))) == .rolledBack)
    #expect(rig.outcome(try rig.seal(text, rig.fields(generation: 8))) == .wrongIdentity)
    #expect(rig.outcome(try rig.seal(text, rig.fields(kind: .file))) == .wrongIdentity)
    let anyGeneration = try rig.open(BytesSource(rig.seal(text, rig.fields(generation: 6))), generation: nil)
    #expect(anyGeneration.fields.generation == 6)
  }

  @Test func `a later format is refused for what it is, whatever follows`() throws {
    var bytes = try rig.seal(text)
    bytes[8] = 2
    #expect(rig.outcome(bytes) == .unsupportedVersion)
    #expect(rig.outcome(Array(bytes[..<10])) == .unsupportedVersion)
    #expect(rig.outcome(bytes[..<10] + [UInt8](repeating: 0xFF, count: 300)) == .unsupportedVersion)
  }

  @Test(arguments: ProtectionClass.allCases)
  func `while locked, files seal and open as their class says`(protection: ProtectionClass) throws {
    let bytes = try rig.seal(text, rig.fields(protection))
    rig.keys.lock()
    let isWithheld = protection == .complete || protection == .completeUnlessOpen
    #expect(rig.outcome(bytes, protection) == (isWithheld ? .locked : nil))
    let code = protectionCode { () throws(ProtectionError) in _ = try rig.seal(text, rig.fields(protection)) }
    #expect(code == (protection == .complete ? .locked : nil))
    // Locked is told even of a damaged file, but never instead of another device or a later format.
    guard isWithheld else { return }
    var damaged = bytes
    damaged[bytes.count - 1] ^= 1
    #expect(rig.outcome(damaged, protection) == .locked)
    damaged[16] ^= 1
    #expect(rig.outcome(damaged, protection) == .otherDevice)
    damaged[8] = 9
    #expect(rig.outcome(damaged, protection) == .unsupportedVersion)
  }

  @Test func `an open complete file is closed by a lock, with what it had decrypted`() throws {
    let source = BytesSource(try rig.seal(text))
    let file = try rig.open(source)
    #expect(try file.read(0..<3) == text.prefix(3))
    #expect(rig.keys.holderCount == 2)
    rig.keys.lock()
    let reads = source.readCount
    for range in [0..<3, 0..<0, 5..<10] {
      #expect(protectionCode { () throws(ProtectionError) in _ = try file.read(range) } == .locked)
    }
    #expect(source.readCount == reads)
    rig.keys.unlock()
    #expect(protectionCode { () throws(ProtectionError) in _ = try file.read(0..<3) } == .locked)
    #expect(try rig.open(source).read(0..<3) == text.prefix(3))
  }

  @Test func `a file that was let go is not wiped again`() throws {
    let bytes = try rig.seal(text)
    for _ in 0..<10 { _ = try rig.open(BytesSource(bytes)) }
    #expect(rig.keys.holderCount == 0)
  }

  @Test func `an open completeUnlessOpen file outlives the lock`() throws {
    let plaintext = SealedFileRig.plaintext(50_000)
    let file = try rig.open(BytesSource(rig.seal(plaintext, rig.fields(.completeUnlessOpen))), .completeUnlessOpen)
    rig.keys.lock()
    #expect(try file.read(0..<50_000) == plaintext)
  }

  @Test(arguments: [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ])
  func `an ephemeral key of low order is corrupt`(point: String) throws {
    var bytes = try rig.seal(text, rig.fields(.completeUnlessOpen))
    bytes.replaceSubrange(80..<112, with: [UInt8](hex: point))
    #expect(rig.outcome(bytes, .completeUnlessOpen) == .corrupt)
  }

  @Test func `a one-way file forged with the public key alone is corrupt`() throws {
    // The forger has everything but the device's own `none` key: the public key, the identifiers, the format.
    let privateKey = [UInt8](repeating: 16 + ProtectionClass.completeUnlessOpen.rawValue, count: 32)
    let forger = FixedClassKeys(
      identifier: rig.keys.identifier.bytes,
      classKeys: [.completeUnlessOpen: privateKey, .none: [UInt8](repeating: 0, count: 32)])
    #expect(try forger.publicKey == rig.keys.publicKey)
    let forged = try SealedFileRig(forger).seal(text, rig.fields(.completeUnlessOpen))
    #expect(SealedFileRig(forger).outcome(forged, .completeUnlessOpen) == nil)
    #expect(rig.outcome(forged, .completeUnlessOpen) == .corrupt)
  }
}

/// Class keys that are locked as soon as one has been lent.
private final class LockingClassKeys: ClassKeys {
  let keys: TestClassKeys
  let locksAfterLending = Mutex(false)

  init() throws { keys = try TestClassKeys() }

  func isAvailable(_ protection: ProtectionClass) -> Bool { keys.isAvailable(protection) }

  func withSealingKey<R>(
    for protection: ProtectionClass,
    _ body: (ClassKeyIdentifier, borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    let result = try keys.withSealingKey(for: protection, body)
    if locksAfterLending.withLock({ $0 }) { keys.lock() }
    return result
  }

  func withOpeningKey<R>(
    for protection: ProtectionClass, identifier: ClassKeyIdentifier,
    _ body: (borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try keys.withOpeningKey(for: protection, identifier: identifier, body)
  }

  func withOneWaySealingKeys<R>(
    _ body: (ClassKeyIdentifier, _ publicKey: [UInt8], _ sender: borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try keys.withOneWaySealingKeys(body)
  }

  func withOneWayOpeningKeys<R>(
    identifier: ClassKeyIdentifier,
    _ body: (
      _ privateKey: borrowing SecretKey, _ publicKey: [UInt8], _ sender: borrowing SecretKey
    ) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try keys.withOneWayOpeningKeys(identifier: identifier, body)
  }

  func onWipe(of protection: ProtectionClass, _ body: @escaping @Sendable () -> Void) -> WipeRegistration {
    keys.onWipe(of: protection, body)
  }
}
