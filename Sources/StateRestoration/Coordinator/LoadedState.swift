internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

/// A state that was opened and can be restored, with what is known about it.
struct LoadedState: Sendable {
  var plan: RestorationPlan
  var state: StoredState
  var reader: RestorationArchive.Reader
  var isNewest: Bool
  var crash: CrashPlan
  /// The node that the last attempt died at, if it did.
  var culprit: UInt32?
  var history: CrashHistory
  var remarks: [RestorationReport.Remark]
  var reason: RestorationReason
  /// What was saved while locked and is in the reader, is older than the live objects, or is set aside: the next whole
  /// generation takes its place.
  var pending: [StoredPending] = []
  /// Whether the reader holds more than the disk does as a generation.
  var isJoined: Bool { joinedChange != nil }
  /// Whether some of it could not be read, joined or set aside, and stays pending.
  var missesPending = false
  /// What the reader holds more, as a change of what is on the disk.
  var joinedChange: Data?
  /// Kept state that made room in the reader, and is gone with the next save.
  var keptRemovals: [PreservationFinding] = []
  /// Whether what restoring died at is kept in the reader, and on the disk still in its place.
  var keepsCulprit = false
  /// Where the state is kept.
  var store: any PreservationStore
  /// Whether it is the generation before the newest.
  var isPredecessor = false
  /// Whether the program asked for this state rather than the newest: if it is refused, everything stays as it was.
  var isOnRequest = false
  /// The number of the state among those that were set aside.
  var setAside: UInt64?
  /// How earlier attempts at it have ended.
  var attempts = AttemptHistory()

  /// What an attempt at restoring it is marked for.
  var subject: AttemptSubject { AttemptSubject(store: store, state: state, isRequest: isOnRequest) }
}

/// A state that is being restored, for the marker that tells the next launch if the process dies of it.
struct AttemptSubject: Sendable {
  /// Where the state is kept.
  var store: any PreservationStore
  /// The state; nil for the newest there, which this run has saved.
  var state: StoredState?
  /// Whether the program asked for it by name.
  var isRequest = false

  /// Marks durably that restoring begins.
  func begin() throws(ProtectionError) -> any RestorationAttempting {
    let state = if let state { state } else { try store.open(.newest) }
    return try store.beginAttempt(at: state, isRequest: isRequest)
  }
}

/// Why nothing can be restored.
struct LoadFailure: Error, Sendable {
  var outcome: RestorationOutcome
  var remarks: [RestorationReport.Remark]
  var reason: RestorationReason
  /// Whether the generation before the newest was given up, too, after it had stood in.
  var refusesOlder = false
  /// Whether saving goes on as if nobody had asked.
  var changesNothing = false

  /// Whether another try may find what this one did not: the device is locked, or the disk has failed for the moment.
  var isPassing: Bool { outcome == .locked || outcome == .unavailable }
}

extension RestorationReport {
  /// The report of a restoration that had nothing to restore.
  init(_ failure: LoadFailure) {
    self.init(outcome: failure.outcome, reason: failure.reason, remarks: failure.remarks)
  }
}
