import Sealing
import Synchronization

/// All keys of an open device: who may use which one is decided here, by having it or not.
///
/// A key is lent in its class's turn: one borrower at a time, and a lock waits for that one.
final class KeyRing: ClassKeys, StoreKeys {
  private struct Holder {
    let protection: ProtectionClass
    weak let holder: (any KeyHolder)?
  }

  private struct State {
    var keybag: KeybagIdentifier
    var revision: UInt64
    var holders: [Holder] = []
    /// Holders that have gone are swept when there are this many.
    var sweepLimit = 64
  }

  private let state: Mutex<State>
  private let slots: [ProtectionClass: ClassSlot]
  private let storageKeys: StorageKeys
  let bootIdentifier: [UInt8]

  init(
    keybag: KeybagIdentifier, revision: UInt64, storageKeys: StorageKeys, bootIdentifier: [UInt8]
  ) {
    state = Mutex(State(keybag: keybag, revision: revision))
    self.storageKeys = storageKeys
    self.bootIdentifier = bootIdentifier
    slots = Dictionary(uniqueKeysWithValues: ProtectionClass.allCases.map { ($0, ClassSlot($0)) })
  }

  var keybagIdentifier: KeybagIdentifier { state.withLock { $0.keybag } }
  var keybagRevision: UInt64 { state.withLock { $0.revision } }

  /// The keys of one class.
  func slot(_ protection: ProtectionClass) -> ClassSlot { slots[protection]! }

  // MARK: Installing and wiping

  /// Notes which keybag the keys are from, and which keys it has.
  func adopt(_ keybag: Keybag) {
    state.withLock { state in
      state.keybag = keybag.identifier
      state.revision = keybag.revision
    }
    for protection in ProtectionClass.allCases { slot(protection).adopt(keybag.entries) }
  }

  /// Puts unwrapped keys in.
  func install(_ keys: KeybagKeys) {
    for (protection, key) in keys.active {
      slot(protection).install(active: key, retired: keys.retired[protection] ?? [])
    }
  }

  /// Drops the keys of some classes, waits for whoever computes with them, and wipes what was made from them.
  ///
  /// - Parameters:
  ///   - keys: The classes whose keys go.
  ///   - files: The classes whose open files lose their keys too.
  func wipe(keys: Set<ProtectionClass>, files: Set<ProtectionClass>) {
    for protection in keys { slot(protection).drop() }
    let due = state.withLock { state in
      let due = state.holders.filter { files.contains($0.protection) }
      state.holders.removeAll { files.contains($0.protection) }
      return due
    }
    for holder in due { holder.holder?.wipeKeys() }
  }

  func addHolder(_ holder: any KeyHolder, of protection: ProtectionClass) {
    state.withLock { state in
      if state.holders.count >= state.sweepLimit {
        state.holders.removeAll { $0.holder == nil }
        state.sweepLimit = max(64, state.holders.count * 2)
      }
      state.holders.append(Holder(protection: protection, holder: holder))
    }
  }

  // MARK: Lending

  func withSealingKey<Result>(
    of protection: ProtectionClass,
    _ body: (borrowing SecretKey, ClassKeyIdentifier) throws(ProtectionError) -> Result
  ) throws(ProtectionError) -> Result {
    precondition(protection != .completeUnlessOpen, "completeUnlessOpen is sealed with its public key.")
    return try slot(protection).withActive { (held) throws(ProtectionError) in try body(held.key, held.identifier) }
  }

  func withOpeningKey<Result>(
    of protection: ProtectionClass, _ identifier: ClassKeyIdentifier,
    _ body: (borrowing SecretKey) throws(ProtectionError) -> Result
  ) throws(ProtectionError) -> Result {
    try slot(protection).withKey(identifier) { (held) throws(ProtectionError) in try body(held.key) }
  }

  func publicKey() throws(ProtectionError) -> (bytes: [UInt8], identifier: ClassKeyIdentifier) {
    try slot(.completeUnlessOpen).publicPair()
  }

  func authenticationCode(
    _ purpose: StoreKeyPurpose, over message: [UInt8]
  ) throws(ProtectionError) -> [UInt8] {
    try storageKeys.authenticationCode(purpose, over: message)
  }
}
