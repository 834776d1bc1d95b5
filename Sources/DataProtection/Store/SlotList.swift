/// Which slots a store has: whoever finds no directory learns from it whether there was one.
///
/// It is written when a slot is made or deleted, and when the passcode changes. It lies beside the directory of the slots,
/// so that it notices when that is gone.
package struct SlotList: Hashable, Sendable {
  /// The facts about one slot.
  package struct Entry: Hashable, Sendable {
    /// As in the slot's ledger.
    package var epoch: [UInt8]
    /// Whether its first save was not acknowledged yet: nothing is missing then if there is nothing.
    package var isNew: Bool
  }

  /// The keybag's revision when the list was written.
  package var keybagRevision: UInt64 = 0
  /// Whether a list was lost: of a slot that is not in it nobody knows whether it was in that one.
  package var wasRebuilt = false
  /// The slots.
  var entries: [SlotName: Entry] = [:]

  /// A list of nothing.
  package init() {}
}

// MARK: Bytes

extension SlotList {
  static let fileName = "slots"
  static let newFileName = "slots.new"
  private static let magic = "SRSLOTS\n"
  private static let entryByteCount = SlotName.byteCount + Ledger.epochByteCount + 1
  private static let fixedByteCount = 13
  /// More slots than this a store does not take.
  static let entryLimit = 65_536
  /// The longest list of any version that is read.
  package static let byteLimit = 8 << 20

  /// The bytes, authentication code included.
  package func encoded(keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(Self.fixedByteCount + entries.count * Self.entryByteCount)
    body.appendInteger(keybagRevision)
    body.append(wasRebuilt ? 1 : 0)
    body.appendInteger(UInt32(entries.count))
    for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
      body += name.bytes
      body += entry.epoch
      body.append(entry.isNew ? 1 : 0)
    }
    return try SealedRecord.encode(magic: Self.magic, body: body, purpose: .ledger, keys: keys)
  }

  /// Reads a list; nothing in it is believed before its code was checked.
  package init(_ bytes: [UInt8], keys: any StoreKeys) throws(ProtectionError) {
    let body = try SealedRecord.decode(
      bytes, called: "The list of slots", magic: Self.magic, purpose: .ledger, keys: keys)
    let corrupt = ProtectionError(.corrupt, "The list of slots says what can't be.")
    guard body.count >= Self.fixedByteCount else { throw corrupt }
    var reader = FieldReader(body)
    keybagRevision = reader.integer()
    wasRebuilt = reader.integer(UInt8.self) != 0
    let count = Int(reader.integer(UInt32.self))
    guard count <= Self.entryLimit, body.count == Self.fixedByteCount + count * Self.entryByteCount else {
      throw corrupt
    }
    for _ in 0..<count {
      let name = SlotName(identity: reader.take(SlotName.byteCount))
      let epoch = Array(reader.take(Ledger.epochByteCount))
      let entry = Entry(epoch: epoch, isNew: reader.integer(UInt8.self) != 0)
      guard entries.updateValue(entry, forKey: name) == nil else { throw corrupt }
    }
  }
}
