internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

extension Lineage {
  /// Whether this run knows what is on disk, or that nothing is.
  var hasRead: Bool { base == .opened || base == .empty }

  /// Whether what nobody has touched since a locked launch is left out of saves.
  var isSifting: Bool { base == .locked || sighting.isWatching }

  /// Begins a locked launch: from now on only what differs from this capture may be written.
  ///
  /// What this run has read, or was touched in a hierarchy that another one takes the place of, stays, as nobody's state.
  mutating func beginLocked(with batch: CaptureBatch, context: RestorationContext) {
    let earlier = sighting
    if hasRead || earlier.isTouched { forgetOwners() } else { begin(.locked, context: context) }
    sighting = LockedSighting(batch, after: earlier)
    var places = batch
    places.records = []
    places.application = nil
    _ = try? apply(places)
    guard base == .locked else { return }
    // Whose place it is, so that what is touched below it is joined to nobody else's.
    for record in batch.records {
      guard let node = node(record.key), (try? writer.node(node))??.byteCount == 0 else { continue }
      try? writer.setAttributes(batch.attributes(of: record), of: node)
    }
  }

  /// Whether a node has no state that counts more than that of an object which has turned up and was not touched since.
  func takesUntouched(_ node: NodeID) throws(ArchiveError) -> Bool {
    guard let stored = try writer.node(node), stored.byteCount > 0 else { return true }
    return stored.attributes.flags.contains(.untouched)
  }

  /// Brings what was touched since a locked launch up to date, and writes nothing.
  ///
  /// - Returns: False when nothing is left out of saves, or the capture could not be taken over.
  @discardableResult
  mutating func sight(_ batch: CaptureBatch) -> Bool {
    guard isSifting else { return false }
    var batch = batch
    sighting.sift(&batch)
    return (try? apply(batch)) != nil
  }

  /// Brings what was touched since a locked launch up to date.
  ///
  /// - Returns: What is to be joined to the state that can be read now; nil when nothing was touched, or when this run had
  ///   read the state before and what it saved while locked is all there is.
  mutating func liveState(in batch: CaptureBatch) -> LiveState? {
    guard sight(batch), base == .locked ? sighting.isTouched : writer.leavesOut else { return nil }
    guard let archive = try? writer.makeArchiveOverBudget() else { return nil }
    return base == .locked ? .touched(archive) : .everything(archive)
  }

  /// Gives up what a locked device made of this run: the next save looks again.
  mutating func lookAgain(context: RestorationContext) {
    guard base == .locked else { return requireWhole() }
    begin(.unknown, context: context)
  }
}
