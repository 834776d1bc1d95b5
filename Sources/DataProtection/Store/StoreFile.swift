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
