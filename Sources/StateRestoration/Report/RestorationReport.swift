public import FoundationShim

/// The result of one restoration, object by object with the reasons, as a value that prints well.
///
/// Codable, so that it can be stored with a bug report. It holds paths and identifiers, never state.
public struct RestorationReport: Sendable, Hashable, Codable {
  /// Where the state came from.
  public struct Source: Sendable, Hashable, Codable {
    /// Number of the generation that was read.
    public var generation: UInt64
    /// When the state was preserved.
    public var savedAt: Date
    /// Version of the program that preserved it.
    public var applicationVersion: String
    /// Size of the archive without its sealing, in bytes.
    package var byteCount: Int
    /// Number of small changes read from the journal after the archive.
    package var changes: Int
  }

  /// How restoring ended.
  public var outcome: RestorationReport.Outcome
  /// Why the state is as it is at this launch.
  public var reason = RestorationReport.Reason.normal
  /// Where the state came from; nil when none was read.
  public var source: Source?
  /// Every preserved node, parents before children, siblings in order.
  public var nodes: [Node] = []
  /// Things to know about the state as a whole.
  public var remarks: [RestorationReport.Remark] = []
  /// Time from the call to the end of restoring.
  public var duration = Duration.zero
  /// Time of the one turn on the main actor.
  package var mainActorDuration = Duration.zero

  /// Number of nodes that came back.
  public var restoredCount: Int { nodes.count { $0.isRestored } }

  /// The nodes that did not come back, with their reasons.
  public var notRestored: [Node] { nodes.filter { !$0.isRestored } }

  /// The nodes left out because restoring them failed before; they can be asked for again.
  package var leftOut: [RestorationPath] {
    nodes.filter { $0.notRestoredReason == .leftOutAfterCrash }.map(\.path)
  }

  /// The report of one path; nil when nothing was preserved there.
  public subscript(_ path: RestorationPath) -> Node? { nodes.first { $0.path == path } }
}
