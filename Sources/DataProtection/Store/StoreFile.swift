import FileSystem
import Synchronization

/// An open file of the store; closed when nobody needs it any more.
///
/// Its first bytes are read at once and kept, so that opening and reading a small generation is one call.
final class StoreFile: SealedSource {
  let fileSystem: any FileSystem
  let descriptor: Descriptor
  /// The length when it was opened.
  let byteCount: Int
  /// Whether it was opened for writing.
  let isWritable: Bool
  /// Whether nobody else sees a change of it, as far as its status says.
  let isOwn: Bool
  private let start: [UInt8]
  private let known = Mutex<FileIdentity?>(nil)

  /// So many bytes are read with the first call.
  static let startByteCount = 128 << 10

  /// Takes a descriptor over, with the file's first bytes.
  init(
    _ fileSystem: any FileSystem, _ descriptor: Descriptor, byteCount: Int, isWritable: Bool, isOwn: Bool = true,
    start: [UInt8] = []
  ) {
    self.isOwn = isOwn
    self.fileSystem = fileSystem
    self.descriptor = descriptor
    self.byteCount = byteCount
    self.isWritable = isWritable
    self.start = start
  }

  deinit {
    fileSystem.close(descriptor)
  }

  /// Which file it is, whatever its name means by now.
  func identity() throws(FileSystemError) -> FileIdentity {
    if let known = known.withLock({ $0 }) { return known }
    let found = try fileSystem.status(of: descriptor).identity
    known.withLock { $0 = found }
    return found
  }

  func read(_ range: Range<Int>) throws(ProtectionError) -> [UInt8] {
    if range.upperBound <= start.count { return Array(start[range]) }
    return try attempt("read an archive") { () throws(FileSystemError) in
      try fileSystem.readBytes(descriptor, count: range.count, at: Int64(range.lowerBound))
    }
  }
}

/// Makes a system call, again when it was interrupted, and says in words what failed.
///
/// A sync that failed must not be tried again: the second one proves nothing.
func attempt<R>(
  _ what: @autoclosure () -> String, _ body: () throws(FileSystemError) -> R
) throws(ProtectionError) -> R {
  while true {
    do throws(FileSystemError) {
      return try body()
    } catch  where error.code == .interrupted {
      continue
    } catch {
      throw ProtectionError(failedTo: what(), error)
    }
  }
}

extension FileSystemError.Code {
  /// Whether a call failed because something that is no regular file stands in a file's place.
  var isNoFile: Bool { [.symbolicLink, .isDirectory, .noSuchDevice, .illegalSeek].contains(self) }
}

extension FileSystem {
  /// The status at a path; nil when there is nothing.
  func statusIfAny(atPath path: String) throws(FileSystemError) -> FileStatus? {
    do throws(FileSystemError) {
      return try status(atPath: path)
    } catch  where error.code == .noSuchFile || error.code == .notDirectory {
      return nil
    }
  }

  /// The status of a name; nil when there is none.
  func statusIfAny(ofName name: String, in directory: Descriptor) throws(FileSystemError) -> FileStatus? {
    do throws(FileSystemError) {
      return try status(ofName: name, in: directory)
    } catch  where error.code == .noSuchFile {
      return nil
    }
  }

  /// Syncs; throws `.durabilityUnknown` with a sentence of the caller's when that failed.
  func synchronize(_ descriptor: Descriptor, orSay text: String) throws(ProtectionError) {
    do throws(FileSystemError) {
      try uninterrupted { () throws(FileSystemError) in try synchronize(descriptor) }
    } catch {
      throw ProtectionError(.durabilityUnknown, text, errno: error.code.rawValue, cause: error)
    }
  }
}

extension ProtectionError {
  /// What the operating system refused; a full disk is said so, because somebody can do something about it.
  init(failedTo what: String, _ error: FileSystemError) {
    let reason = error.code == .noSpace ? ": the disk is full" : ""
    self.init(
      .io, "The operating system failed to \(what)\(reason); nothing saved before is lost.",
      errno: error.code.rawValue, cause: error)
  }
}
