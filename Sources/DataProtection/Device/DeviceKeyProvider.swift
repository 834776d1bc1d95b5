extension ProtectedDevice {
  /// Where the device key is kept.
  ///
  /// The default keeps it in a file beside the keybag, which ties the data to the disk only. A program whose machine
  /// has a TPM, a secure element or an operating system keyring adopts this protocol to tie it to the machine.
  ///
  /// Both functions block, may come from any thread, and are never called by two threads at once for one device.
  public protocol KeyProvider: Sendable {
    /// The device's key.
    ///
    /// - Returns: The key, or `nil` only if none was ever made: a keyring that can't be reached must throw instead.
    /// - Throws: Whatever keeps the key out of reach. The device is not opened then, and nothing on disk changes.
    func loadKey() throws(ProtectionError) -> ProtectedDevice.Key?

    /// Makes a new random key and keeps it.
    ///
    /// Called only when nothing sealed exists. The key must survive a power cut when this returns, and an existing key
    /// must never be replaced.
    ///
    /// - Returns: The key.
    /// - Throws: `alreadyExists` when there is one, or whatever kept it from being made.
    func makeKey() throws(ProtectionError) -> ProtectedDevice.Key
  }
}
