package import FileSystem
import Synchronization

/// A file system that counts the calls of another.
package final class CountingFileSystem: FileSystem {
  /// The calls so far.
  package struct Counts: Hashable, Sendable {
    /// The calls of each kind; those that failed too.
    package var calls: [FileSystemError.Operation: Int] = [:]
    /// The bytes that reading gave.
    package var bytesRead = 0
    /// The mappings that were made.
    package var mappings = 0
    /// How often somebody waited for a lock.
    package var lockWaits = 0

    /// The calls of a kind.
    package subscript(_ operation: FileSystemError.Operation) -> Int { calls[operation] ?? 0 }

    /// The syncs of files and directories.
    package var syncs: Int { self[.synchronize] + self[.synchronizeData] }

    /// The files and directories that were opened by name.
    package var opens: Int { self[.openFile] + self[.openDirectory] }

    /// The system calls that Linux makes of these calls.
    ///
    /// A directory is listed with two at most, `getdents64` twice, the first time. All others are one. Not counted are those
    /// of mappings: four to begin one, two to end it.
    package var systemCalls: Int { calls.values.reduce(0, +) + self[.names] }
  }

  private let base: any FileSystem
  private let state = Mutex(Counts())
  private let isPostponing: Bool
  private let postponed = Mutex<[@Sendable () -> Void]>([])

  /// Counts from zero.
  ///
  /// - Parameter isPostponing: Whether what may wait for a while waits for ``runPostponed()``.
  package init(_ base: any FileSystem, isPostponing: Bool = false) {
    self.base = base
    self.isPostponing = isPostponing
  }

  /// Runs what has waited.
  package func runPostponed() {
    let works = postponed.withLock { works in
      defer { works = [] }
      return works
    }
    for work in works { work() }
  }

  /// The counts so far.
  package var counts: Counts { state.withLock { $0 } }

  private func count(_ operation: FileSystemError.Operation) {
    state.withLock { $0.calls[operation, default: 0] += 1 }
  }

  package var currentUser: UInt32 { base.currentUser }

  package func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor {
    count(.openDirectory)
    return try base.openDirectory(atPath: path)
  }

  package func openDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) -> Descriptor {
    count(.openDirectory)
    return try base.openDirectory(name, in: directory)
  }

  package func makeDirectory(_ name: String, in directory: Descriptor, mode: UInt32) throws(FileSystemError) {
    count(.makeDirectory)
    try base.makeDirectory(name, in: directory, mode: mode)
  }

  package func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    count(.removeDirectory)
    try base.removeDirectory(name, in: directory)
  }

  package func names(in directory: Descriptor) throws(FileSystemError) -> [String] {
    count(.names)
    return try base.names(in: directory)
  }

  package func openFile(
    _ name: String, in directory: Descriptor, _ options: OpenOptions
  ) throws(FileSystemError) -> Descriptor {
    count(.openFile)
    return try base.openFile(name, in: directory, options)
  }

  package func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError) {
    count(.rename)
    try base.rename(name, to: newName, in: directory, replacing: replacing)
  }

  package func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    count(.unlink)
    try base.unlink(name, in: directory)
  }

  package func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    count(.read)
    let byteCount = try unsafe base.read(descriptor, into: buffer, at: offset)
    state.withLock { $0.bytesRead += byteCount }
    return byteCount
  }

  package func write(
    _ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64
  ) throws(FileSystemError) -> Int {
    count(.write)
    return try base.write(descriptor, bytes, at: offset)
  }

  package func map(_ descriptor: Descriptor, byteCount: Int) -> FileMapping? {
    let mapping = base.map(descriptor, byteCount: byteCount)
    if mapping != nil { state.withLock { $0.mappings += 1 } }
    return mapping
  }

  package func synchronize(_ descriptor: Descriptor) throws(FileSystemError) {
    count(.synchronize)
    try base.synchronize(descriptor)
  }

  package func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError) {
    count(.synchronizeData)
    try base.synchronizeData(descriptor)
  }

  package func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) {
    count(.allocate)
    try base.allocate(descriptor, length: length)
  }

  package func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus {
    count(.status)
    return try base.status(of: descriptor)
  }

  package func status(ofName name: String, in directory: Descriptor) throws(FileSystemError) -> FileStatus {
    count(.statusOfName)
    return try base.status(ofName: name, in: directory)
  }

  package func status(atPath path: String) throws(FileSystemError) -> FileStatus {
    count(.statusOfPath)
    return try base.status(atPath: path)
  }

  package func readLink(_ name: String, in directory: Descriptor) throws(FileSystemError) -> String {
    count(.readLink)
    return try base.readLink(name, in: directory)
  }

  package func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind {
    count(.volumeKind)
    return try base.volumeKind(of: descriptor)
  }

  package func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool {
    count(.lock)
    return try base.tryLock(descriptor, mode)
  }

  package func lockHolder(of descriptor: Descriptor) -> Int32? { base.lockHolder(of: descriptor) }

  package func unlock(_ descriptor: Descriptor) throws(FileSystemError) {
    count(.unlock)
    try base.unlock(descriptor)
  }

  package func pause(for duration: Duration) {
    state.withLock { $0.lockWaits += 1 }
    base.pause(for: duration)
  }

  package func runBeside(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    guard isPostponing, delay > .zero else { return base.runBeside(after: delay, work) }
    postponed.withLock { $0.append(work) }
  }

  package func close(_ descriptor: Descriptor) {
    count(.close)
    base.close(descriptor)
  }
}
