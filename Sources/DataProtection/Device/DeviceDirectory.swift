import FileSystem
import Synchronization

/// The directory that holds a device: its keys, its locks, and below it everything sealed.
///
/// Every file in it is written whole under a name that is its own and never changed in place, except that keys which
/// have had their day are overwritten. All calls block.
final class DeviceDirectory: Sendable {
  /// Serialises everything that reads or changes keys, between processes.
  static let lockName = StoreDirectory.parentLockName
  /// The beginning of the names of files that are being written.
  static let temporaryPrefix = "tmp-"
  /// More than any file of keys has.
  private static let maximumByteCount = 4096

  let fileSystem: any FileSystem
  /// The open directory; ``Opened/none`` as long as it could not be made.
  var descriptor: Descriptor { owned?.descriptor ?? Opened.none }
  /// The same, for those who use it for longer; nil as long as it could not be made.
  var owned: OwnedDescriptor? { current?.directory }
  /// Where it is.
  let path: String
  /// The volume, which was found good; nil as long as there is no directory.
  var volume: TrustedVolume? { current?.volume }
  let options: ProtectedDevice.Options
  private let isInHome: Bool
  /// The owner of all files that are read; asked once, as each question is a system call.
  let user: UInt32
  /// The directory as it is now, behind those that were it before somebody took them away: calls may be under way there.
  private let opened: Mutex<[Opened]>
  private var current: Opened? { opened.withLock { $0.last } }
  var patience: Duration { options.patience }

  /// One directory that this is, or was.
  private final class Opened: Sendable {
    /// No directory: every call with it fails.
    static let none = Descriptor(rawValue: -1)

    let directory: OwnedDescriptor
    let volume: TrustedVolume
    /// Held while keys are read or changed; an opening that finds everything in order does without.
    let keyLock: DeviceLock

    init(_ directory: OwnedDescriptor, volume: TrustedVolume, path: String) {
      self.directory = directory
      self.volume = volume
      let fileSystem = directory.fileSystem
      keyLock = DeviceLock(lockName, in: directory, fileSystem) { () throws(FileSystemError) in
        try synchronizeNames(on: path, fileSystem)
      }
    }
  }

  private init(_ fileSystem: any FileSystem, path: String, options: ProtectedDevice.Options, isInHome: Bool) {
    self.fileSystem = fileSystem
    self.path = path
    self.options = options
    self.isInHome = isInHome
    user = fileSystem.currentUser
    opened = Mutex([])
  }

  // MARK: Opening

  /// Opens the directory and makes it, with those above it, when it isn't there.
  ///
  /// Where there is no room for it, or the volume is read-only, it is there without being open; ``reopen()`` tries again.
  ///
  /// Throws `.unsafeLocation` when it is a link, not ours, open to others, on a network volume that was not opted
  /// for, or would be made in another user's home.
  static func open(
    _ path: String, _ fileSystem: any FileSystem, options: ProtectedDevice.Options, isInHome: Bool = false
  ) throws(ProtectionError) -> DeviceDirectory {
    let directory = DeviceDirectory(fileSystem, path: path, options: options, isInHome: isInHome)
    do throws(ProtectionError) {
      try directory.reopen()
    } catch  where error.isScarceRoom {
      // Nothing is there.
    }
    return directory
  }

  /// Whether the directory that is open is the one that its path means.
  func isCurrent() throws(ProtectionError) -> Bool {
    guard let own = owned?.descriptor else { return false }
    return try attempt("look at the device's directory") { () throws(FileSystemError) in
      try fileSystem.statusIfAny(atPath: path)?.identity == fileSystem.status(of: own).identity
    }
  }

  /// Opens the directory by its path, and makes it if it isn't there; from here on it is this one.
  func reopen() throws(ProtectionError) {
    let directory = OwnedDescriptor(fileSystem, try Self.openOrMake(path, fileSystem, isInHome: isInHome))
    let volume = try TrustedDirectory.check(
      directory.descriptor, called: "\"\(path)\"", fileSystem, allowsNetworkVolumes: options.allowsNetworkVolumes)
    opened.withLock { $0.append(Opened(directory, volume: volume, path: path)) }
  }

