import Synchronization

extension ProtectedDevice {
  /// Locks the device, as pressing the sleep button does.
  ///
  /// `protectedDataWillBecomeUnavailable` is posted at once and the state becomes `locking`. After the grace period
  /// (``ProtectedDevice/Options/gracePeriod``) new work with `complete` files is refused, sealing in flight is
  /// cancelled, the keys are wiped, and ``isProtectedDataAvailable`` becomes `false`. With a grace period of zero all
  /// of this has happened before the notification is posted. The keys wait for nobody: not for the disk, an observer, a
  /// custody, or a thread of Swift's concurrency. This call returns after the observers, and waits a second at most
  /// until the custody has forgotten its keys.
  ///
  /// Without a passcode nothing happens, unless one is being set: then the device locks once it has it. A lock during an
  /// operation with a passcode takes what that has in memory, and the operation throws `locked`.
  public func lock() { lock(gracePeriod: options.gracePeriod) }

  /// Locks the device with a grace period of this lock's own: zero before the machine sleeps, say.
  ///
  /// Does as ``lock()``. A lock whose grace period runs already keeps it; zero ends it at once.
  public func lock(gracePeriod: Duration) {
    let grace = gracePeriod.clampedForSleep
    let began: UInt64? = transition.take {
      let began: UInt64? = state.withLock { state in
        state.lockCount += 1
        state.lastGrace = grace
        guard state.hasPasscode else { return nil }
        // A lock that is announced already is only to be finished.
        if state.lockState == .locking, grace <= .zero { return state.lockingSince }
        guard state.lockState == .unlocked else { return nil }
        state.lockState = .locking
        state.lockingSince = state.lockCount
        announcer.enqueue(.protectedDataWillBecomeUnavailable)
        return state.lockCount
      }
      if began != nil, grace <= .zero { takeLockedKeys() }
      // What an operation has in memory goes with every lock, also if the keys are gone already.
      if lockState == .locked { takeOperationSecrets() }
      return began
    }
    guard let began else { return }
    if grace <= .zero {
      settleCustody()
    } else {
      graceTimer.start(grace) { [weak self] in self?.finishLock(began) }
    }
    announcer.deliver()
  }

  /// Wipes the keys of a lock that has not been undone.
  private func finishLock(_ began: UInt64) {
    let isDue = transition.take {
      let isDue = state.withLock { $0.lockState == .locking && $0.lockingSince == began }
      if isDue { takeLockedKeys() }
      return isDue
    }
    if isDue { settleCustody() }
  }

  /// Wipes what a lock takes, in the transition's turn.
  private func takeLockedKeys() {
    takeOperationSecrets()
    ring.wipe(keys: [.complete, .completeUnlessOpen], files: [.complete])
    state.withLock { state in
      state.lockState = .locked
      state.isAvailable = false
    }
  }

  /// Unlocks the device with what its custody has, after another process of the session was given the passcode, say.
  ///
  /// Does as an unlock does; blocks for as long as the custody does. A lock meanwhile wins, and takes what the custody
  /// has given so far.
  ///
  /// - Returns: Whether the device is unlocked now; false without a ``ProtectedDevice/Options/custody``, unless it was unlocked.
  @discardableResult
  public func unlockFromCustody() -> Bool {
    let (before, count) = state.withLock { ($0.lockState, $0.lockCount) }
    guard before == .locked, let custody = options.custody else { return before == .unlocked }
    let secrets = beginOperation()
    defer { endOperation(secrets) }
    custodyTurn.take {
      let found = ring.keys(in: custody, as: secrets)
      transition.take {
        guard state.withLock({ $0.lockState == .locked && $0.lockCount == count }), ring.install(found) == .unlocked
        else { return }
        secrets.forget()
        state.withLock { state in
          state.lockState = .unlocked
          state.isAvailable = true
        }
        announcer.enqueue(.protectedDataDidBecomeAvailable)
      }
    }
    announcer.deliver()
    return lockState == .unlocked
  }

  /// Forgets every class key but that of `none`, as a restart of the machine does.
  ///
  /// Open handles of all other classes lose their keys. Nobody survives a reboot to hear of it, so nothing is posted;
  /// the next unlock posts `protectedDataDidBecomeAvailable`. Without a passcode nothing happens.
  package func reboot() {
    let hasPasscode = transition.take {
      let hasPasscode = state.withLock { state in
        state.lockCount += 1
        return state.hasPasscode
      }
      guard hasPasscode else { return false }
      takeOperationSecrets()
      let classes: Set<ProtectionClass> = [.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication]
      ring.wipe(keys: classes, files: classes)
      state.withLock { state in
        state.lockState = .locked
        state.isAvailable = false
      }
      return true
    }
    if hasPasscode { settleCustody() }
  }

  /// Puts keys in after the right passcode, unless the device was locked since it was asked for.
  ///
  /// The notification is queued, not delivered.
  func install(
    _ keys: KeybagKeys, _ secrets: OperationSecrets, ifNotLockedSince count: UInt64?
  ) throws(ProtectionError) {
    try transition.take { () throws(ProtectionError) in
      guard count == nil || state.withLock({ $0.lockCount }) == count else {
        throw ProtectionError(.locked, "The device was locked while the passcode was checked; unlock it again.")
      }
      ring.install(keys)
      secrets.release(keys)
      state.withLock { state in
        let wasUnlocked = state.lockState == .unlocked
        state.lockState = .unlocked
        state.isAvailable = true
        if !wasUnlocked { announcer.enqueue(.protectedDataDidBecomeAvailable) }
      }
    }
    settleCustody()
  }

  /// Goes by the keybag of the first passcode; returns the grace period of a lock that came since a count of locks, if
  /// one did.
  func adoptFirst(_ opened: UnlockedKeybag, _ secrets: OperationSecrets, since count: UInt64) -> Duration? {
    transition.take {
      ring.adopt(opened.keybag.keybag)
      ring.install(opened.keys)
      secrets.release(opened.keys)
      return state.withLock { state in
        state.hasPasscode = true
        state.lockState = .unlocked
        state.isAvailable = true
        return state.lockCount == count ? nil : state.lastGrace
      }
    }
  }

  // MARK: Operations

  /// Has what an operation keeps in memory found by a lock.
  func beginOperation() -> OperationSecrets {
    let secrets = OperationSecrets()
    operations.withLock { $0.append(secrets) }
    return secrets
  }

  /// Ends an operation; whatever of its secrets is not the ring's goes.
  func endOperation(_ secrets: OperationSecrets) {
    operations.withLock { $0.removeAll { $0 === secrets } }
  }

  /// Takes what the operations in progress have in memory.
  func takeOperationSecrets() {
    for secrets in operations.withLock({ $0 }) { secrets.take() }
  }

  // MARK: Custody

  /// Gives the custody the keys that are in memory, and has it forget the others.
  ///
  /// On a thread of its own, and waited for only so long: a custody that hangs keeps nobody. The last run sees the last
  /// state.
  func settleCustody() {
    guard let custody = options.custody else { return }
    settler.run(within: options.custodyPatience) { [weak self, ring, custodyTurn] in
      custodyTurn.take {
        guard let keepsKeys = self?.hasPasscode else { return }
        ring.settle(custody, keepsKeys: keepsKeys)
      }
    }
  }
}

extension Duration {
  /// The duration, or ten years if it is longer: the system's clocks stop the program when they can't count to the end of a
  /// sleep, as `.seconds(Int64.max)` says for "never".
  package var clampedForSleep: Duration { min(self, .seconds(10 * 365 * 86_400)) }
}
