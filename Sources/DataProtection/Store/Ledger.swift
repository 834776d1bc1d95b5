/// What a slot knows of its generations, independently of their files.
///
/// Without it an old copy of a file put back would pass for the newest one. The byte layout is in
/// `Docs/ProtectedFileFormat.md`.
package struct Ledger: Hashable, Sendable {
  /// A generation that the ledger vouches for.
  package struct Record: Hashable, Sendable {
    /// Its other facts.
    package struct Flags: OptionSet, Hashable, Sendable {
      package let rawValue: UInt8
      package init(rawValue: UInt8) { self.rawValue = rawValue }
      /// Saved while locked, sealed one-way.
      package static let oneWay = Flags(rawValue: 1)
      /// Nodes touched in a locked run, and no whole state.
      package static let partial = Flags(rawValue: 2)
      /// Found damaged, and set aside for that.
      package static let damaged = Flags(rawValue: 4)
    }

    /// Its number, never zero.
    package var generation: UInt64
    /// What its key commits to, 32 bytes.
    package var commitment: [UInt8]
    /// Its class.
    package var protection: ProtectionClass
    /// Its other facts.
    package var flags: Flags = []
    /// The length of its file when it was written.
    package var byteCount: UInt64

    /// The name of its file.
    var file: SlotFile { flags.contains(.partial) ? .pending(generation) : .generation(generation) }
  }

  /// Whose ledger it is: the slot's HMAC, 32 bytes.
  package var identity: [UInt8]
  /// Told apart from every other slot of the same name, which was deleted before it: 8 random bytes.
  package var epoch: [UInt8]
  /// The keybag's revision when the ledger was written.
  package var keybagRevision: UInt64 = 0
  /// The highest number that a generation of the slot ever had.
  package var counter: UInt64 = 0
  /// The generation to restore.
  package var current: Record?
  /// The only one that may stand in for it.
  package var predecessor: Record?
  /// Saved while locked and in no generation yet, oldest first.
  package var pending: [Record] = []
  /// Refused or damaged, oldest first.
  package var setAside: [Record] = []
  /// What the slot is called, sealed under a key of the device's; empty for one that has no name of its own, or a long one.
  package var sealedName: [UInt8] = []

  /// So many runs may save while the device is locked, until it is unlocked.
  package static let pendingLimit = 64
  /// So many generations are set aside.
  package static let setAsideLimit = 4
  /// A damaged file above this number was planted: it is not set aside, as the next generation's number comes after it.
  static let damagedLimit: UInt64 = 1 << 48
  /// No slot ever gets so far; one that says so takes no more saves.
  static let counterLimit: UInt64 = 1 << 63
  /// A longer sealed name is not written.
  static let sealedNameLimit = 2048
  /// So many bytes are set aside; the newest is, whatever its size.
  package static let setAsideByteLimit: UInt64 = 64 << 20

  /// A ledger of nothing.
  package init(identity: [UInt8], epoch: [UInt8]) {
    self.identity = identity
    self.epoch = epoch
  }

  /// Everything that it vouches for.
  var records: [Record] { [current, predecessor].compactMap(\.self) + pending + setAside }

  /// The record of a generation, whatever its part is.
  func record(of generation: UInt64) -> Record? { records.first { $0.generation == generation } }
}

// MARK: Bytes

extension Ledger {
  static let magic = "SRLEDGER"
  static let epochByteCount = 8
  private static let recordByteCount = 50
  private static let identityByteCount = 32
  private static let fixedByteCount = identityByteCount + epochByteCount + 16 + 4

  /// The bytes, authentication code included.
  package func encoded(keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    var body = identity + epoch
    body.appendInteger(keybagRevision)
    body.appendInteger(counter)
    body += [current == nil ? 0 : 1, predecessor == nil ? 0 : 1, UInt8(pending.count), UInt8(setAside.count)]
    for record in records {
      body.appendInteger(record.generation)
      body += record.commitment
      body.append(record.protection.rawValue)
      body.append(record.flags.rawValue)
      body.appendInteger(record.byteCount)
    }
    body += sealedName
    return try SealedRecord.encode(magic: Self.magic, body: body, purpose: .ledger, keys: keys)
  }

  /// Reads a ledger; nothing in it is believed before its code was checked.
  ///
  /// Throws `.corrupt`, `.otherDevice`, or `.unsupportedVersion` for a layout of the future.
  package init(_ bytes: [UInt8], keys: any StoreKeys) throws(ProtectionError) {
    let body = try SealedRecord.decode(bytes, called: "The ledger", magic: Self.magic, purpose: .ledger, keys: keys)
    let corrupt = ProtectionError(.corrupt, "The ledger says what can't be; the newest authentic archive will be used.")
    guard body.count >= Self.fixedByteCount else { throw corrupt }
    var reader = FieldReader(body)
    identity = Array(reader.take(Self.identityByteCount))
    epoch = Array(reader.take(Self.epochByteCount))
    keybagRevision = reader.integer()
    counter = reader.integer()
    let counts = reader.take(4).map(Int.init)
    let nameByteCount = body.count - Self.fixedByteCount - counts.reduce(0, +) * Self.recordByteCount
    guard counter <= Self.counterLimit, counts[0] < 2, counts[1] < 2, counts[2] <= Self.pendingLimit,
      counts[3] <= Self.setAsideLimit, 0...Self.sealedNameLimit ~= nameByteCount
    else { throw corrupt }
    if counts[0] > 0 { current = try Self.record(&reader) }
    if counts[1] > 0 { predecessor = try Self.record(&reader) }
    for _ in 0..<counts[2] { pending.append(try Self.record(&reader)) }
    for _ in 0..<counts[3] { setAside.append(try Self.record(&reader)) }
    sealedName = Array(reader.take(nameByteCount))
    guard records.allSatisfy({ $0.generation > 0 && $0.generation <= counter }) else { throw corrupt }
  }

  private static func record(_ reader: inout FieldReader) throws(ProtectionError) -> Record {
    let generation: UInt64 = reader.integer()
    let commitment = Array(reader.take(32))
    guard let protection = ProtectionClass(rawValue: reader.integer()) else {
      throw ProtectionError(.corrupt, "The ledger names a class that doesn't exist.")
    }
    let flags = Record.Flags(rawValue: reader.integer())
    return Record(
      generation: generation, commitment: commitment, protection: protection, flags: flags,
      byteCount: reader.integer())
  }
}
