import FileSystem
import Sealing

/// The keybag and its effaceable file on disk: made, found, changed and destroyed so that a crash at any point leaves
/// one keybag that opens.
///
/// Both have their revision in their name. Of the authentic effaceable files that were not overwritten the one with the highest
/// revision counts: its appearing is what commits a change. Revisions only rise, over an erase as well, and no
/// effaceable file loses its name before a later one is durable: a name that a failed sync brings back is never the
/// highest. Every call needs the directory's lock.
struct KeybagStorage: Sendable {
  static let keybagPrefix = "keybag-"
  static let effaceablePrefix = "effaceable-"

  let directory: DeviceDirectory
  let allowsTestProfile: Bool
  let random: any RandomSource
  /// Where the keys are noted that this finds or makes.
  let secrets: OperationSecrets

  /// Finds the keybag that counts and finishes a change that was interrupted.
  ///
  /// Returns `nil` when there is none and nothing sealed either. Throws `.keysMissing` when something was sealed but
  /// the keys are gone, `.otherDevice` when they are another device's, `.corrupt` or `.unsupportedVersion`.
  func load(_ deviceKey: borrowing ProtectedDevice.Key) throws(ProtectionError) -> OpenKeybag? {
    let names = try directory.names()
    let effaceables = Self.revisions(names, Self.effaceablePrefix)
    let keybags = Self.revisions(names, Self.keybagPrefix)
    guard !effaceables.isEmpty, !keybags.isEmpty else {
      let hasSealedFiles = try directory.hasSealedFiles()
      if keybags.isEmpty && !hasSealedFiles { return nil }
      throw Self.keysMissing
    }
    let code = try deviceKey.derive(.effaceable)
    var problem: ProtectionError?
    var passedOver: Set<UInt64> = []
    for revision in effaceables.sorted(by: >) {
      do throws(ProtectionError) {
        // A change that failed has overwritten what it had written.
        guard let found = try readEffaceable(revision, code: code) else { continue }
        secrets.add(found.key)
        guard keybags.contains(revision), let bytes = try directory.read(Self.keybagPrefix + Self.text(revision)) else {
          throw Self.keysMissing
        }
        guard found.effaceable.revision == revision else { throw Effaceable.damaged }
        let keybag = try Self.open(bytes, found, deviceKey, allowsTestProfile: allowsTestProfile)
        secrets.add(keybag.binding.joined)
        finish(keeping: revision, and: passedOver)
        return keybag
      } catch {
        // Anybody can put a name there; what is not authentic hides none that is.
        guard try !isAuthentic(revision, code: code), error.code != .io, error.code != .unsupportedVersion else {
          throw error
        }
        problem = problem ?? error
        passedOver.insert(revision)
      }
    }
    // An erase was cut short after its first step: the keys are gone for good, and it has to be asked for again.
    throw problem ?? Self.keysMissing
  }

  /// Whether an effaceable file is whole and this device's, in the place that its revision says.
  private func isAuthentic(_ revision: UInt64, code: borrowing SecretKey) throws(ProtectionError) -> Bool {
    do throws(ProtectionError) {
      guard let found = try readEffaceable(revision, code: code) else { return false }
      return found.isAuthentic && found.effaceable.revision == revision
    } catch {
      guard error.code == .corrupt || error.code == .keysMissing else { throw error }
      return false
    }
  }

