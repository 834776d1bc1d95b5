/// What a slot knows of its generations, independently of their files.
///
/// Without it an old copy of a file put back would pass for the newest one. The byte layout is in
/// `Docs/ProtectedFileFormat.md`.
package struct Ledger: Hashable, Sendable {
  /// One file of a generation.
  package struct Part: Hashable, Sendable {
    /// What else is said of a file.
    package struct Flags: OptionSet, Hashable, Sendable {
      package let rawValue: UInt8
      package init(rawValue: UInt8) { self.rawValue = rawValue }
      /// Saved while locked, sealed one-way.
      package static let oneWay = Flags(rawValue: 1)
      /// Nodes touched in a locked run, and no whole state.
      package static let partial = Flags(rawValue: 2)
      /// Found damaged; its generation was set aside for that.
      package static let damaged = Flags(rawValue: 4)
      /// Nodes touched in a run that could read the rest, and no whole state.
      package static let beside = Flags(rawValue: 8)
    }

    /// Where it stands among the parts of its generation.
    package var place: PartPlace
    /// The number in its file's name, never zero.
    package var number: UInt64
    /// What its key commits to, 32 bytes.
    package var commitment: [UInt8]
    /// Its class.
    package var protection: ProtectionClass
    /// What else is said of it.
    package var flags: Flags = []
    /// The length of its file when it was written.
    package var byteCount: UInt64

    /// The name of its file.
    var file: SlotFile { flags.contains(.partial) ? .pending(number) : .generation(number) }
    /// What a later generation names it by.
    var identity: PartFile { PartFile(place: place, number: number, commitment: commitment) }
  }

  /// A generation that the ledger vouches for: one file, or several that were saved together.
  ///
  /// Files of different generations have different numbers; one that did not change between two generations is in both.
  package struct Record: Hashable, Sendable {
    /// Its number, never zero.
    package var generation: UInt64
    /// Its files, in the order of their places; the first has the root.
    package var parts: [Part]

    /// A generation of several parts.
    package init(generation: UInt64, parts: [Part]) {
      self.generation = generation
      self.parts = parts
    }

    /// A generation of one part.
    package init(
      generation: UInt64, commitment: [UInt8], protection: ProtectionClass, flags: Part.Flags = [], byteCount: UInt64
    ) {
      self.init(
        generation: generation,
        parts: [
          Part(
            place: .root, number: generation, commitment: commitment, protection: protection, flags: flags,
            byteCount: byteCount)
        ])
    }

    /// The file that has the root.
    var root: Part { parts[0] }
    /// What the key of the first part commits to, 32 bytes.
    package var commitment: [UInt8] { root.commitment }
    /// The class of the first part.
    package var protection: ProtectionClass { root.protection }
    /// What is said of any of its files.
    package var flags: Part.Flags { parts.reduce(into: []) { $0.formUnion($1.flags) } }
    /// The length of its files when they were written.
    package var byteCount: UInt64 { parts.reduce(0) { $0 &+ $1.byteCount } }

    /// The part at a place; nil for none.
    package subscript(_ place: PartPlace) -> Part? { parts.first { $0.place == place } }

    /// Says something of all its files.
    mutating func mark(_ flags: Part.Flags) {
      for index in parts.indices { parts[index].flags.formUnion(flags) }
    }
  }

  /// Whose ledger it is: the slot's HMAC, 32 bytes.
  package var identity: [UInt8]
  /// Told apart from every other slot of the same name, which was deleted before it: 8 random bytes.
  package var epoch: [UInt8]
  /// The keybag's revision when the ledger was written.
  package var keybagRevision: UInt64 = 0
  /// The highest number that a generation or file of the slot ever had.
  package var counter: UInt64 = 0
  /// Whether it was written before files were removed that hold something under a weaker class than it has now.
  package var owesRemoval = false
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

  /// The files of everything that it vouches for.
  var files: Set<SlotFile> { Set(records.lazy.flatMap(\.parts).map(\.file)) }

  /// The file that a later generation names again, with the record that has it; nil when none has.
  func part(_ file: PartFile) -> (part: Part, record: Record)? {
    for record in [current, predecessor].compactMap(\.self) + setAside {
      if let part = record.parts.first(where: { $0.identity == file && !$0.flags.contains(.partial) }) {
        return (part, record)
      }
    }
    return nil
  }
}

// MARK: Bytes

extension Ledger {
  static let magic = "SRLEDGER"
  static let epochByteCount = 8
  private static let recordByteCount = 9
  private static let partByteCount = 51
  private static let identityByteCount = 32
  private static let fixedByteCount = identityByteCount + epochByteCount + 16 + 1 + 4

  /// The bytes, authentication code included.
  package func encoded(keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    var body = identity + epoch
    body.appendInteger(keybagRevision)
    body.appendInteger(counter)
    body.append(owesRemoval ? 1 : 0)
    body += [current == nil ? 0 : 1, predecessor == nil ? 0 : 1, UInt8(pending.count), UInt8(setAside.count)]
    for record in records {
      body.appendInteger(record.generation)
      body.append(UInt8(record.parts.count))
      for part in record.parts {
        body.append(part.place.rawValue)
        body.appendInteger(part.number)
        body += part.commitment
        body.append(part.protection.rawValue)
        body.append(part.flags.rawValue)
        body.appendInteger(part.byteCount)
      }
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
    owesRemoval = reader.integer(UInt8.self) != 0
    let counts = reader.take(4).map(Int.init)
    guard counter <= Self.counterLimit, counts[0] < 2, counts[1] < 2, counts[2] <= Self.pendingLimit,
      counts[3] <= Self.setAsideLimit
    else { throw corrupt }
    var rest = body.count - Self.fixedByteCount
    if counts[0] > 0 { current = try record(&reader, &rest) }
    if counts[1] > 0 { predecessor = try record(&reader, &rest) }
    for _ in 0..<counts[2] { pending.append(try record(&reader, &rest)) }
    for _ in 0..<counts[3] { setAside.append(try record(&reader, &rest)) }
    guard rest <= Self.sealedNameLimit, pending.allSatisfy({ $0.parts.count == 1 }) else { throw corrupt }
    sealedName = Array(reader.take(rest))
  }

  /// Reads a record.
  ///
  /// - Parameter rest: How many bytes there are.
  private func record(_ reader: inout FieldReader, _ rest: inout Int) throws(ProtectionError) -> Record {
    let corrupt = ProtectionError(.corrupt, "The ledger has a generation that can't be.")
    rest -= Self.recordByteCount
    guard rest >= 0 else { throw corrupt }
    var record = Record(generation: reader.integer(), parts: [])
    let count = Int(reader.integer(UInt8.self))
    rest -= count * Self.partByteCount
    guard 1...Int(PartPlace.limit) ~= count, rest >= 0, record.generation > 0, record.generation <= counter
    else { throw corrupt }
    for index in 0..<count {
      guard let place = PartPlace(rawValue: reader.integer()) else { throw corrupt }
      // The first has the root, and each place one file.
      guard index == 0 ? place == .root : record.parts[index - 1].place < place else { throw corrupt }
      let number: UInt64 = reader.integer()
      guard number > 0, number <= counter, !record.parts.contains(where: { $0.number == number }) else { throw corrupt }
      let commitment = Array(reader.take(32))
      guard let protection = ProtectionClass(rawValue: reader.integer()) else { throw corrupt }
      record.parts.append(
        Part(
          place: place, number: number, commitment: commitment, protection: protection,
          flags: Part.Flags(rawValue: reader.integer()), byteCount: reader.integer()))
    }
    return record
  }
}
