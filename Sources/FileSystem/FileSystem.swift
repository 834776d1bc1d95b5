/// The few system calls that protected storage needs, behind one narrow face.
///
/// Names are single components below an open directory, as in the `*at` family, so that no path is walked twice. They are
/// bytes: ``EntryName`` says how one that is no UTF-8 is spelled.
/// Each requirement is one step at which tests can fail, tear, reorder, or cut the power. Nothing retries: a write
/// may be short and any call may throw `.interrupted`; `writeAll`, `readUpTo` and their like do the looping.
/// All calls block and may come from any thread.
package protocol FileSystem: Sendable {
  /// The effective user, who must own all files that are used (`geteuid`).
  var currentUser: UInt32 { get }

  /// Opens a directory by absolute path; its last component may not be a link.
  func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor
  /// Opens a directory by name; a link is refused.
  func openDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) -> Descriptor
  /// Makes a directory with exactly this mode, whatever the umask; `.fileExists` if the name is taken.
  func makeDirectory(_ name: String, in directory: Descriptor, mode: UInt32) throws(FileSystemError)
  /// Removes an empty directory.
  func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError)
  /// The names in a directory, without `.` and `..`, in no particular order.
  func names(in directory: Descriptor) throws(FileSystemError) -> [String]

  /// Opens, or with `.create` makes, a file by name.
  func openFile(_ name: String, in directory: Descriptor, _ options: OpenOptions) throws(FileSystemError)
    -> Descriptor
  /// Renames a file within one directory; unless `replacing`, `.fileExists` if the new name is taken.
  func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError)
  /// Removes a file's name.
  func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError)

  /// Reads at an offset; returns how many bytes came, 0 at the end (`pread`).
  func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int
  /// Writes at an offset; returns how many bytes were taken, which may be fewer than given (`pwrite`).
  func write(_ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64) throws(FileSystemError) -> Int
  /// Maps the first bytes of a file, which must have them, for storing (`mmap`), and keeps all others from opening it.
  ///
  /// Only on a volume that overwrites: elsewhere storing could fail in a way that `write` can't.
  ///
  /// - Returns: `nil` where that can't be, or somebody else has the file open: then the bytes have to be written.
  func map(_ descriptor: Descriptor, byteCount: Int) -> FileMapping?
  /// Makes a file's content and metadata durable, or a directory's entries (`fsync`).
  func synchronize(_ descriptor: Descriptor) throws(FileSystemError)
  /// Makes a file's content durable, and the metadata needed to read it back (`fdatasync`).
  func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError)
  /// Reserves zeroed space up to `length`, growing the file (`fallocate`); may be `.notSupported`.
  func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError)

  /// The status of an open item (`fstat`).
  func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus
  /// The status of a name, not following a link (`fstatat`).
  func status(ofName name: String, in directory: Descriptor) throws(FileSystemError) -> FileStatus
  /// The status at an absolute path, following links on the way but not a last one (`fstatat`).
  func status(atPath path: String) throws(FileSystemError) -> FileStatus
  /// Where a symbolic link leads (`readlinkat`); `.invalidArgument` for anything else.
  func readLink(_ name: String, in directory: Descriptor) throws(FileSystemError) -> String
  /// What kind of volume holds the item (`fstatfs`).
  func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind

  /// Tries to lock an open file without waiting (`flock`); `false` when somebody else holds it.
  ///
  /// The lock belongs to the open file, not to the process, and ends when the last descriptor of it is closed.
  func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool
  /// The process that holds a file's exclusive lock; `nil` when none does, or the system doesn't say.
  func lockHolder(of descriptor: Descriptor) -> Int32?
  /// Gives up a lock taken with `tryLock`.
  func unlock(_ descriptor: Descriptor) throws(FileSystemError)
  /// Waits for about that long between two tries of a lock; a simulated file system only counts it.
  func pause(for duration: Duration)

  /// Runs something that waits for the disk, and for which nobody waits; a simulated file system runs it at once.
  ///
  /// - Parameter delay: How long it may wait before.
  func runBeside(after delay: Duration, _ work: @escaping @Sendable () -> Void)

  /// Closes a descriptor. Errors are of no use to anyone by then: durable data was synchronised before.
  func close(_ descriptor: Descriptor)
}

extension FileSystem {
  /// None: a layer between a program and its files has to see every write.
  package func map(_ descriptor: Descriptor, byteCount: Int) -> FileMapping? { nil }

  /// At once: so that a test finds the same every time.
  package func runBeside(after delay: Duration, _ work: @escaping @Sendable () -> Void) { work() }
}

/// How a file is locked.
package enum LockMode: Hashable, Sendable {
  /// `LOCK_SH`: many holders at once.
  case shared
  /// `LOCK_EX`: one holder.
  case exclusive
}

/// What kind of volume holds an item, as far as durability and locking depend on it.
package enum VolumeKind: Hashable, Sendable {
  /// A local disk or memory that overwrites a block where it lies: once a page is writable, storing needs no space.
  case overwriting
  /// Another local disk.
  case local
  /// NFS, SMB, AFS, 9P, Ceph, FUSE and their like: locks and syncs may not mean what they say.
  case network
}
