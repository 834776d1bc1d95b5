import FileSystem
import Synchronization

/// The open directory of one slot; its one writer keeps it locked.
final class SlotDirectory: Sendable {
  let fileSystem: any FileSystem
  /// The open directory.
  var descriptor: Descriptor { directory.descriptor }
  private let directory: OwnedDescriptor
  private let known = Mutex<FileIdentity?>(nil)

  /// Keeps the descriptor open.
  init(_ fileSystem: any FileSystem, _ directory: OwnedDescriptor) {
    self.fileSystem = fileSystem
    self.directory = directory
  }

  /// Which directory it is, whatever its name means by now.
  func identity() throws(FileSystemError) -> FileIdentity {
    if let own = known.withLock({ $0 }) { return own }
    let own = try fileSystem.status(of: descriptor).identity
    known.withLock { $0 = own }
    return own
  }

  /// Its entries, as far as the store may have made them.
  func files() throws(ProtectionError) -> [SlotFile] {
    let names = try attempt("list a slot") { () throws(FileSystemError) in try fileSystem.names(in: descriptor) }
    return names.compactMap(SlotFile.init)
  }

  /// The files of generations and pending saves, highest number first: mere claims.
  func claims() throws(ProtectionError) -> [SlotFile] {
    try files().filter { $0.number != nil }.sorted { ($0.number ?? 0) > ($1.number ?? 0) }
  }

  /// Opens a file; nil when there is none.
  ///
  /// Anything but a regular file is `.corrupt`. A copy of the directory by hard links, as backup programs make it, gives a file
  /// a second name: it is read like any other, and nothing is appended to it.
  func open(_ file: SlotFile, forWriting: Bool = false) throws(ProtectionError) -> StoreFile? {
    var found: Descriptor?
    do throws(ProtectionError) {
      found = try openRegular(file.text, in: descriptor, forWriting ? .write : onlyReading, fileSystem)
    } catch {
      // A volume mounted read-only is opened for reading: it can be looked at.
      let code = (error.cause as? FileSystemError)?.code
      guard forWriting, code == .accessDenied || code == .readOnlyFileSystem else { throw error }
      return try open(file)
    }
    guard let opened = found else { return nil }
    do throws(ProtectionError) {
      let status = try attempt("look at an archive") { () throws(FileSystemError) in
        try fileSystem.status(of: opened)
      }
      guard status.kind == .regular else {
        throw ProtectionError(.corrupt, "Something that is no regular file stands in place of an archive.")
      }
      let start = try attempt("read an archive") { () throws(FileSystemError) in
        try fileSystem.readBytes(opened, count: Int(clamping: min(status.byteCount, Int64(StoreFile.startByteCount))))
      }
      return StoreFile(
        fileSystem, opened, byteCount: Int(clamping: status.byteCount), isWritable: forWriting,
        isOwn: TrustedDirectory.mayChange(status, user: fileSystem.currentUser), start: start)
    } catch {
      fileSystem.close(opened)
      throw error
    }
  }

  /// Makes a file of that name in place of any entry; throws when that can't be removed.
  func make(_ file: SlotFile) throws(ProtectionError) -> Descriptor {
    try attempt("make a file") { () throws(FileSystemError) in try makeFile(file.text, in: descriptor, fileSystem) }
  }

  /// Removes a file; false when it can't be removed now, and is left to a later sweep.
  @discardableResult
  func remove(_ file: SlotFile) -> Bool {
    do throws(FileSystemError) {
      try uninterrupted { () throws(FileSystemError) in try fileSystem.unlink(file.text, in: descriptor) }
      return true
    } catch {
      return error.code == .noSuchFile
    }
  }
}
