import FileSystem
import Sealing
import Synchronization

extension ProtectedDevice {
  /// Whether the device's directory has its keys; false as long as nothing can be written in its place.
  package var isMade: Bool { state.withLock { $0.isMade } }

  /// Opens the device's directory as its path has it now, and makes it, with new keys, where it is gone or could not be
  /// made before; nothing happens if it is the open one.
  ///
  /// What was in it is gone with its keys. Keys that a passcode protects are not made anew without it: nothing may be saved
  /// unprotected that the user has given a passcode.
  ///
  /// Throws `.keysMissing` then, `.otherDevice` if a device with a passcode stands in its place, `.busy` while the passcode
  /// changes, and what keeps it from being made.
  ///
  /// - Parameter isAlone: Whether the caller has the gate.
  @discardableResult
  func makeAgain(isAlone: Bool = false) throws(ProtectionError) -> OwnedDescriptor {
    try making.take { () throws(ProtectionError) in
      let isCurrent = try directory.isCurrent()
      if isMade, isCurrent, let owned = directory.owned { return owned }
      guard isAlone || gate.tryEnter() else {
        throw ProtectionError(.busy, "The keys of the device are changed just now; try again when that is done.")
      }
      defer { if !isAlone { gate.leave() } }
      try requireNoPasscode()
      if !isCurrent {
        // Until the keys of the one that is there now are found, or made.
        state.withLock { $0.isMade = false }
        try reopenDirectory()
      }
      let secrets = beginOperation()
      defer { endOperation(secrets) }
      try directory.withLock { () throws(ProtectionError) in try adoptKeysOnDisk(secrets) }
      guard let owned = directory.owned else { throw .notMade }
      return owned
    }
  }

  /// Refuses to make a directory in the place of one whose keys a passcode protects.
  private func requireNoPasscode() throws(ProtectionError) {
    guard hasPasscode else { return }
    let isGone = try attempt("look for the device's directory") { () throws(FileSystemError) in
      try environment.fileSystem.statusIfAny(atPath: directory.path) == nil
    }
    if isGone { throw .removedWithPasscode }
  }

  /// Opens the directory that the path means now, for all that use it.
  func reopenDirectory() throws(ProtectionError) {
    try directory.reopen()
    try directory.joinSession()
    stores.forgetFiles()
  }

  /// Goes on under the keys that the directory has, or under new ones if it has none.
  private func adoptKeysOnDisk(_ secrets: OperationSecrets) throws(ProtectionError) {
    let storage = KeybagStorage(directory, environment, secrets)
    if let deviceKey = try provider.loadKey(), let keybag = try storage.load(deviceKey) {
      if keybag.keybag.identifier == ring.keybagIdentifier { return state.withLock { $0.isMade = true } }
      guard !hasPasscode, !keybag.keybag.hasPasscode else {
        throw ProtectionError(
          .otherDevice, "Another device stands in the place of the one that was opened; start the program again.")
      }
      try goOn(with: keybag, deviceKey)
    } else {
      guard !hasPasscode else { throw .removedWithPasscode }
      let deviceKey = try Self.loadOrMakeKey(provider, directory)
      try goOn(with: try Self.loadOrMakeKeybag(storage, deviceKey, environment), deviceKey)
    }
  }

  /// Takes another keybag's keys, which needs no passcode.
  func goOn(with keybag: OpenKeybag, _ deviceKey: borrowing ProtectedDevice.Key) throws(ProtectionError) {
    let keys = try keybag.keysWithoutPasscode()
    // The device key may be another one than at the opening: nothing may go on under keys derived from that one.
    let storageKeys = try StorageKeys(deviceKey)
    transition.take {
      ring.adopt(storageKeys)
      ring.adopt(keybag.keybag)
      ring.install(keys)
      state.withLock { state in
        state.lockState = .unlocked
        state.isAvailable = true
        state.hasPasscode = false
        state.isMade = true
      }
    }
  }
}

extension ProtectionError {
  fileprivate static let removedWithPasscode = ProtectionError(
    .keysMissing,
    "The device's directory was removed while the program runs, and with it the keys that its passcode protects: nothing "
      + "can be saved. Erase the device and set the passcode anew, or start the program again.")
}
