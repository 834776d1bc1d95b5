import FaultyFileSystem
import FileSystem

/// A read-only mount of a simulated disk; a sync does nothing there, as in Linux.
struct ReadOnlyFileSystem: WrappingFileSystem {
  let base: any FileSystem

  private func refuse(_ operation: FileSystemError.Operation, _ name: String? = nil) -> FileSystemError {
    FileSystemError(.readOnlyFileSystem, operation, name: name)
  }

  func makeDirectory(_ name: String, in directory: Descriptor, mode: UInt32) throws(FileSystemError) {
    throw refuse(.makeDirectory, name)
  }
  func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    throw refuse(.removeDirectory, name)
  }

  func openFile(
    _ name: String, in directory: Descriptor, _ options: OpenOptions
  ) throws(FileSystemError) -> Descriptor {
    guard options.contains(.write) else { return try base.openFile(name, in: directory, options) }
    // As the kernel does: a name that isn't there is missed first, unless it is to be made.
    if !options.contains(.create) { _ = try base.status(ofName: name, in: directory) }
    throw refuse(.openFile, name)
  }
  func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError) { throw refuse(.rename, name) }
  func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) { throw refuse(.unlink, name) }

  func write(_ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64) throws(FileSystemError) -> Int {
    throw refuse(.write)
  }
  func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) { throw refuse(.allocate) }
}
