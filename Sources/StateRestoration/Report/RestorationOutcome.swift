/// How restoring ended, with the cases that must never be confused kept apart.
///
/// Only ``nothingPreserved`` lets the next save proceed without setting aside what is on disk.
/// See ``SetAsideState``.
public enum RestorationOutcome: String, Sendable, Hashable, Codable, CaseIterable {
  /// The hierarchy was restored; single nodes may be missing, and the report says why.
  case restored
  /// Nothing was ever preserved here.
  case nothingPreserved
  /// The delegate said no to restoring; the next save sets the state aside.
  case declined
  /// The protection class's key is not available: the state stays untouched until the device is unlocked.
  case locked
  /// The file is not what was written; it is set aside, not deleted.
  case damaged
  /// The state was sealed on another device, or before this one was erased.
  case otherDevice
  /// The device's own keys are missing while sealed files exist.
  case keysMissing
  /// A newer version of the program or of the format wrote the state; it is kept and not read.
  case newerVersion
  /// The state is older than the age limit.
  case expired
  /// The ledger names a newer state than the one that is there.
  case rolledBack
  /// The ledger names a state whose file is gone.
  case missing
  /// Restoring this state ended badly before, and nothing else could be tried.
  case givenUpAfterCrashes
  /// The state could not be reached: an input or output error, or another process holds it.
  case unavailable
}

extension RestorationOutcome: CustomStringConvertible {
  /// A short clause in plain words.
  public var description: String {
    switch self {
    case .restored: "restored"
    case .nothingPreserved: "nothing was preserved"
    case .declined: "declined by the delegate"
    case .locked: "locked; waiting for the unlock"
    case .damaged: "damaged; set aside"
    case .otherDevice: "sealed on another device"
    case .keysMissing: "the device's keys are missing"
    case .newerVersion: "written by a newer version; kept"
    case .expired: "expired"
    case .rolledBack: "rolled back by somebody; not used"
    case .missing: "the file is missing"
    case .givenUpAfterCrashes: "given up after crashes; kept"
    case .unavailable: "could not be reached"
    }
  }
}
