import FileSystem
import FoundationShim
import Synchronization

/// The directory that holds the slots of a device, or of a directory of protected files, and the list of them.
///
/// It is safe to share between threads and processes: each slot has one writer at a time, and the list has a lock.
package final class StoreDirectory: Sendable {
  /// The name of the directory of the slots in the device's.
  package static let name = "archives"
  /// The file in the device's directory that is locked while its keys change, or the directory of the slots is made again.
  static let parentLockName = "lock"

  let fileSystem: any FileSystem
  let keys: any StoreKeys
  let sealer: any StoreSealing
  let options: StoreOptions
  /// The directory of the slots.
  var directory: Descriptor { place.slots?.descriptor ?? Self.none }
  /// The directory of that, where the list lies.
  var parent: Descriptor { place.parent?.descriptor ?? Self.none }
  /// What kind of volume that is on; nil as long as nothing is.
  var volume: VolumeKind? { place.volume }
  /// Whether there are directories; false as long as nothing can be written in their place.
  var isThere: Bool { place.slots != nil }
  /// Whether there is the directory of the list.
  var hasParent: Bool { place.parent != nil }
  private var place: Place { places.withLock { $0.last } ?? Place() }
  /// Where the store lies, behind the places where it lay before somebody removed or exchanged them: calls may be under way
  /// there.
  private let places: Mutex<[Place]>
  private let isCache: Bool
  /// The path of the parent, without a slash at its end; nil if nobody knows it.
  private let path: String?
  /// Opens the parent as its path has it now, and makes it where it is gone; nil if nobody does.
  private let makeParent: (@Sendable () throws(ProtectionError) -> OwnedDescriptor)?
  /// Whether its device was erased.
  private let isRetired = Mutex(false)
  /// What this process has open for writing, for sealing it anew: a few slots.
  private let writers = Mutex<[Writer]>([])
  /// The list is changed by one thread at a time; the lock of the disk is between processes.
  let listTurn = Turn()

  private struct Writer {
    let name: SlotName
    weak var store: ArchiveStore?
  }

  private struct Place {
    var parent: OwnedDescriptor?
    var slots: OwnedDescriptor?
    var volume: VolumeKind?
  }

  /// No directory: every call with it fails.
  private static let none = Descriptor(rawValue: -1)

  /// Opens the store in the device's directory, and makes it when it isn't there.
  ///
  /// Throws `.unsafeLocation` when the directory is a link, not ours, open to others, or on a network volume that
  /// was not opted for; nothing is changed then. Where there is no room for it, or the volume is read-only, the device's own
  /// store is empty until the first save that finds room.
  ///
  /// - Parameters:
  ///   - parent: The directory in which it lies; nil as long as that can't be made.
  ///   - path: Where the parent is found; a save is looked for there before it is acknowledged.
  ///   - isCache: Whether the directory is marked as not for backup, and made again when somebody removes it: the device's.
  ///   - volume: A volume that was found good already.
  init(
    _ fileSystem: any FileSystem, in parent: OwnedDescriptor?, at path: String? = nil, keys: any StoreKeys,
    sealer: any StoreSealing,
    options: StoreOptions = StoreOptions(), isCache: Bool = false, volume: TrustedVolume? = nil,
    makingParent makeParent: (@Sendable () throws(ProtectionError) -> OwnedDescriptor)? = nil
  ) throws(ProtectionError) {
    self.fileSystem = fileSystem
    self.keys = keys
    self.sealer = sealer
    self.options = options
    self.path = path
    self.isCache = isCache
    self.makeParent = makeParent
    places = Mutex([Place(parent: parent)])
    guard let parent else { return }
    do throws(ProtectionError) {
      try openSlots(in: parent, known: volume)
    } catch {
      guard isCache, error.isScarceRoom else { throw error }
    }
  }

  /// Opens the directory of the slots, and makes it when it isn't there; says whether it did.
  @discardableResult
  private func openSlots(
    in parent: OwnedDescriptor, known: TrustedVolume? = nil
  ) throws(ProtectionError) -> Bool {
    var isNew = false
    let descriptor = try attempt("open the store's directory") { () throws(FileSystemError) in
      try Self.openOrMake(Self.name, in: parent.descriptor, fileSystem, isNew: &isNew)
    }
    let slots = OwnedDescriptor(fileSystem, descriptor)
    let volume = try TrustedDirectory.check(
      descriptor, called: "The store's directory", fileSystem, allowsNetworkVolumes: options.allowsNetworkVolumes,
      known: known)
    places.withLock { $0.append(Place(parent: parent, slots: slots, volume: volume.kind)) }
    if isNew { markAsCache() }
    return isNew
  }

  /// Has nobody go on here: the device was erased.
  func retire() { isRetired.withLock { $0 = true } }

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
  /// - Parameters:
  ///   - isListed: Whether the list names the slot; false for slots that a list of their own names.
  ///   - device: What the archives keep for as long as somebody has them.
  func archives(
    for slot: ArchiveSlot, protection: ProtectionClass, isListed: Bool = true,
    of device: (any AnyObject & Sendable)? = nil
  ) throws(ProtectionError) -> ArchiveStore {
    ArchiveStore(
      self, slot: slot, identity: try identity(of: slot), protection: protection, isListed: isListed, of: device)
  }

  // MARK: Slots

  /// Opens the directory of a slot for looking; nil when there is none.
  func look(at name: SlotName) throws(ProtectionError) -> SlotDirectory? {
    try openSlot(name).map { SlotDirectory(fileSystem, $0) }
  }

  /// Opens the directory of a slot for its one writer, and makes it when it isn't there; nothing is synced.
  ///
  /// Throws `.inUse` when somebody else has it and does not let go within the patience.
  ///
  /// - Parameter name: The slot's name, which is another one once the device was made again.
  func openForWriting(
    waiting patience: Duration, _ name: () throws(ProtectionError) -> SlotName
  ) throws(ProtectionError) -> SlotDirectory {
    for _ in 0..<Self.attemptLimit {
      let name = try name()
      guard let directory = try openSlot(name, making: true) else {
        try reopen()
        continue
      }
      // The directory itself is locked: nobody can take its lock away and leave it where it is.
      if let holder = try lock(directory, waiting: patience) {
        // Where nobody has it any more, it was let go after the last try, and is free.
        guard holder.processIdentifier == nil, try lock(directory, waiting: .zero) == nil else { throw holder }
      }
      let slot = SlotDirectory(fileSystem, directory)
      if try isNamed(slot, name) { return slot }
      // Its writer has deleted it while this one waited, or somebody has taken the directory of all slots away.
      if try !isCurrent() { try reopen() }
    }
    throw ProtectionError(
      .busy, "Somebody removes the directory of this archive as often as it is made; stop that, and try again.")
  }

  /// Locks a slot; returns an error that names the holder's process when somebody else has the lock.
  private func lock(
    _ directory: OwnedDescriptor, waiting patience: Duration
  ) throws(ProtectionError) -> ProtectionError? {
    let isOurs = try attempt("lock a slot") { () throws(FileSystemError) in
      try fileSystem.lock(directory.descriptor, .exclusive, patience: patience)
    }
    return isOurs ? nil : inUse(directory)
  }

  /// So often a directory is opened again that somebody has taken away meanwhile.
  private static let attemptLimit = 16

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

  // MARK: The directory of the slots

  /// Whether the open directory of the slots is the one that its path means.
  private func isCurrent() throws(ProtectionError) -> Bool {
    guard isThere else { return false }
    return try attempt("look at the store's directory") { () throws(FileSystemError) in
      let own = try fileSystem.status(of: directory)
      guard let path else { return own.linkCount > 0 }
      return try fileSystem.statusIfAny(atPath: "\(path)/\(Self.name)")?.identity == own.identity
    }
  }

  /// Opens the directory of the slots by its name, and makes it again, with the device's own if need be, where somebody has
  /// removed it while the program runs, or it could not be made before.
  ///
  /// Throws `.erased` when the device has been erased.
  private func reopen() throws(ProtectionError) {
    guard isCache, !isRetired.withLock({ $0 }) else { throw .erased }
    guard let parent = try makeParent?() ?? place.parent else { throw .notMade }
    // An erase has this lock, so that nothing is made while one is under way.
    let lock = OwnedDescriptor(
      fileSystem,
      // The parent is locked itself, by everybody who has the device open: no lock is taken on it here.
      try TrustedDirectory.openLock(Self.parentLockName, in: parent.descriptor, fileSystem), isLock: true)
    let isOurs = try attempt("lock the device") { () throws(FileSystemError) in
      try fileSystem.lock(lock.descriptor, .exclusive, patience: options.patience)
    }
    guard isOurs else {
      throw ProtectionError(.busy, "Another process keeps the device locked; try again when it is done.")
    }
    try withExtendedLifetime(lock) { () throws(ProtectionError) in
      guard try keys.isOnDisk() else { throw .erased }
      guard try openSlots(in: parent) else { return markAsCache() }
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
    guard isThere else { return nil }
    do throws(ProtectionError) {
      var isNew = false
      let descriptor = try attempt("open a slot") { () throws(FileSystemError) in
        guard making else { return try fileSystem.openDirectory(name.text, in: directory) }
        do throws(FileSystemError) {
          return try Self.openOrMake(name.text, in: directory, fileSystem, isNew: &isNew)
        } catch  where error.code == .symbolicLink || error.code == .notDirectory {
          // This removes no directory: one that another process makes meanwhile stays.
          try fileSystem.unlink(name.text, in: directory)
          return try Self.openOrMake(name.text, in: directory, fileSystem, isNew: &isNew)
        }
      }
      return OwnedDescriptor(fileSystem, descriptor, isLock: making)
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
    writers.withLock { writers in
      writers.removeAll { $0.name == name || $0.store == nil }
      if let store { writers.append(Writer(name: name, store: store)) }
    }
  }

  /// The writers of slots in this process.
  func writer(of name: SlotName) -> ArchiveStore? { writers.withLock { $0.first { $0.name == name }?.store } }
}

extension ProtectionError {
  /// What a store finds after the device was erased under it.
  static let erased = ProtectionError(
    .otherDevice, "The device has been erased, or this archive deleted, since it was opened; open it again.")
}
