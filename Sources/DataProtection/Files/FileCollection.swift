import FileSystem
import FoundationShim
import Sealing
import Synchronization

/// One directory of protected files: an index over a store of sealed contents.
///
/// Creating writes the content first and the index after it, deleting the other way round, so that a crash leaves at
/// most content that no name leads to. It is marked as such, and swept at the next opening. Content without a name and
/// without that mark says that the index is an old one. Every change holds the directory's own lock file, so that two
/// processes don't lose each other's names.
final class FileCollection: Sendable {
  /// The longest file name, in bytes of UTF-8.
  static let maximumNameByteCount = 1024
  /// Serialises changes between processes; a directory without it is new.
  static let lockName = "lock"

  let name: String
  let store: StoreDirectory
  let keys: any ClassKeys
  private let place: OwnedDescriptor
  /// Nil on a read-only volume that has none, where nobody can change anything.
  private let lockFile: Descriptor?
  private let random: any RandomSource
  private let patience: Duration
  private let turn = Turn()
  private let index: ArchiveStore
  /// The list that this process has made durable, or found to be.
  private let durableIndex = Mutex<Generation?>(nil)
  /// Whether there were contents at the last look that only a newer list than the index can have named.
  private let isIndexOld = Mutex(false)

  init(
    name: String, store: StoreDirectory, place: OwnedDescriptor, keys: any ClassKeys, random: any RandomSource,
    patience: Duration
  ) throws(ProtectionError) {
    self.name = name
    self.store = store
    self.place = place
    self.keys = keys
    self.random = random
    self.patience = patience
    lockFile = try TrustedDirectory.openLockOrRead(
      Self.lockName, in: place.descriptor, store.fileSystem, patience: patience
    ).lock
    index = try store.archives(for: Self.slot(name, "index"), protection: .none)
    try? sweep()
  }

  deinit {
    if let lockFile { store.fileSystem.close(lockFile) }
  }

  private static func slot(_ directory: String, _ slot: String) -> ArchiveSlot {
    ArchiveSlot(application: "protected-files", scene: directory, slot: slot)
  }

  // MARK: The index

  /// Reads the index; an empty one when nothing was ever created.
  ///
  /// When only an older one is left, throws the newest one's error: a file that the older one doesn't name
  /// must not pass for one that was never there.
  func read() throws(ProtectionError) -> FileIndex {
    guard let newest = try openIndex() else { return FileIndex() }
    if case .olderGeneration(let reason) = newest.standing {
      throw ProtectionError(
        reason ?? .corrupt,
        "The list of protected files is damaged or gone, and only an older one is left; adoptOlderList() goes on from it."
      )
    }
    let found = try FileIndex([UInt8](newest.readAll()))
    guard isIndexOld.withLock({ $0 }), try !unnamed(in: found).forgotten.isEmpty else { return found }
    throw ProtectionError(
      .rolledBack,
      "The list of protected files is an old one, put back by somebody; put the right one back, or call adoptOlderList()."
    )
  }

  /// The newest index there is; `nil` when nothing was ever created.
  ///
  /// The first index is durable before any content is made: content without one says that the index is gone, whatever the
  /// list of slots says.
  private func openIndex() throws(ProtectionError) -> OpenedArchive? {
    do throws(ProtectionError) {
      return try index.openNewest()
    } catch  where error.code == .notFound {
      guard try store.hasSavedSlots() else { return nil }
      throw ProtectionError(.missing, "The list of protected files is gone: somebody removed it.")
    }
  }

  /// Makes the older index the current one, if it is all that is left; an empty one if nothing is.
  ///
  /// Deletes the contents that it doesn't name.
  func adoptOlderIndex() throws(ProtectionError) {
    try exclusively { () throws(ProtectionError) in
      if try !store.hasSavedSlots() {
        _ = try index.publish(Data(FileIndex().bytes)).orUnknown()
        return
      }
      guard let newest = try openIndex() else { return }
      let bytes = try newest.readAll()
      let forgotten = try unnamed(in: try FileIndex([UInt8](bytes))).forgotten
      if case .olderGeneration = newest.standing {} else if forgotten.isEmpty { return }
      _ = try index.publish(bytes).orUnknown()
      for content in forgotten { try ArchiveStore(store, name: content).deleteAll() }
      isIndexOld.withLock { $0 = false }
    }
  }

