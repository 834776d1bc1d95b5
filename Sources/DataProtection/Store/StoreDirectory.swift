import FileSystem
import FoundationShim
import Synchronization

/// The directory that holds the slots of a device, or of a directory of protected files, and the list of them.
///
/// It is safe to share between threads and processes: each slot has one writer at a time, and the list has a lock.
package final class StoreDirectory: Sendable {
  /// The name of the directory of the slots in the device's.
  package static let name = "archives"
  /// The file that serialises changes of the list.
  static let lockName = "lock"

  let fileSystem: any FileSystem
  let keys: any StoreKeys
  let sealer: any StoreSealing
  let options: DeviceOptions
  /// The directory of the slots.
  var directory: Descriptor { slots.withLock { $0[$0.count - 1].descriptor } }
  /// The directory, and those that were it before somebody removed or exchanged them: calls may be under way there.
  private let slots: Mutex<[OwnedDescriptor]>
  private let isCache: Bool
  /// The path of the parent, without a slash at its end; nil if nobody knows it.
  private let path: String?
  /// The directory of that, where the list lies.
  let parent: OwnedDescriptor
  let volume: VolumeKind
  /// What this process has open for writing, for sealing it anew.
  private let writers = Mutex<[SlotName: Writer]>([:])
  /// The list is changed by one thread at a time; the lock of the disk is between processes.
  let listTurn = Turn()

  private struct Writer {
    weak var store: ArchiveStore?
  }

  /// Opens the store in the device's directory, and makes it when it isn't there.
  ///
  /// Throws `.unsafeLocation` when the directory is a link, not ours, open to others, or on a network volume that
  /// was not opted for; nothing is changed then.
  ///
  /// - Parameters:
  ///   - path: Where the parent is found; a save is looked for there before it is acknowledged.
  ///   - isCache: Whether the directory is marked as not for backup, and made again when somebody removes it: the device's.
  ///   - volume: A volume that was found good already.
  init(
    _ fileSystem: any FileSystem, in parent: OwnedDescriptor, at path: String? = nil, keys: any StoreKeys,
    sealer: any StoreSealing,
    options: DeviceOptions = DeviceOptions(), isCache: Bool = false, volume: TrustedVolume? = nil
  ) throws(ProtectionError) {
    var isNew = false
    let descriptor = try attempt("open the store's directory") { () throws(FileSystemError) in
      try Self.openOrMake(Self.name, in: parent.descriptor, fileSystem, isNew: &isNew)
    }
    self.fileSystem = fileSystem
    self.keys = keys
    self.sealer = sealer
    self.options = options
    self.slots = Mutex([OwnedDescriptor(fileSystem, descriptor)])
    self.parent = parent
    self.path = path
    self.isCache = isCache
    self.volume = try TrustedDirectory.check(
      descriptor, called: "The store's directory", fileSystem, allowsNetworkVolumes: options.allowsNetworkVolumes,
      known: volume
    ).kind
    if isNew { markAsCache() }
  }

  /// Marks the directory as not for backup, if it is to be.
  ///
  /// It is looked at when it is made and whenever the list of slots changes, but not at a launch that changes nothing.
  func markAsCache() {
    if isCache { CacheDirectoryTag.write(in: directory, fileSystem) }
  }

  /// The HMAC that names a slot; 32 bytes.
  func identity(of slot: ArchiveSlot) throws(ProtectionError) -> [UInt8] {
    try keys.authenticationCode(.name, over: slot.bytes)
  }

  /// The archives of one slot.
  ///
  /// - Parameter isListed: Whether the list names the slot; false for slots that a list of their own names.
  func archives(
    for slot: ArchiveSlot, protection: ProtectionClass, isListed: Bool = true
  ) throws(ProtectionError) -> ArchiveStore {
    ArchiveStore(self, identity: try identity(of: slot), protection: protection, isListed: isListed)
  }

  // MARK: Slots

  /// Opens the directory of a slot for looking; nil when there is none.
  func look(at name: SlotName) throws(ProtectionError) -> SlotDirectory? {
    try openSlot(name).map { SlotDirectory(fileSystem, $0, lock: nil) }
  }

  /// Opens the directory of a slot for its one writer, and makes it when it isn't there; nothing is synced.
  ///
  /// Throws `.inUse` when somebody else has it and does not let go within the patience.
  func openForWriting(_ name: SlotName, waiting patience: Duration) throws(ProtectionError) -> SlotDirectory {
    for _ in 0..<Self.attemptLimit {
      guard let directory = try openSlot(name, making: true) else {
        try reopen()
        continue
      }
      let slot = try openLock(of: directory)
      if let lock = slot.lock {
        let isOurs = try attempt("lock a slot") { () throws(FileSystemError) in
          try fileSystem.lock(lock.descriptor, .exclusive, patience: patience)
        }
        guard isOurs else { throw inUse(lock) }
      }
      if try isNamed(slot, name) { return slot }
      // Its writer has deleted it while this one waited, or somebody has taken the directory of all slots away.
      if try !isCurrent() { try reopen() }
    }
    throw ProtectionError(
      .busy, "Somebody removes the directory of this archive as often as it is made; stop that, and try again.")
  }

  /// So often a directory is opened again that somebody has taken away meanwhile.
  private static let attemptLimit = 16

  /// Opens the lock file of a slot; for reading alone on a read-only volume, where nobody else can write, either.
  private func openLock(of slot: OwnedDescriptor) throws(ProtectionError) -> SlotDirectory {
    let (lock, isReadOnly) = try TrustedDirectory.openLockOrRead(
      SlotFile.lock.text, in: slot.descriptor, fileSystem, patience: options.patience)
    return SlotDirectory(
      fileSystem, slot, lock: lock.map { OwnedDescriptor(fileSystem, $0, isLock: true) }, isReadOnly: isReadOnly)
  }

  /// Whether the slot's name still means an open directory, from the device's path on.
  ///
  /// It may have been deleted, or removed with any directory above it, or the device erased.
  func isNamed(_ slot: SlotDirectory, _ name: SlotName) throws(ProtectionError) -> Bool {
    try attempt("look at a slot") { () throws(FileSystemError) in
      let own = try slot.identity()
      guard let path else { return try fileSystem.statusIfAny(ofName: name.text, in: directory)?.identity == own }
      return try fileSystem.statusIfAny(atPath: "\(path)/\(Self.name)/\(name.text)")?.identity == own
    }
  }

  /// Whether the lock of a slot still excludes others: somebody may have removed its file, and another writer made one.
  func isLocked(_ slot: SlotDirectory) throws(ProtectionError) -> Bool {
    try attempt("look at a lock file") { () throws(FileSystemError) in
      guard let own = try slot.lockIdentity() else { return slot.isReadOnly }
      return try fileSystem.statusIfAny(ofName: SlotFile.lock.text, in: slot.descriptor)?.identity == own
    }
  }

  // MARK: The directory of the slots

  /// Whether the open directory of the slots is the one that its path means.
  private func isCurrent() throws(ProtectionError) -> Bool {
    try attempt("look at the store's directory") { () throws(FileSystemError) in
      let own = try fileSystem.status(of: directory)
      guard let path else { return own.linkCount > 0 }
      return try fileSystem.statusIfAny(atPath: "\(path)/\(Self.name)")?.identity == own.identity
    }
  }

  /// Opens the directory of the slots by its name, and makes it again if somebody has removed it while the program runs.
  ///
  /// Throws `.erased` when the device has been erased, or its directory removed with the keys: both take the list as well.
  private func reopen() throws(ProtectionError) {
    guard isCache else { throw .erased }
    // An erase has this lock, so that nothing is made while one is under way.
    let lock = OwnedDescriptor(
      fileSystem,
      try TrustedDirectory.openStoreLock(
        DeviceDirectory.lockName, in: parent.descriptor, fileSystem, patience: options.patience),
      isLock: true)
    let isOurs = try attempt("lock the device") { () throws(FileSystemError) in
      try fileSystem.lock(lock.descriptor, .exclusive, patience: options.patience)
    }
    guard isOurs else {
      throw ProtectionError(.busy, "Another process keeps the device locked; try again when it is done.")
    }
    try withExtendedLifetime(lock) { () throws(ProtectionError) in
      guard try readList().value != nil else { throw .erased }
      var isNew = false
      let descriptor = try attempt("make the store's directory again") { () throws(FileSystemError) in
        try Self.openOrMake(Self.name, in: parent.descriptor, fileSystem, isNew: &isNew)
      }
      slots.withLock { $0.append(OwnedDescriptor(fileSystem, descriptor)) }
      _ = try TrustedDirectory.check(
        descriptor, called: "The store's directory", fileSystem, allowsNetworkVolumes: options.allowsNetworkVolumes)
      markAsCache()
      guard isNew else { return }
      try fileSystem.synchronize(parent.descriptor, orSay: "The store's directory may not survive a power cut.")
    }
  }

  private static func openOrMake(
    _ name: String, in parent: Descriptor, _ fileSystem: any FileSystem, isNew: inout Bool
  ) throws(FileSystemError) -> Descriptor {
    do throws(FileSystemError) {
      return try fileSystem.openDirectory(name, in: parent)
    } catch  where error.code == .noSuchFile {
      isNew = true
      // Another process may be first; its directory is as good.
      do throws(FileSystemError) {
        try fileSystem.makeDirectory(name, in: parent, mode: 0o700)
      } catch  where error.code == .fileExists {}
      return try fileSystem.openDirectory(name, in: parent)
    }
  }

  private func openSlot(_ name: SlotName, making: Bool = false) throws(ProtectionError) -> OwnedDescriptor? {
    do throws(ProtectionError) {
      var isNew = false
      let descriptor = try attempt("open a slot") { () throws(FileSystemError) in
        try making
          ? Self.openOrMake(name.text, in: directory, fileSystem, isNew: &isNew)
          : fileSystem.openDirectory(name.text, in: directory)
      }
      return OwnedDescriptor(fileSystem, descriptor)
    } catch {
      switch (error.cause as? FileSystemError)?.code {
      case .noSuchFile:
        if making { return nil }
        if try isCurrent() { return nil }
        guard try readList().value != nil else { throw .erased }
        return nil
      case .symbolicLink, .notDirectory:
        throw ProtectionError(.corrupt, "Something that is no directory stands in place of a slot.", cause: error)
      default: throw error
      }
    }
  }

  private func inUse(_ lock: OwnedDescriptor) -> ProtectionError {
    let holder = fileSystem.lockHolder(of: lock.descriptor)
    let who =
      holder == ProcessInfo.processInfo.processIdentifier
      ? "Another part of this process" : holder.map { "Process \($0)" } ?? "Another process"
    var error = ProtectionError(
      .inUse, "\(who) has this archive open for writing; nothing was changed. Use that one, or close it and try again.")
    error.processIdentifier = holder
    return error
  }

  // MARK: This process

  /// Notes the writer of a slot.
  func note(_ store: ArchiveStore?, as name: SlotName) {
    writers.withLock { $0[name] = store.map { Writer(store: $0) } }
  }

  /// The writers of slots in this process.
  func writer(of name: SlotName) -> ArchiveStore? { writers.withLock { $0[name]?.store } }
}

extension ProtectionError {
  /// What a store finds after the device was erased under it.
  static let erased = ProtectionError(
    .otherDevice, "The device has been erased, or this archive deleted, since it was opened; open it again.")
}
