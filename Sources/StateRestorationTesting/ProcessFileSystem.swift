package import FileSystem
import Synchronization

/// The disk as one simulated process sees it: a process that is killed changes nothing any more.
///
/// Calls are counted from 1; closing and pausing don't count. When the process dies, its descriptors are closed and
/// its locks with them, as a kernel does; what it tries afterwards throws `.inputOutput`, and its objects, which still
/// lie about in the test's memory, can do no harm.
package final class ProcessFileSystem: FileSystem {
  private struct State {
    var isAlive = true
    var callCount = 0
    var diesBefore: Int?
    var open: Set<Int32> = []
    var locked: Set<Int32> = []
    var onDeath: (@Sendable () -> Void)?
  }

  private let base: any FileSystem
  private let state = Mutex(State())

  /// Starts a process on a disk.
  package init(_ base: any FileSystem) { self.base = base }

  /// Whether the process lives.
  package var isAlive: Bool { state.withLock { $0.isAlive } }

  /// How many calls it has made.
  package var callCount: Int { state.withLock { $0.callCount } }

  /// Kills the process when it is about to make its n-th call, counted from the beginning.
  package func die(beforeCall number: Int, onDeath: (@Sendable () -> Void)? = nil) {
    state.withLock { state in
      state.diesBefore = number
      state.onDeath = onDeath
    }
  }

  /// Kills the process now.
  package func die() {
    let onDeath = state.withLock { state in end(&state) }
    onDeath?()
  }

  private func end(_ state: inout State) -> (@Sendable () -> Void)? {
    guard state.isAlive else { return nil }
    state.isAlive = false
    // A child that the test's own process is just starting has copies of the descriptors: closing them would not let go.
    for descriptor in state.locked { try? base.unlock(Descriptor(rawValue: descriptor)) }
    for descriptor in state.open { base.close(Descriptor(rawValue: descriptor)) }
    (state.open, state.locked) = ([], [])
    defer { state.onDeath = nil }
    return state.onDeath
  }

  /// Makes a call for the living; under the lock, so that no call of the dead is still under way.
  private func call<Result>(
    _ operation: FileSystemError.Operation, _ name: String? = nil,
    _ body: (inout State) throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    // A Mutex's closure can't throw a type of its own through a generic result: carry the outcome out instead.
    var outcome: Swift.Result<Result, FileSystemError>?
    var onDeath: (@Sendable () -> Void)?
    state.withLock { state in
      if state.isAlive {
        state.callCount += 1
        if let limit = state.diesBefore, state.callCount >= limit { onDeath = end(&state) }
      }
      guard state.isAlive else {
        outcome = .failure(FileSystemError(.inputOutput, operation, name: name))
        return
      }
      do throws(FileSystemError) { outcome = .success(try body(&state)) } catch { outcome = .failure(error) }
    }
    onDeath?()
    return try outcome!.get()
  }

  private func opening(
    _ operation: FileSystemError.Operation, _ name: String?, _ body: () throws(FileSystemError) -> Descriptor
  ) throws(FileSystemError) -> Descriptor {
    try call(operation, name) { (state) throws(FileSystemError) in
      let descriptor = try body()
      state.open.insert(descriptor.rawValue)
      return descriptor
    }
  }
}

extension ProcessFileSystem {
  package var currentUser: UInt32 { base.currentUser }

  package func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor {
    try opening(.openDirectory, path) { () throws(FileSystemError) in try base.openDirectory(atPath: path) }
  }

  package func openDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) -> Descriptor {
    try opening(.openDirectory, name) { () throws(FileSystemError) in try base.openDirectory(name, in: directory) }
  }

  package func makeDirectory(_ name: String, in directory: Descriptor, mode: UInt32) throws(FileSystemError) {
    try call(.makeDirectory, name) { (_) throws(FileSystemError) in
      try base.makeDirectory(name, in: directory, mode: mode)
    }
  }

  package func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    try call(.removeDirectory, name) { (_) throws(FileSystemError) in try base.removeDirectory(name, in: directory) }
  }

  package func names(in directory: Descriptor) throws(FileSystemError) -> [String] {
    try call(.names) { (_) throws(FileSystemError) in try base.names(in: directory) }
  }

  package func openFile(
    _ name: String, in directory: Descriptor, _ options: OpenOptions
  ) throws(FileSystemError) -> Descriptor {
    try opening(.openFile, name) { () throws(FileSystemError) in try base.openFile(name, in: directory, options) }
  }

  package func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError) {
    try call(.rename, name) { (_) throws(FileSystemError) in
      try base.rename(name, to: newName, in: directory, replacing: replacing)
    }
  }

  package func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    try call(.unlink, name) { (_) throws(FileSystemError) in try base.unlink(name, in: directory) }
  }

  package func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    try call(.read) { (_) throws(FileSystemError) in
      try unsafe base.read(descriptor, into: buffer, at: offset)
    }
  }

  package func write(
    _ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64
  ) throws(FileSystemError) -> Int {
    try call(.write) { (_) throws(FileSystemError) in try base.write(descriptor, bytes, at: offset) }
  }

  package func synchronize(_ descriptor: Descriptor) throws(FileSystemError) {
    try call(.synchronize) { (_) throws(FileSystemError) in try base.synchronize(descriptor) }
  }

  package func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError) {
    try call(.synchronizeData) { (_) throws(FileSystemError) in try base.synchronizeData(descriptor) }
  }

  package func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) {
    try call(.allocate) { (_) throws(FileSystemError) in try base.allocate(descriptor, length: length) }
  }

  package func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus {
    try call(.status) { (_) throws(FileSystemError) in try base.status(of: descriptor) }
  }

  package func status(ofName name: String, in directory: Descriptor) throws(FileSystemError) -> FileStatus {
    try call(.statusOfName, name) { (_) throws(FileSystemError) in try base.status(ofName: name, in: directory) }
  }

  package func status(atPath path: String) throws(FileSystemError) -> FileStatus {
    try call(.statusOfPath, path) { (_) throws(FileSystemError) in try base.status(atPath: path) }
  }

  package func readLink(_ name: String, in directory: Descriptor) throws(FileSystemError) -> String {
    try call(.readLink, name) { (_) throws(FileSystemError) in try base.readLink(name, in: directory) }
  }

  package func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind {
    try call(.volumeKind) { (_) throws(FileSystemError) in try base.volumeKind(of: descriptor) }
  }

  package func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool {
    try call(.lock) { state throws(FileSystemError) in
      guard try base.tryLock(descriptor, mode) else { return false }
      state.locked.insert(descriptor.rawValue)
      return true
    }
  }

  package func lockHolder(of descriptor: Descriptor) -> Int32? { base.lockHolder(of: descriptor) }

  package func unlock(_ descriptor: Descriptor) throws(FileSystemError) {
    try call(.unlock) { state throws(FileSystemError) in
      try base.unlock(descriptor)
      state.locked.remove(descriptor.rawValue)
    }
  }

  package func pause(for duration: Duration) { base.pause(for: duration) }

  package func close(_ descriptor: Descriptor) {
    state.withLock { state in
      // The descriptors of the dead are closed already; their numbers may belong to somebody else by now.
      guard state.open.remove(descriptor.rawValue) != nil else { return }
      state.locked.remove(descriptor.rawValue)
      base.close(descriptor)
    }
  }
}
