import Sealing
import Synchronization

/// A keybag with its keys unwrapped, and what scrypt made of the passcode: for the length of one operation.
struct UnlockedKeybag: Sendable {
  let keybag: OpenKeybag
  let keys: KeybagKeys
  let stretched: StretchedPasscode
}

extension ProtectedDevice {
  /// Checks a passcode against the keybag on disk, counting it, and unwraps the keys.
  func withKeys(
    _ passcode: borrowing ProtectedDevice.Passcode, _ secrets: OperationSecrets
  ) throws(ProtectionError) -> UnlockedKeybag {
    secrets.add(passcode.secret)
    try makeAgain(isAlone: true)
    var outcome: Result<UnlockedKeybag, ProtectionError>?
    try directory.withLock { () throws(ProtectionError) in
      let deviceKey = try loadDeviceKey(secrets)
      let keybag = try loadKeybag(deviceKey, secrets)
      noteRevision(keybag)
      guard let profile = keybag.keybag.derivation else {
        let stretched = try StretchedPasscode(noneWithSalt: keybag.keybag.salt)
        let keys = try keybag.keysWithoutPasscode()
        secrets.add(keys)
        outcome = .success(UnlockedKeybag(keybag: keybag, keys: keys, stretched: stretched))
        return
      }
      let log = try attempts(deviceKey)
      // The same wrong passcode again: nothing new to learn, nothing to count.
      guard try !wrongPasscodes.contains(passcode) else {
        outcome = .failure(.wrongPasscode(retryDelay: try log.remainingDelay()))
        return
      }
      let record = try log.begin()
      let stretched = try StretchedPasscode(passcode, salt: keybag.keybag.salt, profile: profile)
      secrets.add(stretched.secret)
      guard try keybag.isRight(stretched) else {
        try wrongPasscodes.insert(passcode)
        let wrong = log.fail(record)
        if options.erasesAfterTenWrongPasscodes, wrong >= AttemptRecord.eraseLimit {
          try eraseUnderLock()
          outcome = .failure(
            ProtectionError(.wrongPasscode, "Ten wrong passcodes in a row: the device has erased its content."))
          return
        }
        outcome = .failure(.wrongPasscode(retryDelay: AttemptRecord.delay(afterAttempts: record.started)))
        return
      }
      let keys = try keybag.keys(stretched)
      secrets.add(keys)
      // If this fails, the attempt stays counted; it must not keep the user out.
      try? log.reset()
      outcome = .success(UnlockedKeybag(keybag: keybag, keys: keys, stretched: stretched))
    }
    return try outcome!.get()
  }

  /// Writes a keybag with the same class keys under another passcode, or none.
  func rewrap(
    _ opened: UnlockedKeybag, _ passcode: consuming ProtectedDevice.Passcode?, _ secrets: OperationSecrets
  ) throws(ProtectionError) -> UnlockedKeybag {
    let stretched = try stretch(passcode, secrets)
    return try directory.withLock { () throws(ProtectionError) in
      let deviceKey = try loadDeviceKey(secrets)
      return try commit(
        opened.keys, stretched, replacing: try unchanged(opened.keybag, deviceKey, secrets), deviceKey, secrets)
    }
  }

  /// Writes the next revision of a keybag, which voids the record of wrong passcodes.
  func commit(
    _ keys: KeybagKeys, _ stretched: StretchedPasscode, replacing keybag: OpenKeybag,
    _ deviceKey: borrowing ProtectedDevice.Key, _ secrets: OperationSecrets
  ) throws(ProtectionError) -> UnlockedKeybag {
    defer { wrongPasscodes.removeAll() }
    let storage = KeybagStorage(directory, environment, secrets)
    let committed = try storage.commit(
      keys, identifier: keybag.keybag.identifier, revision: try storage.unusedRevision(after: keybag.keybag.revision),
      isForTests: environment.scrypt.isForTests, stretched: stretched, deviceKey: deviceKey)
    return UnlockedKeybag(keybag: committed, keys: keys, stretched: stretched)
  }

