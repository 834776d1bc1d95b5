import Sealing
import Synchronization

/// All keys of an open device: their absence or presence here decides on their use.
///
/// A key is lent in its class's turn: one borrower at a time, and a lock waits for that one.
final class KeyRing: ClassKeys, StoreKeys {
  private struct Registration {
    let number: UInt64
    let protection: ProtectionClass
    let body: @Sendable () -> Void
  }

  private struct State {
    var keybag: KeybagIdentifier
    var revision: UInt64
    var storageKeys: StorageKeys
    var nextRegistration: UInt64 = 0
    /// By their numbers, which rise.
    var registrations: [Registration] = []

    /// Takes one out; nil when it is not there any more.
    mutating func remove(_ number: UInt64) -> Registration? {
      guard let index = registrations.firstIndex(where: { $0.number == number }) else { return nil }
      return registrations.remove(at: index)
    }
  }

  private let state: Mutex<State>
  /// The copies that the custody has in its hands.
  let loans = CustodyLoans()
  /// By the class's number; an array, as a dictionary's type is dear to make in a process that has just begun.
  private let slots: [ClassSlot]
  let bootIdentifier: [UInt8]
  private let random: any RandomSource
  private let revisionOnDisk: @Sendable (KeybagIdentifier, StorageKeys) throws(ProtectionError) -> UInt64?

  /// Makes a ring without keys.
  ///
  /// - Parameters:
  ///   - keybag: The keybag that sealed files name.
  ///   - revision: Its revision.
  ///   - storageKeys: The keys that are there always.
  ///   - bootIdentifier: The machine's current start.
  ///   - random: Where the salts of names come from.
  ///   - revisionOnDisk: Looks for a newer revision of a keybag than was opened.
  init(
    keybag: KeybagIdentifier, revision: UInt64, storageKeys: StorageKeys, bootIdentifier: [UInt8],
    random: any RandomSource = SystemRandom(),
    revisionOnDisk: @escaping @Sendable (KeybagIdentifier, StorageKeys) throws(ProtectionError) -> UInt64? = {
      _, _ in nil
    }
  ) {
    self.revisionOnDisk = revisionOnDisk
    self.random = random
    state = Mutex(State(keybag: keybag, revision: revision, storageKeys: storageKeys))
    self.bootIdentifier = bootIdentifier
    slots = ProtectionClass.allCases.map { ClassSlot($0) }
  }

  var keybagIdentifier: KeybagIdentifier { state.withLock { $0.keybag } }
  var keybagRevision: UInt64 { state.withLock { $0.revision } }
  private var storageKeys: StorageKeys { state.withLock { $0.storageKeys } }

  /// Notes that another program has changed the passcode, if that is so; the class keys stay the same.
  func refreshKeybagRevision() throws(ProtectionError) -> UInt64 {
    guard let found = try revisionOnDisk(keybagIdentifier, storageKeys) else { return keybagRevision }
    return state.withLock { state in
      state.revision = max(state.revision, found)
      return state.revision
    }
  }

  func isOnDisk() throws(ProtectionError) -> Bool { try revisionOnDisk(keybagIdentifier, storageKeys) != nil }

  /// The keys of one class.
  func slot(_ protection: ProtectionClass) -> ClassSlot { slots[Int(protection.rawValue) - 1] }

  // MARK: Installing and wiping

  /// Notes which keybag the keys are from, and which keys it has.
  func adopt(_ keybag: Keybag) {
    state.withLock { state in
      state.keybag = keybag.identifier
      state.revision = keybag.revision
    }
    for protection in ProtectionClass.allCases { slot(protection).adopt(keybag.entries) }
  }

  /// Names, ledgers and markers are made under the keys of another device key from here on.
  func adopt(_ storageKeys: StorageKeys) {
    state.withLock { $0.storageKeys = storageKeys }
  }

  /// Puts unwrapped keys in.
  func install(_ keys: KeybagKeys) {
    for protection in ProtectionClass.allCases {
      guard let key = keys[protection].active else { continue }
      slot(protection).install(active: key, retired: keys[protection].retired)
    }
  }

