import FileSystem
import Sealing

/// The keybag and its effaceable file on disk: made, found, changed and destroyed so that a crash at any point leaves
/// one keybag that opens.
///
/// Both have their revision in their name. The effaceable file with the highest revision is the one that counts: its
/// appearing is what commits a change. Every call needs the directory's lock.
struct KeybagStorage: Sendable {
  static let keybagPrefix = "keybag-"
  static let effaceablePrefix = "effaceable-"

  let directory: DeviceDirectory
  let allowsTestProfile: Bool
  let random: any RandomSource

  /// Finds the keybag that counts and finishes a change that was interrupted.
  ///
  /// Returns `nil` when there is none and nothing sealed either. Throws `.keysMissing` when something was sealed but
  /// the keys are gone, `.otherDevice` when they are another device's, `.corrupt` or `.unsupportedVersion`.
  func load(_ deviceKey: borrowing DeviceKey) throws(ProtectionError) -> OpenKeybag? {
    let names = try directory.names()
    let effaceables = Self.revisions(names, Self.effaceablePrefix)
    let keybags = Self.revisions(names, Self.keybagPrefix)
    guard let revision = effaceables.max(), !keybags.isEmpty else {
      let hasSealedFiles = try directory.hasSealedFiles()
      if keybags.isEmpty && !hasSealedFiles { return nil }
      throw Self.keysMissing
    }
    guard keybags.contains(revision), let bytes = try directory.read(Self.keybagPrefix + Self.text(revision)) else {
      throw Self.keysMissing
    }
    let found = try readEffaceable(revision, code: deviceKey.derive(.effaceable))
    guard found.effaceable.revision == revision else { throw Effaceable.damaged }
    let keybag = try Self.open(bytes, found, deviceKey, allowsTestProfile: allowsTestProfile)
    if effaceables.count > 1 || keybags.count > 1 {
      // What can't be finished now is finished at the next opening; until then the highest revision counts.
      try? finish(keeping: revision, effaceables: effaceables, keybags: keybags)
    }
    return keybag
  }

  /// The highest authentic revision of a keybag on disk; `nil` when there is none.
  ///
  /// The only call that needs no lock.
  ///
  /// - Parameters:
  ///   - keybag: The keybag.
  ///   - code: The key of the effaceable file's code.
  func newestRevision(of keybag: KeybagIdentifier, code: borrowing SecretKey) throws(ProtectionError) -> UInt64? {
    let names = try attempt("look for a newer keybag") { () throws(FileSystemError) in
      try directory.fileSystem.names(in: directory.descriptor)
    }
    for revision in Self.revisions(names, Self.effaceablePrefix).sorted(by: >) {
      // One that goes away meanwhile has been replaced by a newer one, or the device is being erased.
      guard let found = try? readEffaceable(revision, code: code) else { continue }
      if found.isAuthentic, found.effaceable.keybag == keybag, found.effaceable.revision == revision { return revision }
    }
    return nil
  }

  /// Makes the first keybag, or the next revision of one, and commits it.
  ///
  /// If it throws `.durabilityUnknown`, either the old or the new one counts after a power cut; if it throws anything
  /// else, the old one does.
  func commit(
    _ keys: KeybagKeys, identifier: KeybagIdentifier, revision: UInt64, isForTests: Bool,
    stretched: StretchedPasscode, deviceKey: borrowing DeviceKey
  ) throws(ProtectionError) -> OpenKeybag {
    let keybagKey = try makeKey()
    let binding = try KeybagBinding(deviceKey, keybagKey.key)
    let bytes = try keys.seal(
      identifier: identifier, revision: revision, isForTests: isForTests, binding: binding, stretched: stretched)
    let effaceable = try Effaceable.encode(
      keybag: identifier, revision: revision, key: keybagKey.key, deviceKey: deviceKey)
    let keybagName = Self.keybagPrefix + Self.text(revision)
    let effaceableName = Self.effaceablePrefix + Self.text(revision)
    // Read back before anything is written: a keybag that could not be opened again must never count.
    let opened = try OpenKeybag(
      bytes, effaceable: Effaceable(deviceIdentifier: binding.deviceIdentifier, keybag: identifier, revision: revision),
      binding: binding, allowsTestProfile: allowsTestProfile)
    // In the first creation the keybag comes last: a keybag without its effaceable file always means that somebody
    // destroyed that. In a change the effaceable file comes last: it is what the next opening goes by.
    if revision == 1 {
      try create(effaceableName, effaceable)
      try unsafe directory.create(keybagName, bytes.span.bytes)
    } else {
      try unsafe directory.create(keybagName, bytes.span.bytes)
      do throws(ProtectionError) {
        try create(effaceableName, effaceable)
      } catch  where error.code != .durabilityUnknown {
        try? directory.remove(keybagName)
        throw error
      }
      let names = try directory.names()
      // Committed. What can't be destroyed now is destroyed at the next opening.
      try? finish(
        keeping: revision, effaceables: Self.revisions(names, Self.effaceablePrefix),
        keybags: Self.revisions(names, Self.keybagPrefix))
    }
    return opened
  }