  /// What scrypt makes of a new passcode, under a new salt; half a second, so not under the device's lock.
  func stretch(
    _ passcode: consuming ProtectedDevice.Passcode?, _ secrets: OperationSecrets
  ) throws(ProtectionError) -> StretchedPasscode {
    let salt = try Self.makeSalt(environment.random)
    guard let passcode else { return try StretchedPasscode(noneWithSalt: salt) }
    let stretched = try StretchedPasscode(passcode, salt: salt, profile: environment.scrypt)
    secrets.add(stretched.secret)
    return stretched
  }

  /// Goes by a new keybag from here on, whose keys are in the ring or are not.
  func adopt(_ opened: UnlockedKeybag) {
    transition.take {
      ring.adopt(opened.keybag.keybag)
      state.withLock { $0.hasPasscode = opened.keybag.keybag.hasPasscode }
    }
    stores.noteRevision()
  }

  /// Seals everything anew that is still under keys from before the first passcode, then drops those keys.
  func finishResealing(_ opened: UnlockedKeybag, _ secrets: OperationSecrets) throws(ProtectionError) {
    // A file that can't be sealed anew now keeps the old keys in the keybag; the next unlock tries again.
    guard try stores.reseal() else { return }
    var keys = opened.keys
    keys.dropRetired()
    let clean = keys
    let done = try directory.withoutOthers { () throws(ProtectionError) in
      try directory.withLock { () throws(ProtectionError) in
        let deviceKey = try loadDeviceKey(secrets)
        return try commit(
          clean, opened.stretched, replacing: try unchanged(opened.keybag, deviceKey, secrets), deviceKey, secrets)
      }
    }
    transition.take { ring.dropRetired(done.keybag.keybag) }
    stores.noteRevision()
  }

  // MARK: Under the directory's lock

  func loadDeviceKey(_ secrets: OperationSecrets) throws(ProtectionError) -> ProtectedDevice.Key {
    guard let key = try provider.loadKey() else {
      throw ProtectionError(.keysMissing, "The device key is gone; put it back, or erase the device.")
    }
    secrets.add(key.secret)
    return key
  }

  func loadKeybag(
    _ deviceKey: borrowing ProtectedDevice.Key, _ secrets: OperationSecrets
  ) throws(ProtectionError) -> OpenKeybag {
    guard let keybag = try KeybagStorage(directory, environment, secrets).load(deviceKey) else {
      throw ProtectionError(.keysMissing, "The keybag is gone; put it back, or erase the device.")
    }
    guard keybag.keybag.identifier == ring.keybagIdentifier else {
      throw ProtectionError(
        .otherDevice, "Another program has erased this device meanwhile; open it again.")
    }
    return keybag
  }

  func attempts(_ deviceKey: borrowing ProtectedDevice.Key) throws(ProtectionError) -> AttemptLog {
    try AttemptLog(
      directory, keybag: ring.keybagIdentifier, deviceKey: deviceKey, clock: environment.bootClock)
  }

  /// The keybag on disk, which must be the one that was opened; `.superseded` when another program was faster.
  private func unchanged(
    _ opened: OpenKeybag, _ deviceKey: borrowing ProtectedDevice.Key, _ secrets: OperationSecrets
  ) throws(ProtectionError) -> OpenKeybag {
    let keybag = try loadKeybag(deviceKey, secrets)
    guard keybag.keybag.revision == opened.keybag.revision else {
      throw ProtectionError(.superseded, "Another program has changed the passcode meanwhile; try again with that.")
    }
    return keybag
  }

  /// Another program may have changed the passcode, or set the first or removed the last one.
  private func noteRevision(_ keybag: OpenKeybag) {
    guard keybag.keybag.revision != ring.keybagRevision else { return }
    wrongPasscodes.removeAll()
    transition.take {
      ring.adopt(keybag.keybag)
      state.withLock { $0.hasPasscode = keybag.keybag.hasPasscode }
    }
  }
}

extension ProtectionError {
  /// The refusal of a passcode that isn't the device's.
  static func wrongPasscode(retryDelay: Duration) -> ProtectionError {
    let seconds = retryDelay.components.seconds
    return ProtectionError(
      .wrongPasscode,
      retryDelay > .zero
        ? "The passcode is wrong; the next one is checked in \(seconds) seconds." : "The passcode is wrong.",
      retryDelay: retryDelay)
  }
}
