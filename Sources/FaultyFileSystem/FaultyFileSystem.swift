package import FileSystem
import Synchronization

/// A file system whose calls go wrong by plan, and well otherwise.
///
/// Calls are counted from 1; closing and pausing don't count. The same program makes the same calls, so that a test
/// counts them in a run that goes well, and then lets each of them fail in turn.
package final class FaultyFileSystem: FileSystem {
  private struct State {
    var count = 0
    var faults: [Int: Fault] = [:]
    var lasting: (from: Int, operations: Set<FileSystemError.Operation>?, fault: Fault)?
    var hits: [FileSystemError.Operation] = []
    var onCall: (@Sendable (Int, FileSystemError.Operation) -> Void)?
    var onLockHolder: (@Sendable () -> Void)?
  }

  /// The file system that does the work.
  package let base: any FileSystem
  private let state = Mutex(State())

  /// Wraps a file system; until told otherwise every call goes well.
  package init(_ base: any FileSystem) {
    self.base = base
  }

  /// How many calls were made so far.
  package var callCount: Int { state.withLock { $0.count } }

  /// The calls that went wrong so far.
  package var hits: [FileSystemError.Operation] { state.withLock { $0.hits } }

  /// Lets the n-th call go wrong, counted from the beginning.
  package func fail(call number: Int, _ fault: Fault) {
    state.withLock { $0.faults[number] = fault }
  }

  /// Lets every call from the n-th on go wrong, or only those of certain kinds.
  package func fail(
    from number: Int, _ operations: Set<FileSystemError.Operation>? = nil, _ fault: Fault
  ) {
    state.withLock { $0.lasting = (number, operations, fault) }
  }

  /// Lets all calls go well from now on.
  package func heal() {
    state.withLock { state in
      state.faults = [:]
      state.lasting = nil
    }
  }

  /// Runs this before every call: to let another program act between two steps.
  package func onCall(_ body: (@Sendable (Int, FileSystemError.Operation) -> Void)?) {
    state.withLock { $0.onCall = body }
  }

  /// Runs this whenever somebody asks who holds a lock: to let the holder act between the refusal and the question.
  package func onLockHolder(_ body: (@Sendable () -> Void)?) {
    state.withLock { $0.onLockHolder = body }
  }

  /// Counts a call; throws its fault, or returns the one that the call must act out itself.
  private func step(
    _ operation: FileSystemError.Operation, _ name: String? = nil, _ descriptor: Descriptor? = nil
  ) throws(FileSystemError) -> Fault? {
    let (number, onCall, fault) = state.withLock { state in
      state.count += 1
      var fault = state.faults[state.count]
      if fault == nil, let lasting = state.lasting, state.count >= lasting.from,
        lasting.operations?.contains(operation) ?? true
      {
        fault = lasting.fault
      }
      if fault != nil { state.hits.append(operation) }
      return (state.count, state.onCall, fault)
    }
    onCall?(number, operation)
    guard case .error(let code)? = fault else { return fault }
    if operation == .synchronize || operation == .synchronizeData, code != .interrupted, let descriptor {
      (base as? MemoryFileSystem)?.loseUnsynchronized(descriptor)
    }
    throw FileSystemError(code, operation, name: name)
  }
}

extension FaultyFileSystem {
  package var currentUser: UInt32 { base.currentUser }

  package func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor {
    _ = try step(.openDirectory, path)
    return try base.openDirectory(atPath: path)
  }

  package func openDirectory(
    _ name: String, in directory: Descriptor
  ) throws(FileSystemError) -> Descriptor {
    _ = try step(.openDirectory, name)
    return try base.openDirectory(name, in: directory)
  }

  package func makeDirectory(
    _ name: String, in directory: Descriptor, mode: UInt32
  ) throws(FileSystemError) {
    _ = try step(.makeDirectory, name)
    try base.makeDirectory(name, in: directory, mode: mode)
  }

  package func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    _ = try step(.removeDirectory, name)
    try base.removeDirectory(name, in: directory)
  }

  package func names(in directory: Descriptor) throws(FileSystemError) -> [String] {
    _ = try step(.names)
    return try base.names(in: directory)
  }

  package func openFile(
    _ name: String, in directory: Descriptor, _ options: OpenOptions
  ) throws(FileSystemError) -> Descriptor {
    _ = try step(.openFile, name)
    return try base.openFile(name, in: directory, options)
  }

  package func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError) {
    _ = try step(.rename, name)
    try base.rename(name, to: newName, in: directory, replacing: replacing)
  }

  package func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    _ = try step(.unlink, name)
    try base.unlink(name, in: directory)
  }

  package func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    _ = try step(.read)
    return try unsafe base.read(descriptor, into: buffer, at: offset)
  }

  package func write(
    _ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64
  ) throws(FileSystemError) -> Int {
    guard try step(.write) == .shortWrite else { return try base.write(descriptor, bytes, at: offset) }
    let half = max(1, bytes.byteCount / 2)
    return try base.write(descriptor, bytes.extracting(first: min(half, bytes.byteCount)), at: offset)
  }

  package func synchronize(_ descriptor: Descriptor) throws(FileSystemError) {
    _ = try step(.synchronize, nil, descriptor)
    try base.synchronize(descriptor)
  }

  package func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError) {
    _ = try step(.synchronizeData, nil, descriptor)
    try base.synchronizeData(descriptor)
  }

  package func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) {
    _ = try step(.allocate)
    try base.allocate(descriptor, length: length)
  }

  package func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus {
    _ = try step(.status)
    return try base.status(of: descriptor)
  }

  package func status(
    ofName name: String, in directory: Descriptor
  ) throws(FileSystemError) -> FileStatus {
    _ = try step(.statusOfName, name)
    return try base.status(ofName: name, in: directory)
  }

  package func status(atPath path: String) throws(FileSystemError) -> FileStatus {
    _ = try step(.statusOfPath, path)
    return try base.status(atPath: path)
  }

  package func readLink(_ name: String, in directory: Descriptor) throws(FileSystemError) -> String {
    _ = try step(.readLink, name)
    return try base.readLink(name, in: directory)
  }

  package func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind {
    _ = try step(.volumeKind)
    return try base.volumeKind(of: descriptor)
  }

  package func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool {
    _ = try step(.lock)
    return try base.tryLock(descriptor, mode)
  }

  package func lockHolder(of descriptor: Descriptor) -> Int32? {
    state.withLock { $0.onLockHolder }?()
    return base.lockHolder(of: descriptor)
  }

  package func unlock(_ descriptor: Descriptor) throws(FileSystemError) {
    _ = try step(.unlock)
    try base.unlock(descriptor)
  }

  package func pause(for duration: Duration) {
    base.pause(for: duration)
  }

  package func close(_ descriptor: Descriptor) {
    base.close(descriptor)
  }
}
