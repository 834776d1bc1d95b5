import Synchronization

extension ProtectedDevice {
  /// Locks the device, as pressing the sleep button does.
  ///
  /// `protectedDataWillBecomeUnavailable` is posted at once and the state becomes `locking`. After the grace period
  /// (``DeviceOptions/gracePeriod``) new work with `complete` files is refused, sealing in flight finishes, the keys
  /// are wiped, and ``isProtectedDataAvailable`` becomes `false`. Nothing waits for the disk. With a grace period of
  /// zero all of this has happened when this returns, unless it was called from inside a notification.
  ///
  /// Without a passcode nothing happens. A lock during the check of a passcode wins: that unlock throws `locked`.
  public func lock() {
    let grace = options.gracePeriod.clampedForSleep
    let began: UInt64? = transition.take {
      state.withLock { state in
        guard state.hasPasscode else { return nil }
        state.lockCount += 1
        guard state.lockState == .unlocked else { return nil }
        state.lockState = .locking
        state.lockingSince = state.lockCount
        announcer.enqueue([.post(.protectedDataWillBecomeUnavailable)])
        return state.lockCount
      }
    }
    guard let began else { return }
    if grace <= .zero {
      announcer.enqueue([.run { [weak self] in self?.finishLock(began) }])
    } else {
      let clock = environment.clock
      // Not a step of the queue: an observer that hangs must not keep the keys in memory.
      Task { [weak self] in
        try? await clock.sleep(for: grace)
        self?.finishLock(began)
      }
    }
    announcer.deliver()
  }

  /// Wipes the keys of a lock that has not been undone.
  private func finishLock(_ began: UInt64) {
    transition.take {
      let isDue = state.withLock { $0.lockState == .locking && $0.lockingSince == began }
      guard isDue else { return }
      ring.wipe(keys: [.complete, .completeUnlessOpen], files: [.complete])
      forgetCustody(of: [.complete, .completeUnlessOpen])
      state.withLock { state in
        state.lockState = .locked
        state.isAvailable = false
      }
    }
  }

  /// Forgets every class key but that of `none`, as a restart of the machine does.
  ///
  /// Open handles of all other classes lose their keys. Nobody survives a reboot to hear of it, so nothing is posted;
  /// the next unlock posts `protectedDataDidBecomeAvailable`. Without a passcode nothing happens.
  public func reboot() {
    transition.take {
      let hasPasscode = state.withLock { state in
        state.lockCount += 1
        return state.hasPasscode
      }
      guard hasPasscode else { return }
      let classes: Set<ProtectionClass> = [.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication]
      ring.wipe(keys: classes, files: classes)
      forgetCustody(of: classes)
      state.withLock { state in
        state.lockState = .locked
        state.isAvailable = false
      }
    }
  }

  /// Puts keys in after the right passcode, unless the device was locked since it was asked for.
  ///
  /// The notification is queued, not delivered.
  func install(_ keys: KeybagKeys, ifNotLockedSince count: UInt64?) throws(ProtectionError) {
    try transition.take { () throws(ProtectionError) in
      guard count == nil || state.withLock({ $0.lockCount }) == count else {
        throw ProtectionError(.locked, "The device was locked while the passcode was checked; unlock it again.")
      }
      ring.install(keys)
      keepCustody()
      state.withLock { state in
        let wasUnlocked = state.lockState == .unlocked
        state.lockState = .unlocked
        state.isAvailable = true
        if !wasUnlocked { announcer.enqueue([.post(.protectedDataDidBecomeAvailable)]) }
      }
    }
  }

  private func keepCustody() {
    guard let custody = options.custody, state.withLock({ $0.hasPasscode }) else { return }
    ring.giveKeys(to: custody)
  }

  func forgetCustody(of classes: Set<ProtectionClass>) {
    guard let custody = options.custody else { return }
    let keybag = ring.keybagIdentifier
    for protection in ProtectionClass.allCases where classes.contains(protection) {
      custody.forget(CustodyEntry(keybag, protection))
    }
  }
}

extension Duration {
  /// The duration, or ten years if it is longer: the system's clocks stop the program when they can't count to the end of a
  /// sleep, as `.seconds(Int64.max)` says for "never".
  package var clampedForSleep: Duration { min(self, .seconds(10 * 365 * 86_400)) }
}
