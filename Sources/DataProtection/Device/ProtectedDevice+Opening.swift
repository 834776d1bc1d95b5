import Sealing

extension ProtectedDevice {
  /// Opens the device in a directory, or makes it when nothing is there.
  ///
  /// An interrupted change of the passcode is finished. With a passcode the device opens locked, as after a reboot;
  /// without one it opens unlocked and takes no time. Where nothing is and nothing can be made, as the disk is full or the
  /// volume read-only, the device opens empty; it is made with the first save that finds room.
  ///
  /// - Parameters:
  ///   - location: Where it is; the directory is made if need be, for this user alone.
  ///   - options: How it behaves.
  /// - Returns: The device.
  /// - Throws: `keysMissing` when sealed data is there without its keys: nothing is made anew over it, and only
  ///   ``eraseAllContent(at:options:)`` goes on. `otherDevice` when the device key is another one. `corrupt`,
  ///   `unsupportedVersion`, `unsafeLocation`, `busy` and `io` as they say. Nothing sealed is changed in any case.
  @concurrent
  public static func open(
    at location: ProtectedDevice.Location, options: ProtectedDevice.Options = ProtectedDevice.Options()
  ) async throws(ProtectionError) -> ProtectedDevice {
    try await open(at: location, options: options, environment: .system)
  }

  /// Opens a device in an environment of the caller's.
  @concurrent
  package static func open(
    at location: ProtectedDevice.Location, options: ProtectedDevice.Options = ProtectedDevice.Options(),
    environment: DeviceEnvironment
  ) async throws(ProtectionError) -> ProtectedDevice {
    try openNow(at: location, options: options, environment: environment)
  }

  /// Opens a device on the calling thread, which waits for the disk.
  package static func openNow(
    at location: ProtectedDevice.Location, options: ProtectedDevice.Options = ProtectedDevice.Options(),
    environment: DeviceEnvironment = .system
  ) throws(ProtectionError) -> ProtectedDevice {
    let directory = try DeviceDirectory.open(
      try location.path(variables: environment.variables), environment.fileSystem, options: options,
      isInHome: location.isInHome)
    try directory.joinSession()
    let provider = options.keyProvider ?? DeviceKeyFile(directory, environment)
    guard directory.owned != nil else {
      return try openUnmade(directory, provider, options: options, environment: environment)
    }
    let storage = KeybagStorage(directory, environment)
    // Nearly always everything is in order: then nobody waits for another process, and nothing is written.
    if let deviceKey = try provider.loadKey(), let keybag = storage.loadUnlocked(deviceKey) {
      return try open(directory, provider, keybag, deviceKey, options: options, environment: environment)
    }
    do throws(ProtectionError) {
      return try directory.withLock { () throws(ProtectionError) in
        let deviceKey = try loadOrMakeKey(provider, directory)
        let keybag = try loadOrMakeKeybag(storage, deviceKey, environment)
        return try open(directory, provider, keybag, deviceKey, options: options, environment: environment)
      }
    } catch {
      guard error.isScarceRoom, try directory.isUnused() else { throw error }
      return try openUnmade(directory, provider, options: options, environment: environment)
    }
  }

  /// Opens a device that can't be made yet: with keys of its own in memory, under which nothing is ever written.
  private static func openUnmade(
    _ directory: DeviceDirectory, _ provider: any ProtectedDevice.KeyProvider, options: ProtectedDevice.Options,
    environment: DeviceEnvironment
  ) throws(ProtectionError) -> ProtectedDevice {
    let deviceKey = try sealing("make a device key") { () throws(SealingError) in
      ProtectedDevice.Key(try SecretKey(from: environment.random))
    }
    let storage = KeybagStorage(directory, environment)
    let keybag = try newKeybag(environment) { (keys, identifier, stretched) throws(ProtectionError) in
      try storage.make(
        keys, identifier: identifier, revision: 1, isForTests: environment.scrypt.isForTests, stretched: stretched,
        deviceKey: deviceKey
      ).keybag
    }
    return try open(
      directory, provider, keybag, deviceKey, isMade: false, options: options, environment: environment)
  }

