import FileSystem
import Synchronization

/// The open directory of one slot, with its lock if it is open for writing.
final class SlotDirectory: Sendable {
  let fileSystem: any FileSystem
  /// The open directory.
  var descriptor: Descriptor { directory.descriptor }
  private let directory: OwnedDescriptor
  /// The lock file, locked; nil for who only looks, and on a read-only volume that has none.
  let lock: OwnedDescriptor?
  /// Whether nothing can be written here: another writer can't be there, either.
  let isReadOnly: Bool
  private let known = Mutex<(own: FileIdentity?, lock: FileIdentity?)>((nil, nil))

  /// Keeps the descriptors open.
  init(_ fileSystem: any FileSystem, _ directory: OwnedDescriptor, lock: OwnedDescriptor?, isReadOnly: Bool = false) {
    self.fileSystem = fileSystem
    self.directory = directory
    self.lock = lock
    self.isReadOnly = isReadOnly
  }

  /// Which directory it is, whatever its name means by now.
  func identity() throws(FileSystemError) -> FileIdentity {
    if let own = known.withLock({ $0.own }) { return own }
    let own = try fileSystem.status(of: descriptor).identity
    known.withLock { $0.own = own }
    return own
  }

  /// Which file its lock is; nil without one.
  func lockIdentity() throws(FileSystemError) -> FileIdentity? {
    if let found = known.withLock({ $0.lock }) { return found }
    guard let lock else { return nil }
    let found = try fileSystem.status(of: lock.descriptor).identity
    known.withLock { $0.lock = found }
    return found
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
      found = try openRegular(file.text, in: descriptor, forWriting ? .write : reading, fileSystem)
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

/// For reading alone; an empty literal of another module's option set is dear where a process has just begun.
private let reading = OpenOptions(rawValue: 0)

/// Opens a file; nil when there is none, `.corrupt` when something else stands in its place.
private func openRegular(
  _ name: String, in directory: Descriptor, _ options: OpenOptions, _ fileSystem: any FileSystem
) throws(ProtectionError) -> Descriptor? {
  do throws(ProtectionError) {
    return try refusingOthers(name) { () throws(FileSystemError) in
      try fileSystem.openFile(name, in: directory, options)
    }
  } catch  where (error.cause as? FileSystemError)?.code == .noSuchFile {
    return nil
  }
}

/// Makes a call on a file; `.corrupt` when something that is no file stands in its place.
private func refusingOthers<R>(
  _ name: String, _ body: () throws(FileSystemError) -> R
) throws(ProtectionError) -> R {
  do throws(ProtectionError) {
    return try attempt("open or read \"\(name)\"", body)
  } catch  where (error.cause as? FileSystemError)?.code.isNoFile == true {
    throw ProtectionError(.corrupt, "Something that is no regular file stands in place of \"\(name)\".", cause: error)
  }
}

/// Makes a file in place of any entry of its name; throws when that can't be removed.
private func makeFile(
  _ name: String, in directory: Descriptor, _ fileSystem: any FileSystem
) throws(FileSystemError) -> Descriptor {
  let options: OpenOptions = [.write, .create, .exclusive]
  do throws(FileSystemError) {
    return try fileSystem.openFile(name, in: directory, options)
  } catch  where error.code == .fileExists {
    try clearName(name, in: directory, fileSystem)
    // A power cut may take the new file's name; the former file must not stand in its place then.
    try fileSystem.synchronize(directory)
    return try fileSystem.openFile(name, in: directory, options)
  }
}

/// Reads a small file and parses it; nil when there is none, `.corrupt` when it is longer than it can be.
///
/// One read nearly always gives the whole file. Only when its bytes don't parse, the rest is looked for: the parser checks a
/// code over all bytes, so it never takes a part for the whole.
func readSmallFile<R>(
  _ name: String, in directory: Descriptor, limit: Int, _ fileSystem: any FileSystem,
  _ parse: ([UInt8]) throws(ProtectionError) -> R
) throws(ProtectionError) -> R? {
  guard let file = try openRegular(name, in: directory, reading, fileSystem) else { return nil }
  defer { fileSystem.close(file) }
  let usual = 8192
  // A directory and a FIFO can be opened, but not read.
  var bytes = try refusingOthers(name) { () throws(FileSystemError) in
    try fileSystem.readOnce(file, count: min(usual, limit + 1))
  }
  do throws(ProtectionError) {
    if bytes.count <= limit { return try parse(bytes) }
  } catch {
    let rest = try attempt("read \"\(name)\"") { () throws(FileSystemError) in
      try fileSystem.readBytes(file, count: limit + 1 - bytes.count, at: Int64(bytes.count))
    }
    guard !rest.isEmpty else { throw error }
    bytes += rest
  }
  guard bytes.count <= limit else { throw ProtectionError(.corrupt, "\"\(name)\" is longer than it can be.") }
  return try parse(bytes)
}

/// Replaces a file by a new one that is synced; its name is not durable yet.
///
/// If it throws, the old one is there.
func replaceFile(
  _ name: String, by newName: String, in directory: Descriptor, with bytes: [UInt8], _ fileSystem: any FileSystem
) throws(ProtectionError) {
  try attempt("write \"\(name)\"") { () throws(FileSystemError) in
    let file = try makeFile(newName, in: directory, fileSystem)
    defer { fileSystem.close(file) }
    do throws(FileSystemError) {
      try unsafe fileSystem.writeAll(file, bytes.span.bytes, at: 0)
      try fileSystem.synchronize(file)
      do throws(FileSystemError) {
        try fileSystem.rename(newName, to: name, in: directory, replacing: true)
      } catch  where error.code == .isDirectory {
        try clearName(name, in: directory, fileSystem)
        try fileSystem.rename(newName, to: name, in: directory, replacing: true)
      }
    } catch {
      try? uninterrupted { () throws(FileSystemError) in try fileSystem.unlink(newName, in: directory) }
      throw error
    }
  }
}

/// Frees a name: its file is removed, a directory of somebody else's goes on under another name.
func clearName(_ name: String, in directory: Descriptor, _ fileSystem: any FileSystem) throws(FileSystemError) {
  do throws(FileSystemError) {
    try fileSystem.unlink(name, in: directory)
  } catch  where error.code == .isDirectory {
    try fileSystem.rename(name, to: "\(name).aside-\(hexadecimal(randomBytes(8)))", in: directory, replacing: false)
  }
}
