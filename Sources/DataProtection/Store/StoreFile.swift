import FileSystem

/// An open file of the store; closed when nobody needs it any more.
final class StoreFile: SealedSource {
  let fileSystem: any FileSystem
  let descriptor: Descriptor
  /// The length when it was opened.
  let byteCount: Int

  /// Takes a descriptor over.
  init(_ fileSystem: any FileSystem, _ descriptor: Descriptor, byteCount: Int) {
    self.fileSystem = fileSystem
    self.descriptor = descriptor
    self.byteCount = byteCount
  }

  deinit {
    fileSystem.close(descriptor)
  }

  func read(_ range: Range<Int>) throws(ProtectionError) -> [UInt8] {
    try attempt("read an archive") { () throws(FileSystemError) in
      try fileSystem.readBytes(descriptor, count: range.count, at: Int64(range.lowerBound))
    }
  }
}
