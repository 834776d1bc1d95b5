import FileSystem

/// Every slot of a store, found by its directory: for a check of everything, also of what nobody can name.
///
/// A slot's name is a hash and can't be told back, but its ledger and its files hold the whole hash, and that is enough to
/// open them. Nothing is changed, and nobody is kept from writing.
package struct StoreInspection: Sendable {
  /// What became of reading a slot.
  package struct Findings: Sendable {
    /// Its files; newest generations first.
    package let material: [ArchiveMaterial]
    /// The newest generation with its frames; or why there is none.
    package let newest: Result<OpenedGeneration, ProtectionError>
    /// All its parts, as far as they can be opened.
    package let parts: [OpenedPart]
    /// Whether somebody saved there while it was read.
    package let hasChanged: Bool
  }

  let store: StoreDirectory
  /// Every slot that has a directory, or ought to have one.
  package let slots: [SlotName]
  /// The error of the list of slots; nil when it is whole, or when none is needed yet.
  package let listProblem: ProtectionError.Code?
  /// Whether there is a list of slots.
  package let hasList: Bool

  /// Looks at a store.
  init(_ store: StoreDirectory) throws(ProtectionError) {
    self.store = store
    var names = Set(try store.slotNames())
    var problem: ProtectionError.Code?
    var hasList = true
    do throws(ProtectionError) {
      switch try store.readList() {
      case .valid(let list):
        for (name, entry) in list.entries.all where !entry.isNew && !names.contains(name) {
          if try !store.isDeleted(name, entry) { names.insert(name) }
        }
      case .absent:
        hasList = false
        if try store.hasSavedSlots() { problem = .missing }
      case .invalid(let error): problem = error.code
      }
    } catch  where error.code == .rolledBack {
      problem = .rolledBack
    }
    slots = names.sorted()
    listProblem = problem
    self.hasList = hasList
  }

  /// The slot of an archive that can be named.
  package func slot(of archive: ArchiveSlot) throws(ProtectionError) -> SlotName {
    SlotName(identity: try store.identity(of: archive))
  }

  /// So often a slot is read anew because somebody saved there meanwhile.
  private static let attemptLimit = 16

  /// Reads everything of a slot; again when somebody saved there meanwhile, a few times.
  ///
  /// Throws `otherDevice` once the device was erased, and `io`.
  package func examine(_ slot: SlotName) throws(ProtectionError) -> Findings {
    var findings = try examineOnce(slot)
    for _ in 1..<Self.attemptLimit where findings.hasChanged { findings = try examineOnce(slot) }
    return findings
  }

  private func examineOnce(_ slot: SlotName) throws(ProtectionError) -> Findings {
    guard let directory = try store.look(at: slot) else {
      let reading = try SlotReading(store, identity: slot.bytes + slot.bytes, slot: nil, isListed: hasList)
      return Findings(material: [], newest: .failure(named(try reading.absence())), parts: [], hasChanged: false)
    }
    let before = try store.readLedger(in: directory)
    let identity = try store.claimedIdentity(of: slot, in: directory, before.value)
    let archives = ArchiveStore(store, identity: identity, protection: .complete, isListed: hasList)
    archives.keepState()
    let newest = Result { () throws(ProtectionError) in try archives.openNewestParts() }.mapError(named)
    let parts = (try? archives.openNewestParts())?.parts ?? []
    var material: [ArchiveMaterial] = []
    for file in try directory.files() {
      if let found = try examine(file, in: directory, before, identity) { material.append(found) }
    }
    material += missing(before.value, in: directory)
    if case .absent = before, isLedgerDue(slot, material) {
      material.append(
        ArchiveMaterial(
          name: SlotFile.ledger.text, kind: .ledger, generation: nil, byteCount: 0, isCurrent: false, problem: .missing)
      )
    }
    // A deletion renames the directory, and removes the ledger after other files.
    let (after, isNamed) = (try store.readLedger(in: directory), try store.isNamed(directory, slot))
    // The first file of a first save, which says whose it is, may have come since the first look.
    let isDoubtful = material.contains { $0.problem == .wrongIdentity }
    let claimed = isDoubtful ? try store.claimedIdentity(of: slot, in: directory, after.value) : identity
    return Findings(
      material: material.sorted { ($0.generation?.rawValue ?? 0, $1.name) > ($1.generation?.rawValue ?? 0, $0.name) },
      newest: newest, parts: parts, hasChanged: before.value != after.value || !isNamed || claimed != identity)
  }

  /// The error of a slot in which there is nothing: without a list it is missing as soon as another one was saved.
  ///
  /// That was found out once; to look at all slots for each of them would take for ever.
  private func named(_ error: ProtectionError) -> ProtectionError {
    guard error.code == .notFound, !hasList, listProblem == .missing else { return error }
    return ProtectionError(.missing, "The list of archives is gone, and nobody knows whether one was here.")
  }

  /// Whether a slot that has a directory and no ledger has lost it, and its first save was not just cut short.
  private func isLedgerDue(_ name: SlotName, _ material: [ArchiveMaterial]) -> Bool {
    guard let list = try? store.readList().value, !list.wasRebuilt else {
      return material.contains { $0.generation != nil }
    }
    guard let entry = list.entries[name] else { return false }
    // A first save under way has one root, the first file.
    return !entry.isNew
      || material.contains {
        ($0.generation?.rawValue ?? 0) > 1 && $0.place == .root && $0.problem == nil
      }
  }

  private func examine(
    _ file: SlotFile, in directory: SlotDirectory, _ ledger: RecordReading<Ledger>, _ identity: [UInt8]
  ) throws(ProtectionError) -> ArchiveMaterial? {
    let status = try? store.fileSystem.status(ofName: file.text, in: directory.descriptor)
    guard let status else { return nil }
    func found(
      _ kind: ArchiveMaterial.Kind, _ generation: UInt64? = nil, _ part: Ledger.Part? = nil, isCurrent: Bool = false,
      _ problem: ProtectionError.Code? = nil
    ) -> ArchiveMaterial {
      ArchiveMaterial(
        name: file.text, kind: kind, generation: generation.map(Generation.init(rawValue:)), place: part?.place,
        protection: part?.protection, byteCount: Int(clamping: status.byteCount), isCurrent: isCurrent, problem: problem
      )
    }
    switch file {
    case .unnamed: return nil
    case .newLedger: return found(.unlisted)
    case .ledger:
      if case .invalid(let error) = ledger { return found(.ledger, nil, nil, error.code) }
      return found(.ledger)
    case .marker: return found(.marker, nil, nil, markerProblem(directory, identity))
    case .generation(let number), .pending(let number):
      guard let (record, part) = ledger.value?.named(file) else {
        guard ledger.value == nil else { return found(.unlisted, number) }
        let material = check(found(.generation, number)) { () throws(ProtectionError) in
          try reading(directory, identity).openClaimed(file, as: nil)
        }
        guard material.problem?.isDamage == true,
          try reading(directory, identity, isListed: true).isOfFirstSave(file)
        else { return material }
        // A piece of a file that is being written, or was when a first save was cut short.
        return found(.unlisted, number)
      }
      let material = found(
        kind(of: record, in: ledger.value), record.generation, part, isCurrent: record == ledger.value?.current)
      return check(material) { () throws(ProtectionError) in
        try reading(directory, identity).open(part, as: part.protection, of: record.generation)
      }
    }
  }

  private func reading(
    _ directory: SlotDirectory, _ identity: [UInt8], isListed: Bool = false
  ) throws(ProtectionError) -> SlotReading {
    try SlotReading(store, identity: identity, slot: directory, isListed: isListed)
  }

  /// What a generation that a ledger names is for.
  private func kind(of record: Ledger.Record, in ledger: Ledger?) -> ArchiveMaterial.Kind {
    guard let ledger else { return .unlisted }
    return ledger.setAside.contains(record) ? .setAside : ledger.pending.contains(record) ? .pending : .generation
  }

  /// Reads a generation to its last byte, piece by piece.
  private func check(
    _ material: ArchiveMaterial, _ open: () throws(ProtectionError) -> OpenedArchive?
  ) -> ArchiveMaterial {
    var material = material
    do throws(ProtectionError) {
      guard let opened = try open() else { return material }
      if material.place == nil {
        (material.place, material.protection) = (opened.content.fields.place, opened.protection)
      }
      try opened.content.readThrough()
      material.tailDropped = opened.tailDropped
    } catch {
      material.problem = error.code
    }
    return material
  }

  /// What the ledger names and nobody finds.
  private func missing(_ ledger: Ledger?, in directory: SlotDirectory) -> [ArchiveMaterial] {
    guard let ledger else { return [] }
    var found: [ArchiveMaterial] = []
    for record in ledger.records {
      for part in record.parts where !found.contains(where: { $0.name == part.file.text }) {
        guard (try? store.fileSystem.status(ofName: part.file.text, in: directory.descriptor)) == nil else { continue }
        found.append(
          ArchiveMaterial(
            name: part.file.text, kind: kind(of: record, in: ledger),
            generation: Generation(rawValue: record.generation),
            place: part.place, protection: part.protection, byteCount: 0, isCurrent: record == ledger.current,
            problem: .missing))
      }
    }
    return found
  }

  private func markerProblem(_ directory: SlotDirectory, _ identity: [UInt8]) -> ProtectionError.Code? {
    func look() -> ProtectionError.Code? {
      do throws(ProtectionError) {
        return try store.readMarker(in: directory, identity).problem?.code
      } catch {
        return error.code
      }
    }
    // It is changed in place without a lock: what looks damaged is read once more.
    return look() == nil ? nil : look()
  }
}

extension Ledger {
  /// The generation that has a file, and the part that the file is; of several the newest.
  fileprivate func named(_ file: SlotFile) -> (record: Record, part: Part)? {
    for record in records {
      if let part = record.parts.first(where: { $0.file == file }) { return (record, part) }
    }
    return nil
  }
}
