package import Sealing

/// The class keys of a device, lent for the moment in which a file is sealed or opened.
///
/// A key that the device's lock state withholds is refused with `.locked`; one that nobody has any more with
/// `.keysMissing`. Keys may be lent to several threads at once, and inside one another: opening a
/// `completeUnlessOpen` file borrows the pair's private key and, within that, the `none` key.
///
/// Lending is what a lock waits for: `lock()` refuses new borrowers, waits until the present ones have returned, wipes
/// its keys, then has every holder of the class wipe its own. Borrowers do nothing but arithmetic, never input or
/// output, so that a stuck disk can't delay the lock.
package protocol ClassKeys: Sendable {
  /// The keybag that the keys belong to, which every sealed file names.
  var keybagIdentifier: KeybagIdentifier { get }

  /// Lends the key under which new files of a class are sealed, with its identifier.
  ///
  /// Never called for `completeUnlessOpen`, whose files are sealed with ``publicKey()`` alone.
  func withSealingKey<Result>(
    of protection: ProtectionClass,
    _ body: (borrowing SecretKey, ClassKeyIdentifier) throws(ProtectionError) -> Result
  ) throws(ProtectionError) -> Result

  /// Lends the key that a file names; for `completeUnlessOpen` the pair's private key.
  ///
  /// Throws `.otherDevice` for an identifier that the keybag doesn't know, whatever the lock state.
  func withOpeningKey<Result>(
    of protection: ProtectionClass, _ identifier: ClassKeyIdentifier,
    _ body: (borrowing SecretKey) throws(ProtectionError) -> Result
  ) throws(ProtectionError) -> Result

  /// The public key of the `completeUnlessOpen` pair, 32 bytes, and the pair's identifier; there while locked.
  func publicKey() throws(ProtectionError) -> (bytes: [UInt8], identifier: ClassKeyIdentifier)

  /// Has an open file wipe its keys when the class's key goes; called while a key of the class is lent.
  ///
  /// Holders are kept weakly. Those of `completeUnlessOpen` outlive a lock, as the class promises.
  func addHolder(_ holder: any KeyHolder, of protection: ProtectionClass)
}

/// Something that keeps keys derived from a class key: an open file or journal.
package protocol KeyHolder: AnyObject, Sendable {
  /// Wipes the keys, and plaintext kept for reading; waits for decryption in progress, never for the disk.
  func wipeKeys()
}
