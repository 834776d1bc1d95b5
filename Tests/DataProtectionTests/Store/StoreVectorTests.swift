import FaultyFileSystem
import Foundation
import Sealing
import Testing

@testable import DataProtection

/// A frame and the store's small files made by an independent implementation, and the page of the format that shows them.
struct StoreVectorTests {
  struct Vector: Decodable {
    var frame, salt, commitment, frameBytes, ledgerKey, markerKey, epoch, boot, ledger, slots, marker: String
    var slotNameKey, slotNameSalt: String
    var revision: UInt64
    var node: UInt32
  }

  private struct File: Decodable { var store: Vector }

  let archive: SealedFileVectorTests.Vector
  let vector: Vector

  init() throws {
    archive = try #require(SealedFileVectorTests.vectors.first { $0.name == "worked example" })
    let path = SealedFileVectorTests.tests.appending(path: "Fixtures/Vectors/vectors.json")
    vector = try JSONDecoder().decode(File.self, from: Data(contentsOf: path)).store
  }

  private var identity: [UInt8] { [UInt8](hex: archive.identity) }
  private var commitment: [UInt8] { [UInt8](hex: archive.commitment) }
  private var keys: VectorKeys {
    VectorKeys(
      keybagIdentifier: KeybagIdentifier(bytes: [UInt8](hex: archive.keybag)), keybagRevision: vector.revision,
      bootIdentifier: [UInt8](hex: vector.boot),
      keys: [
        .name: [UInt8](hex: archive.nameKey), .ledger: [UInt8](hex: vector.ledgerKey),
        .marker: [UInt8](hex: vector.markerKey),
      ], slotNameKey: [UInt8](hex: vector.slotNameKey), slotNameSalt: [UInt8](hex: vector.slotNameSalt))
  }

  @Test func `a frame sealed elsewhere opens here, and is sealed here with the same random bytes`() throws {
    let bytes = [UInt8](hex: archive.file) + [UInt8](hex: vector.frameBytes)
    let source = BytesSource(bytes)
    let file = try FileSealer(keys: archive.keys).open(
      source, kind: .archive, protection: archive.protectionClass, identity: identity, generation: archive.generation)
    let scan = try FrameScan(source, file)
    #expect(scan.frames == [Data([UInt8](hex: vector.frame))])
    #expect(scan.commitment == [UInt8](hex: vector.commitment))
    #expect(scan.end == bytes.count && scan.tailDropped == 0)

    let random = LaidDownRandom([UInt8](hex: archive.random + vector.salt))
    let sealed = try FileSealer(keys: archive.keys, random: random)
      .seal(Data([UInt8](hex: archive.plaintext)), archive.fields)
    let frame = try sealed.frames.seal(Data([UInt8](hex: vector.frame)), number: 1, previous: sealed.commitment)
    #expect([UInt8](sealed.bytes) + FrameScan.bytes(of: frame.message) == bytes)
  }

  @Test func `the ledger, the list and the marker have the bytes that were made elsewhere`() throws {
    var ledger = Ledger(identity: identity, epoch: [UInt8](hex: vector.epoch))
    ledger.keybagRevision = vector.revision
    ledger.counter = archive.generation
    ledger.current = Ledger.Record(
      generation: archive.generation, commitment: commitment, protection: archive.protectionClass,
      byteCount: UInt64(archive.bytes.count))
    let slot = ArchiveSlot(application: archive.application, scene: archive.scene, slot: archive.slot)
    let store = try StoreDirectory(
      MemoryFileSystem(), in: nil, keys: keys, sealer: FileSealer(keys: archive.keys))
    ledger.sealedName = try store.sealedName(of: slot, identity)
    #expect(store.slot(of: ledger) == slot)
    #expect(try ledger.encoded(keys: keys) == [UInt8](hex: vector.ledger))
    #expect(try Ledger([UInt8](hex: vector.ledger), keys: keys) == ledger)

    var list = SlotList()
    list.keybagRevision = vector.revision
    list.entries[SlotName(identity: identity)] = SlotList.Entry(epoch: ledger.epoch, isNew: false)
    #expect(try list.encoded(keys: keys) == [UInt8](hex: vector.slots))
    #expect(try SlotList([UInt8](hex: vector.slots), keys: keys) == list)

    var marker = CrashMarker()
    marker.begin(commitment, isRequest: false, boot: keys.bootIdentifier)
    marker.running = vector.node
    #expect(try marker.encoded(identity: identity, keys: keys) == [UInt8](hex: vector.marker))
    #expect(try CrashMarker([UInt8](hex: vector.marker), identity: identity, keys: keys) == marker)
  }

