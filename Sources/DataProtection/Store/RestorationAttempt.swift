/// An attempt at restoring an archive, marked on disk so that the next launch knows if this process dies in it.
///
/// It holds the marker's lock: another process sees a live peer. Dropping it without `finish` leaves the marker, as
/// a crash would. All calls may come from any thread, the main actor included: none waits for the disk.
public final class RestorationAttempt: Sendable {
  init() {}

  /// Notes the node that is restored from now on; survives the death of the process.
  public func note(node: UInt32) {
    fatalError("not built yet")
  }

  /// Removes the marker: restoring is complete, or was given up in good order.
  public func finish() {
    fatalError("not built yet")
  }
}
