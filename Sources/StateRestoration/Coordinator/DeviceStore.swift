package import DataProtection
package import FoundationEssentials

/// The real store: one slot of a protected device.
package struct DeviceStore: PreservationStore {
  let store: ArchiveStore

  /// Keeps generations in a slot.
  package init(store: ArchiveStore) { self.store = store }

  package func openNewest() throws(ProtectionError) -> StoredState {
    do throws(ProtectionError) {
      return try state(try store.openNewest())
    } catch  where error.code == .corrupt {
      // A change in the middle may be damaged: what was appended before it still counts.
      return try state(try store.openNewest(checkingFrames: true))
    }
  }

  package func openPredecessor() throws(ProtectionError) -> StoredState { try state(try store.openPredecessor()) }

  package func publish(_ plaintext: Data, consuming pending: [StoredPending]) throws(ProtectionError) -> StoreReceipt {
    receipt(try store.publish(plaintext, consuming: pending.map(archive)))
  }

  package func append(_ frame: Data) throws(ProtectionError) -> StoreReceipt {
    let receipt = try store.append(frame)
    return StoreReceipt(
      generation: receipt.generation, bytesWritten: receipt.bytesWritten, durability: receipt.durability)
  }

  package var isCompactionDue: Bool { store.isCompactionDue }

  package func freezeJournal() { store.freezeJournal() }

  package func publishPending(
    _ plaintext: Data, whole: Bool, including included: [StoredPending]
  ) throws(ProtectionError) -> StoreReceipt {
    receipt(
      try store.publishPending(plaintext, kind: whole ? .whole : .touchedNodes, including: included.map(archive)))
  }

  package func openPending() throws(ProtectionError) -> AllPending {
    let pending = try store.openPending()
    return AllPending(
      readable: pending.archives.map { archive in
        StoredPending(
          isWhole: archive.kind == .whole, isBaseUnchanged: archive.isBaseUnchanged, isOwn: archive.isOwn,
          content: archive.content, handle: archive)
      }, problems: pending.problems)
  }

  package func promotePending(_ pending: StoredPending) throws(ProtectionError) -> StoreReceipt {
    receipt(try store.promotePending(archive(pending)))
  }

  package func deleteAll() throws(ProtectionError) { try store.deleteAll() }

  package func interruptedAttempt(for state: StoredState) throws(ProtectionError) -> InterruptedAttempt? {
    try store.interruptedAttempt(for: archive(state))
  }

  package func beginAttempt(for state: StoredState) throws(ProtectionError) -> any RestorationAttempting {
    DeviceAttempt(attempt: try store.beginAttempt(for: archive(state)))
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
struct DeviceAttempt: RestorationAttempting {
  let attempt: RestorationAttempt

  func note(node: UInt32) { attempt.note(node: node) }

  func finish() { attempt.finish() }

  func settle() { attempt.settle() }
}
