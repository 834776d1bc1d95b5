import FoundationShim
public import StateRestoration

extension RestorationHarness {
  /// Waits until the program saves by itself, and lets the interval pass that it waits for.
  ///
  /// Change something first. Each look moves the device's clock by the interval of `preservesAutomatically`.
  ///
  /// - Returns: The receipt of the new save.
  /// - Throws: ``HarnessError`` when nothing is saved in ten seconds of real time.
  @discardableResult
  public func automaticSave() async throws(HarnessError) -> PreservationOutcome.Receipt {
    guard let coordinator, isRunning else { throw HarnessError("The program does not run.") }
    guard case .onChange(let interval) = coordinator.preservesAutomatically else {
      throw HarnessError("The program doesn't save by itself: set the coordinator's preservesAutomatically.")
    }
    let before = coordinator.lastReceipt
    let deadline = ContinuousClock.now.advanced(by: .seconds(10))
    while ContinuousClock.now < deadline {
      await device.advance(by: interval)
      if let receipt = coordinator.lastReceipt, receipt != before { return receipt }
      try? await Task.sleep(for: .milliseconds(1))
    }
    throw HarnessError("Nothing was saved by itself. Was the change announced, and does the delegate say yes?")
  }

  /// Makes a whole generation of the preserved state, so that the one before it becomes the fallback; the program ends.
  ///
  /// Small changes are appended to the newest generation, so a test of fallbacks needs two whole ones: preserve, call this,
  /// relaunch, change, and preserve again.
  ///
  /// - Throws: `ProtectionError` when the device is locked or nothing was preserved.
  public func makeWholeGeneration() async throws {
    killWithoutNotice()
    try await publish(try await readWhole())
  }

  /// Kills the program when it is about to make its n-th call of the file system, counted from the next one.
  ///
  /// What it does afterwards changes nothing on the disk. ``assertRestoresAtEveryKillPoint(_:from:to:sourceLocation:)`` tries
  /// every call of a save.
  public func kill(beforeCall number: Int) {
    guard let fileSystem = process?.fileSystem else { return }
    fileSystem.die(beforeCall: fileSystem.callCount + number)
  }

  /// A readable account of the preserved state without its values: identifiers, keys, kinds and sizes.
  ///
  /// - Throws: `ProtectionError` when it can't be read.
  package func redactedDump() async throws -> String {
    try await PreservedState(self).redacted
  }

  /// The preserved state as one archive without changes behind it, of all classes of protection.
  func readWhole() async throws -> Data {
    try await openPreserved().plaintext
  }
}
