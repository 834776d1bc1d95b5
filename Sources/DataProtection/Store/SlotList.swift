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
  var entries = Entries()

  /// The facts by the names of slots, in the order of the names.
  ///
  /// Not a dictionary: for each new type of keys the runtime searches every conformance of the program, and every launch reads a
  /// list.
  struct Entries: Hashable, Sendable {
    private var sorted: [Named] = []

    private struct Named: Hashable {
      let name: SlotName
      var entry: Entry
    }

    var count: Int { sorted.count }
    var isEmpty: Bool { sorted.isEmpty }
    var all: some Sequence<(name: SlotName, entry: Entry)> { sorted.lazy.map { ($0.name, $0.entry) } }

    subscript(name: SlotName) -> Entry? {
      get {
        let index = index(of: name)
        return isThere(name, index) ? sorted[index].entry : nil
      }
      set {
        let index = index(of: name)
        switch (newValue, isThere(name, index)) {
        case (let entry?, true): sorted[index].entry = entry
        case (let entry?, false): sorted.insert(Named(name: name, entry: entry), at: index)
        case (nil, true): sorted.remove(at: index)
        case (nil, false): break
        }
      }
    }

    private func isThere(_ name: SlotName, _ index: Int) -> Bool { index < sorted.count && sorted[index].name == name }

    /// The place of a name, or where it would be.
    private func index(of name: SlotName) -> Int {
      var (low, high) = (0, sorted.count)
      // Names come in their order from a file.
      if let last = sorted.last, last.name < name { return high }
      while low < high {
        let middle = (low + high) / 2
        if sorted[middle].name < name { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

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
    for (name, entry) in entries.all {
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
      guard entries[name] == nil else { throw corrupt }
      entries[name] = entry
    }
  }
}
