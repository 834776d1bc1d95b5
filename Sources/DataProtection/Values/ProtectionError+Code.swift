extension ProtectionError {
  /// What kind of failure an error tells of.
  ///
  /// New codes may come in later versions, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable {
    private enum Kind: Hashable, Sendable {
      case notFound, missing, locked, corrupt, wrongIdentity, wrongClass, otherDevice, keysMissing, rolledBack
      case unsupportedVersion, busy, inUse, io, durabilityUnknown, superseded, alreadyExists, invalidArgument
      case invalidHandle, unsafeLocation, secretsUnavailable
      case wrongPasscode, passcodeDelayed, passcodeNotSet, passcodeAlreadySet
    }

    private let kind: Kind

    private init(_ kind: Kind) {
      self.kind = kind
    }

    /// There is nothing of that name, and nothing has been: the only outcome that lets a save start from nothing.
    public static let notFound = Code(.notFound)
    /// The records say that the file exists, but it is not there: somebody removed it from outside.
    package static let missing = Code(.missing)
    /// The device's lock state forbids it now; the data is untouched, and an unlock makes it available.
    public static let locked = Code(.locked)
    /// The bytes were changed: damaged, torn or forged.
    public static let corrupt = Code(.corrupt)
    /// An authentic file in another one's place.
    package static let wrongIdentity = Code(.wrongIdentity)
    /// An authentic file of another protection class than the one expected.
    package static let wrongClass = Code(.wrongClass)
    /// Made under another device's keys: a moved machine, a foreign copy, or a device that was erased since.
    public static let otherDevice = Code(.otherDevice)
    /// The device key or the keybag is gone while sealed data is there; only an explicit erase goes on.
    public static let keysMissing = Code(.keysMissing)
    /// An authentic but older state stands where a newer one was recorded.
    public static let rolledBack = Code(.rolledBack)
    /// Written by a newer version of this framework; kept as it is.
    package static let unsupportedVersion = Code(.unsupportedVersion)
    /// Another process holds the lock and didn't let go in time; try again.
    public static let busy = Code(.busy)
    /// Another process, or another part of this one, has the archive open for writing;
    /// ``ProtectionError/processIdentifier`` says which.
    public static let inUse = Code(.inUse)
    /// The operating system refused; ``ProtectionError/errno`` has its number.
    public static let io = Code(.io)
    /// Written, but a sync failed: it may or may not survive a power cut.
    public static let durabilityUnknown = Code(.durabilityUnknown)
    /// Somebody else has gone on meanwhile; start again from the newest state.
    package static let superseded = Code(.superseded)
    /// The name is taken.
    public static let alreadyExists = Code(.alreadyExists)
    /// The caller asked for something that can't be: an empty name, a range beyond the end.
    public static let invalidArgument = Code(.invalidArgument)
    /// The handle was closed, or is suspended.
    public static let invalidHandle = Code(.invalidHandle)
    /// The directory can't be trusted: not ours, open to others, a link, or on a network volume.
    public static let unsafeLocation = Code(.unsafeLocation)
    /// The memory for secrets is gone or can't be had; after a fork, the child has none.
    package static let secretsUnavailable = Code(.secretsUnavailable)
    /// The passcode is not the device's.
    public static let wrongPasscode = Code(.wrongPasscode)
    /// Too many wrong passcodes: none is checked until ``ProtectionError/retryDelay`` has passed.
    public static let passcodeDelayed = Code(.passcodeDelayed)
    /// The device has no passcode to change or remove.
    public static let passcodeNotSet = Code(.passcodeNotSet)
    /// The device has a passcode already; change it instead.
    public static let passcodeAlreadySet = Code(.passcodeAlreadySet)
  }
}

extension ProtectionError.Code: CustomStringConvertible {
  /// The name of the code.
  public var description: String { "\(kind)" }
}