  /// Lets retired keys go, once the keybag has none any more.
  func dropRetired(_ keybag: Keybag) {
    for protection in ProtectionClass.allCases { slot(protection).dropRetired() }
    adopt(keybag)
  }

  /// Drops the keys of some classes, waits for the computations with them, and wipes everything derived from them, the
  /// cipher contexts that nobody is using included.
  ///
  /// - Parameters:
  ///   - keys: The classes whose keys go.
  ///   - files: The classes whose open files lose their keys too.
  func wipe(keys: Set<ProtectionClass>, files: Set<ProtectionClass>) {
    for protection in keys { slot(protection).drop() }
    for protection in keys { loans.overwrite(protection) }
    let due = state.withLock { state in
      let due = state.registrations.filter { files.contains($0.protection) }
      state.registrations.removeAll { files.contains($0.protection) }
      return due
    }
    for registration in due { registration.body() }
    CryptographicContexts.freeAll()
  }

  func onWipe(of protection: ProtectionClass, _ body: @escaping @Sendable () -> Void) -> WipeRegistration {
    let number = state.withLock { state in
      state.nextRegistration += 1
      state.registrations.append(
        Registration(number: state.nextRegistration, protection: protection, body: body))
      return state.nextRegistration
    }
    return WipeRegistration { [weak self] in
      // What the callback holds may release other registrations: let it go after the lock.
      let removed = self?.state.withLock { $0.remove(number) }
      _ = removed
    }
  }

  // MARK: Lending

  func isAvailable(_ protection: ProtectionClass) -> Bool { slot(protection).isAvailable }

  func withSealingKey<R>(
    for protection: ProtectionClass,
    _ body: (ClassKeyIdentifier, borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    precondition(protection != .completeUnlessOpen, "A one-way class has no symmetric sealing key.")
    return try slot(protection).withActive { (held) throws(ProtectionError) in
      try held.withKey { (key) throws(ProtectionError) in try body(held.identifier, key) }
    }
  }

  func withOpeningKey<R>(
    for protection: ProtectionClass, identifier: ClassKeyIdentifier,
    _ body: (borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    precondition(protection != .completeUnlessOpen, "A one-way class has no symmetric opening key.")
    return try slot(protection).withKey(identifier) { (held) throws(ProtectionError) in try held.withKey(body) }
  }

  func withOneWaySealingKeys<R>(
    _ body: (ClassKeyIdentifier, _ publicKey: [UInt8], _ sender: borrowing SecretKey) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    let pair = try slot(.completeUnlessOpen).publicPair()
    return try slot(.none).withActive { (sender) throws(ProtectionError) in
      try sender.withKey { (sender) throws(ProtectionError) in try body(pair.identifier, pair.bytes, sender) }
    }
  }

  func withOneWayOpeningKeys<R>(
    identifier: ClassKeyIdentifier,
    _ body: (
      _ privateKey: borrowing SecretKey, _ publicKey: [UInt8], _ sender: borrowing SecretKey
    ) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    try slot(.completeUnlessOpen).withKey(identifier) { (held) throws(ProtectionError) in
      try slot(.none).withActive { (sender) throws(ProtectionError) in
        try held.withKey { (key) throws(ProtectionError) in
          try sender.withKey { (sender) throws(ProtectionError) in try body(key, held.publicKey ?? [], sender) }
        }
      }
    }
  }

  func authenticationCode(
    _ purpose: StoreKeyPurpose, over message: [UInt8]
  ) throws(ProtectionError) -> [UInt8] {
    try storageKeys.authenticationCode(purpose, over: message)
  }

  func sealSlotName(_ name: [UInt8], of identity: [UInt8]) throws(ProtectionError) -> [UInt8] {
    try storageKeys.sealSlotName(name, of: identity, random: random)
  }

  func openSlotName(_ sealed: [UInt8], of identity: [UInt8]) throws(ProtectionError) -> [UInt8] {
    try storageKeys.openSlotName(sealed, of: identity)
  }
}
