import Sealing

/// What the store knows of its generations, independently of the files themselves.
///
/// Without it an old copy of a file put back would pass for the newest one. The byte layout is in
/// `Docs/ProtectedFileFormat.md`.
package struct Ledger: Hashable, Sendable {
  /// A generation that the ledger vouches for.
  package struct Record: Hashable, Sendable {
    /// Its number, never zero.
    package var generation: UInt64
    /// What its key commits to, 32 bytes.
    package var commitment: [UInt8]
    /// Its class.
    package var protection: ProtectionClass
    /// Whether it was saved while locked and taken over since; its file keeps its ending.
    package var wasPending: Bool
  }

  /// What is known of one slot.
  package struct Entry: Hashable, Sendable {
    /// The generation to restore.
    package var current: Record?
    /// The only one that may stand in for it.
    package var predecessor: Record?
    /// The generation saved while locked.
    package var pending: Record?
    /// Generations saved while locked that have a number up to this one were discarded.
    package var pendingFloor: UInt64 = 0
    /// Without a current record: generations above this number may be accepted.
    package var floor: UInt64 = 0
    /// Everything of the slot that is not listed here is being deleted.
    package var isDeleting = false
    /// The entry was made from the files after a ledger was lost.
    package var isUnverified = false

    /// An entry that vouches for nothing yet.
    package init() {}
  }

  /// The keybag that the ledger belongs to.
  package var keybag: KeybagIdentifier
  /// The keybag's revision when the ledger was written.
  package var keybagRevision: UInt64
  /// How often the ledger was written.
  package var revision: UInt64 = 0
  /// The highest number that a generation ever had.
  package var highWater: UInt64 = 0
  /// What is known of each slot, by the bytes of its name.
  var entries: [SlotName: Entry] = [:]

  /// A ledger of nothing.
  package init(keybag: KeybagIdentifier, keybagRevision: UInt64) {
    self.keybag = keybag
    self.keybagRevision = keybagRevision
  }

  /// How many slots it knows.
  package var entryCount: Int { entries.count }
}

// MARK: Bytes

extension Ledger {
  /// The first eight bytes of a ledger.
  static let magic: [UInt8] = Array("SRLEDGER".utf8)
  /// The layout that this program writes.
  static let version: UInt16 = 1
  static let headerByteCount = 64
  static let entryByteCount = 184
  static let codeByteCount = 32
  /// More slots than this are no ledger of ours.
  static let entryLimit = 65_536
  /// The longest ledger that is read.
  package static let byteLimit = headerByteCount + entryLimit * entryByteCount + codeByteCount

  /// The bytes, authentication code included.
  package func encoded(
    authenticate: ([UInt8]) throws(ProtectionError) -> [UInt8]
  ) throws(ProtectionError) -> [UInt8] {
    let length = Ledger.headerByteCount + entries.count * Ledger.entryByteCount + Ledger.codeByteCount
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length)
    bytes += Ledger.magic
    bytes.appendInteger(Ledger.version)
    bytes.appendInteger(UInt16(0))
    bytes.appendInteger(UInt32(length))
    bytes += keybag.bytes
    bytes.appendInteger(keybagRevision)
    bytes.appendInteger(revision)
    bytes.appendInteger(highWater)
    bytes.appendInteger(UInt32(entries.count))
    bytes.appendInteger(UInt32(0))
    for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
      bytes += name.bytes
      bytes.append((entry.isDeleting ? 1 : 0) | (entry.isUnverified ? 2 : 0))
      bytes.appendZeroes(7)
      bytes.appendInteger(entry.floor)
      bytes.appendInteger(entry.pendingFloor)
      for record in [entry.current, entry.predecessor, entry.pending] { Ledger.append(record, to: &bytes) }
    }
    return bytes + (try authenticate(bytes))
  }

  private static func ends(_ bytes: [UInt8], with code: [UInt8]) -> Bool {
    ConstantTime.areEqual(Array(bytes.suffix(codeByteCount)).span, code.span)
  }

  /// Reads a ledger; nothing in it is believed before its code was checked.
  ///
  /// Throws `.corrupt`, or `.unsupportedVersion` for a layout of the future.
  package init(
    _ bytes: [UInt8], authenticate: ([UInt8]) throws(ProtectionError) -> [UInt8]
  ) throws(ProtectionError) {
    let corrupt = ProtectionError(.corrupt, "The ledger is damaged; the newest authentic archive will be used.")
    guard bytes.count >= Ledger.headerByteCount + Ledger.codeByteCount, bytes.starts(with: Ledger.magic) else {
      throw corrupt
    }
    var header = FieldReader(bytes[Ledger.magic.count...])
    let version = header.integer(UInt16.self)
    guard version <= Ledger.version else {
      // A later format, unless it is only the version of one of ours that was damaged: then its code tells.
      var ours = Array(bytes.dropLast(Ledger.codeByteCount))
      ours[Ledger.magic.count] = UInt8(truncatingIfNeeded: Ledger.version)
      ours[Ledger.magic.count + 1] = UInt8(truncatingIfNeeded: Ledger.version >> 8)
      guard !Ledger.ends(bytes, with: try authenticate(ours)) else { throw corrupt }
      throw ProtectionError(
        .unsupportedVersion, "The ledger has format \(version), newer than this program; update it.")
    }
    let body = Array(bytes.dropLast(Ledger.codeByteCount))
    guard version == Ledger.version, Ledger.ends(bytes, with: try authenticate(body))
    else { throw corrupt }
    _ = header.integer(UInt16.self)
    let length = Int(header.integer(UInt32.self))
    keybag = KeybagIdentifier(bytes: Array(header.take(KeybagIdentifier.byteCount)))
    keybagRevision = header.integer()
    revision = header.integer()
    highWater = header.integer()
    let count = Int(header.integer(UInt32.self))
    guard length == bytes.count, count <= Ledger.entryLimit,
      length == Ledger.headerByteCount + count * Ledger.entryByteCount + Ledger.codeByteCount
    else { throw corrupt }
    var reader = FieldReader(body[Ledger.headerByteCount...])
    for _ in 0..<count {
      let name = SlotName(identity: reader.take(SlotName.byteCount))
      var entry = Entry()
      let flags = reader.take(8).first!
      entry.isDeleting = flags & 1 != 0
      entry.isUnverified = flags & 2 != 0
      entry.floor = reader.integer()
      entry.pendingFloor = reader.integer()
      entry.current = try Ledger.record(&reader)
      entry.predecessor = try Ledger.record(&reader)
      entry.pending = try Ledger.record(&reader)
      guard flags < 4, entries.updateValue(entry, forKey: name) == nil else { throw corrupt }
    }
  }

  private static func append(_ record: Record?, to bytes: inout [UInt8]) {
    guard let record else { return bytes.appendZeroes(48) }
    bytes.appendInteger(record.generation)
    bytes += record.commitment
    bytes.append(record.protection.rawValue)
    bytes.append(record.wasPending ? 1 : 0)
    bytes.appendZeroes(6)
  }

  private static func record(_ reader: inout FieldReader) throws(ProtectionError) -> Record? {
    let generation = reader.integer(UInt64.self)
    let commitment = Array(reader.take(32))
    let rest = Array(reader.take(8))
    guard generation != 0 else { return nil }
    guard let protection = ProtectionClass(rawValue: rest[0]), rest[1] < 2 else {
      throw ProtectionError(.corrupt, "The ledger names a class that doesn't exist.")
    }
    return Record(
      generation: generation, commitment: commitment, protection: protection, wasPending: rest[1] == 1)
  }
}
