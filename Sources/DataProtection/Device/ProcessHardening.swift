import Sealing

/// Keeps this process's memory from being written to core dumps or read by other processes of the same user.
///
/// Call it first thing in `main`, before any passcode is read:
///
/// ```swift
/// ProcessHardening.apply()
/// ```
///
/// Swift's own backtracer prints memory when a program crashes, and is chosen before `main`: run the program with
/// `SWIFT_BACKTRACE=enable=no`. Hibernation, the working memory of the passcode check, and whatever the program itself
/// has decrypted are not covered.
public enum ProcessHardening {
  /// Turns core dumps off for good, and shields the process from debuggers: other processes of the user can't read its
  /// memory, root still can.
  ///
  /// - Returns: Whether both could be done; a sandbox may forbid either.
  @discardableResult
  public static func apply() -> Bool {
    let outcome = Sealing.ProcessHardening.apply()
    return outcome.coreDumpsAreOff && outcome.isShieldedFromDebuggers
  }
}
