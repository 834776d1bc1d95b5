internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

extension Lineage {
  /// Begins a locked launch: from now on only what differs from this capture may be written.
  ///
  /// What was touched in a hierarchy that another one takes the place of stays, as nobody's state.
  mutating func beginLocked(with batch: CaptureBatch, context: RestorationContext) {
    let earlier = base == .locked ? sighting : LockedSighting()
    if earlier.isTouched { forgetOwners() } else { begin(.locked, context: context) }
    sighting = LockedSighting(batch, after: earlier)
    var places = batch
    places.records = []
    places.application = nil
    _ = try? apply(places)
  }

  /// Brings what was touched since a locked launch up to date; nil when nothing was touched.
  ///
  /// - Returns: An archive of the touched nodes, to be joined to the state that can be read now.
  mutating func touchedState(in batch: CaptureBatch) -> Data? {
    guard base == .locked else { return nil }
    var batch = batch
    sighting.sift(&batch)
    guard (try? apply(batch)) != nil, sighting.isTouched else { return nil }
    return try? archived()
  }

  /// Gives up what a locked device made of this run: the next save looks again.
  mutating func lookAgain(context: RestorationContext) {
    guard base == .locked else { return requireWhole() }
    begin(.unknown, context: context)
  }
}
