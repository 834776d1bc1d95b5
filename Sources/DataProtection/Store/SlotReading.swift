import FileSystem

/// A slot as one look finds it: its directory, its ledger, and what the list says of it.
struct SlotReading {
  let store: StoreDirectory
  let identity: [UInt8]
  /// Nil when there is none.
  var slot: SlotDirectory?
  var ledger: RecordReading<Ledger> = .absent
  /// Nil for a slot that no list names.
  var list: RecordReading<SlotList>?
  /// Whether a ledger is there, and the list does not name the slot: it was deleted, and has been put back, or an old list has.
  var isUnlisted = false

  var name: SlotName { SlotName(identity: identity) }
  /// What the list says of the slot.
  var entry: SlotList.Entry? { list?.value?.entries[name] }

  /// Looks at a slot.
  ///
  /// Throws `.rolledBack` for an old keybag, or an old directory of a slot that was deleted since.
  init(_ store: StoreDirectory, identity: [UInt8], slot: SlotDirectory?, isListed: Bool) throws(ProtectionError) {
    self.store = store
    self.identity = identity
    self.slot = slot
    if isListed { list = try store.readList() }
    guard let slot else { return }
    ledger = try store.readLedger(in: slot)
    guard let found = ledger.value else { return }
    guard found.identity == identity else {
      ledger = .invalid(ProtectionError(.wrongIdentity, "The ledger of another archive stands in this one's place."))
      return
    }
    try store.check(revision: found.keybagRevision)
    if entry == nil, list?.value != nil {
      // Its first save may have put it on the list since the look at that.
      list = try store.readList()
      isUnlisted = entry == nil && list?.value != nil
    }
    guard let entry, entry.epoch != found.epoch else { return }
    ledger = .invalid(
      ProtectionError(.rolledBack, "This archive was deleted, and an old copy of it put back; nothing of it is used."))
  }

  // MARK: Files

  /// Why there is no generation, when neither a ledger nor a generation says that there is one.
  ///
  /// `.notFound` only if this device never had the slot, or has deleted it.
  func absence() throws(ProtectionError) -> ProtectionError {
    let missing = ProtectionError(.missing, "There was an archive here, and it is gone: somebody removed it.")
    if entry?.isNew != true, try slot?.files().contains(where: { $0.isPending }) == true { return missing }
    switch list {
    case nil: return .nothingSaved
    case .invalid(let error): return error
    case .absent:
      guard try store.hasSavedSlots() else { return .nothingSaved }
      // Another slot may have been saved since this look, and the list with it.
      let now = try store.readList()
      if case .absent = now { return missing }
      var again = self
      again.list = now
      return try again.absence()
    case .valid(let list):
      guard let entry = list.entries[name] else {
        guard list.wasRebuilt else { return .nothingSaved }
        return ProtectionError(
          .missing, "The list of archives was lost once, and nobody knows whether this one was in it.")
      }
      if entry.isNew { return .nothingSaved }
      return try store.isDeleted(name, entry) ? .nothingSaved : missing
    }
  }

  /// Opens a file that the ledger vouches for.
  ///
  /// - Parameter generation: The generation that it is opened for; nil for one of one part.
  func open(
    _ part: Ledger.Part, as protection: ProtectionClass, of generation: UInt64? = nil,
    standing: ArchiveStanding = .current, forWriting: Bool = false
  ) throws(ProtectionError) -> OpenedArchive {
    guard let slot, let file = try slot.open(part.file, forWriting: forWriting) else {
      throw ProtectionError(.missing, "The file of generation \(part.number) is gone: somebody removed it.")
    }
    let content: any SealedContent
    do throws(ProtectionError) {
      content = try store.sealer.open(file, protection: protection, identity: identity, generation: part.number)
    } catch  where error.code == .unsupportedVersion || error.code == .wrongClass && protection == part.protection {
      throw ProtectionError(
        .corrupt, "The file of generation \(part.number) has another format or class than was saved.",
        cause: error)
    }
    guard content.fields.place == part.place else {
      throw ProtectionError(
        .wrongIdentity, "The file of generation \(part.number) is genuine but another part of a generation.")
    }
    guard content.commitment == part.commitment else {
      throw ProtectionError(.rolledBack, "The file of generation \(part.number) is not the one that was saved.")
    }
    return OpenedArchive(
      generation: generation ?? part.number, standing: standing, file: file, content: content,
      scan: try FrameScan(file, content))
  }