  /// Runs the body while no other thread or process changes the directory.
  func change<R>(_ body: (inout FileIndex) throws(ProtectionError) -> R) throws(ProtectionError) -> R {
    try exclusively { () throws(ProtectionError) in
      // Content without any list would pass for content whose list was removed.
      if try openIndex() == nil { _ = try index.publish(Data(FileIndex().bytes)).orUnknown() }
      let old = try read()
      var new = old
      let result = try body(&new)
      if new != old {
        let receipt = try index.publish(Data(new.bytes))
        if receipt.durability == .durable { durableIndex.withLock { $0 = receipt.generation } }
        guard receipt.durability == .durable else {
          throw ProtectionError(
            .durabilityUnknown, "The change was made, but may not survive a power cut; make it again to be sure.")
        }
      }
      return result
    }
  }

  /// Makes the list of the file in question durable before its receipt, unless this process has done so.
  private func requireDurableIndex() throws(ProtectionError) {
    guard let newest = try openIndex()?.generation, durableIndex.withLock({ $0 }) != newest else { return }
    try index.open()
    try index.requireDurable()
    durableIndex.withLock { $0 = newest }
  }

  private func exclusively<R>(_ body: () throws(ProtectionError) -> R) throws(ProtectionError) -> R {
    try turn.take { () throws(ProtectionError) in
      guard let lockFile else { return try body() }
      let isOurs = try attempt("lock the protected files") { () throws(FileSystemError) in
        try store.fileSystem.lock(lockFile, .exclusive, patience: patience)
      }
      guard isOurs else {
        throw ProtectionError(.busy, "Another process is changing the protected files; try again.")
      }
      defer {
        // Others change the list, too.
        index.close()
        try? store.fileSystem.unlock(lockFile)
      }
      return try body()
    }
  }

  /// Deletes what a creation or deletion that was cut short has left without a name.
  private func sweep() throws(ProtectionError) {
    try exclusively { () throws(ProtectionError) in
      guard let newest = try openIndex(), newest.standing == .current else { return }
      let found = try FileIndex([UInt8](newest.readAll()))
      let unnamed = try unnamed(in: found)
      isIndexOld.withLock { $0 = !unnamed.forgotten.isEmpty }
      guard unnamed.forgotten.isEmpty else { return }
      for content in unnamed.abandoned { try ArchiveStore(store, name: content).deleteAll() }
      for entry in found.entries.values { try store.lookIfDirectory(at: slotName(entry))?.markNamed() }
    }
  }

  /// The contents that an index does not name: those that are marked for it, and those that a newer index has named.
  private func unnamed(
    in index: FileIndex
  ) throws(ProtectionError) -> (abandoned: [SlotName], forgotten: [SlotName]) {
    var slots = Set(try index.entries.values.map(slotName))
    slots.insert(self.index.name)
    var (abandoned, forgotten): ([SlotName], [SlotName]) = ([], [])
    for name in try store.slotNames() where !slots.contains(name) {
      guard let slot = try store.lookIfDirectory(at: name) else { continue }
      if try slot.isUnnamed() { abandoned.append(name) } else { forgotten.append(name) }
    }
    return (abandoned, forgotten)
  }

  private func slotName(_ entry: FileIndex.Entry) throws(ProtectionError) -> SlotName {
    SlotName(identity: try store.identity(of: contentSlot(entry)))
  }

  // MARK: Contents

  /// The generations of one file's content.
  ///
  /// The index names it, so the list of slots does not.
  func contents(of entry: FileIndex.Entry) throws(ProtectionError) -> ArchiveStore {
    try store.archives(for: contentSlot(entry), protection: entry.protection, isListed: false)
  }

  private func contentSlot(_ entry: FileIndex.Entry) -> ArchiveSlot {
    Self.slot(name, "file-" + hexadecimal(entry.identifier))
  }

  /// A new entry, and its content sealed and written; the name is the caller's to add, and ``didName(_:)`` to call then.
  func make(
    _ contents: Data, _ protection: ProtectionClass, created: Double
  ) throws(ProtectionError) -> (entry: FileIndex.Entry, store: ArchiveStore, receipt: PublishReceipt) {
    let identifier = try sealing("name a file") { () throws(SealingError) in try random.bytes(count: 16) }
    let entry = FileIndex.Entry(identifier: identifier, protection: protection, created: created)
    let store = try self.contents(of: entry)
    try store.makeUnnamed()
    // Its handle goes on from there, while locked too.
    defer { store.rest() }
    return (entry, store, try store.publish(contents).orUnknown())
  }

  /// Says that the index has an entry's name, durably.
  func didName(_ entry: FileIndex.Entry) {
    if let name = try? slotName(entry) { (try? store.lookIfDirectory(at: name))?.markNamed() }
  }

  /// Says, durably, that the index is about to lose an entry's name: its content is deleted then in any event.
  func willForget(_ entry: FileIndex.Entry) throws(ProtectionError) {
    try store.lookIfDirectory(at: try slotName(entry))?.markUnnamed(isDurable: true)
  }

