package import FileSystem
import Synchronization

/// A disk that refuses every change, with one exception: the counter of wrong passcodes, while a passcode is tried.
///
/// Files that are made anew are drafts in memory. One that takes the counter's name is written to the disk while a
/// passcode is tried, and forgotten otherwise: opening a device after a restart of the machine brings the counter up
/// to date for itself, and must leave no trace. Locks are taken as usual, so that the tool sees no half-finished
/// change of another process; a lock changes nothing.
package final class ReadOnlyFileSystem: FileSystem {
  /// The file that may be replaced while a passcode is tried.
  package static let attemptsName = "attempts"

  private struct State {
    var countsAttempts = false
    /// Files that exist in memory only, by descriptor.
    var drafts: [Int32: Draft] = [:]
    /// Above every number the kernel gives out, and counted down.
    var nextDraft = Int32.max
    var refusals: [FileSystemError.Operation] = []
  }

  private struct Draft {
    let name: String
    var bytes: [UInt8] = []
  }

  private let base: any FileSystem
  private let state = Mutex(State())

  /// Guards a disk.
  package init(_ base: any FileSystem = LinuxFileSystem()) { self.base = base }

  /// The changes that were refused so far.
  package var refusals: [FileSystemError.Operation] { state.withLock { $0.refusals } }

  /// Lets the counter of wrong passcodes be written, or no longer.
  package func countAttempts(_ counts: Bool) { state.withLock { $0.countsAttempts = counts } }

  private func refuse(_ operation: FileSystemError.Operation, _ name: String? = nil) -> FileSystemError {
    state.withLock { $0.refusals.append(operation) }
    return FileSystemError(.readOnlyFileSystem, operation, name: name)
  }

  private func draft(_ descriptor: Descriptor) -> Draft? { state.withLock { $0.drafts[descriptor.rawValue] } }

  /// Changes a draft; everything else is refused.
  private func change(
    _ descriptor: Descriptor, _ operation: FileSystemError.Operation, _ body: (inout Draft) -> Void
  ) throws(FileSystemError) {
    let isDraft = state.withLock { state in
      guard var draft = state.drafts[descriptor.rawValue] else { return false }
      body(&draft)
      state.drafts[descriptor.rawValue] = draft
      return true
    }
    if !isDraft { throw refuse(operation) }
  }

  private func beginDraft(_ name: String) -> Descriptor {
    state.withLock { state in
      defer { state.nextDraft -= 1 }
      state.drafts[state.nextDraft] = Draft(name: name)
      return Descriptor(rawValue: state.nextDraft)
    }
  }

  /// Replaces the counter on the disk, whole and durably.
  private func replaceAttempts(by draft: Draft, in directory: Descriptor) throws(FileSystemError) {
    let file = try base.openFile(draft.name, in: directory, [.write, .create, .exclusive])
    defer { base.close(file) }
    do throws(FileSystemError) {
      try unsafe base.writeAll(file, draft.bytes.span.bytes, at: 0)
      try base.synchronize(file)
      try base.rename(draft.name, to: Self.attemptsName, in: directory, replacing: true)
    } catch {
      try? base.unlink(draft.name, in: directory)
      throw error
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
    if options.isSuperset(of: [.create, .exclusive]) { return beginDraft(name) }
    // Without the right to make it: a file that is there is opened, for its lock; one that isn't stays away.
    return try base.openFile(name, in: directory, options.subtracting(.create))
  }

  package func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError) {
    let (draft, counts) = state.withLock { state in
      (state.drafts.values.first { $0.name == name }, state.countsAttempts)
    }
    guard let draft, newName == Self.attemptsName, replacing else { throw refuse(.rename, name) }
    if counts { try replaceAttempts(by: draft, in: directory) }
  }

  package func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    // A draft goes with its descriptor.
    if state.withLock({ state in state.drafts.values.contains { $0.name == name } }) { return }
    throw refuse(.unlink, name)
  }

  package func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    guard let draft = draft(descriptor) else { return try unsafe base.read(descriptor, into: buffer, at: offset) }
    let rest = draft.bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
    unsafe buffer.copyBytes(from: rest)
    return rest.count
  }

  package func write(
    _ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64
  ) throws(FileSystemError) -> Int {
    try change(descriptor, .write) { draft in
      let end = Int(offset) + bytes.byteCount
      if draft.bytes.count < end { draft.bytes += Array(repeating: 0, count: end - draft.bytes.count) }
      for index in 0..<bytes.byteCount {
        draft.bytes[Int(offset) + index] = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      }
    }
    return bytes.byteCount
  }

  package func synchronize(_ descriptor: Descriptor) throws(FileSystemError) {
    if draft(descriptor) == nil { try base.synchronize(descriptor) }
  }

  package func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError) { try synchronize(descriptor) }

  package func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) {
    try change(descriptor, .allocate) { draft in
      draft.bytes += Array(repeating: 0, count: max(0, Int(length) - draft.bytes.count))
    }
  }

  package func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus {
    guard let draft = draft(descriptor) else { return try base.status(of: descriptor) }
    return FileStatus(
      kind: .regular, mode: 0o600, owner: currentUser, linkCount: 1, byteCount: Int64(draft.bytes.count), inode: 0,
      device: 0, modificationTime: 0)
  }

  package func status(ofName name: String, in directory: Descriptor) throws(FileSystemError) -> FileStatus {
    try base.status(ofName: name, in: directory)
  }

  package func status(atPath path: String) throws(FileSystemError) -> FileStatus { try base.status(atPath: path) }

  package func readLink(_ name: String, in directory: Descriptor) throws(FileSystemError) -> String {
    try base.readLink(name, in: directory)
  }

  package func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind {
    try base.volumeKind(of: descriptor)
  }

  package func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool {
    try base.tryLock(descriptor, mode)
  }

  package func lockHolder(of descriptor: Descriptor) -> Int32? { base.lockHolder(of: descriptor) }

  package func unlock(_ descriptor: Descriptor) throws(FileSystemError) { try base.unlock(descriptor) }

  package func pause(for duration: Duration) { base.pause(for: duration) }

  package func close(_ descriptor: Descriptor) {
    let wasDraft = state.withLock { $0.drafts.removeValue(forKey: descriptor.rawValue) != nil }
    if !wasDraft { base.close(descriptor) }
  }
}
