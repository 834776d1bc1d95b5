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
  /// What could be done.
  public struct Outcome: Hashable, Sendable {
    /// Core dumps are off for good.
    public let coreDumpsAreOff: Bool
    /// Other processes of the user can't read this one's memory; root still can.
    public let isShieldedFromDebuggers: Bool
  }

  /// Turns core dumps off and shields the process from debuggers.
  ///
  /// - Returns: What could be done; a sandbox may forbid either.
  @discardableResult
  public static func apply() -> Outcome {
    let outcome = Sealing.ProcessHardening.apply()
    return Outcome(
      coreDumpsAreOff: outcome.coreDumpsAreOff, isShieldedFromDebuggers: outcome.isShieldedFromDebuggers)
  }
}
