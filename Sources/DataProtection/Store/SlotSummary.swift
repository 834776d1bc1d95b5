import FileSystem

/// What a look at a slot says of it: its ledger and the lengths of its files, none of which is opened.
///
/// That needs no passcode: the device key suffices.
package struct SlotSummary: Sendable {
  /// What it is called; nil if its ledger is gone, damaged, or doesn't say.
  package var slot: ArchiveSlot?
  /// The number of the newest generation; nil if none is known.
  package var generation: Generation?
  /// One file of the newest generation.
  package struct Part: Sendable {
    /// Where it stands.
    package let place: PartPlace
    /// Its class.
    package let protection: ProtectionClass
    /// Its length in bytes; 0 if it is gone.
    package let byteCount: Int
  }

  /// The files of the newest generation, in the order of their places.
  package var parts: [Part] = []
  /// The class of the newest generation's first part.
  package var protection: ProtectionClass? { parts.first?.protection }
  /// When the newest generation was written last, in seconds since 1970.
  package var savedAt: Double?
  /// The bytes of all its files.
  package var byteCount = 0
  /// So many saves of locked runs are in no generation yet.
  package var pendingCount = 0
  /// So many generations are set aside.
  package var setAsideCount = 0
  /// What can be seen to be wrong without opening anything.
  package var problem: ProtectionError.Code?
}

extension StoreInspection {
  /// Looks at a slot; throws `io`, and `otherDevice` once the device was erased.
  package func summary(of name: SlotName) throws(ProtectionError) -> SlotSummary {
    var summary = SlotSummary()
    guard let directory = try store.look(at: name) else {
      summary.problem = .missing
      return summary
    }
    let reading = try store.readLedger(in: directory)
    summary.problem = reading.problem?.code
    func status(_ file: SlotFile) throws(ProtectionError) -> FileStatus? {
      try attempt("look at a file") { () throws(FileSystemError) in
        try store.fileSystem.statusIfAny(ofName: file.text, in: directory.descriptor)
      }
    }
    let files = try directory.files()
    for file in files { summary.byteCount += Int(clamping: try status(file)?.byteCount ?? 0) }
    guard let ledger = reading.value else {
      // A slot that was never saved has no ledger, and no generation.
      if summary.problem == nil, files.contains(where: { $0.number != nil }) { summary.problem = .missing }
      return summary
    }
    summary.slot = store.slot(of: ledger)
    summary.pendingCount = ledger.pending.count
    summary.setAsideCount = ledger.setAside.count
    guard let newest = ledger.current ?? ledger.pending.last else { return summary }
    summary.generation = Generation(rawValue: newest.generation)
    for part in newest.parts {
      let found = try status(part.file)
      summary.parts.append(
        SlotSummary.Part(
          place: part.place, protection: part.protection, byteCount: Int(clamping: found?.byteCount ?? 0)))
      summary.savedAt = [summary.savedAt, found?.modificationTime].compactMap(\.self).max()
      if found == nil { summary.problem = .missing }
    }
    return summary
  }
}
