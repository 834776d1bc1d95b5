import FileSystem
import FoundationEssentials
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
  var directory: Descriptor { slots.descriptor }
  private let slots: OwnedDescriptor
  private let isCache: Bool
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
  ///   - isCache: Whether the directory is marked as not for backup.
  ///   - volume: A volume that was found good already.
  init(
    _ fileSystem: any FileSystem, in parent: OwnedDescriptor, keys: any StoreKeys, sealer: any StoreSealing,
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
    self.slots = OwnedDescriptor(fileSystem, descriptor)
    self.parent = parent
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
    while true {
      guard let directory = try openSlot(name, making: true) else { continue }
      let lock = OwnedDescriptor(
        fileSystem,
        try TrustedDirectory.openStoreLock(
          SlotFile.lock.text, in: directory.descriptor, fileSystem, patience: options.patience),
        isLock: true)
      let slot = SlotDirectory(fileSystem, directory, lock: lock)
      let isOurs = try attempt("lock a slot") { () throws(FileSystemError) in
        try fileSystem.lock(lock.descriptor, .exclusive, patience: patience)
      }
      guard isOurs else { throw inUse(lock) }
      // Otherwise its writer has deleted it while this one waited.
      guard try isNamed(slot, name) else { continue }
      return slot
    }
  }

  /// Whether the slot's name still means an open directory: it may have been deleted, or the device erased.
  func isNamed(_ slot: SlotDirectory, _ name: SlotName) throws(ProtectionError) -> Bool {
    try attempt("look at a slot") { () throws(FileSystemError) in
      try find(slot.descriptor, name.text, in: directory) != nil
    }
  }

  /// Whether the lock of a slot still excludes others: somebody may have removed its file, and another writer made one.
  func isLocked(_ slot: SlotDirectory) throws(ProtectionError) -> Bool {
    guard let lock = slot.lock else { return false }
    return try attempt("look at a lock file") { () throws(FileSystemError) in
      try find(lock.descriptor, SlotFile.lock.text, in: slot.descriptor) != nil
    }
  }

  /// The status of an open file or directory by its name; nil when the name means another one, or none.
  func find(
    _ descriptor: Descriptor, _ name: String, in directory: Descriptor
  ) throws(FileSystemError) -> FileStatus? {
    let own = try fileSystem.status(of: descriptor)
    guard let named = try fileSystem.statusIfAny(ofName: name, in: directory) else { return nil }
    return named.inode == own.inode && named.device == own.device ? named : nil
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
        let isErased = try attempt(
          "look at the store's directory",
          { () throws(FileSystemError) in
            try fileSystem.status(of: directory).linkCount == 0
          })
        if isErased { throw .erased }
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
