internal import DataProtection
internal import FoundationEssentials

/// The real store: one slot of a protected device.
///
/// State saved under another class than the program wants now is read as it is, and moved by the next save.
struct DeviceStore: PreservationStore {
  let store: ArchiveStore

  /// Keeps generations in a slot, under the class that the store was made with.
  init(store: ArchiveStore) {
    self.store = store
    store.keepState()
  }

  /// How long a coordinator that has gone may still hold the slot, on its worker's thread.
  private static let handover = Duration.seconds(1)

  func open(waiting patience: Duration) throws(ProtectionError) {
    do throws(ProtectionError) {
      try store.open(waiting: patience)
    } catch  where error.code == .inUse && error.processIdentifier == ProcessInfo.processInfo.processIdentifier {
      try store.open(waiting: max(patience, Self.handover))
    }
  }

  func close() { store.close() }

  func open(_ choice: StateChoice) throws(ProtectionError) -> StoredState {
    // Who reads a state goes on from it: as its one writer.
    try open(waiting: .zero)
    let opened =
      switch choice {
      case .newest: try store.openNewest()
      case .predecessor: try store.openPredecessor()
      case .setAside(let generation): try store.openSetAside(generation)
      }
    return StoredState(
      generation: opened.generation, standing: opened.standing, byteCount: opened.byteCount, frames: opened.frames,
      tailDropped: opened.tailDropped, handle: opened
    ) { range in try opened.read(range) }
  }

  func openPending() throws(ProtectionError) -> AllPending {
    try open(waiting: .zero)
    let pending = try store.openPending()
    return AllPending(
      readable: pending.archives.map { archive in
        StoredPending(generation: archive.generation, isOwn: archive.isOwn, content: archive.content)
      }, problems: pending.problems)
  }

  func generations() throws(ProtectionError) -> [Generation] { try store.generations() }

  func setAsideGenerations() throws(ProtectionError) -> [SetAsideGeneration] {
    try store.setAsideRecords().map(SetAsideGeneration.init)
  }

  func publish(_ archive: Data, _ succession: Succession) throws(ProtectionError) -> StoreReceipt {
    StoreReceipt(
      try store.publish(
        archive,
        ArchiveSuccession(
          consuming: succession.consuming.map(\.generation), retiring: succession.retiring,
          reclaiming: succession.reclaiming)))
  }

  func append(_ change: Data, to generation: Generation) throws(ProtectionError) -> StoreReceipt? {
    try store.append(change, to: generation).map(StoreReceipt.init)
  }

  func publishPending(_ touchedNodes: Data) throws(ProtectionError) -> StoreReceipt {
    StoreReceipt(try store.publishPending(touchedNodes))
  }

  func requireDurable() throws(ProtectionError) { try store.requireDurable() }

  func removeSetAside(_ generation: Generation) throws(ProtectionError) -> Bool {
    try store.removeSetAside(generation)
  }

  func deleteAll() throws(ProtectionError) { try store.deleteAll() }

  func attempts(at state: StoredState) throws(ProtectionError) -> AttemptHistory {
    guard let record = try store.attempts(at: archive(state)) else { return AttemptHistory() }
    return AttemptHistory(
      deaths: Int(record.deaths), node: record.node == CrashMarker.noNode ? nil : record.node,
      requestDied: record.requestDied)
  }

  func beginAttempt(
    at state: StoredState, isRequest: Bool
  ) throws(ProtectionError) -> any RestorationAttempting {
    try store.beginAttempt(at: archive(state), isRequest: isRequest)
  }

  private func archive(_ state: StoredState) -> OpenedArchive {
    guard let opened = state.handle as? OpenedArchive else {
      preconditionFailure("a state of another store was given to a device's")
    }
    return opened
  }
}

/// The real marker of an attempt.
extension RestorationAttempt: RestorationAttempting {}

extension SetAsideGeneration {
  /// A record of the ledger.
  init(_ record: Ledger.Record) {
    self.init(
      generation: Generation(rawValue: record.generation), byteCount: Int(clamping: record.byteCount),
      isDamaged: record.flags.contains(.damaged))
  }
}

extension StoreReceipt {
  /// What the store says of a save.
  init(_ receipt: PublishReceipt) {
    self.init(
      generation: receipt.generation, bytesWritten: receipt.bytesWritten, durability: receipt.durability,
      isSealedOneWay: receipt.isSealedOneWay, setAside: receipt.setAside.map(SetAsideGeneration.init),
      removed: receipt.removed.map(SetAsideGeneration.init))
  }
}
