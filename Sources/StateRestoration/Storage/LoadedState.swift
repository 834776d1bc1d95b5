internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// A state that was opened and can be restored, with its facts.
struct LoadedState: Sendable {
  var plan: RestorePlan
  var state: StoredState
  var reader: RestorationArchive.Reader
  /// Which generation it is.
  var choice: StateChoice
  /// Whether the program asked for it by name: if it is refused, everything stays as it was.
  var isRequest = false
  var crash: CrashPlan
  var history: AttemptHistory
  var remarks: [RestorationRemark]
  var reason: RestorationReason
  /// The nodes saved while locked that are merged into it: the next whole generation contains them.
  var merged: [PendingArchive] = []
  /// What the next whole generation takes the place of without continuing it.
  var retiring: [Generation] = []

  /// Where the records are that this run has written while locked, by their numbers then.
  var ownRecords: [NodeID: NodeID] = [:]
  /// Whether the reader holds more than the disk does as a generation.
  var isMerged = false

  /// Where it comes from, for the report.
  var source: RestorationReport.Source {
    RestorationReport.Source(
      generation: state.generation.rawValue, savedAt: plan.context.timeSaved,
      applicationVersion: plan.context.applicationVersion.rawValue, byteCount: state.byteCount,
      changes: state.frames.count)
  }

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
  var outcome: RestorationOutcome
  var remarks: [RestorationRemark]
  var reason: RestorationReason = .normal
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
