extension ProtectedDevice {
  /// Who keeps the class keys of a device when the process that unlocked it ends.
  ///
  /// By default nobody does: the lock state belongs to the process, and a new one starts as after a reboot. A program
  /// that has a session daemon, a kernel keyring or an enclave can hand the keys there, so that a restarted process is
  /// still unlocked.
  ///
  /// All functions block, may come from any thread, and are never called by two threads at once for one device. Keys
  /// are checked when they come back; a wrong one is as good as none.
  public protocol KeyCustody: Sendable {
    /// Keeps a key, in place of one kept before for the same entry.
    ///
    /// A failure is ignored: the next process has to be unlocked, that is all.
    ///
    /// - Parameters:
    ///   - key: 32 bytes; they must not be written to a disk in the clear.
    ///   - entry: What the key is for.
    func keep(_ key: Span<UInt8>, for entry: ProtectedDevice.KeyCustodyEntry)

    /// Lends a key that was kept before.
    ///
    /// - Parameters:
    ///   - entry: What the key is for.
    ///   - body: Called with the key, at most once; not called when there is none.
    func lend(_ entry: ProtectedDevice.KeyCustodyEntry, to body: (Span<UInt8>) -> Void)

    /// Forgets a key; must have happened when this returns.
    ///
    /// - Parameter entry: What the key is for.
    func forget(_ entry: ProtectedDevice.KeyCustodyEntry)
  }
}

extension ProtectedDevice {
  /// What a key in custody is for.
  public struct KeyCustodyEntry: Hashable, Sendable {
    /// The device's keybag, as 32 hexadecimal digits; new after every erase.
    public let keybag: String
    /// The class: `complete` and `completeUnlessOpen` are kept until a lock, the other until a reboot.
    public let protection: ProtectionClass

    init(_ keybag: KeybagIdentifier, _ protection: ProtectionClass) {
      self.keybag = hexadecimal(keybag.bytes)
      self.protection = protection
    }
  }
}
