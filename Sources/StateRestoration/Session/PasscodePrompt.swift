internal import DataProtection

extension RestorationSession {
  /// What a lock screen says beside its question: whether the last passcode was wrong, and how long the user has to wait.
  public struct PasscodePrompt: Sendable, Hashable, CustomStringConvertible {
    /// Whether the last answer was not the passcode.
    public let isAfterWrongPasscode: Bool
    /// How long until a passcode is checked; zero when one is checked at once.
    ///
    /// One that comes earlier is not looked at: show the time, or ask only when it is over.
    public let delay: Duration

    /// The prompt in words: nothing, or what was wrong and how long to wait, with a space behind it.
    public var description: String {
      let wrong = isAfterWrongPasscode ? "Not right. " : ""
      // Never too short.
      let seconds = delay.components.seconds + (delay.components.attoseconds > 0 ? 1 : 0)
      return seconds > 0 ? "\(wrong)Wait \(seconds) s. " : wrong
    }
  }

  /// Asks for the passcode until it is right, unlocks the device and restores what waited for that.
  ///
  /// ```swift
  /// guard try await session.unlock(asking: { await ask("\($0)Passcode:") }) else { return }
  /// ```
  ///
  /// Asks nothing when the device is unlocked, and asks also while the grace period of a lock runs.
  ///
  /// - Parameter ask: Asks the user, on the main actor, and returns what they said; nil when they gave up.
  /// - Returns: Whether the device is unlocked; false after nil.
  /// - Throws: What the closure throws, and what keeps the device from being unlocked but a wrong passcode.
  @discardableResult
  public func unlock(asking ask: @MainActor (PasscodePrompt) async throws -> String?) async throws -> Bool {
    guard try await device.unlock(asking: ask) else { return false }
    await coordinator.finishLateRestoration()
    return true
  }
}

extension RestoredWindows {
  /// Asks for the passcode until it is right, and returns when every window has its state.
  ///
  /// ```swift
  /// guard try await windows.unlock(asking: { await ask("\($0)Passcode:") }) else { return }
  /// ```
  ///
  /// Asks nothing when the device is unlocked, and asks also while the grace period of a lock runs.
  ///
  /// - Parameter ask: Asks the user, on the main actor, and returns what they said; nil when they gave up.
  /// - Returns: Whether the device is unlocked; false after nil.
  /// - Throws: What the closure throws, what keeps the device from being unlocked but a wrong passcode, and what keeps a
  ///   window from being read, with the others there.
  @discardableResult
  public func unlock(
    asking ask: @MainActor (RestorationSession.PasscodePrompt) async throws -> String?
  ) async throws -> Bool {
    guard try await device.unlock(asking: ask) else { return false }
    try await finishUnlock()
    return true
  }
}

extension ProtectedDevice {
  /// Unlocks the device, with errors as those have them who want the state on it.
  func unlockForState(passcode text: String) async throws(RestorationError) {
    do throws(ProtectionError) {
      try await unlock(passcode: text)
    } catch {
      throw RestorationError(error, "The device can't be unlocked.")
    }
  }

  /// Unlocks the device on this thread, with errors as ``unlockForState(passcode:)`` has them.
  func unlockForStateNow(passcode text: String) throws(RestorationError) {
    do throws(ProtectionError) {
      try unlockNow(passcode: text)
    } catch {
      throw RestorationError(error, "The device can't be unlocked.")
    }
  }

  /// How long until a passcode is checked.
  private func delayForState() async throws(RestorationError) -> Duration {
    do throws(ProtectionError) {
      return try await remainingPasscodeDelay()
    } catch {
      throw RestorationError(error, "The device can't be unlocked.")
    }
  }

  /// Whether somebody has to say the passcode before the user sees anything.
  private var needsPasscode: Bool { hasPasscode && lockState != .unlocked }

  /// Asks for the passcode until it is right; false when nobody says it.
  @MainActor fileprivate func unlock(
    asking ask: @MainActor (RestorationSession.PasscodePrompt) async throws -> String?
  ) async throws -> Bool {
    var prompt = RestorationSession.PasscodePrompt(
      isAfterWrongPasscode: false, delay: needsPasscode ? try await delayForState() : .zero)
    while needsPasscode {
      let answer = try await ask(prompt)
      // Another process may have been given the passcode meanwhile.
      guard needsPasscode else { break }
      guard let answer else { return false }
      do throws(RestorationError) {
        try await unlockForState(passcode: answer)
      } catch {
        prompt = try await self.prompt(after: error, former: prompt)
      }
    }
    return true
  }

  /// What a lock screen says next; throws an error that no other answer mends.
  @MainActor private func prompt(
    after error: RestorationError, former: RestorationSession.PasscodePrompt
  ) async throws(RestorationError) -> RestorationSession.PasscodePrompt {
    switch error.code {
    case .wrongPasscode:
      let isWrong = (error.cause as? ProtectionError)?.code == .wrongPasscode || former.isAfterWrongPasscode
      if let delay = error.retryDelay { return .init(isAfterWrongPasscode: isWrong, delay: delay) }
      return .init(isAfterWrongPasscode: isWrong, delay: try await delayForState())
    case .locked:
      // Locked once more while the passcode was checked.
      return .init(isAfterWrongPasscode: false, delay: .zero)
    default: throw error
    }
  }
}
