/// What a crash marker found at launch says about the last attempt to restore an archive.
public struct InterruptedAttempt: Hashable, Sendable {
  /// What the marker means.
  public enum Meaning: Hashable, Sendable {
    /// The process died while it restored this archive.
    case died
    /// The machine was restarted meanwhile (a power cut, say); the first time this doesn't count as a failure.
    case machineRestarted
    /// Another process is restoring this archive right now.
    case livePeer
    /// The marker belongs to another generation; it was ignored.
    case otherArchive
    /// The marker is damaged or forged; it was ignored.
    case damaged
  }

  /// What the marker means.
  ///
  /// Only `died` and `machineRestarted` are about this archive.
  public let meaning: Meaning
  /// The number, in the archive, of the node whose code was running; `nil` when none was.
  public let node: UInt32?
  /// How many attempts at this archive have failed, the one that left the marker included if it counts.
  ///
  /// A save during an attempt begins the count anew; but five attempts in a row that have died, and more, count as two.
  public let failedAttempts: Int
  /// So many deaths in a row, and more, count as two failed attempts, whatever was saved meanwhile.
  package static let endLimit = 5
  /// How many attempts in a row have died, the one that left the marker included, whatever they have saved.
  public let endsInARow: Int
  /// Whether this archive was being restored instead of a newer one, which could not be.
  public let isStandIn: Bool
  /// The mark of the newest pending content that was joined to the archive then; 0 when there was none.
  public let pendingMark: UInt32

  /// Whether this archive was asked for by name.
  package var isRequested = false
  /// The nodes that attempts at this archive have died at for which it was asked by name, the latest first.
  package var requestedNodes: [UInt32] = []

  /// Puts a finding together.
  package init(
    meaning: Meaning, node: UInt32?, failedAttempts: Int, isStandIn: Bool = false, pendingMark: UInt32 = 0,
    endsInARow: Int? = nil
  ) {
    self.meaning = meaning
    self.node = node
    self.failedAttempts = failedAttempts
    self.endsInARow = endsInARow ?? failedAttempts
    self.isStandIn = isStandIn
    self.pendingMark = pendingMark
  }
}