  /// Opens a file that no ledger vouches for, as a given class or the one that it claims; nil when it is gone, or claims to
  /// have another place than is wanted.
  func openClaimed(
    _ claim: SlotFile, as protection: ProtectionClass?, at place: PartPlace? = nil, forWriting: Bool = false
  ) throws(ProtectionError) -> OpenedArchive? {
    guard let number = claim.number, let file = try slot?.open(claim, forWriting: forWriting) else { return nil }
    let claims = try store.claims(of: file).fields
    if let place, claims.place != place { return nil }
    let isOneWay = claims.flags.contains(.oneWay) && claims.protection == .completeUnlessOpen
    let content = try store.sealer.open(
      file, protection: isOneWay ? .completeUnlessOpen : protection ?? claims.protection, identity: identity,
      generation: number)
    return OpenedArchive(
      generation: number, standing: .rollbackUnverifiable, file: file, content: content,
      scan: try FrameScan(file, content))
  }

  /// The files that may be saves by their names, highest number first.
  private func claims() throws(ProtectionError) -> [SlotFile] {
    // The root of a first save that was cut short: nobody was told of it.
    try slot?.claims().filter { $0.number != 1 || entry?.isNew != true } ?? []
  }

  /// Whether a file may be of a first save that was cut short, which may have left a piece of it.
  func isOfFirstSave(_ file: SlotFile) -> Bool {
    entry?.isNew == true && (file.number ?? 0) <= UInt64(PartPlace.limit)
  }

  /// The first part of the newest authentic generation by the names alone, when there is no ledger that vouches for any.
  ///
  /// Throws why there is none: the first file's problem, or the ledger's.
  func openUnverified(as protection: ProtectionClass?, forWriting: Bool) throws(ProtectionError) -> OpenedArchive {
    if case .invalid(let error) = ledger, error.code == .unsupportedVersion || error.code == .rolledBack { throw error }
    var problem: ProtectionError?
    for claim in try claims() where !claim.isPending {
      do throws(ProtectionError) {
        guard let opened = try openClaimed(claim, as: protection, at: .root, forWriting: forWriting) else { continue }
        guard !opened.content.fields.flags.contains(.partial) else { continue }
        guard !store.options.refusesUnverifiableArchives else {
          throw ProtectionError(
            .rolledBack, "The ledger is lost, so that nobody knows whether this is the newest archive; it is refused.")
        }
        return opened
      } catch {
        // Nobody vouches for what a file says of its version.
        guard error.code.isDamage || error.code == .unsupportedVersion else { throw error }
        if !isOfFirstSave(claim) { problem = problem ?? error }
      }
    }
    if let problem = problem ?? ledger.problem { throw problem }
    throw try absence()
  }

  /// The newest files of the other places, when there is no ledger: authentic ones, and those that are locked.
  func openUnverifiedParts() throws(ProtectionError) -> [OpenedPart] {
    var found: [OpenedPart] = []
    for claim in try claims() where !claim.isPending {
      do throws(ProtectionError) {
        guard let claims = try claims(of: claim), claims.place != .root,
          !found.contains(where: { $0.place == claims.place })
        else { continue }
        if let part = try openUnverifiedPart(claim, claims) { found.append(part) }
      } catch  where error.code.isDamage || error.code == .unsupportedVersion {}
    }
    return found.sorted { $0.place < $1.place }
  }

  private func openUnverifiedPart(
    _ claim: SlotFile, _ claims: SealedFields
  ) throws(ProtectionError) -> OpenedPart? {
    do throws(ProtectionError) {
      guard let opened = try openClaimed(claim, as: nil, at: claims.place) else { return nil }
      return OpenedPart(Ledger.Part(of: opened), .opened(opened))
    } catch  where error.code == .locked {
      return OpenedPart(
        Ledger.Part(
          place: claims.place, number: claim.number ?? 0, commitment: [], protection: claims.protection,
          flags: claims.flags.contains(.oneWay) ? .oneWay : [], byteCount: UInt64(claims.messageByteCount)), .locked)
    }
  }

  /// What the header of a file claims; nil when it is gone.
  private func claims(of claim: SlotFile) throws(ProtectionError) -> SealedFields? {
    try slot?.open(claim).map { file throws(ProtectionError) in try store.claims(of: file).fields }
  }

  /// The saves of locked runs that are in no generation yet, oldest first.
  func pending(as protection: ProtectionClass?) throws(ProtectionError) -> [Ledger.Record] {
    if let ledger = ledger.value { return ledger.pending }
    guard ledger.problem?.code != .unsupportedVersion, try claims().contains(where: \.isPending) else { return [] }
    return try claimedLedger(epoch: [], as: protection).pending
  }