  /// The keybag that counts, found without the lock; `nil` when that takes a closer look under the lock.
  ///
  /// Files under revisioned names never change but by being destroyed, so that what opens is whole. A second revision,
  /// or a file half written, is a change under way or interrupted.
  func loadUnlocked(_ deviceKey: borrowing ProtectedDevice.Key) -> OpenKeybag? {
    guard let names = try? directory.fileSystem.names(in: directory.descriptor) else { return nil }
    let effaceables = Self.revisions(names, Self.effaceablePrefix)
    guard effaceables.count == 1, let revision = effaceables.first,
      Self.revisions(names, Self.keybagPrefix) == effaceables,
      !names.contains(where: { $0.hasPrefix(DeviceDirectory.temporaryPrefix) })
    else { return nil }
    do throws(ProtectionError) {
      guard let found = try readEffaceable(revision, code: deviceKey.derive(.effaceable)),
        found.effaceable.revision == revision
      else { return nil }
      // Its codes prove its bytes, whatever file they come from, and nothing is ever written into it.
      return try readSmallFile(
        Self.keybagPrefix + Self.text(revision), in: directory.descriptor, limit: KeybagCodec.maximumByteCount,
        directory.fileSystem
      ) { bytes throws(ProtectionError) in
        try Self.open(bytes, found, deviceKey, allowsTestProfile: allowsTestProfile)
      }
    } catch {
      return nil
    }
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
      guard let found = (try? readEffaceable(revision, code: code)) ?? nil else { continue }
      if found.isAuthentic, found.effaceable.keybag == keybag, found.effaceable.revision == revision { return revision }
    }
    return nil
  }

  /// The revision of a keybag that replaces nothing: above every one whose name is there.
  func unusedRevision() throws(ProtectionError) -> UInt64 {
    let names = try directory.names()
    let used = Self.revisions(names, Self.effaceablePrefix) + Self.revisions(names, Self.keybagPrefix)
    // A name so high was put there to use the revisions up; it goes with the old ones.
    return (used.filter { $0 < Self.revisionCeiling }.max() ?? 0) + 1
  }

  /// The lowest revision above that of a keybag whose name nobody has put there.
  func unusedRevision(after revision: UInt64) throws(ProtectionError) -> UInt64 {
    let names = try directory.names()
    let used = Set(Self.revisions(names, Self.effaceablePrefix) + Self.revisions(names, Self.keybagPrefix))
    var next = revision + 1
    while used.contains(next) { next += 1 }
    return next
  }

  /// Makes a keybag from nothing, or the next revision of one, and commits it.
  ///
  /// If it throws `.durabilityUnknown`, either the old or the new one counts after a power cut; if it throws anything
  /// else, the old one does.
  func commit(
    _ keys: KeybagKeys, identifier: KeybagIdentifier, revision: UInt64, isNew: Bool = false, isForTests: Bool,
    stretched: StretchedPasscode, deviceKey: borrowing ProtectedDevice.Key
  ) throws(ProtectionError) -> OpenKeybag {
    let made = try make(
      keys, identifier: identifier, revision: revision, isForTests: isForTests, stretched: stretched,
      deviceKey: deviceKey)
    let effaceable = try Effaceable.encode(
      keybag: identifier, revision: revision, key: made.key, deviceKey: deviceKey)
    let keybagName = Self.keybagPrefix + Self.text(revision)
    let effaceableName = Self.effaceablePrefix + Self.text(revision)
    // In a new device the keybag comes last: a keybag without its effaceable file always means that somebody
    // destroyed that. In a change the effaceable file comes last: it is what the next opening goes by.
    if isNew {
      try create(effaceableName, effaceable)
      try unsafe directory.create(keybagName, made.bytes.span.bytes)
    } else {
      // If only the first step is done, the next change or opening removes what it made.
      try unsafe directory.create(keybagName, made.bytes.span.bytes)
      try create(effaceableName, effaceable)
    }
    finish(keeping: revision)
    return made.keybag
  }

  /// Makes a keybag, and writes nothing; it is opened as it would be from the disk: one that could not be opened again
  /// must never count.
  func make(
    _ keys: KeybagKeys, identifier: KeybagIdentifier, revision: UInt64, isForTests: Bool,
    stretched: StretchedPasscode, deviceKey: borrowing ProtectedDevice.Key
  ) throws(ProtectionError) -> (keybag: OpenKeybag, bytes: [UInt8], key: SecretBox<SecretKey>) {
    let key = try makeKey()
    secrets.add(key)
    let binding = try KeybagBinding(deviceKey, key)
    secrets.add(binding.joined)
    let bytes = try keys.seal(
      identifier: identifier, revision: revision, isForTests: isForTests, binding: binding, stretched: stretched)
    let keybag = try OpenKeybag(
      bytes, effaceable: Effaceable(deviceIdentifier: binding.deviceIdentifier, keybag: identifier, revision: revision),
      binding: binding, allowsTestProfile: allowsTestProfile)
    return (keybag, bytes, key)
  }

  /// Destroys what every effaceable file holds, and every file that was being written: from here on nothing sealed can
  /// be read again.
  ///
  /// Their names stay until a later one is there: one that came back after a power cut, once a new device had been
  /// made, would count as the newest.
  func destroyKeys() throws(ProtectionError) {
    var failure: ProtectionError?
    do throws(ProtectionError) {
      try directory.discardTemporaries()
    } catch {
      failure = error
    }
    // The newest last: a crash between two must not bring an older passcode back. One that fails spares no other.
    for revision in Self.revisions(try directory.names(), Self.effaceablePrefix).sorted() {
      do throws(ProtectionError) {
        try directory.overwriteSecret(Self.effaceablePrefix + Self.text(revision))
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Removes the keybags, whose keys are destroyed, so that the next opening makes a new device.
  func removeKeybags() throws(ProtectionError) {
    for revision in Self.revisions(try directory.names(), Self.keybagPrefix) {
      try directory.clear(Self.keybagPrefix + Self.text(revision))
    }
    try directory.synchronize()
  }

  // MARK: Steps

  /// Destroys what a keybag has replaced: old effaceable bytes overwritten, then their names and old keybags removed.
  ///
  /// The next opening repeats a step that fails now; until then the highest revision counts. One file that can't be
  /// destroyed spares no other.
  ///
  /// - Parameters:
  ///   - revision: The keybag that counts.
  ///   - passedOver: Later ones that are not authentic. They may be damaged keys of which somebody has a good copy: they
  ///     go with the next change.
  private func finish(keeping revision: UInt64, and passedOver: Set<UInt64> = []) {
    guard let names = try? directory.names() else { return }
    let isOld = { (other: UInt64) in other != revision && !passedOver.contains(other) }
    let effaceables = Self.revisions(names, Self.effaceablePrefix).filter(isOld)
    let keybags = Self.revisions(names, Self.keybagPrefix).filter(isOld)
    guard !effaceables.isEmpty || !keybags.isEmpty else { return }
    // The name that counts must be durable before the files that it replaces are destroyed.
    guard (try? directory.synchronize()) != nil else { return }
    var destroyed: [String] = []
    for old in effaceables {
      let name = Self.effaceablePrefix + Self.text(old)
      if (try? directory.overwriteSecret(name)) != nil { destroyed.append(name) }
    }
    for name in destroyed { try? directory.clear(name) }
    for old in keybags { try? directory.clear(Self.keybagPrefix + Self.text(old)) }
    try? directory.synchronize()
  }

  /// Reads an effaceable file; `nil` for one that was overwritten.
  private func readEffaceable(
    _ revision: UInt64, code: borrowing SecretKey
  ) throws(ProtectionError) -> (effaceable: Effaceable, isAuthentic: Bool, key: SecretBox<SecretKey>)? {
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
    guard !isDestroyed else { return nil }
    return try Effaceable.open(bytes, code: code)
  }

  /// Opens a keybag's bytes with its effaceable file.
  ///
  /// Throws `.otherDevice` when both name another device, `.corrupt` or `.unsupportedVersion`.
  static func open(
    _ bytes: [UInt8], _ found: (effaceable: Effaceable, isAuthentic: Bool, key: SecretBox<SecretKey>),
    _ deviceKey: borrowing ProtectedDevice.Key, allowsTestProfile: Bool
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
      bytes, effaceable: found.effaceable, binding: try KeybagBinding(deviceKey, found.key),
      allowsTestProfile: allowsTestProfile)
  }

  private func makeKey() throws(ProtectionError) -> SecretBox<SecretKey> {
    try sealing("make the keybag's key") { () throws(SealingError) in SecretBox(try SecretKey(from: random)) }
  }

  private func create(_ name: String, _ secret: borrowing SecretBytes) throws(ProtectionError) {
    var failure: ProtectionError?
    do throws(SealingError) {
      try secret.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        do throws(ProtectionError) {
          try unsafe directory.createSecret(name, bytes.bytes)
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

  /// No device has so many changes of its passcode.
  private static let revisionCeiling: UInt64 = 1 << 62

  /// A revision as it stands in names: 16 hexadecimal digits.
  static func text(_ revision: UInt64) -> String {
    let digits = String(revision, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
