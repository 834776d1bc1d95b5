extension ProtectedDevice {
  /// What a device tells those who use its protected data.
  public enum Notification: Hashable, Sendable {
    /// A lock begins. Until the grace period ends, protected files can still be read and written.
    case protectedDataWillBecomeUnavailable
    /// The device is unlocked: ``ProtectedDevice/isProtectedDataAvailable`` is `true` again.
    case protectedDataDidBecomeAvailable
  }
}
