import CDesktop
import Glibc
public import StateRestoration

/// Keeps class keys in the kernel's keyring, so that a program that is started again in the same login session is unlocked.
///
/// A lock of the device forgets the keys, in every process. They also expire by themselves after a time. They are in the
/// kernel's memory, are never swapped, and end with the login session or the machine. Every program of the same user can read
/// them in a user's keyring; in a session's only programs of the session.
public struct SessionKeyring: ProtectedDevice.KeyCustody, KeyPlace {
  /// The keyring that has the keys.
  public enum Keyring: Sendable, Hashable {
    /// The login session's, where the system makes one for each (`pam_keyinit`). Elsewhere it ends with the process.
    case session
    /// The one that all sessions of this user share by default; its keys end with the user's last process.
    case userSession
  }

  /// The keyring.
  package let keyring: Keyring
  /// How long a key is kept; at least a second.
  package let timeLimit: Duration

  /// Makes a custody.
  ///
  /// - Parameters:
  ///   - keyring: The keyring.
  ///   - timeLimit: How long a key is kept after an unlock.
  public init(_ keyring: Keyring, timeLimit: Duration) {
    precondition(timeLimit >= .seconds(1), "A time limit of less than a second keeps nothing.")
    self.keyring = keyring
    self.timeLimit = timeLimit
  }

  /// Whether the kernel lets this process use keyrings; containers often don't.
  public static var isAvailable: Bool {
    errno = 0
    // Searching for something that nobody has: every other error means that the call itself is refused.
    return unsafe ckeyring_search(Int32(ckeyring_user_session), "user", "state-restoration/probe") >= 0
      || errno == ENOKEY
  }

  /// The custody in words.
  package var place: String {
    "the kernel's keyring of the \(keyring == .session ? "session" : "user"), for \(timeLimit)"
  }

  private var number: Int32 {
    Int32(keyring == .session ? ckeyring_session : ckeyring_user_session)
  }

  private static func name(_ entry: ProtectedDevice.KeyCustodyEntry) -> String {
    "state-restoration/\(entry.keybag)/\(entry.protection)"
  }

  /// Keeps a key, for the time limit from now on.
  public func keep(_ key: Span<UInt8>, for entry: ProtectedDevice.KeyCustodyEntry) {
    let id = unsafe key.withUnsafeBufferPointer { bytes in
      unsafe ckeyring_add("user", Self.name(entry), bytes.baseAddress, bytes.count, number)
    }
    guard id >= 0 else { return }
    // Possessors of the session's keyring everything; the user's other programs nothing, or reading and ending.
    let permissions: UInt32 = keyring == .session ? 0x3F00_0000 : 0x3F3F_0000
    let seconds = UInt32(clamping: timeLimit.components.seconds)
    // A key that can't be limited is not kept.
    if ckeyring_set_permissions(id, permissions) != 0 || ckeyring_set_timeout(id, seconds) != 0 { end(id) }
  }

  /// Lends a key, if it is there and has not expired.
  public func lend(_ entry: ProtectedDevice.KeyCustodyEntry, to body: (Span<UInt8>) -> Void) {
    let id = unsafe ckeyring_search(number, "user", Self.name(entry))
    guard id >= 0 else { return }
    var count = 0
    let buffer = unsafe SecretBuffer(byteCount: 64) { target in
      count = unsafe ckeyring_read(id, target.baseAddress, target.count)
    }
    // The kernel tells the whole length where the buffer is too small.
    guard count > 0, count <= buffer.count else { return }
    buffer.withBytes { body($0.extracting(0..<count)) }
  }

  /// Ends a key, also for processes that have found it already.
  public func forget(_ entry: ProtectedDevice.KeyCustodyEntry) {
    let id = unsafe ckeyring_search(number, "user", Self.name(entry))
    if id >= 0 { end(id) }
  }

  private func end(_ id: Int32) {
    _ = ckeyring_revoke(id)
    _ = ckeyring_unlink(id, number)
  }
}
