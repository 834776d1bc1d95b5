#if canImport(Glibc)
import CSystem
import Dispatch
import Glibc
import Synchronization

/// The real file system of Linux with glibc.
package struct LinuxFileSystem: FileSystem {
  /// Asked once, as each question is a system call: a program that changes its user makes another file system.
  package let currentUser: UInt32

  /// Makes the file system, for the effective user.
  ///
  /// A file that would grow beyond the process's limit is an error of the write, like a full disk; no handler of the
  /// program's changes for that.
  package init() {
    currentUser = geteuid()
  }

  // MARK: Directories

  package func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor {
    try open(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | directoryFlags, .openDirectory)
  }

  package func openDirectory(
    _ name: String, in directory: Descriptor
  ) throws(FileSystemError) -> Descriptor {
    try open(directory.rawValue, name, O_RDONLY | O_CLOEXEC | directoryFlags, .openDirectory)
  }

  package func makeDirectory(
    _ name: String, in directory: Descriptor, mode: UInt32
  ) throws(FileSystemError) {
    try unsafe call(.makeDirectory, name) { name in unsafe mkdirat(directory.rawValue, name, mode) }
    // The umask may have taken bits away; nobody else writes in a directory of ours.
    try unsafe call(.makeDirectory, name) { name in
      unsafe fchmodat(directory.rawValue, name, mode, AT_SYMLINK_NOFOLLOW)
    }
  }

  package func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    try unsafe call(.removeDirectory, name) { name in unsafe unlinkat(directory.rawValue, name, AT_REMOVEDIR) }
  }

  package func names(in directory: Descriptor) throws(FileSystemError) -> [String] {
    // One list at a time, as an open directory has one position. A descriptor of its own would be two more calls.
    try listing.withLock { _ throws(FileSystemError) in try list(directory) }
  }

  private func list(_ directory: Descriptor) throws(FileSystemError) -> [String] {
    // A directory that was just opened stands at its beginning.
    let hasMoved = moved.withLock { moved in
      if moved.contains(directory.rawValue) { return true }
      moved.append(directory.rawValue)
      return false
    }
    guard !hasMoved || lseek(directory.rawValue, 0, SEEK_SET) == 0 else { throw FileSystemError(lastCode, .names) }
    return try unsafe withUnsafeTemporaryAllocation(byteCount: 32 << 10, alignment: 8) {
      buffer throws(FileSystemError) in
      var names: [String] = []
      while true {
        let count = unsafe csystem_getdents(directory.rawValue, buffer.baseAddress, buffer.count)
        if count < 0, errno != ENOENT { throw FileSystemError(lastCode, .names) }
        // A directory that another process has removed meanwhile has no names.
        if count <= 0 { return names }
        var start = 0
        var position: Int64 = 0
        while start < count {
          // An entry: inode and the next position, eight bytes each; its length, two; the kind, one; the name and a NUL.
          let entry = unsafe UnsafeRawBufferPointer(rebasing: buffer[start..<count])
          let length = Int(unsafe entry.load(fromByteOffset: 16, as: UInt16.self))
          let name = unsafe EntryName.spelling(of: entry[19..<length].prefix { $0 != 0 })
          if name != "." && name != ".." { names.append(name) }
          position = unsafe entry.load(fromByteOffset: 8, as: Int64.self)
          start += length
        }
        // ext4 and btrfs say so where the list ends, which spares a call; nothing can lie behind that position.
        if position == .max { return names }
      }
    }
  }

  // MARK: Names

  package func openFile(
    _ name: String, in directory: Descriptor, _ options: OpenOptions
  ) throws(FileSystemError) -> Descriptor {
    var flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | csystem_O_NOFOLLOW.int32
    flags |= options.contains(.write) ? O_RDWR : O_RDONLY
    if options.contains(.exclusive) { flags |= O_EXCL }
    guard options.contains(.create) else { return try open(directory.rawValue, name, flags, .openFile) }
    let descriptor = try open(directory.rawValue, name, flags | O_CREAT, .openFile)
    try repairMode(descriptor, .openFile, name)
    return descriptor
  }

  package func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError) {
    let flags = replacing ? 0 : UInt32(csystem_RENAME_NOREPLACE.int32)
    do throws(FileSystemError) {
      return try unsafe call(.rename, name, newName) { name, newName in
        unsafe csystem_renameat2(directory.rawValue, name, directory.rawValue, newName, flags)
      }
    } catch {
      guard !replacing, error.code.rawValue == EINVAL || error.code.rawValue == ENOSYS else { throw error }
    }
    // File systems without RENAME_NOREPLACE: a link never replaces. Two names for a moment; sweeping ends that.
    try unsafe call(.rename, name, newName) { name, newName in
      unsafe linkat(directory.rawValue, name, directory.rawValue, newName, 0)
    }
    try unsafe call(.rename, name) { name in unsafe unlinkat(directory.rawValue, name, 0) }
  }

  package func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    try unsafe call(.unlink, name) { name in unsafe unlinkat(directory.rawValue, name, 0) }
  }

  // MARK: Content

  package func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    let count = unsafe pread(descriptor.rawValue, buffer.baseAddress, buffer.count, off_t(offset))
    guard count >= 0 else { throw FileSystemError(lastCode, .read) }
    return count
  }

  package func write(
    _ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64
  ) throws(FileSystemError) -> Int {
    let count = unsafe bytes.withUnsafeBytes { bytes in
      withoutFileSizeSignal { unsafe pwrite(descriptor.rawValue, bytes.baseAddress, bytes.count, off_t(offset)) }
    }
    guard count >= 0 else { throw FileSystemError(lastCode, .write) }
    return count
  }

  package func map(_ descriptor: Descriptor, byteCount: Int) -> FileMapping? {
    let file = descriptor.rawValue
    // Whoever opens the file waits for the lease's end. The signal that would tell of it is one that programs ignore.
    guard csystem_set_lease_signal(file, SIGURG) == 0, csystem_set_lease(file, F_WRLCK) == 0 else { return nil }
    let start = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      _ = csystem_set_lease(file, F_UNLCK)
      return nil
    }
    let address = UInt(bitPattern: start)
    let mapping = unsafe FileMapping(start: start, byteCount: byteCount) {
      unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), byteCount)
      _ = csystem_set_lease(file, F_UNLCK)
    }
    // The page is made writable now, where that can fail with an error; kernels before 5.14 can't.
    guard unsafe madvise(start, byteCount, csystem_MADV_POPULATE_WRITE) == 0 else { return nil }
    return mapping
  }

  package func synchronize(_ descriptor: Descriptor) throws(FileSystemError) {
    try check(fsync(descriptor.rawValue), .synchronize)
  }

  package func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError) {
    try check(fdatasync(descriptor.rawValue), .synchronizeData)
  }

  package func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) {
    try check(
      withoutFileSizeSignal { csystem_fallocate(descriptor.rawValue, 0, 0, off_t(length)) }, .allocate)
  }

  // MARK: Status

  package func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus {
    var result = stat()
    try check(unsafe csystem_fstat(descriptor.rawValue, &result), .status)
    return FileStatus(result)
  }

  package func status(
    ofName name: String, in directory: Descriptor
  ) throws(FileSystemError) -> FileStatus {
    var result = stat()
    try unsafe call(.statusOfName, name) { name in
      unsafe csystem_fstatat(directory.rawValue, name, &result, AT_SYMLINK_NOFOLLOW)
    }
    return FileStatus(result)
  }

  package func status(atPath path: String) throws(FileSystemError) -> FileStatus {
    var result = stat()
    try unsafe call(.statusOfPath, path) { path in
      unsafe csystem_fstatat(AT_FDCWD, path, &result, AT_SYMLINK_NOFOLLOW)
    }
    return FileStatus(result)
  }

  package func readLink(_ name: String, in directory: Descriptor) throws(FileSystemError) -> String {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    var count = -1
    try unsafe call(.readLink, name) { name in
      count = unsafe readlinkat(directory.rawValue, name, &target, target.count)
      return count < 0 ? -1 : 0
    }
    return EntryName.spelling(of: target[..<count].map { UInt8(bitPattern: $0) })
  }

  package func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind {
    let magic = csystem_file_system_magic(descriptor.rawValue)
    guard magic != -1 else { throw FileSystemError(lastCode, .volumeKind) }
    let number = UInt32(truncatingIfNeeded: magic)
    if overwritingMagics.contains(number) { return .overwriting }
    return networkMagics.contains(number) ? .network : .local
  }

  // MARK: Locks

  package func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool {
    let operation = mode == .exclusive ? LOCK_EX : LOCK_SH
    if csystem_flock(descriptor.rawValue, operation | LOCK_NB) == 0 {
      ForkedLocks.add(descriptor.rawValue)
      return true
    }
    if errno == EWOULDBLOCK { return false }
    throw FileSystemError(lastCode, .lock)
  }

  package func lockHolder(of descriptor: Descriptor) -> Int32? {
    guard let inode = try? status(of: descriptor).inode,
      let file = try? open(AT_FDCWD, "/proc/locks", O_RDONLY | O_CLOEXEC, .lock)
    else { return nil }
    defer { close(file) }
    let lines = String(decoding: (try? readBytes(file, count: 1 << 20)) ?? [], as: UTF8.self).split(separator: "\n")
    // "1: FLOCK ADVISORY WRITE 2178 fe:00:1623 0 EOF". The volume's number differs from that of a status on btrfs.
    let holders = lines.compactMap { line -> Int32? in
      let fields = line.split(separator: " ")
      guard fields.count > 5, fields[1] == "FLOCK", fields[3] == "WRITE", fields[5].hasSuffix(":\(inode)") else {
        return nil
      }
      // A process that has ended is no answer: one that it has started has its lock.
      return Int32(fields[4]).flatMap { $0 > 0 && (kill($0, 0) == 0 || errno != ESRCH) ? $0 : nil }
    }
    return holders.count == 1 ? holders[0] : nil
  }

  package func unlock(_ descriptor: Descriptor) throws(FileSystemError) {
    try check(csystem_flock(descriptor.rawValue, LOCK_UN), .unlock)
    ForkedLocks.remove(descriptor.rawValue)
  }

  package func pause(for duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    unsafe nanosleep(&time, nil)
  }

  // MARK: Beside

  package func runBeside(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue.global(qos: .utility)
    guard delay > .zero else { return queue.async(execute: work) }
    let (seconds, attoseconds) = delay.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: work)
  }

  package func close(_ descriptor: Descriptor) {
    moved.withLock { $0.removeAll { $0 == descriptor.rawValue } }
    ForkedLocks.remove(descriptor.rawValue)
    _ = Glibc.close(descriptor.rawValue)
  }

  // MARK: One call

  private func open(
    _ directory: Int32, _ name: String, _ flags: Int32, _ operation: FileSystemError.Operation
  ) throws(FileSystemError) -> Descriptor {
    var descriptor: Int32 = -1
    try unsafe call(operation, name) { name in
      descriptor = unsafe csystem_openat(directory, name, flags, 0o600)
      return descriptor < 0 ? -1 : 0
    }
    guard descriptor <= STDERR_FILENO else { return Descriptor(rawValue: descriptor) }
    // A program that has closed its standard output, and prints, would write into the file.
    let above = csystem_duplicate(descriptor, STDERR_FILENO + 1)
    let code = lastCode
    _ = Glibc.close(descriptor)
    guard above >= 0 else { throw FileSystemError(code, operation, name: name) }
    return Descriptor(rawValue: above)
  }

  /// Makes a call with a name; throws its error.
  private func call(
    _ operation: FileSystemError.Operation, _ name: String, _ body: (UnsafePointer<CChar>) -> Int32
  ) throws(FileSystemError) {
    let result: Int32
    if !name.utf8.contains(0) {
      result = unsafe name.withCString(body)
    } else {
      // Anything else with a NUL would be cut there and mean another file.
      guard let bytes = EntryName.bytes(of: name) else { throw FileSystemError(.invalidArgument, operation) }
      result = unsafe (bytes.map(CChar.init(bitPattern:)) + [0]).withUnsafeBufferPointer { bytes in
        unsafe body(bytes.baseAddress!)
      }
    }
    guard result == 0 else { throw FileSystemError(lastCode, operation, name: name) }
  }

  /// Makes a call with two names; throws its error, which has the first.
  private func call(
    _ operation: FileSystemError.Operation, _ name: String, _ other: String,
    _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
  ) throws(FileSystemError) {
    try unsafe call(operation, name) { name in
      var result: Int32 = 0
      do throws(FileSystemError) {
        try unsafe call(operation, other) { other in
          result = unsafe body(name, other)
          return 0
        }
      } catch {
        errno = error.code.rawValue
        return -1
      }
      return result
    }
  }

  /// Gives a new file mode 0600 when the umask took bits away; an old one keeps its mode.
  private func repairMode(
    _ descriptor: Descriptor, _ operation: FileSystemError.Operation, _ name: String?
  ) throws(FileSystemError) {
    do throws(FileSystemError) {
      let status = try status(of: descriptor)
      guard status.kind == .regular, status.owner == currentUser, status.mode & 0o600 != 0o600 else { return }
      try check(fchmod(descriptor.rawValue, 0o600), operation, name)
    } catch {
      close(descriptor)
      throw error
    }
  }

  private func check(
    _ result: Int32, _ operation: FileSystemError.Operation, _ name: String? = nil
  ) throws(FileSystemError) {
    guard result == 0 else { throw FileSystemError(lastCode, operation, name: name) }
  }
}

