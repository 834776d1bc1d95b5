package import FileSystem
import Synchronization

/// A disk that refuses every change, with one exception: the counter of wrong passcodes, while a passcode is tried.
///
/// Locks are taken as usual, so that the tool sees no half-finished change of another process; a lock changes nothing.
package final class ReadOnlyFileSystem: FileSystem {
  /// The file that may be replaced while a passcode is tried.
  package static let attemptsName = "attempts"

  private struct State {
    var countsAttempts = false
    /// Descriptors of files that were made here, to become the new counter.
    var made: Set<Int32> = []
    /// Names of such files.
    var madeNames: Set<String> = []
    var refusals: [FileSystemError.Operation] = []
  }

  private let base: any FileSystem
  private let state = Mutex(State())

  /// Guards a disk.
  package init(_ base: any FileSystem = LinuxFileSystem()) { self.base = base }

  /// The changes that were refused so far.
  package var refusals: [FileSystemError.Operation] { state.withLock { $0.refusals } }

  /// Lets the counter of wrong passcodes be written, or no longer.
  package func countAttempts(_ counts: Bool) { state.withLock { $0.countsAttempts = counts } }

  private var countsAttempts: Bool { state.withLock { $0.countsAttempts } }

  private func refuse(_ operation: FileSystemError.Operation, _ name: String? = nil) -> FileSystemError {
    state.withLock { $0.refusals.append(operation) }
    return FileSystemError(.readOnlyFileSystem, operation, name: name)
  }

  private func requireMade(
    _ descriptor: Descriptor, _ operation: FileSystemError.Operation
  ) throws(FileSystemError) {
    let isMade = state.withLock { $0.countsAttempts && $0.made.contains(descriptor.rawValue) }
    if !isMade { throw refuse(operation) }
  }

  private func noteMade(_ descriptor: Descriptor, _ name: String? = nil) {
    state.withLock { state in
      state.made.insert(descriptor.rawValue)
      if let name { state.madeNames.insert(name) }
    }
  }
}

extension ReadOnlyFileSystem {
  package var currentUser: UInt32 { base.currentUser }

  package func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor {
    try base.openDirectory(atPath: path)
  }

  package func openDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) -> Descriptor {
    try base.openDirectory(name, in: directory)
  }

  package func makeDirectory(_ name: String, in directory: Descriptor, mode: UInt32) throws(FileSystemError) {
    throw refuse(.makeDirectory, name)
  }

  package func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    throw refuse(.removeDirectory, name)
  }

  package func names(in directory: Descriptor) throws(FileSystemError) -> [String] { try base.names(in: directory) }

  package func openFile(
    _ name: String, in directory: Descriptor, _ options: OpenOptions
  ) throws(FileSystemError) -> Descriptor {
    if options.contains(.create), countsAttempts {
      let descriptor = try base.openFile(name, in: directory, options)
      if options.contains(.exclusive) || name == Self.attemptsName { noteMade(descriptor, name) }
      return descriptor
    }
    // Without the right to make it: a file that is there is opened, for its lock; one that isn't stays away.
    return try base.openFile(name, in: directory, options.subtracting([.create, .exclusive]))
  }

  package func openTemporary(in directory: Descriptor) throws(FileSystemError) -> Descriptor {
    guard countsAttempts else { throw refuse(.openTemporary) }
    let descriptor = try base.openTemporary(in: directory)
    noteMade(descriptor)
    return descriptor
  }

  package func link(
    _ descriptor: Descriptor, as name: String, in directory: Descriptor
  ) throws(FileSystemError) {
    try requireMade(descriptor, .link)
    try base.link(descriptor, as: name, in: directory)
    state.withLock { state in _ = state.madeNames.insert(name) }
  }

  package func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError) {
    let isCounter = newName == Self.attemptsName && state.withLock { $0.countsAttempts && $0.madeNames.contains(name) }
    guard isCounter else { throw refuse(.rename, name) }
    try base.rename(name, to: newName, in: directory, replacing: replacing)
  }

  package func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    guard state.withLock({ $0.madeNames.remove(name) }) != nil else { throw refuse(.unlink, name) }
    try base.unlink(name, in: directory)
  }

  package func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    try unsafe base.read(descriptor, into: buffer, at: offset)
  }

  package func write(
    _ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64
  ) throws(FileSystemError) -> Int {
    try requireMade(descriptor, .write)
    return try base.write(descriptor, bytes, at: offset)
  }

  package func synchronize(_ descriptor: Descriptor) throws(FileSystemError) { try base.synchronize(descriptor) }

  package func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError) {
    try base.synchronizeData(descriptor)
  }

  package func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) {
    try requireMade(descriptor, .allocate)
    try base.allocate(descriptor, length: length)
  }

  package func truncate(_ descriptor: Descriptor, to length: Int64) throws(FileSystemError) {
    try requireMade(descriptor, .truncate)
    try base.truncate(descriptor, to: length)
  }

  package func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus {
    try base.status(of: descriptor)
  }

  package func status(ofName name: String, in directory: Descriptor) throws(FileSystemError) -> FileStatus {
    try base.status(ofName: name, in: directory)
  }

  package func changeMode(of descriptor: Descriptor, to mode: UInt32) throws(FileSystemError) {
    try requireMade(descriptor, .changeMode)
    try base.changeMode(of: descriptor, to: mode)
  }

  package func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind {
    try base.volumeKind(of: descriptor)
  }

  package func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool {
    try base.tryLock(descriptor, mode)
  }

  package func unlock(_ descriptor: Descriptor) throws(FileSystemError) { try base.unlock(descriptor) }

  package func pause(for duration: Duration) { base.pause(for: duration) }

  package func attribute(_ name: String, of descriptor: Descriptor) throws(FileSystemError) -> [UInt8]? {
    try base.attribute(name, of: descriptor)
  }

  package func setAttribute(
    _ name: String, to value: [UInt8], of descriptor: Descriptor
  ) throws(FileSystemError) {
    try requireMade(descriptor, .setAttribute)
    try base.setAttribute(name, to: value, of: descriptor)
  }

  package func close(_ descriptor: Descriptor) {
    state.withLock { state in _ = state.made.remove(descriptor.rawValue) }
    base.close(descriptor)
  }
}
