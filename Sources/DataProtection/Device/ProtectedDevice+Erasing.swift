import Sealing
import Synchronization

extension ProtectedDevice {
  /// Erases everything: keys first, so that nothing sealed can ever be read again, then files and records.
  ///
  /// Afterwards the device is as new: without a passcode, unlocked, with another keybag, and with another device key
  /// unless a ``ProtectedDevice/Options/keyProvider`` keeps it. Interrupted after the keys were destroyed, opening it
  /// throws
  /// `keysMissing` until it is erased again.
  ///
  /// - Throws: `busy` or `io`. If a key could not be destroyed, the files are still there, though perhaps without their
  ///   keys; erase again.
  @concurrent
  public func eraseAllContent() async throws(ProtectionError) {
    await gate.enter()
    defer { gate.leave() }
    if try !directory.isCurrent() { try reopenDirectory() }
    try directory.clearLocks()
    try directory.withLock { () throws(ProtectionError) in try eraseUnderLock() }
    announcer.deliver()
  }

  /// Erases a device that can't be opened, or that nobody wants to open; it is made anew when it is opened next.
  ///
  /// - Parameters:
  ///   - location: Where it is.
  ///   - options: How it would be opened.
  /// - Throws: `busy`, `io` or `unsafeLocation`.
  @concurrent
  public static func eraseAllContent(
    at location: ProtectedDevice.Location, options: ProtectedDevice.Options = ProtectedDevice.Options()
  ) async throws(ProtectionError) {
    try await eraseAllContent(at: location, options: options, environment: .system)
  }

  /// Erases a device in an environment of the caller's.
  @concurrent
  package static func eraseAllContent(
    at location: ProtectedDevice.Location, options: ProtectedDevice.Options = ProtectedDevice.Options(),
    environment: DeviceEnvironment
  ) async throws(ProtectionError) {
    let directory = try DeviceDirectory.open(
      try location.path(variables: environment.variables), environment.fileSystem, options: options,
      isInHome: location.isInHome)
    guard directory.owned != nil else { return }
    try directory.clearLocks()
    try directory.withLock { () throws(ProtectionError) in
      let storage = KeybagStorage(directory, environment)
      try storage.destroyKeys()
      if options.keyProvider == nil { try DeviceKeyFile(directory, environment).destroy() }
      try directory.removeContent()
      try storage.removeKeybags()
    }
  }

  /// Erases under the directory's lock, and begins anew.
  func eraseUnderLock() throws(ProtectionError) {
    let storage = KeybagStorage(directory, environment)
    try storage.destroyKeys()
    if options.keyProvider == nil { try DeviceKeyFile(directory, environment).destroy() }
    let all = Set(ProtectionClass.allCases)
    transition.take {
      ring.wipe(keys: all, files: all)
      state.withLock { state in
        state.lockCount += 1
        state.lockState = .locked
        state.isAvailable = false
      }
    }
    settleCustody()
    stores.forget()
    wrongPasscodes.removeAll()
    try directory.removeContent()
    let deviceKey: ProtectedDevice.Key
    if let known = try provider.loadKey() { deviceKey = known } else { deviceKey = try provider.makeKey() }
    try goOn(with: try Self.makeKeybag(storage, deviceKey, environment), deviceKey)
  }
}