/// Held while a directory is listed.
private let listing = Mutex(())
/// The open directories that were listed: they don't stand at their beginnings any more.
private let moved = Mutex<[Int32]>([])

private var lastCode: FileSystemError.Code { FileSystemError.Code(rawValue: errno) }

private let directoryFlags = csystem_O_DIRECTORY.int32 | csystem_O_NOFOLLOW.int32

/// Magic numbers from `linux/magic.h` of file systems whose locks and syncs go over a network or through a helper.
private let networkMagics: [UInt32] = [
  0x6969,  // NFS_SUPER_MAGIC
  0x517b, 0xff53_4d42, 0xfe53_4d42,  // SMB, CIFS, SMB2
  0x5346_414f, 0x6b41_4653,  // AFS
  0x7375_7245,  // CODA
  0x0102_1997,  // V9FS
  0x00c3_6400,  // CEPH
  0x6573_5546,  // FUSE
  0x0bd0_0bd0,  // LUSTRE
  0x4750_4653,  // GPFS
]

/// Magic numbers of file systems that overwrite a block where it lies.
private let overwritingMagics: [UInt32] = [
  0xef53,  // EXT4_SUPER_MAGIC, ext2 and ext3 too
  0x5846_5342,  // XFS_SUPER_MAGIC
  0x0102_1994,  // TMPFS_MAGIC
]

extension FileStatus {
  fileprivate init(_ result: stat) {
    let kind: Kind =
      switch result.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      default: .other
      }
    self.init(
      kind: kind, mode: result.st_mode & 0o7777, owner: result.st_uid, linkCount: UInt64(result.st_nlink),
      byteCount: Int64(result.st_size), inode: UInt64(result.st_ino), device: UInt64(result.st_dev),
      modificationTime: Double(result.st_mtim.tv_sec) + Double(result.st_mtim.tv_nsec) * 1e-9)
  }
}

extension RawRepresentable where RawValue: FixedWidthInteger {
  fileprivate var int32: Int32 { Int32(truncatingIfNeeded: rawValue) }
}

extension FixedWidthInteger {
  fileprivate var int32: Int32 { Int32(truncatingIfNeeded: self) }
}
#endif
