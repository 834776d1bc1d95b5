extension ProtectedDevice {
  /// Whether a device gives its protected data out.
  public enum LockState: Hashable, Sendable {
    /// Everything can be read and written.
    case unlocked
    /// A lock was asked for and its grace period runs: everything still can be read and written, to finish work.
    case locking
    /// The keys are gone from memory.
    case locked
  }
}
