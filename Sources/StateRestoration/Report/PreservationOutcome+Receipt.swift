package import FoundationShim

extension PreservationOutcome {
  /// What one save wrote, and whether it is known to survive a power cut, as a value that prints well.
  public struct Receipt: Sendable, Hashable, Codable {
    /// How the state was written.
    package enum Kind: String, Sendable, Hashable, Codable {
      /// A new generation holding everything.
      case whole
      /// Only the changes, added to the journal.
      case change
      /// A new generation holding everything, sealed while locked; it counts from the unlock on.
      case pendingWhole
      /// The nodes touched since a locked launch, sealed while locked; joined at the unlock.
      case pendingChange
      /// Nothing was written: the generation was there before this run's first save.
      case unchanged
    }

    /// Whether the save is known to survive a power cut.
    @nonexhaustive public enum Durability: String, Sendable, Hashable, Codable {
      /// Synced, file and directory.
      case durable
      /// Written and visible, but a sync failed: the next save starts again from memory.
      case unknown
    }

    /// Number of the generation that holds the state now; 0 when nothing was written in a run that has read none.
    public var generation: UInt64
    /// How the state was written.
    package var kind: Kind
    /// Whether the save is known to survive a power cut.
    public var durability = Durability.durable
    /// When the state was captured.
    package var savedAt: Date
    /// Objects whose values were copied on the main actor for this save.
    package var capturedNodes = 0
    /// Records that differed from the earlier ones.
    package var changedNodes = 0
    /// Nodes that nobody asked for in this run and that are carried over.
    package var carriedOverNodes = 0
    /// Bytes written to disk for this save.
    package var bytesWritten = 0
    /// Time of the capture on the main actor.
    package var captureDuration = Duration.zero
    /// Time from the beginning of the save to its end; waiting for an earlier save is not in it.
    package var duration = Duration.zero
    /// Things to know about single nodes.
    public var findings: [PreservationOutcome.Finding] = []
  }
}

extension PreservationOutcome.Receipt: CustomStringConvertible {
  /// One line of numbers, then one line per finding.
  public var description: String {
    var text = "Preservation: generation \(generation), \(kind)"
    if durability == .unknown { text += ", durability unknown" }
    text += ", \(changedNodes) changed of \(ReportText.count(capturedNodes, "node")) captured"
    if carriedOverNodes > 0 { text += ", \(carriedOverNodes) carried over" }
    text += ", \(ReportText.bytes(bytesWritten)), \(ReportText.duration(duration))"
    return ([text] + findings.map { "! \($0)" }).joined(separator: "\n")
  }
}

extension PreservationOutcome.Receipt.Kind: CustomStringConvertible {
  /// How the state was written, in plain words.
  package var description: String {
    switch self {
    case .whole: "whole"
    case .change: "change"
    case .pendingWhole: "whole, pending until the unlock"
    case .pendingChange: "touched nodes, pending until the unlock"
    case .unchanged: "unchanged"
    }
  }
}
