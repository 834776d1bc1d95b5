import FileSystem
import Synchronization

/// The directory that holds all archives of a device, its lock and its ledger.
///
/// It is safe to share between threads. Two processes, or two of these on one directory, exclude each other through
/// the lock file, which is never removed.
package final class StoreDirectory: Sendable {
  /// The name of the store's directory in the device's.
  package static let name = "archives"

  let fileSystem: any FileSystem
  let keys: any StoreKeys
  let sealer: any StoreSealing
  let options: StoreOptions
  let directory: Descriptor
  let lockFile: Descriptor
  private let turn = Mutex<Void>(())
  /// What this process has sealed anew, by slot.
  let resealings = Mutex<[SlotName: Resealing]>([:])

  private init(
    fileSystem: any FileSystem, keys: any StoreKeys, sealer: any StoreSealing, options: StoreOptions,
    directory: Descriptor, lockFile: Descriptor
  ) {
    self.fileSystem = fileSystem
    self.keys = keys
    self.sealer = sealer
    self.options = options
    self.directory = directory
    self.lockFile = lockFile
  }

  deinit {
    fileSystem.close(lockFile)
    fileSystem.close(directory)
  }

  /// Opens the store in the device's directory, and makes it when it isn't there.
  ///
  /// Throws `.unsafeLocation` when the directory is a link, not ours, open to others, or on a network volume that
  /// was not opted for; nothing is changed then.
  static func open(
    _ fileSystem: any FileSystem, in parent: Descriptor, keys: any StoreKeys, sealer: any StoreSealing,
    options: StoreOptions = StoreOptions()
  ) throws(ProtectionError) -> StoreDirectory {
    let directory = try attempt("open the store's directory") { () throws(FileSystemError) in
      do throws(FileSystemError) {
        return try fileSystem.openDirectory(name, in: parent)
      } catch  where error.code == .noSuchFile {
        do throws(FileSystemError) {
          try fileSystem.makeDirectory(name, in: parent, mode: 0o700)
        } catch  where error.code == .fileExists {
          // Another process was first; its directory is as good.
        }
        return try fileSystem.openDirectory(name, in: parent)
      }
    }
    do throws(ProtectionError) {
      try TrustedDirectory.check(
        directory, called: "The store's directory", fileSystem, allowsNetworkVolumes: options.allowsNetworkVolumes)
      let lockFile = try TrustedDirectory.openLock(StoreName.lock.text, in: directory, fileSystem) {
        () throws(FileSystemError) in try TrustedDirectory.synchronizeName(name, in: parent, fileSystem)
      }
      return StoreDirectory(
        fileSystem: fileSystem, keys: keys, sealer: sealer, options: options, directory: directory,
        lockFile: lockFile)
    } catch {
      fileSystem.close(directory)
      throw error
    }
  }

  // MARK: Turns

  /// Runs the body while nobody else, in this process or another, changes the directory.
  ///
  /// Throws `.busy` when another process keeps the lock for longer than the patience.
  func withLock<R>(
    _ body: (borrowing StoreSession) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    var outcome: Result<R, ProtectionError>?
    try locked { session in
      do throws(ProtectionError) {
        outcome = .success(try body(session))
      } catch {
        outcome = .failure(error)
      }
    }
    return try outcome!.get()
  }

  /// Takes a turn and the lock; not generic, because Swift 6.3.1 fails to specialize all of it at once.
  private func locked(_ body: (borrowing StoreSession) -> Void) throws(ProtectionError) {
    var failure: ProtectionError?
    turn.withLock { _ in
      do throws(ProtectionError) {
        let isOurs = try attempt("lock the store") { () throws(FileSystemError) in
          try fileSystem.lock(lockFile, .exclusive, patience: options.patience)
        }
        guard isOurs else {
          throw ProtectionError(.busy, "Another process keeps the store locked; try again when it is done.")
        }
        defer { try? fileSystem.unlock(lockFile) }
        try requireName()
        body(StoreSession(self))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// Throws `.otherDevice` when the lock file has no name any more: then the whole directory was erased.
  private func requireName() throws(ProtectionError) {
    let status = try attempt("look at the store's lock") { () throws(FileSystemError) in
      try fileSystem.status(of: lockFile)
    }
    guard status.linkCount > 0 else {
      throw ProtectionError(.otherDevice, "The device has been erased since this store was opened; open it again.")
    }
  }

  // MARK: The tip

  /// The counter that every new generation, journal and deletion raises, of whatever process.
  ///
  /// Nothing raises it before the store's first ledger is durable.
  func readTip() throws(ProtectionError) -> UInt64 {
    try attempt("read the store's tip") { () throws(FileSystemError) in try Self.readTip(of: lockFile, fileSystem) }
  }

  /// Raises the tip; every writer with an older one looks again before it acknowledges anything.
  func raiseTip() throws(ProtectionError) -> UInt64 {
    try attempt("raise the store's tip") { () throws(FileSystemError) in try Self.raiseTip(of: lockFile, fileSystem) }
  }

  private static func readTip(
    of lockFile: Descriptor, _ fileSystem: any FileSystem
  ) throws(FileSystemError) -> UInt64 {
    // No array: every append reads the tip, on the caches that its sync has left cold.
    var tip: UInt64 = 0
    let count = try unsafe withUnsafeMutableBytes(of: &tip) { bytes throws(FileSystemError) in
      try unsafe fileSystem.readUpTo(lockFile, into: bytes, at: 0)
    }
    // A lock file that was never raised is empty.
    return count == MemoryLayout<UInt64>.size ? UInt64(littleEndian: tip) : 0
  }

  /// Raises the tip in a lock file that need not be an open store's.
  @discardableResult
  static func raiseTip(of lockFile: Descriptor, _ fileSystem: any FileSystem) throws(FileSystemError) -> UInt64 {
    let tip = try readTip(of: lockFile, fileSystem) &+ 1
    var bytes: [UInt8] = []
    bytes.appendInteger(tip)
    try unsafe fileSystem.writeAll(lockFile, bytes.span.bytes, at: 0)
    return tip
  }
}

/// How a store behaves where there is a choice.
package struct StoreOptions: Sendable {
  /// How long to wait for another process before `.busy`.
  package var patience: Duration = .seconds(5)
  /// Whether a network volume is taken all the same.
  package var allowsNetworkVolumes = false
  /// Whether a lost ledger refuses everything that it would have vouched for.
  package var isStrict = false

  /// The choices that are made by default.
  package init() {}
}

/// Makes a system call, again when it was interrupted, and says in words what failed.
///
/// A sync must not come here more than once per attempt to save: see `StoreSession.fill`.
func attempt<R>(
  _ what: @autoclosure () -> String, _ body: () throws(FileSystemError) -> R
) throws(ProtectionError) -> R {
  while true {
    do throws(FileSystemError) {
      return try body()
    } catch  where error.code == .interrupted {
      continue
    } catch {
      throw ProtectionError(
        .io, "The operating system failed to \(what()); nothing saved before is lost.",
        errno: error.code.rawValue, cause: error)
    }
  }
}

extension StoreDirectory {
  /// The archives of one slot.
  func archives(for slot: ArchiveSlot, protection: ProtectionClass) -> ArchiveStore {
    ArchiveStore(self, slot: slot, protection: protection)
  }
}