  private static func openOrMake(
    _ path: String, _ fileSystem: any FileSystem, isInHome: Bool = false
  ) throws(ProtectionError) -> Descriptor {
    do throws(FileSystemError) {
      return try uninterrupted { () throws(FileSystemError) in try fileSystem.openDirectory(atPath: path) }
    } catch  where error.code == .noSuchFile {
      if isInHome { try HomeOwner.check(path, fileSystem) }
      return try TrustedPath.make(path, fileSystem)
    } catch  where error.code == .symbolicLink || error.code == .notDirectory {
      throw ProtectionError(
        .unsafeLocation, "\"\(path)\" is a link or no directory; choose a directory of your own.",
        errno: error.code.rawValue, cause: error)
    } catch  where error.code == .accessDenied {
      throw ProtectionError(
        .unsafeLocation, "\"\(path)\" can't be entered; choose a directory of your own, or check its owner and mode.",
        errno: error.code.rawValue, cause: error)
    } catch {
      throw ProtectionError(
        .io, "The device's directory \"\(path)\" can't be opened; check its owner and mode.",
        errno: error.code.rawValue, cause: error)
    }
  }

  /// Makes the names on the way to a new directory durable, as far up as the directories are ours.
  ///
  /// Their maker may have been killed before it could.
  private static func synchronizeNames(
    on path: String, _ fileSystem: any FileSystem
  ) throws(FileSystemError) {
    var components = path.split(separator: "/")
    while !components.isEmpty {
      // An entry that can't be opened, or is somebody else's, is not ours.
      guard let directory = try? fileSystem.openDirectory(atPath: "/" + components.joined(separator: "/"))
      else { return }
      defer { fileSystem.close(directory) }
      components.removeLast()
      guard try fileSystem.status(of: directory).owner == fileSystem.currentUser,
        let parent = try? fileSystem.openDirectory(atPath: "/" + components.joined(separator: "/"))
      else { return }
      defer { fileSystem.close(parent) }
      try fileSystem.synchronize(parent)
    }
  }

  // MARK: Turns

  /// Frees the locks' names of anything that is no file, so that a device can be erased.
  func clearLocks() throws(ProtectionError) {
    for name in [Self.lockName, Self.aloneName] {
      let status = try attempt("look at a lock file") { () throws(FileSystemError) in
        try fileSystem.statusIfAny(ofName: name, in: descriptor)
      }
      if let status, status.kind != .regular { try clear(name) }
    }
  }

  /// Runs the body while no other process reads or changes the device's keys.
  func withLock<R>(_ body: () throws(ProtectionError) -> R) throws(ProtectionError) -> R {
    guard let current else { throw .notMade }
    guard let lockFile = try current.keyLock.descriptor() else { return try body() }
    let isOurs = try attempt("lock the device") { () throws(FileSystemError) in
      try fileSystem.lock(lockFile, .exclusive, patience: patience)
    }
    guard isOurs else {
      throw ProtectionError(.busy, "Another process keeps the device's keys locked; try again when it is done.")
    }
    defer { current.keyLock.unlock() }
    return try body()
  }

  /// Says to other processes that this one has the device open, until the directory is closed: it is locked itself.
  func joinSession() throws(ProtectionError) {
    guard current != nil else { return }
    let isOurs = try attempt("join the device's users") { () throws(FileSystemError) in
      try fileSystem.lock(descriptor, .shared, patience: patience)
    }
    guard isOurs else {
      throw ProtectionError(.busy, "Another process is changing the device's keys; try again when it is done.")
    }
  }

