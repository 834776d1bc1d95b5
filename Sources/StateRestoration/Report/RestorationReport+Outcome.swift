extension RestorationReport {
  /// How restoring ended.
  ///
  /// "Nothing was saved", "locked" and "could not be read" are never taken for each other.
  ///
  /// After ``restored`` the next save continues the state, and after ``nothingPreserved`` it begins one. After
  /// ``locked`` the state on disk stays as it is until the unlock. After ``unavailable`` the next save looks at the
  /// disk again. After every other outcome the next save first sets aside the state that it replaces (see
  /// ``RestorationCoordinator/SetAsideState``); a file that can't be opened at all is never overwritten. When another
  /// state than the newest was asked for and is not restored, saving goes on as before.
  @nonexhaustive public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
    /// The hierarchy was restored; single nodes may be missing, and the report says why.
    case restored
    /// What could be read was restored; the rest has stronger classes of protection, and is restored after the unlock, into the
    /// same objects.
    case partlyRestored
    /// Nothing was ever preserved here, or the state that was asked for instead of the newest is not there.
    case nothingPreserved
    /// The delegate, or an extent of nothing, said no to restoring; the next save sets the state aside.
    case declined
    /// The protection class's key is not available: the state stays untouched until the device is unlocked.
    case locked
    /// The file was changed; it is set aside, not deleted.
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
    /// Restoring this state ended badly before; nothing else could be tried, or the delegate chose to restore nothing.
    case givenUpAfterCrashes
    /// The state could not be reached: an input or output error, or another process holds it.
    case unavailable
  }
}

extension RestorationReport.Outcome: CustomStringConvertible {
  /// A short clause in plain words.
  public var description: String {
    switch self {
    case .restored: "restored"
    case .partlyRestored: "restored in part; the rest waits for the unlock"
    case .nothingPreserved: "nothing stored yet"
    case .declined: "declined by the delegate, which answered no in shouldRestoreApplicationState or is gone"
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
