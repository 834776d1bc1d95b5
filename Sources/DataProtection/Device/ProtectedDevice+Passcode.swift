import Sealing
import Synchronization

extension ProtectedDevice {
  // MARK: Unlocking

  /// Unlocks the device.
  ///
  /// The keys come in, ``isProtectedDataAvailable`` becomes `true`, then `protectedDataDidBecomeAvailable` is posted.
  /// An unlock during the grace period of a lock undoes the lock, and posts the same. On a device that is unlocked the
  /// passcode is checked and nothing else happens; without a passcode any is right.
  ///
  /// - Parameter passcode: The passcode.
  /// - Throws: `wrongPasscode`, with the delay until the next is checked; `passcodeDelayed` when it came too soon and
  ///   was not looked at; `locked` when the device was locked meanwhile; `busy`, `io`, `corrupt`, `keysMissing`. The
  ///   same wrong passcode counts once.
  @concurrent
  public func unlock(passcode: consuming ProtectedDevice.Passcode) async throws(ProtectionError) {
    await gate.enter()
    defer { gate.leave() }
    try unlockInTurn(passcode)
  }

  /// Unlocks the device on the calling thread, which it blocks while the passcode is checked; see
  /// ``unlock(passcode:)-(ProtectedDevice.Passcode)``.
  ///
  /// For a program whose main thread belongs to a loop that isn't Swift's, as are the other calls that end in `Now`. A passcode
  /// takes about half a second to check; another operation that is on its way is waited for.
  public func unlockNow(passcode: consuming ProtectedDevice.Passcode) throws(ProtectionError) {
    gate.enterNow()
    defer { gate.leave() }
    try unlockInTurn(passcode)
  }

  private func unlockInTurn(_ passcode: consuming ProtectedDevice.Passcode) throws(ProtectionError) {
    let secrets = beginOperation()
    defer { endOperation(secrets) }
    let count = state.withLock { $0.lockCount }
    let opened = try withKeys(passcode, secrets)
    // Without a passcode nothing locks.
    try install(opened.keys, secrets, ifNotLockedSince: opened.keybag.keybag.hasPasscode ? count : nil)
    announcer.deliver()
    if opened.keybag.keybag.hasRetiredKeys {
      // What the first passcode left to do; it goes on at the next unlock if it can't be done now.
      try? finishResealing(opened, secrets)
    }
  }

  /// Unlocks the device with a passcode that was read as text, as a lock screen's field gives it.
  ///
  /// The bytes that this copies are wiped; those of the text itself are not, because nobody can wipe a `String`. A program
  /// that reads the passcode into memory of its own makes a ``ProtectedDevice/Passcode`` of it.
  ///
  /// - Parameter text: The passcode.
  /// - Throws: As ``unlock(passcode:)-(ProtectedDevice.Passcode)``. A text that is empty or longer than 1024 bytes is no passcode: it is
  ///   `wrongPasscode`, and does not count; `invalidArgument` on a device without a passcode.
  @concurrent
  public func unlock(passcode text: String) async throws(ProtectionError) {
    try await unlock(passcode: try passcode(text))
  }

  /// Unlocks the device on the calling thread with a passcode that was read as text; see ``unlock(passcode:)-(String)``.
  public func unlockNow(passcode text: String) throws(ProtectionError) {
    try unlockNow(passcode: try passcode(text))
  }

  /// A passcode out of a text; one that can't be any is a wrong one.
  private func passcode(_ text: String) throws(ProtectionError) -> ProtectedDevice.Passcode {
    guard ProtectedDevice.Passcode.lengths.contains(text.utf8.count) || !hasPasscode else {
      throw .wrongPasscode(retryDelay: .zero)
    }
    return try ProtectedDevice.Passcode(text)
  }

  /// How long to wait until a passcode is checked; zero when none has to.
  ///
  /// - Returns: The delay, which runs only while the machine does, and in full again after a restart.
  /// - Throws: `busy`, `io` or what else keeps the device's records from being read.
  @concurrent
  public func remainingPasscodeDelay() async throws(ProtectionError) -> Duration {
    guard hasPasscode else { return .zero }
    await gate.enter()
    defer { gate.leave() }
    let secrets = beginOperation()
    defer { endOperation(secrets) }
    return try directory.withLock { () throws(ProtectionError) in
      let deviceKey = try loadDeviceKey(secrets)
      return try attempts(deviceKey).remainingDelay()
    }
  }

  // MARK: Changing

  /// Gives the device its first passcode.
  ///
  /// New class keys are made and everything is sealed anew under them, because the old keys were never protected by a
  /// passcode. The device stays unlocked, unless it was locked since the call: then it locks as soon as it has the
  /// passcode. Interrupted, the sealing goes on at the next unlock.
  ///
  /// - Parameter passcode: The new passcode.
  /// - Throws: `passcodeAlreadySet`; `busy` when another program has the device open, or when files from before several
  ///   earlier passcodes still couldn't be sealed anew; `durabilityUnknown` when there is none until a power cut, which
  ///   may bring it. After any other error there is none.
  @concurrent
  public func setPasscode(_ passcode: consuming ProtectedDevice.Passcode) async throws(ProtectionError) {
    let count = state.withLock { $0.lockCount }
    await gate.enter()
    defer { gate.leave() }
    try setInTurn(passcode, since: count)
  }

