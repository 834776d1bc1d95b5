internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// A state that was opened and can be restored, with its facts.
struct LoadedState: Sendable {
  var plan: RestorePlan
  var state: StoredState
  var reader: RestorationArchive.PartedReader
  /// The classes of its parts.
  var parts: PartClasses
  /// Which generation it is.
  var choice: StateChoice
  /// Whether the program asked for it by name: if it is refused, everything stays as it was.
  var isRequest = false
  var crash: CrashPlan
  var history: AttemptHistory
  var remarks: [RestorationReport.Remark]
  var reason: RestorationReport.Reason
  /// The nodes saved while locked that are merged into it: the next whole generation contains them.
  var merged: [PendingArchive] = []
  /// What the next whole generation takes the place of without continuing it.
  var retiring: [Generation] = []

  /// The traces of the merge of locked runs.
  var merging = Merging()
  /// What a marker calls the nodes that the disk has elsewhere, or under other numbers.
  var names = NodeNames()
  /// The classes of protection that have no key now, where part of the state can be read: what their objects have waits.
  var lockedClasses: Set<ProtectionClass> = []
  /// Whether anything is stored that can't be read now.
  var hasLockedState = false
  /// The files of the parts that the reader has as the disk has them, and of those that can't be read.
  var files: [RestorationArchive.Part: PartFile] = [:]
  /// Whether the reader holds more than the disk does as a generation.
  var isMerged = false

  /// The traces of the merge of locked runs in a state.
  struct Merging: Sendable {
    /// Where the rows and the records are that this run has written while locked, by their numbers then.
    var ownRows: [NodeID: NodeID] = [:]
    var ownRecords: [NodeID: NodeID] = [:]
    /// Where stored rows and records are that have become others' or have other numbers.
    var moved = MovedNodes()
    /// The strongest class to whose part rows have come from weaker ones: what holds them there goes with the next save.
    var leftWeakerPartsFor: ProtectionClass?
  }

  /// Where it comes from, for the report.
  var source: RestorationReport.Source {
    RestorationReport.Source(
      generation: state.generation.rawValue, savedAt: plan.context.timeSaved,
      applicationVersion: plan.context.applicationVersion.rawValue, byteCount: state.byteCount,
      changes: state.changeCount)
  }

  /// Why the parts can't be used that are damaged.
  var damagedParts: [RestorationArchive.Part: String] {
    var damaged: [RestorationArchive.Part: String] = [:]
    for part in state.parts { damaged[part.part] = part.damage?.description }
    return damaged
  }

  /// Whether a node is in a part that can't be read now.
  func isAway(_ node: NodeID) -> Bool { reader.away.contains(node.part) }

  /// What goes aside when it is refused.
  var superseded: [Generation] { retiring + merged.map(\.generation) + [state.generation] }

  /// What the next whole generation takes the place of, when this state is continued.
  var succession: ArchiveSuccession {
    var succession = ArchiveSuccession(consuming: merged.map(\.generation), retiring: retiring)
    if case .setAside(let generation) = choice { succession.reclaiming = generation }
    return succession
  }
}

/// Why nothing can be restored.
struct LoadFailure: Error, Sendable {
  var outcome: RestorationReport.Outcome
  var remarks: [RestorationReport.Remark]
  var reason: RestorationReport.Reason = .normal
  /// The generations that are refused, nil for all that are there: the next save sets them aside.
  var retiring: [Generation]?

  /// Whether another try may find what this one did not: the device is locked, or the disk has failed for the moment.
  var isTransient: Bool { outcome == .locked || outcome == .unavailable }
}

extension RestorationReport {
  /// The report of a restoration that had nothing to restore.
  init(_ failure: LoadFailure) {
    self.init(outcome: failure.outcome, reason: failure.reason, remarks: failure.remarks)
  }
}