  /// A ledger made from the files alone: every one of them is looked at, as the next save removes what no ledger names.
  ///
  /// The newest authentic first part counts, whatever names there are, with the newest files of other places. Files of locked runs
  /// that are newer than that, or lie beside it, are pending; of the other first parts the newest authentic ones are set aside, each
  /// with what was saved for other places before the next one, then the newest damaged ones.
  func claimedLedger(epoch: [UInt8], as protection: ProtectionClass?) throws(ProtectionError) -> Ledger {
    var made = Ledger(identity: identity, epoch: epoch)
    if ledger.problem?.code == .rolledBack { return made }
    var (whole, partial, damaged): ([Ledger.Record], [Ledger.Record], [Ledger.Record]) = ([], [], [])
    var others: [Ledger.Part] = []
    for claim in try claims() {
      do throws(ProtectionError) {
        guard let opened = try openClaimed(claim, as: protection) else { continue }
        let part = Ledger.Part(of: opened)
        guard part.file == claim else { continue }
        let record = Ledger.Record(generation: part.number, parts: [part])
        if claim.isPending {
          partial.append(record)
        } else if part.place == .root {
          whole.append(record)
        } else {
          others.append(part)
        }
      } catch  where error.code == .locked && isOfFirstSave(claim) && !claim.isPending {
        // Beside the root of a first save that was cut short: nobody was told of it.
        guard try claims(of: claim)?.place != .root else { throw error }
      } catch  where error.code.isDamage || error.code == .unsupportedVersion {
        guard case .generation(let number) = claim, number < Ledger.damagedLimit, !isOfFirstSave(claim) else {
          continue
        }
        damaged.append(try damagedRecord(claim, number, as: protection))
      }
    }
    // Parts that are saved together get their numbers in the order of their places.
    var next = UInt64.max
    for index in whole.indices {
      let number = whole[index].root.number
      for place in PartPlace.allCases.dropFirst() {
        if let part = others.first(where: { $0.place == place && $0.number < next }) { whole[index].parts.append(part) }
      }
      next = number
    }
    var isPending = { (_: Ledger.Record) in false }
    if !store.options.refusesUnverifiableArchives {
      made.current = whole.isEmpty ? nil : whole.removeFirst()
      let newest = made.current?.generation ?? 0
      isPending = { $0.generation > newest || $0.flags.contains(.beside) }
      damaged.removeAll { $0.generation < newest }
    }
    made.pending = partial.filter(isPending).prefix(Ledger.pendingLimit).reversed()
    let older = (whole + partial.filter { !isPending($0) }).sorted { $0.generation > $1.generation }
    made.setAside = (older + damaged).prefix(Ledger.setAsideLimit).sorted { $0.generation < $1.generation }
    made.counter = made.records.lazy.flatMap(\.parts).map(\.number).max() ?? 0
    return made
  }

  /// What a ledger says of a file that can't be opened: it keeps its name and its number.
  private func damagedRecord(
    _ file: SlotFile, _ number: UInt64, as protection: ProtectionClass?
  ) throws(ProtectionError) -> Ledger.Record {
    let status = try slot.flatMap { slot throws(ProtectionError) in
      try attempt("look at an archive") { () throws(FileSystemError) in
        try store.fileSystem.statusIfAny(ofName: file.text, in: slot.descriptor)
      }
    }
    return Ledger.Record(
      generation: number, commitment: [UInt8](repeating: 0, count: 32), protection: protection ?? .complete,
      flags: .damaged, byteCount: UInt64(clamping: status?.byteCount ?? 0))
  }
}

extension Ledger.Part {
  /// The facts about a file that was opened.
  init(of opened: OpenedArchive) {
    let fields = opened.content.fields
    var flags: Flags = []
    if fields.flags.contains(.oneWay) { flags.insert(.oneWay) }
    if fields.flags.contains(.partial) { flags.insert(.partial) }
    if fields.flags.contains(.beside) { flags.insert(.beside) }
    self.init(
      place: fields.place, number: fields.generation, commitment: opened.commitment, protection: opened.protection,
      flags: flags,
      // Of a protected file it is what was written as a whole.
      byteCount: UInt64(fields.kind == .file ? opened.content.endOffset : opened.scan.end))
  }
}

extension ProtectionError {
  /// Nothing is saved, and nothing is missing.
  static let nothingSaved = ProtectionError(.notFound, "Nothing was saved here.")
}

extension ProtectionError.Code {
  /// Whether the file itself is at fault, so that another one may stand in for it.
  var isDamage: Bool {
    switch self {
    case .missing, .corrupt, .wrongIdentity, .wrongClass, .otherDevice, .rolledBack: true
    default: false
    }
  }
}

extension StoreDirectory {
  /// What the header of a file claims.
  func claims(of file: StoreFile) throws(ProtectionError) -> SealedClaims {
    try sealer.claims(of: try file.read(0..<min(file.byteCount, 256))[...])
  }

  /// The whole hash that names a slot: its ledger's, or what a file claims; the name twice when nothing says.
  func claimedIdentity(
    of name: SlotName, in slot: SlotDirectory, _ ledger: Ledger?
  ) throws(ProtectionError) -> [UInt8] {
    if let ledger { return ledger.identity }
    for claim in try slot.claims() {
      guard let file = try? slot.open(claim), let claims = try? claims(of: file) else { continue }
      if SlotName(identity: claims.fields.identity) == name { return claims.fields.identity }
    }
    return name.bytes + name.bytes
  }
}
