import FileSystem
import FoundationEssentials

/// What came of reading the ledger.
enum LedgerReading {
  /// It is there and authentic.
  case valid(Ledger)
  /// There is none.
  case absent
  /// There is one, and it is damaged, forged or another device's.
  case invalid

  /// The ledger, if it is valid.
  var ledger: Ledger? {
    if case .valid(let ledger) = self { ledger } else { nil }
  }
}

extension StoreSession {
  /// Reads the ledger.
  ///
  /// Throws only what says nothing about its content: `.io`, `.unsupportedVersion`, or `.rolledBack` when the
  /// ledger knows a later keybag than the device has.
  func readLedger() throws(ProtectionError) -> LedgerReading {
    let ledger: Ledger
    do throws(ProtectionError) {
      guard let file = try open(.ledger) else { return .absent }
      guard file.byteCount <= Ledger.byteLimit else { return .invalid }
      ledger = try Ledger(try file.read(0..<file.byteCount)) { bytes throws(ProtectionError) in
        try store.keys.authenticationCode(.ledger, over: bytes)
      }
    } catch  where error.code == .corrupt {
      return .invalid
    }
    guard ledger.keybag == store.keys.keybagIdentifier else { return .invalid }
    // Another program may have changed the passcode since this one looked: only what is on disk now proves anything.
    var revision = store.keys.keybagRevision
    if ledger.keybagRevision > revision { revision = try store.keys.refreshKeybagRevision() }
    guard ledger.keybagRevision <= revision else {
      throw ProtectionError(
        .rolledBack, "The ledger knows a later keybag than the one that is there: an old one was put back.")
    }
    return .valid(ledger)
  }

  /// The ledger to write next: the one that was read, or one made from the names when it is lost.
  ///
  /// Names above the high-water mark belong to saves that a crash cut short before they were listed. They get an
  /// entry, so that a rising mark doesn't make them look like old files put back.
  func ledgerForWriting(_ survey: SlotSurvey) -> Ledger {
    var ledger =
      survey.reading.ledger
      ?? Ledger(keybag: store.keys.keybagIdentifier, keybagRevision: store.keys.keybagRevision)
    ledger.keybagRevision = store.keys.keybagRevision
    let isLost = survey.reading.ledger == nil
    let mark = ledger.highWater
    for case .generation(let slot, let number, _) in survey.names {
      // A number far out of the row was put there to use the numbers up; it counts only if it proves authentic.
      if number - min(number, mark) <= StoreSession.numberLimit || isLost {
        ledger.highWater = max(ledger.highWater, min(number, StoreSession.numberCeiling))
      }
      guard isLost || number > mark, ledger.entries[slot] == nil, ledger.entries.count < Ledger.entryLimit
      else { continue }
      var entry = Ledger.Entry()
      entry.floor = mark
      entry.isUnverified = isLost
      ledger.entries[slot] = entry
    }
    return ledger
  }

  /// Makes a store's first ledger before its first generation.
  ///
  /// Otherwise a crash between the two would look like a ledger that was lost, or taken away.
  func ensureLedger(_ survey: SlotSurvey) throws(ProtectionError) -> SlotSurvey {
    guard case .absent = survey.reading, !survey.names.contains(where: { $0.isSealed }) else { return survey }
    let ledger = Ledger(keybag: store.keys.keybagIdentifier, keybagRevision: store.keys.keybagRevision)
    guard try writeLedger(ledger).isDurable else {
      throw ProtectionError(.io, "The disk failed to take the first ledger; nothing is saved.")
    }
    return SlotSurvey(
      identity: survey.identity, slot: survey.slot, reading: .valid(ledger), names: survey.names, entry: nil)
  }

  /// Writes the ledger.
  ///
  /// Returns whether it is durable; `false` if it was replaced and only the last sync failed.
  ///
  /// If it throws, the old one is there.
  func writeLedger(_ ledger: Ledger) throws(ProtectionError) -> (isDurable: Bool, byteCount: Int) {
    var ledger = ledger
    ledger.revision &+= 1
    let bytes = try ledger.encoded { bytes throws(ProtectionError) in
      try store.keys.authenticationCode(.ledger, over: bytes)
    }
    return (try replace(.ledger, Data(bytes)), bytes.count)
  }

  /// How far above the mark a name may be and still move it.
  static let numberLimit: UInt64 = 1 << 20
  /// No number is given out above this one.
  static let numberCeiling: UInt64 = 1 << 62
}
