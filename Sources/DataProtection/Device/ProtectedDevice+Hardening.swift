import Sealing

extension ProtectedDevice {
  /// Keeps this process's memory from being written to core dumps or read by other processes of the same user.
  ///
  /// Call it first thing in `main`, before any passcode is read:
  ///
  /// ```swift
  /// ProtectedDevice.hardenProcess()
  /// ```
  ///
  /// Core dumps are off for good, and debuggers of the same user can't read the memory; root still can. Swift's own backtracer
  /// prints memory when a program crashes, and is chosen before `main`: run the program with `SWIFT_BACKTRACE=enable=no`.
  /// Hibernation, the working memory of the passcode check, and whatever the program itself has decrypted are not covered.
  ///
  /// - Returns: Whether both could be done; a sandbox may forbid either.
  @discardableResult
  public static func hardenProcess() -> Bool {
    let outcome = ProcessHardening.apply()
    return outcome.coreDumpsAreOff && outcome.isShieldedFromDebuggers
  }
}
