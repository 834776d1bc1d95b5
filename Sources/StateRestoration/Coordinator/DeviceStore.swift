package import DataProtection
package import FoundationEssentials

/// The real store: one slot of a protected device.
///
/// What was saved under another class than the program wants now is read as it is, and moved by the next save.
package struct DeviceStore: PreservationStore {
  let store: ArchiveStore
  /// The class that the program wants.
  let protection: ProtectionClass

  /// Keeps generations in a slot, under the class that the store was made with.
  package init(store: ArchiveStore) {
    self.store = store
    protection = store.protection
    store.followRecordedProtection()
  }

  package func openNewest() throws(ProtectionError) -> StoredState {
    do throws(ProtectionError) {
      return try state(try store.openNewest())
    } catch  where error.code == .corrupt {
      // A change in the middle may be damaged: what was appended before it still counts.
      return try state(try store.openNewest(checkingFrames: true))
    }
  }

  package func openPredecessor() throws(ProtectionError) -> StoredState { try state(try store.openPredecessor()) }

  package func stamp() throws(ProtectionError) -> ArchiveStamp { try store.stamp() }

  package func publish(
    _ plaintext: Data, consuming pending: [StoredPending], unlessChangedSince seen: ArchiveStamp?
  ) throws(ProtectionError) -> StoreReceipt {
    // What was saved while locked fits only what is there now: it is merged before anything moves.
    let isMoved = pending.isEmpty ? try move() : false
    // What has just been moved is another generation: whoever wants it unchanged looks again.
    let published = receipt(
      try store.publish(plaintext, consuming: pending.map(archive), unlessChangedSince: seen))
    if !isMoved, published.durability == .durable { _ = try? move() }
    return published
  }

  /// Moves what is saved to the class that is wanted; false when it is there already, or can't be read to be moved.
  ///
  /// Throws `.locked` when one of the two classes has no key now, and what the disk says; nothing has changed then.
  private func move() throws(ProtectionError) -> Bool {
    guard store.protection != protection else { return false }
    do throws(ProtectionError) {
      try store.setProtection(protection)
      return true
    } catch  where !error.code.saysTryAgain {
      return false
    }
  }

  package func append(
    _ frame: Data, to generation: Generation, as number: Int
  ) throws(ProtectionError) -> StoreReceipt {
    guard store.protection == protection else {
      throw ProtectionError(.superseded, "The class has changed; save the whole state, which moves it.")
    }
    let receipt = try store.append(frame, to: generation, as: number)
    return StoreReceipt(
      generation: receipt.generation, bytesWritten: receipt.bytesWritten, durability: receipt.durability)
  }

  package var isCompactionDue: Bool { store.isCompactionDue }

  package func freezeJournal() { store.freezeJournal() }

  package func publishPending(
    _ plaintext: Data, kind: PendingKind, including included: [StoredPending]
  ) throws(ProtectionError) -> StoreReceipt {
    receipt(
      try store.publishPending(
        plaintext, kind: kind == .touchedNodes ? .touchedNodes : .whole,
        schema: Self.schema(of: kind), including: included.map(archive)))
  }

  /// The schema number of a pending generation, which tells what it does not continue.
  private static func schema(of kind: PendingKind) -> UInt32 {
    switch kind {
    case .touchedNodes, .whole: 0
    case .wholeAnew: 1
    case .wholeAnewOverBoth: 2
    }
  }

  private static func kind(of archive: PendingArchive) -> PendingKind {
    guard archive.kind == .whole else { return .touchedNodes }
    return switch archive.schema {
    case 1: .wholeAnew
    case 2: .wholeAnewOverBoth
    default: .whole
    }
  }

  package func openPending() throws(ProtectionError) -> AllPending {
    let pending = try store.openPending()
    return AllPending(
      readable: pending.archives.map { archive in
        StoredPending(
          kind: Self.kind(of: archive), isBaseUnchanged: archive.isBaseUnchanged, isOwn: archive.isOwn,
          content: archive.content, mark: archive.mark, handle: archive)
      }, problems: pending.problems)
  }

  package func promotePending(_ pending: StoredPending) throws(ProtectionError) -> StoreReceipt {
    receipt(try store.promotePending(archive(pending)))
  }

  package func discardPending(_ pending: StoredPending) throws(ProtectionError) {
    try store.discardPending(archive(pending))
  }

  package func deleteAll() throws(ProtectionError) { try store.deleteAll() }

  package func interruptedAttempt(for state: StoredState) throws(ProtectionError) -> InterruptedAttempt? {
    try store.interruptedAttempt(for: archive(state))
  }

  package func beginAttempt(
    for state: StoredState, as role: RestorationAttempt.Role, joining pendingMark: UInt32,
    countingFormer countsFormer: Bool
  ) throws(ProtectionError) -> any RestorationAttempting {
    try store.beginAttempt(
      for: archive(state), as: role, joining: pendingMark, countingFormer: countsFormer)
  }

  package var asidePlaces: [any PreservationStore] { asideStores.map { DeviceStore(store: $0) } }

  package func occupiedAsidePlaces() throws(ProtectionError) -> [Int] { try store.occupied(among: asideStores) }

  private var asideStores: [ArchiveStore] {
    (1...SetAsideShelf.placeCount).map { number in
      store.beside("\(store.slot.slot).setaside.\(number)", protection: protection)
    }
  }

  private func state(_ opened: OpenedArchive) throws(ProtectionError) -> StoredState {
    StoredState(
      generation: opened.generation, standing: opened.standing, byteCount: opened.byteCount,
      frames: try opened.frames, tailDropped: opened.tailDropped, handle: opened
    ) { range in try opened.read(range) }
  }

  private func receipt(_ receipt: PublishReceipt) -> StoreReceipt {
    StoreReceipt(
      generation: receipt.generation, bytesWritten: receipt.bytesWritten, durability: receipt.durability)
  }

  private func archive(_ state: StoredState) -> OpenedArchive {
    guard let opened = state.handle as? OpenedArchive else {
      preconditionFailure("a state of another store was given to \(store.slot)")
    }
    return opened
  }

  private func archive(_ pending: StoredPending) -> PendingArchive {
    guard let opened = pending.handle as? PendingArchive else {
      preconditionFailure("pending material of another store was given to \(store.slot)")
    }
    return opened
  }
}

/// The real marker of an attempt.
extension RestorationAttempt: RestorationAttempting {}
