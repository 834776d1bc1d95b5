import FaultyFileSystem
import FileSystem
import Synchronization

/// A read-only mount of a simulated disk.
struct ReadOnlyFileSystem: FileSystem {
  let base: MemoryFileSystem

  private func refuse(_ operation: FileSystemError.Operation, _ name: String? = nil) -> FileSystemError {
    FileSystemError(.readOnlyFileSystem, operation, name: name)
  }

  var currentUser: UInt32 { base.currentUser }
  func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor {
    try base.openDirectory(atPath: path)
  }
  func openDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) -> Descriptor {
    try base.openDirectory(name, in: directory)
  }
  func makeDirectory(_ name: String, in directory: Descriptor, mode: UInt32) throws(FileSystemError) {
    throw refuse(.makeDirectory, name)
  }
  func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    throw refuse(.removeDirectory, name)
  }
  func names(in directory: Descriptor) throws(FileSystemError) -> [String] { try base.names(in: directory) }

  func openFile(
    _ name: String, in directory: Descriptor, _ options: OpenOptions
  ) throws(FileSystemError) -> Descriptor {
    guard options.contains(.write) else { return try base.openFile(name, in: directory, options) }
    // As the kernel does: a name that isn't there is missed first, unless it is to be made.
    if !options.contains(.create) { _ = try base.status(ofName: name, in: directory) }
    throw refuse(.openFile, name)
  }
  func openTemporary(in directory: Descriptor) throws(FileSystemError) -> Descriptor { throw refuse(.openTemporary) }
  func link(_ descriptor: Descriptor, as name: String, in directory: Descriptor) throws(FileSystemError) {
    throw refuse(.link, name)
  }
  func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError) { throw refuse(.rename, name) }
  func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) { throw refuse(.unlink, name) }

  func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int { try unsafe base.read(descriptor, into: buffer, at: offset) }
  func write(_ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64) throws(FileSystemError) -> Int {
    throw refuse(.write)
  }
  func synchronize(_ descriptor: Descriptor) throws(FileSystemError) { throw refuse(.synchronize) }
  func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError) { throw refuse(.synchronizeData) }
  func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) { throw refuse(.allocate) }
  func truncate(_ descriptor: Descriptor, to length: Int64) throws(FileSystemError) { throw refuse(.truncate) }

  func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus { try base.status(of: descriptor) }
  func status(ofName name: String, in directory: Descriptor) throws(FileSystemError) -> FileStatus {
    try base.status(ofName: name, in: directory)
  }
  func status(atPath path: String) throws(FileSystemError) -> FileStatus { try base.status(atPath: path) }
  func readLink(_ name: String, in directory: Descriptor) throws(FileSystemError) -> String {
    try base.readLink(name, in: directory)
  }
  func changeMode(of descriptor: Descriptor, to mode: UInt32) throws(FileSystemError) { throw refuse(.changeMode) }
  func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind {
    try base.volumeKind(of: descriptor)
  }
  func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool {
    try base.tryLock(descriptor, mode)
  }
  func lockHolder(of descriptor: Descriptor) -> Int32? { base.lockHolder(of: descriptor) }

  func unlock(_ descriptor: Descriptor) throws(FileSystemError) { try base.unlock(descriptor) }
  func pause(for duration: Duration) { base.pause(for: duration) }
  func attribute(_ name: String, of descriptor: Descriptor) throws(FileSystemError) -> [UInt8]? {
    try base.attribute(name, of: descriptor)
  }
  func setAttribute(
    _ name: String, to value: [UInt8], of descriptor: Descriptor
  ) throws(FileSystemError) { throw refuse(.setAttribute) }
  func close(_ descriptor: Descriptor) { base.close(descriptor) }
}