  @Test func `the worked examples of the format's page are the vectors, byte for byte`() throws {
    let page = try String(
      contentsOf: SealedFileVectorTests.tests.appending(path: "../Docs/ProtectedFileFormat.md"), encoding: .utf8)
    let dumps = page.components(separatedBy: "```\n").compactMap(Self.bytes)
    #expect(
      dumps == [archive.file, vector.frameBytes, vector.ledger, vector.slots, vector.marker].map { [UInt8](hex: $0) })
    for value in [
      archive.classKey, archive.nameKey, archive.identity, archive.fileKey, archive.commitment, archive.keybag,
      archive.classKeyIdentifier, vector.salt, vector.commitment, vector.ledgerKey, vector.markerKey,
      vector.slotNameKey, vector.slotNameSalt,
      vector.epoch, vector.boot, String(decoding: [UInt8](hex: vector.frame), as: UTF8.self),
    ] {
      #expect(page.contains("`\(value)`"))
    }
  }

  /// The bytes of a dump, whose lines look like `0010  62 fc …`, with `*` for lines of zeroes; nil for other text.
  private static func bytes(_ text: String) -> [UInt8]? {
    guard text.hasPrefix("0000  ") else { return nil }
    var bytes: [UInt8] = []
    for line in text.split(separator: "\n") where line != "*" {
      let words = line.split(separator: " ")
      guard let offset = Int(words[0], radix: 16), offset >= bytes.count else { return nil }
      bytes += [UInt8](repeating: 0, count: offset - bytes.count)
      bytes += words.dropFirst().compactMap { UInt8($0, radix: 16) }
    }
    return bytes
  }
}

/// Keys that a test laid down.
private struct VectorKeys: StoreKeys {
  func isOnDisk() -> Bool { true }
  var keybagIdentifier: KeybagIdentifier
  var keybagRevision: UInt64
  var bootIdentifier: [UInt8]
  var keys: [StoreKeyPurpose: [UInt8]]
  var slotNameKey: [UInt8]
  var slotNameSalt: [UInt8]

  func refreshKeybagRevision() throws(ProtectionError) -> UInt64 { keybagRevision }

  func authenticationCode(_ purpose: StoreKeyPurpose, over message: [UInt8]) throws(ProtectionError) -> [UInt8] {
    let key = keys[purpose]!
    return try sealing("authenticate a record") { () throws(SealingError) in
      try HMACSHA256.authenticationCode(for: message.span, key: SecretKey(copying: key.span))
    }
  }

  func sealSlotName(_ name: [UInt8], of identity: [UInt8]) throws(ProtectionError) -> [UInt8] {
    try sealing("seal a name") { () throws(SealingError) in
      try ChunkedEncryption.seal(
        name.span, key: SecretKey(copying: slotNameKey.span), context: identity.span,
        random: LaidDownRandom(slotNameSalt)
      ).bytes
    }
  }

  func openSlotName(_ sealed: [UInt8], of identity: [UInt8]) throws(ProtectionError) -> [UInt8] {
    try sealing("open a name") { () throws(SealingError) in
      try ChunkedEncryption.open(sealed.span, key: SecretKey(copying: slotNameKey.span), context: identity.span)
    }
  }
}