  /// Replaces the content of a file, as long as the list names it.
  ///
  /// Throws `.superseded` when it doesn't: a file that is written then would be swept.
  func replace(
    _ entry: FileIndex.Entry, by contents: Data, in store: ArchiveStore
  ) throws(ProtectionError) -> PublishReceipt {
    try exclusively { () throws(ProtectionError) in
      guard try names(entry) else { throw .fileSuperseded }
      // A killed program may have left the list in the page cache alone.
      try requireDurableIndex()
      defer { store.rest() }
      return try store.publish(contents).orUnknown()
    }
  }

  /// What a handle knows of a file's newest content.
  struct Known: Sendable {
    var content: PatchedContent
    var generation: Generation
    /// The last commitment; nil for one that the handle has not seen on disk.
    var commitment: [UInt8]?
  }

  /// Puts bytes at an offset of the newest content, or at its end, as long as the list names the file.
  ///
  /// Writes the change alone behind the content; now and then, and where the bytes reach over the end, everything anew.
  /// - Parameter known: What the handle knows; it need not be the newest.
  /// - Returns: The newest content.
  func patch(
    _ entry: FileIndex.Entry, with bytes: Data, at offset: Int?, knowing known: Known, in store: ArchiveStore
  ) throws(ProtectionError) -> Known {
    try exclusively { () throws(ProtectionError) in
      guard try names(entry) else { throw .fileSuperseded }
      try requireDurableIndex()
      defer { store.rest() }
      var newest = known
      if let commitment = try store.resume(), known.commitment == nil || known.commitment == commitment {
        newest.commitment = commitment
      } else {
        let opened = try store.openNewest()
        newest = try Known(opened)
      }
      let end = newest.content.byteCount
      let offset = offset ?? end
      guard (0...end).contains(offset) else {
        throw ProtectionError(.invalidArgument, "The offset \(offset) is not within the file, which has \(end) bytes.")
      }
      guard !bytes.isEmpty else { return newest }
      let frame = FilePatch.frame(bytes, at: offset)
      if offset == end || offset + bytes.count <= end,
        let receipt = try store.append(frame, to: newest.generation, grows: offset == end)
      {
        _ = try receipt.orUnknown()
        try newest.content.add(frame)
        newest.commitment = store.lastCommitment
        return newest
      }
      let whole = try newest.content.with(frame)
      let receipt = try store.publish(whole).orUnknown()
      // Read from the disk from now on, where the keys are there.
      if let opened = try? store.openNewest(), opened.generation == receipt.generation { return try Known(opened) }
      return Known(content: try PatchedContent(.bytes(whole)), generation: receipt.generation)
    }
  }

  /// Whether the list has a file, under any name.
  func names(_ entry: FileIndex.Entry) throws(ProtectionError) -> Bool {
    try read().entries.values.contains { $0.identifier == entry.identifier }
  }

  /// Refuses what the class table refuses to open now.
  func requireOpening(_ protection: ProtectionClass) throws(ProtectionError) {
    guard keys.isAvailable(protection) else { throw .locked(protection) }
  }

  // MARK: Backup

  var isExcludedFromBackup: Bool {
    get throws(ProtectionError) { try CacheDirectoryTag.isThere(in: place.descriptor, store.fileSystem) }
  }

  func setExcludedFromBackup(_ isExcluded: Bool) throws(ProtectionError) {
    if isExcluded {
      CacheDirectoryTag.write(in: place.descriptor, store.fileSystem)
      guard try isExcludedFromBackup else {
        throw ProtectionError(.io, "The backup mark could not be written; is the disk full or read-only?")
      }
    } else {
      try CacheDirectoryTag.remove(in: place.descriptor, store.fileSystem)
    }
    try attempt("synchronise the backup mark") { () throws(FileSystemError) in
      try store.fileSystem.synchronize(place.descriptor)
    }
  }
}

extension ProtectionError {
  /// A handle's file is not the one that it was opened for.
  static let fileSuperseded = ProtectionError(
    .superseded, "The file was deleted or given another class since it was opened; open it again.")
}

extension PublishReceipt {
  /// The receipt, or the error that a write which may be lost in a power cut is.
  func orUnknown() throws(ProtectionError) -> PublishReceipt {
    guard durability == .durable else {
      throw ProtectionError(
        .durabilityUnknown, "The file was written, but may not survive a power cut; write it again to be sure.")
    }
    return self
  }
}

extension FileCollection.Known {
  /// What an opened file says.
  init(_ opened: OpenedArchive) throws(ProtectionError) {
    content = try PatchedContent(.sealed(opened.content), frames: opened.frames)
    generation = opened.generation
    commitment = opened.scan.commitment
  }
}
