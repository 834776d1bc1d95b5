public import DataProtection

extension RestorationReport {
  /// Something to know about a restoration: of the state as a whole, or of one node.
  ///
  /// Those of the whole state are in ``RestorationReport/remarks``, those of a node in
  /// ``RestorationReport/Node/remarks``.
  @nonexhaustive public enum Remark: Sendable, Hashable, Codable {
    // Of the state as a whole.

    /// Bytes after the journal's last whole change were unreadable and are not used.
    case tailDropped(bytes: Int)
    /// An older generation stands in, for this reason.
    case olderGeneration(String)
    /// The ledger was lost: nobody can tell whether this is the newest state.
    case rollbackUnverifiable
    /// Changes made while locked were joined to the state.
    case mergedPendingChanges(nodes: Int)
    /// The marker of the last attempt could not be used, for this reason.
    case markerIgnored(String)
    /// So many attempts to restore the state have ended badly.
    case interruptedBefore(attempts: Int)
    /// The app-level state could not be decoded.
    case applicationStateFailed(String)
    /// The app-level state was changed before the stored one could be read; the newer one won, as a whole.
    case applicationStateTouched
    /// Asynchronous restoring did not end within the time limit; later answers are ignored.
    case extensionTimedOut
    /// States that were not restored before and that are set aside; they can be restored on request.
    case setAside([RestorationCoordinator.SetAsideState])
    /// Nobody said yes, because there is no delegate: the coordinator holds it weakly, so keep it.
    case noDelegate
    /// The state of this class of protection can't be read now: it comes back after the unlock.
    case waitsForUnlock(ProtectionClass)
    /// A failure while the state was opened, in words.
    case failure(String)

    // Of one node.

    /// State was migrated, from the first to the second version.
    case migrated(from: StateVersion, to: StateVersion)
    /// Keys that were preserved and that nobody read.
    case unreadKeys([String])
    /// A reference whose object was not restored, by key.
    case unresolvedReference(key: String)
    /// The restoration class recorded in the state is not registered; another rung gave the object.
    case unregisteredClass(RestorationIdentity.ClassTag)
    /// The state had waited for an object that it fits.
    case wasAbsent
    /// The newest record of the state can't be read now and stays; an older one was given.
    case olderRecordGiven
    /// So many older states of the object could have been given as well: there is a conflict, and they wait until it is
    /// settled.
    case superseded(Int)
    /// The stored state and the edits made while the device was locked were joined; see ``MergingObject``.
    case joined
    /// Stored state could not be joined with the newer one, for this reason.
    case notJoined(String)
  }
}

extension RestorationReport.Remark {
  /// Whether something went otherwise than it should, so that somebody may have to do something.
  public var isWarning: Bool {
    switch self {
    case .waitsForUnlock, .migrated, .wasAbsent, .joined, .mergedPendingChanges, .setAside: false
    default: true
    }
  }
}

extension RestorationReport.Remark: CustomStringConvertible {
  /// The remark in plain words.
  public var description: String {
    switch self {
    case .tailDropped(let bytes): "the last \(ReportText.bytes(bytes)) of the journal were not whole and are not used"
    case .olderGeneration(let text): "an older generation stands in: \(text)"
    case .rollbackUnverifiable: "the ledger was lost; nobody can tell whether this state is the newest"
    case .mergedPendingChanges(let nodes):
      "\(ReportText.count(nodes, "node")) changed while locked \(nodes == 1 ? "was" : "were") joined"
    case .markerIgnored(let text): "the marker of the last attempt was not used: \(text)"
    case .interruptedBefore(let attempts): "restoring this state ended badly before (\(attempts)×)"
    case .applicationStateFailed(let text): "the app-level state could not be decoded: \(text)"
    case .noDelegate: "there is no delegate to say yes; the coordinator holds it weakly: keep it"
    case .applicationStateTouched: "the state of the whole program was changed while locked; the newer one is kept"
    case .extensionTimedOut: "asynchronous restoring took too long; later answers are ignored"
    case .setAside(let states): "set aside: \(states.map(\.description).joined(separator: "; "))"
    case .failure(let text): text
    case .waitsForUnlock(let protection): "the state of class \(protection) waits for the unlock"
    case .migrated(let from, let to): "migrated \(from) → \(to)"
    case .unreadKeys(let keys):
      "never read: \(keys.joined(separator: ", ")); where one was renamed, name it in formerly:, or migrate"
    case .unresolvedReference(let key): "reference “\(key)” leads nowhere, as its object did not come back"
    case .unregisteredClass(let tag): "class “\(tag)” is not registered: register it"
    case .wasAbsent: "had waited for an object that it fits"
    case .olderRecordGiven: "an older record, as the newest can’t be read"
    case .superseded(let count):
      "\(ReportText.count(count, "older state")) of the object \(count == 1 ? "waits" : "wait") beside it"
    case .joined: "joined with what was edited while locked"
    case .notJoined(let text): "a stored state could not be joined with what was edited while locked: \(text)"
    }
  }
}