  private static func open(
    _ directory: DeviceDirectory, _ provider: any ProtectedDevice.KeyProvider, _ keybag: OpenKeybag,
    _ deviceKey: borrowing ProtectedDevice.Key, isMade: Bool = true, options: ProtectedDevice.Options,
    environment: DeviceEnvironment
  ) throws(ProtectionError) -> ProtectedDevice {
    let storage = KeybagStorage(directory, environment)
    let storageKeys = try StorageKeys(deviceKey)
    let ring = KeyRing(
      keybag: keybag.keybag.identifier, revision: keybag.keybag.revision, storageKeys: storageKeys,
      bootIdentifier: environment.bootClock.bootIdentifier, random: environment.random
    ) { keybag, keys throws(ProtectionError) in
      try storage.newestRevision(of: keybag, code: keys.effaceable)
    }
    ring.adopt(keybag.keybag)
    let none = try keybag.alwaysAvailableKey()
    ring.slot(.none).install(active: none, retired: [])
    var state = State(lockState: .unlocked, isAvailable: true, hasPasscode: keybag.keybag.hasPasscode)
    state.isMade = isMade
    if keybag.keybag.hasPasscode {
      state.lockState = options.custody.map { ring.takeKeys(from: $0) } ?? .locked
      state.isAvailable = state.lockState == .unlocked
      if !state.isAvailable {
        // Brings the record up to this start of the machine, so that delays run from now. If it can't be written (the
        // disk is full, or read-only) they run from the first passcode on, which is refused until it can.
        let log = try AttemptLog(
          directory, keybag: keybag.keybag.identifier, deviceKey: deviceKey, clock: environment.bootClock)
        try? log.refresh()
      }
    } else {
      ring.install(try keybag.keysWithoutPasscode())
    }
    return ProtectedDevice(
      environment: environment, options: options, directory: directory, provider: provider, ring: ring, state: state)
  }

  static func loadOrMakeKeybag(
    _ storage: KeybagStorage, _ deviceKey: borrowing ProtectedDevice.Key, _ environment: DeviceEnvironment
  ) throws(ProtectionError) -> OpenKeybag {
    if let found = try storage.load(deviceKey) { return found }
    return try makeKeybag(storage, deviceKey, environment)
  }

  static func loadOrMakeKey(
    _ provider: any ProtectedDevice.KeyProvider, _ directory: DeviceDirectory
  ) throws(ProtectionError) -> ProtectedDevice.Key {
    if let key = try provider.loadKey() { return key }
    let hasKeybag = try !KeybagStorage.revisions(directory.names(), KeybagStorage.keybagPrefix).isEmpty
    let hasSealedFiles = try directory.hasSealedFiles()
    guard !hasKeybag, !hasSealedFiles else {
      throw ProtectionError(
        .keysMissing, "There is sealed data, but the device key is gone; put it back, or erase the device.")
    }
    return try provider.makeKey()
  }

  /// A new device's keybag: without a passcode, all keys within the device's reach.
  static func makeKeybag(
    _ storage: KeybagStorage, _ deviceKey: borrowing ProtectedDevice.Key, _ environment: DeviceEnvironment
  ) throws(ProtectionError) -> OpenKeybag {
    try newKeybag(environment) { (keys, identifier, stretched) throws(ProtectionError) in
      try storage.commit(
        keys, identifier: identifier, revision: try storage.unusedRevision(), isNew: true,
        isForTests: environment.scrypt.isForTests, stretched: stretched, deviceKey: deviceKey)
    }
  }

  private static func newKeybag(
    _ environment: DeviceEnvironment,
    _ make: (KeybagKeys, KeybagIdentifier, StretchedPasscode) throws(ProtectionError) -> OpenKeybag
  ) throws(ProtectionError) -> OpenKeybag {
    let identifier = try sealing("name the keybag") { () throws(SealingError) in
      KeybagIdentifier(bytes: try environment.random.bytes(count: KeybagIdentifier.byteCount))
    }
    return try make(
      try KeybagKeys.renewing(ProtectionClass.allCases, of: nil, random: environment.random), identifier,
      try StretchedPasscode(noneWithSalt: try makeSalt(environment.random)))
  }

  /// A new salt.
  static func makeSalt(_ random: any RandomSource) throws(ProtectionError) -> [UInt8] {
    try sealing("make a salt") { () throws(SealingError) in try random.bytes(count: 32) }
  }
}

extension KeybagStorage {
  /// The keys of a directory, as an environment treats them.
  init(
    _ directory: DeviceDirectory, _ environment: DeviceEnvironment, _ secrets: OperationSecrets = OperationSecrets()
  ) {
    self.init(
      directory: directory, allowsTestProfile: environment.scrypt.isForTests, random: environment.random,
      secrets: secrets)
  }
}

extension OpenKeybag {
  /// All keys of a keybag that has no passcode.
  func keysWithoutPasscode() throws(ProtectionError) -> KeybagKeys {
    let stretched = try StretchedPasscode(noneWithSalt: keybag.salt)
    guard try isRight(stretched) else {
      throw ProtectionError(.corrupt, "The keybag is damaged; put a good copy back, or erase the device.")
    }
    return try keys(stretched)
  }
}