  /// Destroys every effaceable file: from here on nothing sealed can be read again.
  func destroyKeys() throws(ProtectionError) {
    // The newest last: a crash between two must not bring an older passcode back.
    for revision in Self.revisions(try directory.names(), Self.effaceablePrefix).sorted() {
      try directory.efface(Self.effaceablePrefix + Self.text(revision))
    }
    try directory.synchronize()
  }

  /// Removes what a first creation left when it was interrupted.
  func sweepUnfinishedCreation() throws(ProtectionError) {
    try destroyKeys()
  }

  // MARK: Steps

  /// Destroys what a change has replaced: old effaceable bytes overwritten, then their names and old keybags removed.
  private func finish(
    keeping revision: UInt64, effaceables: [UInt64], keybags: [UInt64]
  ) throws(ProtectionError) {
    // The name that counts must be durable before what it replaces is destroyed.
    try directory.synchronize()
    for old in effaceables where old < revision { try directory.efface(Self.effaceablePrefix + Self.text(old)) }
    for other in keybags where other != revision { try directory.remove(Self.keybagPrefix + Self.text(other)) }
    try directory.synchronize()
  }

  private func readEffaceable(
    _ revision: UInt64, code: borrowing SecretKey
  ) throws(ProtectionError) -> (effaceable: Effaceable, isAuthentic: Bool, key: HeldSecret) {
    guard let file = try directory.open(Self.effaceablePrefix + Self.text(revision)) else { throw Self.keysMissing }
    guard file.byteCount == Effaceable.byteCount else { throw Effaceable.damaged }
    var failure: ProtectionError?
    let bytes = try sealing("read the keybag's key") { () throws(SealingError) in
      try unsafe SecretBytes(byteCount: Effaceable.byteCount) { (target) throws(SealingError) in
        do throws(ProtectionError) {
          try unsafe file.read(into: target)
        } catch {
          failure = error
        }
      }
    }
    if let failure { throw failure }
    let isDestroyed = try sealing("read the keybag's key") { () throws(SealingError) in
      try Effaceable.isDestroyed(bytes)
    }
    // An erase was cut short after its first step: the keys are gone for good, and it has to be asked for again.
    guard !isDestroyed else { throw Self.keysMissing }
    return try Effaceable.open(bytes, code: code)
  }

  /// Opens a keybag's bytes with its effaceable file.
  ///
  /// Throws `.otherDevice` when both name another device, `.corrupt` or `.unsupportedVersion`.
  static func open(
    _ bytes: [UInt8], _ found: (effaceable: Effaceable, isAuthentic: Bool, key: HeldSecret),
    _ deviceKey: borrowing DeviceKey, allowsTestProfile: Bool
  ) throws(ProtectionError) -> OpenKeybag {
    guard found.isAuthentic else {
      let own = try deviceKey.identifier()
      let claimed = try KeybagCodec.parse(bytes).keybag.deviceIdentifier
      guard found.effaceable.deviceIdentifier == claimed, claimed != own else { throw Effaceable.damaged }
      throw ProtectionError(
        .otherDevice,
        "The keys belong to a device with another device key; put that key back, or erase and begin anew.")
    }
    return try OpenKeybag(
      bytes, effaceable: found.effaceable, binding: try KeybagBinding(deviceKey, found.key.key),
      allowsTestProfile: allowsTestProfile)
  }

  private func makeKey() throws(ProtectionError) -> HeldSecret {
    try sealing("make the keybag's key") { () throws(SealingError) in HeldSecret(try SecretKey(from: random)) }
  }

  private func create(_ name: String, _ secret: borrowing SecretBytes) throws(ProtectionError) {
    var failure: ProtectionError?
    do throws(SealingError) {
      try secret.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        do throws(ProtectionError) {
          try unsafe directory.create(name, bytes.bytes)
        } catch {
          failure = error
        }
      }
    } catch {
      throw ProtectionError(error, while: "write the keybag's key")
    }
    if let failure { throw failure }
  }

  private static let keysMissing = ProtectionError(
    .keysMissing,
    "There is sealed data, but the keys to it are gone; put them back, or erase the device to begin anew.")

  /// The revisions that stand in names with a prefix.
  static func revisions(_ names: [String], _ prefix: String) -> [UInt64] {
    names.compactMap { name in
      guard name.hasPrefix(prefix), let revision = UInt64(name.dropFirst(prefix.count), radix: 16) else { return nil }
      return name == prefix + text(revision) ? revision : nil
    }
  }

  /// A revision as it stands in names: 16 hexadecimal digits.
  static func text(_ revision: UInt64) -> String {
    let digits = String(revision, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
