internal import DataProtection

/// Why state could not be saved, given back or deleted: the failure and its place, never the state itself.
///
/// The one error of this module. A `ProtectionError` comes only from a `ProtectedDevice` and its files, and a `Lifecycle.RequestError`
/// from a `Lifecycle`, where a program uses these itself.
public struct RestorationError: Error, Sendable {
  /// The kind of failure; compare with the static members.
  ///
  /// More may come in later versions.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as printed.
    public let description: String

    init(_ description: String) {
      self.description = description
    }

    /// Nothing was stored under the key.
    public static let keyNotFound = Code("keyNotFound")
    /// The stored value of the key is of another type, or damaged.
    public static let unreadable = Code("unreadable")
    /// The state is of a newer version than this program knows.
    public static let newerVersion = Code("newerVersion")
    /// The state is of an older version, and no migration begins there.
    public static let noMigration = Code("noMigration")
    /// The device is locked: the stored value can be read after the unlock.
    public static let locked = Code("locked")
    /// A migration step threw an error; see the cause.
    public static let migrationFailed = Code("migrationFailed")
    /// A reference leads to an object of another class than the one asked for.
    package static let referenceOfAnotherClass = Code("referenceOfAnotherClass")
    /// References can't be resolved yet: not every object exists.
    package static let referencesNotReady = Code("referencesNotReady")
    /// The coder was used after the method it was given to.
    package static let coderUsedTooLate = Code("coderUsedTooLate")
    /// Another process, or another owner in this one, has the state; see ``RestorationError/processIdentifier``.
    public static let inUse = Code("inUse")
    /// The passcode is wrong, or came before its time; see ``RestorationError/retryDelay``.
    public static let wrongPasscode = Code("wrongPasscode")
    /// The launch was cut short, or the life cycle has ended; the cause is the `Lifecycle.RequestError`.
    public static let notLaunched = Code("notLaunched")
    /// The device that holds the state can't be opened or used; the cause is the `ProtectionError`.
    public static let deviceNotOpened = Code("deviceNotOpened")
    /// The object itself refused the state.
    public static let invalidState = Code("invalidState")
  }

  /// The kind of failure.
  public var code: Code
  /// The failure, then the remedy.
  public var message: String
  /// The object concerned; nil when none is.
  public var path: RestorationPath?
  /// The key concerned; nil when none is.
  public var key: String?
  /// The error underneath; its own description may quote state.
  public var cause: (any Error)?

  /// Makes an error; objects that refuse their state throw ``Code/invalidState``.
  public init(
    _ code: Code, _ message: String, path: RestorationPath? = nil, key: String? = nil, cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.path = path
    self.key = key
    self.cause = cause
  }
}

extension RestorationError {
  /// The process that has the state, for ``Code/inUse``; nil when that isn't known.
  public var processIdentifier: Int32? { (cause as? ProtectionError)?.processIdentifier }

  /// How long until another passcode is checked, for ``Code/wrongPasscode``: zero if at once; nil when that isn't known.
  public var retryDelay: Duration? { (cause as? ProtectionError)?.retryDelay }

  /// What an error of the device means for the state.
  ///
  /// - Parameter message: What could not be done, where the code says nothing more.
  init(_ error: ProtectionError, _ message: String = "The device can't be used.") {
    switch error.code {
    case .inUse: self.init(.inUse, error.message, cause: error)
    case .wrongPasscode, .passcodeDelayed: self.init(.wrongPasscode, error.message, cause: error)
    case .locked: self.init(.locked, error.message, cause: error)
    default: self.init(.deviceNotOpened, message, cause: error)
    }
  }

  /// What keeps a program from running or from being opened: an error of this module's, or made one.
  init(opening error: any Error) {
    switch error {
    case let error as RestorationError: self = error
    case let error as ProtectionError: self.init(error, "The device can't be opened.")
    default: self.init(.notLaunched, "The program was not launched.", cause: error)
    }
  }
}

extension RestorationError: QuotesNoState {
  /// One line: the code, the message, then the place and the kind of the cause.
  ///
  /// It quotes no state: an error of the program's, or of `Codable`'s, is told by its kind and the types it names; see
  /// ``cause`` for its own words.
  public var description: String {
    var text = "\(code): \(message)"
    if let path {
      text += " (at \(path)" + (key.map { ", key “\($0)”)" } ?? ")")
    } else if let key {
      text += " (key “\(key)”)"
    }
    // An error that took over the words of its cause says them once.
    if let cause, (cause as? ProtectionError)?.message != message { text += ": \(cause.descriptionWithoutState)" }
    return text
  }
}

extension ProtectionError: QuotesNoState {}
