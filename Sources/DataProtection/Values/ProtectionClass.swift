/// When a protected file can be read and written, relative to the device's lock.
///
/// The names and promises are those of iOS Data Protection. A class is chosen when a file is created, is bound to
/// every byte of it, and can be changed later. The raw value is the class's number in the file formats.
///
/// | | before the first unlock | unlocked, and the grace period of a lock | locked again |
/// |---|---|---|---|
/// | `complete` | nothing | everything | nothing |
/// | `completeUnlessOpen` | create | everything | create; handles opened before |
/// | `completeUntilFirstUserAuthentication` | nothing | everything | everything |
/// | `none` | everything | everything | everything |
///
/// Listing, renaming and deleting are always allowed.
public enum ProtectionClass: UInt8, CaseIterable, Codable, Hashable, Sendable {
  /// Readable and writable only while the device is unlocked, and during the grace period of a lock.
  case complete = 1
  /// Can be created while locked; a file that was open at the lock stays open; everything else waits for the unlock.
  case completeUnlessOpen = 2
  /// Readable and writable from the first unlock after a start until the next reboot.
  case completeUntilFirstUserAuthentication = 3
  /// Encrypted, but always readable: protects only against a thief of the files who lacks the device key.
  case none = 4
}

extension ProtectionClass {
  /// Whether this class promises less than another.
  ///
  /// - Parameter other: The class to compare with.
  /// - Returns: `true` for a class that keeps its key at a moment at which the other has lost it.
  package func isWeaker(than other: ProtectionClass) -> Bool {
    rawValue > other.rawValue
  }
}