  /// Runs the body while no other process has the device open; `.busy` when one has.
  ///
  /// Asking for a lock of another kind gives up the one that there is, also if it is refused. So whoever asks has the lock of
  /// those who ask: nobody else can get the directory alone before this one shares it again.
  func withoutOthers<R>(_ body: () throws(ProtectionError) -> R) throws(ProtectionError) -> R {
    guard let directory = current?.directory else { throw .notMade }
    let descriptor = directory.descriptor
    let turn = OwnedDescriptor(
      fileSystem, try TrustedDirectory.openLock(Self.aloneName, in: descriptor, fileSystem), isLock: true)
    return try withExtendedLifetime((turn, directory)) { () throws(ProtectionError) in
      let mayAsk = try attempt("ask for the device alone") { () throws(FileSystemError) in
        try fileSystem.lock(turn.descriptor, .exclusive, patience: patience)
      }
      guard mayAsk else { throw Self.hasOthers }
      defer { _ = try? fileSystem.lock(descriptor, .shared, patience: patience) }
      let isAlone = try attempt("ask for the device alone") { () throws(FileSystemError) in
        try fileSystem.lock(descriptor, .exclusive, patience: .zero)
      }
      guard isAlone else { throw Self.hasOthers }
      return try body()
    }
  }

  /// The lock of those who ask whether they are alone.
  static let aloneName = "alone"

  private static let hasOthers = ProtectionError(
    .busy, "Another program has this device open, and would go on with keys that are about to go; close it first.")

  // MARK: Files

  /// The names in the directory.
  ///
  /// Files that a crash left half written are overwritten and removed; call it under the lock.
  func names() throws(ProtectionError) -> [String] {
    let names = try attempt("list the device's directory") { () throws(FileSystemError) in
      try fileSystem.names(in: descriptor)
    }
    return names.filter { name in
      guard name.hasPrefix(Self.temporaryPrefix) else { return true }
      try? discard(name)
      return false
    }
  }

  /// Overwrites and removes every file that was being written; throws when one keeps its bytes, after trying all.
  func discardTemporaries() throws(ProtectionError) {
    let names = try attempt("list the device's directory") { () throws(FileSystemError) in
      try fileSystem.names(in: descriptor)
    }
    var failure: ProtectionError?
    for name in names where name.hasPrefix(Self.temporaryPrefix) {
      do throws(ProtectionError) {
        try overwriteSecret(name)
        // A name that can't be removed has nothing behind it any more.
        try? remove(name)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// For reading alone; an empty literal of another module's option set is dear where a process has just begun.
  private static let reading = OpenOptions(rawValue: 0)

  /// Opens a file; `nil` when there is none.
  ///
  /// Anything but a regular file of ours is `.corrupt`. It may have a second name: nothing is ever written into it.
  func open(_ name: String, forWriting: Bool = false) throws(ProtectionError) -> DeviceFile? {
    let opened: Descriptor
    do throws(ProtectionError) {
      opened = try attempt("open \"\(name)\"") { () throws(FileSystemError) in
        try fileSystem.openFile(name, in: descriptor, forWriting ? .write : Self.reading)
      }
    } catch {
      let code = (error.cause as? FileSystemError)?.code
      if code == .noSuchFile { return nil }
      guard code?.isNoFile == true else { throw error }
      throw ProtectionError(.corrupt, "Something that is no regular file stands in place of \"\(name)\".", cause: error)
    }
    do throws(ProtectionError) {
      let status = try attempt("look at \"\(name)\"") { () throws(FileSystemError) in
        try fileSystem.status(of: opened)
      }
      guard status.kind == .regular, status.owner == user else {
        throw ProtectionError(
          .corrupt,
          "\"\(name)\" is no file, or is somebody else's; put a copy of your own there.")
      }
      return DeviceFile(fileSystem, opened, name: name, byteCount: Int(clamping: status.byteCount))
    } catch {
      fileSystem.close(opened)
      throw error
    }
  }

  /// Reads a whole small file; `nil` when there is none, `.corrupt` when it is too large to be one of ours.
  func read(_ name: String) throws(ProtectionError) -> [UInt8]? {
    guard let file = try open(name) else { return nil }
    guard file.byteCount <= Self.maximumByteCount else {
      throw ProtectionError(.corrupt, "\"\(name)\" is too large to be what it should be.")
    }
    return try attempt("read \"\(name)\"") { () throws(FileSystemError) in
      try fileSystem.readBytes(file.descriptor, count: file.byteCount)
    }
  }
}
