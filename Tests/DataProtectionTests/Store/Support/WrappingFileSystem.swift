import FileSystem

/// A file system before another one, which makes the calls that it doesn't make itself.
protocol WrappingFileSystem: FileSystem {
  /// The other one.
  var base: any FileSystem { get }
}

extension WrappingFileSystem {
  var currentUser: UInt32 { base.currentUser }
  func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor { try base.openDirectory(atPath: path) }
  func openDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) -> Descriptor {
    try base.openDirectory(name, in: directory)
  }
  func makeDirectory(_ name: String, in directory: Descriptor, mode: UInt32) throws(FileSystemError) {
    try base.makeDirectory(name, in: directory, mode: mode)
  }
  func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    try base.removeDirectory(name, in: directory)
  }
  func names(in directory: Descriptor) throws(FileSystemError) -> [String] { try base.names(in: directory) }
  func openFile(_ name: String, in directory: Descriptor, _ options: OpenOptions) throws(FileSystemError) -> Descriptor
  {
    try base.openFile(name, in: directory, options)
  }
  func rename(_ name: String, to newName: String, in directory: Descriptor, replacing: Bool) throws(FileSystemError) {
    try base.rename(name, to: newName, in: directory, replacing: replacing)
  }
  func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) { try base.unlink(name, in: directory) }
  func write(_ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64) throws(FileSystemError) -> Int {
    try base.write(descriptor, bytes, at: offset)
  }
  func synchronize(_ descriptor: Descriptor) throws(FileSystemError) { try base.synchronize(descriptor) }
  func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError) { try base.synchronizeData(descriptor) }
  func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) {
    try base.allocate(descriptor, length: length)
  }
  func status(ofName name: String, in directory: Descriptor) throws(FileSystemError) -> FileStatus {
    try base.status(ofName: name, in: directory)
  }
  func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind {
    try base.volumeKind(of: descriptor)
  }
  func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool {
    try base.tryLock(descriptor, mode)
  }
  func lockHolder(of descriptor: Descriptor) -> Int32? { base.lockHolder(of: descriptor) }

  func unlock(_ descriptor: Descriptor) throws(FileSystemError) { try base.unlock(descriptor) }
  func pause(for duration: Duration) { base.pause(for: duration) }
  func close(_ descriptor: Descriptor) { base.close(descriptor) }
  func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus { try base.status(of: descriptor) }
  func status(atPath path: String) throws(FileSystemError) -> FileStatus { try base.status(atPath: path) }
  func readLink(_ name: String, in directory: Descriptor) throws(FileSystemError) -> String {
    try base.readLink(name, in: directory)
  }
  func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int { try unsafe base.read(descriptor, into: buffer, at: offset) }
}
