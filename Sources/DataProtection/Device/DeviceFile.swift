import FileSystem

/// An open file of the device's directory; closed when nobody needs it any more.
final class DeviceFile: Sendable {
  let fileSystem: any FileSystem
  let descriptor: Descriptor
  let name: String
  /// The length when it was opened.
  let byteCount: Int

  /// Takes a descriptor over.
  init(_ fileSystem: any FileSystem, _ descriptor: Descriptor, name: String, byteCount: Int) {
    self.fileSystem = fileSystem
    self.descriptor = descriptor
    self.name = name
    self.byteCount = byteCount
  }

  deinit {
    fileSystem.close(descriptor)
  }

  /// Fills a buffer from the beginning of the file; `.corrupt` when the file is shorter.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ProtectionError) {
    let count = try attempt("read \"\(name)\"") { () throws(FileSystemError) in
      try unsafe fileSystem.readUpTo(descriptor, into: buffer, at: 0)
    }
    guard count == buffer.count else {
      throw ProtectionError(.corrupt, "\"\(name)\" has become shorter while it was read.")
    }
  }
}