  /// Gives the device its first passcode on the calling thread, which it blocks meanwhile; see ``setPasscode(_:)``.
  ///
  /// That takes half a second or more: what is stored is sealed anew.
  public func setPasscodeNow(_ passcode: consuming ProtectedDevice.Passcode) throws(ProtectionError) {
    let count = state.withLock { $0.lockCount }
    gate.enterNow()
    defer { gate.leave() }
    try setInTurn(passcode, since: count)
  }

  private func setInTurn(
    _ passcode: consuming ProtectedDevice.Passcode, since count: UInt64
  ) throws(ProtectionError) {
    let secrets = beginOperation()
    defer { endOperation(secrets) }
    secrets.add(passcode.secret)
    try makeAgain(isAlone: true)
    let stretched = try stretch(passcode, secrets)
    let opened = try directory.withoutOthers { () throws(ProtectionError) in
      try directory.withLock { () throws(ProtectionError) in
        let deviceKey = try loadDeviceKey(secrets)
        let keybag = try loadKeybag(deviceKey, secrets)
        guard !keybag.keybag.hasPasscode else {
          throw ProtectionError(.passcodeAlreadySet, "The device has a passcode already; change it instead.")
        }
        let renewed = try KeybagKeys.renewing(
          [.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication],
          of: try keybag.keysWithoutPasscode(), random: environment.random)
        secrets.add(renewed)
        guard renewed.retiredCount <= KeybagCodec.retiredLimit else {
          throw ProtectionError(
            .busy,
            "Files from before earlier passcodes still wait to be sealed anew; take over what was saved while locked, "
              + "close other programs, unlock, and try again.")
        }
        // Before the passcode counts: a missing record would count as many wrong ones.
        try attempts(deviceKey).reset()
        return try commit(renewed, stretched, replacing: keybag, deviceKey, secrets)
      }
    }
    let grace = adoptFirst(opened, secrets, since: count)
    stores.noteRevision()
    settleCustody()
    if let grace { lock(gracePeriod: grace) }
    try? finishResealing(opened, secrets)
  }

  /// Replaces the passcode; no file changes.
  ///
  /// The lock state stays as it is. The old passcode opens nothing any more, unless an old copy of the device's
  /// directory survives somewhere.
  ///
  /// - Parameters:
  ///   - old: The passcode until now; a wrong one counts as for `unlock(passcode:)`.
  ///   - new: The passcode from now on.
  /// - Throws: `passcodeNotSet`; as `unlock(passcode:)`, `locked` for a lock before the change was written as well;
  ///   `durabilityUnknown` when the old one works until a power cut, and it is not known which of the two after it:
  ///   exactly one does. After any other error the old one does.
  @concurrent
  public func changePasscode(
    from old: consuming ProtectedDevice.Passcode, to new: consuming ProtectedDevice.Passcode
  ) async throws(ProtectionError) {
    await gate.enter()
    defer { gate.leave() }
    try changeInTurn(old, new)
  }

  /// Replaces the passcode on the calling thread, which it blocks for about a second; see ``changePasscode(from:to:)``.
  public func changePasscodeNow(
    from old: consuming ProtectedDevice.Passcode, to new: consuming ProtectedDevice.Passcode
  ) throws(ProtectionError) {
    gate.enterNow()
    defer { gate.leave() }
    try changeInTurn(old, new)
  }

  private func changeInTurn(
    _ old: consuming ProtectedDevice.Passcode, _ new: consuming ProtectedDevice.Passcode
  ) throws(ProtectionError) {
    try requirePasscode()
    let secrets = beginOperation()
    defer { endOperation(secrets) }
    secrets.add(new.secret)
    let opened = try withKeys(old, secrets)
    adopt(try rewrap(opened, new, secrets))
  }

  /// Takes the passcode away: nothing locks any more.
  ///
  /// No file changes, and the device is unlocked.
  ///
  /// - Parameter passcode: The passcode until now; a wrong one counts as for `unlock(passcode:)`.
  /// - Throws: `passcodeNotSet`; as `unlock(passcode:)`, `locked` for a lock before the change was written as well;
  ///   `durabilityUnknown` when it is still there and a power cut may take it away. After any other error it is still
  ///   there.
  @concurrent
  public func removePasscode(_ passcode: consuming ProtectedDevice.Passcode) async throws(ProtectionError) {
    await gate.enter()
    defer { gate.leave() }
    try removeInTurn(passcode)
  }

  /// Takes the passcode away on the calling thread, which it blocks for about half a second; see ``removePasscode(_:)``.
  public func removePasscodeNow(_ passcode: consuming ProtectedDevice.Passcode) throws(ProtectionError) {
    gate.enterNow()
    defer { gate.leave() }
    try removeInTurn(passcode)
  }

  private func removeInTurn(_ passcode: consuming ProtectedDevice.Passcode) throws(ProtectionError) {
    try requirePasscode()
    let secrets = beginOperation()
    defer { endOperation(secrets) }
    let opened = try withKeys(passcode, secrets)
    let changed = try rewrap(opened, nil, secrets)
    adopt(changed)
    // From here on nothing locks; a lock that came before has taken the keys.
    var keys = changed.keys
    if keys.lockable.contains(where: \.isTaken) {
      keys = try directory.withLock { () throws(ProtectionError) in
        let anew = OperationSecrets()
        return try loadKeybag(try loadDeviceKey(anew), anew).keysWithoutPasscode()
      }
    }
    try install(keys, secrets, ifNotLockedSince: nil)
    announcer.deliver()
  }

  private func requirePasscode() throws(ProtectionError) {
    guard hasPasscode else {
      throw ProtectionError(.passcodeNotSet, "The device has no passcode; set one first.")
    }
  }
}
