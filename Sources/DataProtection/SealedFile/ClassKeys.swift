package import Sealing

/// The class keys of a device, as the sealed file and the stores use them.
///
/// A body runs while its key is held, and a lock waits for it: it must only compute. No file is read, written or
/// synchronised in it, so that a stuck disk never delays a lock; and it must not ask for another class key. What it
/// keeps (a file key, a cipher context) it registers with `onWipe` before it returns, so that a lock which comes next
/// finds it. Every call throws `.locked` when the class table forbids it now: creation asks for a sealing key, opening
/// for an opening key, and nothing else decides.
package protocol ClassKeys: AnyObject, Sendable {
  /// Whether the key that opens files of a class is in memory.
  func isAvailable(_ protection: ProtectionClass) -> Bool

  /// Lends the key that seals new files of a symmetric class (every class but `completeUnlessOpen`).
  func withSealingKey<R>(
    for protection: ProtectionClass,
    _ body: (ClassKeyIdentifier, borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R

  /// Lends a key that opens files of a symmetric class; `.otherDevice`, whatever the lock state, when the keybag has
  /// none of that identifier.
  func withOpeningKey<R>(
    for protection: ProtectionClass, identifier: ClassKeyIdentifier,
    _ body: (borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R

  /// Lends what seals a new `completeUnlessOpen` file; never refused for a lock.
  ///
  /// The body gets the pair's identifier, the public key, and the `none` class key from which the sender's salt is
  /// derived.
  func withOneWaySealingKeys<R>(
    _ body: (ClassKeyIdentifier, _ publicKey: [UInt8], _ sender: borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R

  /// Lends what opens a `completeUnlessOpen` file: private key, public key, and the `none` class key.
  func withOneWayOpeningKeys<R>(
    identifier: ClassKeyIdentifier,
    _ body: (
      _ privateKey: borrowing SecretKey, _ publicKey: [UInt8], _ sender: borrowing SecretKey
    ) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R

  /// Has something called when the keys of a class's open files go: `complete` at a lock, all but `none` at a reboot,
  /// all at an erase.
  ///
  /// Register inside the body that got the key. The call comes once, during the lock, from any thread; it must only
  /// wipe. It ends with the registration that is returned.
  func onWipe(of protection: ProtectionClass, _ body: @escaping @Sendable () -> Void) -> WipeRegistration
}

/// Keeps a wipe callback registered for as long as it lives.
package final class WipeRegistration: Sendable {
  private let cancel: @Sendable () -> Void

  init(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
  }

  deinit {
    cancel()
  }
}
