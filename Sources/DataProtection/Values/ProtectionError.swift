/// Why protected data could not be read, written, locked or unlocked.
///
/// The codes are distinct outcomes that are never merged: in particular a file that can't be read because the device
/// is locked is ``Code/locked`` and never ``Code/notFound``, so that "nothing is saved" is never concluded from it.
///
/// ```swift
/// do {
///   let text = try files.read("draft")
/// } catch let error where error.code == .locked {
///   // Wait for the unlock. Don't write a new draft over the one that can't be read now.
/// } catch let error where error.code == .notFound {
///   // There really is none.
/// }
/// ```
public struct ProtectionError: Error, Sendable {
  /// The kind of failure.
  public var code: Code
  /// The failure and its remedy, in a sentence or two; never key bytes or content.
  public var message: String
  /// The number the operating system gave, when it was the one to refuse.
  public var errno: Int32?
  /// How long to wait before the next passcode is checked; for ``Code/passcodeDelayed`` and ``Code/wrongPasscode``.
  public var retryDelay: Duration?
  /// The process that has the archive, for ``Code/inUse``; nil when that isn't known.
  public var processIdentifier: Int32?
  /// The error this one was made from.
  public var cause: (any Error)?

  /// Puts an error together.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: The failure and its remedy, without secrets.
  ///   - errno: The operating system's number, if it refused.
  ///   - retryDelay: How long until the next passcode is checked, if that is known.
  ///   - cause: The error this one is made from.
  public init(
    _ code: Code, _ message: String, errno: Int32? = nil, retryDelay: Duration? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.errno = errno
    self.retryDelay = retryDelay
    self.cause = cause
  }
}

extension ProtectionError {
  /// The POSIX number of this outcome: `EPERM` for ``Code/locked``, `ENOENT` for ``Code/notFound``.
  ///
  /// An error that the operating system raised keeps its own number. The rest have the nearest one, with Linux's
  /// values; use ``code`` to tell them apart.
  package var posixCode: Int32 {
    if let errno { return errno }
    switch code {
    case .locked, .wrongClass: return 1  // EPERM
    case .notFound, .missing: return 2  // ENOENT
    case .io, .durabilityUnknown: return 5  // EIO
    case .invalidHandle: return 9  // EBADF
    case .secretsUnavailable: return 12  // ENOMEM
    case .wrongPasscode, .passcodeDelayed, .unsafeLocation: return 13  // EACCES
    case .busy, .inUse: return 16  // EBUSY
    case .alreadyExists: return 17  // EEXIST
    case .keysMissing: return 126  // ENOKEY
    case .unsupportedVersion: return 95  // EOPNOTSUPP
    case .corrupt, .wrongIdentity, .otherDevice, .rolledBack: return 74  // EBADMSG
    default: return 22  // EINVAL
    }
  }
}

extension ProtectionError: CustomStringConvertible {
  /// The code, the message and the operating system's number.
  public var description: String {
    "\(code): \(message)\(errno.map { " (errno \($0))" } ?? "")"
  }
}

extension ProtectionError {
  /// The refusal of the class table.
  static func locked(_ protection: ProtectionClass) -> ProtectionError {
    ProtectionError(
      .locked,
      "The device is locked and \(protection) data is out of reach; unlock it and try again. The data is untouched.")
  }
}
