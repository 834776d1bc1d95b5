import FileSystem

/// Every slot of a store, found by its files: for a check of everything, also of what nobody can name.
///
/// A slot's name is a hash of the application, the scene and what is kept, and can't be told back; but every header
/// holds the whole hash, and that is enough to open the file. Nothing is changed. The store's lock is held for one slot
/// at a time and not while contents are read, so that a program that uses the store gets on with its work.
package struct StoreInspection: Sendable {
  /// A slot, by the beginning of its hash.
  package struct Slot: Hashable, Sendable {
    let name: SlotName

    /// What the names of its files begin with.
    package var text: String { name.text }
  }

  /// What became of reading a slot.
  package struct Findings: Sendable {
    /// Its files; newest generations first.
    package let material: [ArchiveMaterial]
    /// The newest generation with what was appended to it, its frames checked; or why there is none.
    package let newest: Result<OpenedArchive, ProtectionError>
  }

  /// What the ledger and the names say, and when they said it.
  private struct Look {
    let tip: UInt64
    let ledger: LedgerReading
    let ledgerProblem: ProtectionError.Code?
    let names: [SlotName: [StoreName]]
    let ledgersAside: [StoreName]

    init(_ session: borrowing StoreSession) throws(ProtectionError) {
      tip = try session.store.readTip()
      (ledger, ledgerProblem) = try session.checkLedger()
      var names: [SlotName: [StoreName]] = [:]
      var ledgersAside: [StoreName] = []
      for name in try session.names() {
        if let slot = name.slot { names[slot, default: []].append(name) }
        if case .ledgerSetAside = name { ledgersAside.append(name) }
      }
      (self.names, self.ledgersAside) = (names, ledgersAside)
    }
  }

  private let store: StoreDirectory
  private var look: Look

  /// Looks at a store.
  init(_ store: StoreDirectory) throws(ProtectionError) {
    self.store = store
    look = try store.withLock { session throws(ProtectionError) in try Look(session) }
  }

  /// What is wrong with the ledger; `nil` when it is whole, or when none is needed yet.
  package var ledgerProblem: ProtectionError.Code? { look.ledgerProblem }

  /// Whether there is a ledger.
  package var hasLedger: Bool {
    if case .absent = look.ledger { false } else { true }
  }

  /// The names of damaged ledgers that are kept aside.
  package var ledgersAside: [String] { look.ledgersAside.map(\.text).sorted() }

  /// Every slot that has a file, or ought to have one.
  package var slots: [Slot] {
    let listed = look.ledger.ledger?.entries.filter { $0.value.current != nil || $0.value.pending != nil }.keys
    return Set(look.names.keys).union(listed.map(Array.init) ?? []).sorted().map(Slot.init)
  }

  /// The slot of an archive that can be named.
  package func slot(of archive: ArchiveSlot) throws(ProtectionError) -> Slot {
    Slot(name: SlotName(identity: try store.identity(of: archive)))
  }

  /// Reads everything of a slot.
  ///
  /// Throws `busy` when another process keeps the store locked, `otherDevice` once the device was erased, and `io`.
  package mutating func examine(_ slot: Slot) throws(ProtectionError) -> Findings {
    let (examination, newest) = try store.withLock { session throws(ProtectionError) in
      // What was saved meanwhile has raised the tip.
      if try store.readTip() != look.tip { look = try Look(session) }
      var survey = survey(slot.name)
      let (claim, obstacle) = claim(survey, session)
      // Without a header that tells, the beginning of the hash is all there is: no file can prove to be the slot's.
      if let claim { survey.identity = claim.identity }
      let protection = session.recordedProtection(survey) ?? claim?.protection ?? .complete
      let examination = session.examine(survey, protection: protection, obstacle: obstacle)
      let newest = Result { () throws(ProtectionError) in
        if let obstacle { throw obstacle }
        let found = try session.findNewest(survey, protection: protection)
        return try OpenedArchive(found, try examination.chains[found.record.generation]?.get() ?? JournalChain())
      }
      return (examination, newest)
    }
    return Findings(material: examination.finish(), newest: newest)
  }

  private func survey(_ slot: SlotName) -> SlotSurvey {
    var survey = SlotSurvey(
      identity: slot.bytes, slot: slot, reading: look.ledger, names: look.names[slot] ?? [],
      entry: look.ledger.ledger?.entries[slot])
    if survey.entry?.isDeleting == true {
      // The rest of a deletion that was cut short is the next opening's to finish: it counts for nothing any more.
      let kept = survey.keptByDeletion
      survey.names.removeAll { !$0.outlasts(deletionBut: kept) }
    }
    return survey
  }

  /// Whose files they are; `nil` when none of them tells, with what kept one that might from being read.
  ///
  /// One that was saved while locked has a class of its own, and is asked after the others.
  private func claim(
    _ survey: SlotSurvey, _ session: borrowing StoreSession
  ) -> (claim: HeaderClaim?, obstacle: ProtectionError?) {
    let whole = survey.generations.map { StoreName.generation(slot: survey.slot, number: $0, isPending: false) }
    let others = survey.names.filter { if case .marker = $0 { false } else { true } }
    var obstacle: ProtectionError?
    for name in survey.candidates.filter(whole.contains) + whole + others {
      do throws(ProtectionError) {
        if let claim = try session.whose(survey.slot, among: [name]) { return (claim, nil) }
      } catch {
        // A file of a newer version says nothing to this program, and its own line tells why.
        if error.code != .unsupportedVersion { obstacle = obstacle ?? error }
      }
    }
    return (nil, obstacle)
  }
}
