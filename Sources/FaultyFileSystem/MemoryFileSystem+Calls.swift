package import FileSystem
import Glibc
import Synchronization

extension MemoryFileSystem {
  // MARK: Directories

  package func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor {
    try call(.openDirectory, path) { state throws(FileSystemError.Code) in
      try state.openDirectory(try state.inode(atPath: path), user: self.currentUser)
    }
  }

  package func openDirectory(
    _ name: String, in directory: Descriptor
  ) throws(FileSystemError) -> Descriptor {
    try call(.openDirectory, name) { state throws(FileSystemError.Code) in
      let parent = try state.directory(directory)
      guard let inode = state.disk.live[parent]!.entries[name] else { throw .noSuchFile }
      return try state.openDirectory(inode, user: self.currentUser)
    }
  }

  package func makeDirectory(
    _ name: String, in directory: Descriptor, mode: UInt32
  ) throws(FileSystemError) {
    try call(.makeDirectory, name) { state throws(FileSystemError.Code) in
      let parent = try state.directory(directory, writableBy: self.currentUser)
      guard state.disk.live[parent]!.entries[name] == nil else { throw .fileExists }
      let inode = state.disk.makeInode(.directory, mode: mode, owner: self.currentUser)
      state.disk.change(parent, .add(name, inode))
    }
  }

  package func removeDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    try call(.removeDirectory, name) { state throws(FileSystemError.Code) in
      let parent = try state.directory(directory, writableBy: self.currentUser)
      guard let inode = state.disk.live[parent]!.entries[name] else { throw .noSuchFile }
      guard state.disk.live[inode]!.kind == .directory else { throw .notDirectory }
      guard state.disk.live[inode]!.entries.isEmpty else { throw .notEmpty }
      state.disk.change(parent, .remove(name))
    }
  }

  package func names(in directory: Descriptor) throws(FileSystemError) -> [String] {
    try call(.names) { state throws(FileSystemError.Code) in
      state.disk.live[try state.directory(directory)]!.entries.keys.sorted()
    }
  }

  // MARK: Names

  package func openFile(
    _ name: String, in directory: Descriptor, _ options: OpenOptions
  ) throws(FileSystemError) -> Descriptor {
    try call(.openFile, name) { state throws(FileSystemError.Code) in
      let isWritable = options.contains(.write)
      let parent = try state.directory(directory)
      if let inode = state.disk.live[parent]!.entries[name] {
        if options.contains([.create, .exclusive]) { throw .fileExists }
        let item = state.disk.live[inode]!
        switch item.kind {
        case .symbolicLink: throw .symbolicLink
        case .directory where isWritable: throw .isDirectory
        default: break
        }
        guard item.permits(isWritable ? 0o600 : 0o400, self.currentUser) else { throw .accessDenied }
        return state.open(inode, isWritable: isWritable)
      }
      guard options.contains(.create) else { throw .noSuchFile }
      _ = try state.directory(directory, writableBy: self.currentUser)
      guard name.utf8.count <= 255 else { throw .nameTooLong }
      let inode = state.disk.makeInode(.regular, mode: 0o600, owner: self.currentUser)
      state.disk.change(parent, .add(name, inode))
      return state.open(inode, isWritable: isWritable)
    }
  }

  package func rename(
    _ name: String, to newName: String, in directory: Descriptor, replacing: Bool
  ) throws(FileSystemError) {
    try call(.rename, name) { state throws(FileSystemError.Code) in
      let parent = try state.directory(directory, writableBy: self.currentUser)
      guard let inode = state.disk.live[parent]!.entries[name] else { throw .noSuchFile }
      if !replacing, state.disk.live[parent]!.entries[newName] != nil { throw .fileExists }
      state.disk.change(parent, .move(name, to: newName, inode))
    }
  }

  package func unlink(_ name: String, in directory: Descriptor) throws(FileSystemError) {
    try call(.unlink, name) { state throws(FileSystemError.Code) in
      let parent = try state.directory(directory, writableBy: self.currentUser)
      guard let inode = state.disk.live[parent]!.entries[name] else { throw .noSuchFile }
      guard state.disk.live[inode]!.kind != .directory else { throw .isDirectory }
      state.disk.change(parent, .remove(name))
    }
  }

  // MARK: Content

  package func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    let size = buffer.count
    let bytes = try call(.read) { state throws(FileSystemError.Code) in
      let content = state.disk.live[try state.file(descriptor).inode]!.content
      let start = min(Int(clamping: max(offset, 0)), content.count)
      return content[start..<min(start + size, content.count)]
    }
    unsafe buffer.copyBytes(from: bytes)
    return bytes.count
  }

  package func write(
    _ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64
  ) throws(FileSystemError) -> Int {
    let copy = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    return try call(.write) { state throws(FileSystemError.Code) in
      let file = try state.file(descriptor)
      guard file.isWritable else { throw .badDescriptor }
      try state.requireRoom(for: file.inode, upTo: Int(offset) + copy.count)
      state.disk.change(file.inode, .write(offset: Int(offset), bytes: copy))
      return copy.count
    }
  }

  package func synchronize(_ descriptor: Descriptor) throws(FileSystemError) {
    try call(.synchronize) { state throws(FileSystemError.Code) in
      state.disk.synchronize(try state.file(descriptor).inode)
    }
  }

  package func synchronizeData(_ descriptor: Descriptor) throws(FileSystemError) {
    try call(.synchronizeData) { state throws(FileSystemError.Code) in
      state.disk.synchronize(try state.file(descriptor).inode)
    }
  }

  package func allocate(_ descriptor: Descriptor, length: Int64) throws(FileSystemError) {
    try call(.allocate) { state throws(FileSystemError.Code) in
      guard state.features.allocation else { throw .notSupported }
      let inode = try state.file(descriptor).inode
      guard state.disk.live[inode]!.content.count < Int(length) else { return }
      try state.requireRoom(for: inode, upTo: Int(length))
      state.disk.change(inode, .length(Int(length)))
    }
  }

  // MARK: Status

  package func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus {
    try call(.status) { state throws(FileSystemError.Code) in
      state.status(try state.file(descriptor).inode)
    }
  }

  package func status(
    ofName name: String, in directory: Descriptor
  ) throws(FileSystemError) -> FileStatus {
    try call(.statusOfName, name) { state throws(FileSystemError.Code) in
      let parent = try state.directory(directory)
      guard let inode = state.disk.live[parent]!.entries[name] else { throw .noSuchFile }
      return state.status(inode)
    }
  }

  package func status(atPath path: String) throws(FileSystemError) -> FileStatus {
    try call(.statusOfPath, path) { state throws(FileSystemError.Code) in
      state.status(try state.inode(atPath: path))
    }
  }

  package func readLink(_ name: String, in directory: Descriptor) throws(FileSystemError) -> String {
    try call(.readLink, name) { state throws(FileSystemError.Code) in
      let parent = try state.directory(directory)
      guard let inode = state.disk.live[parent]!.entries[name] else { throw .noSuchFile }
      guard state.disk.live[inode]!.kind == .symbolicLink else { throw .invalidArgument }
      return String(decoding: state.disk.live[inode]!.content, as: UTF8.self)
    }
  }

  package func volumeKind(of descriptor: Descriptor) throws(FileSystemError) -> VolumeKind {
    try call(.volumeKind) { state throws(FileSystemError.Code) in
      _ = try state.file(descriptor)
      return state.features.volumeKind
    }
  }

  // MARK: Locks

  package func tryLock(_ descriptor: Descriptor, _ mode: LockMode) throws(FileSystemError) -> Bool {
    try call(.lock) { state throws(FileSystemError.Code) in
      let inode = try state.file(descriptor).inode
      // As the kernel does: who asks for another kind of lock gives up the one it has, also if it is refused.
      if state.locks[descriptor.rawValue] != mode { state.locks[descriptor.rawValue] = nil }
      let isHeld = state.locks.contains { other, otherMode in
        other != descriptor.rawValue && state.open[other]?.inode == inode
          && (mode == .exclusive || otherMode == .exclusive)
      }
      if !isHeld { state.locks[descriptor.rawValue] = mode }
      return !isHeld
    }
  }

  /// All simulated processes are this one.
  package func lockHolder(of descriptor: Descriptor) -> Int32? {
    state.withLock { state in
      let inode = state.open[descriptor.rawValue]?.inode
      let isHeld = state.locks.contains { other, mode in mode == .exclusive && state.open[other]?.inode == inode }
      return isHeld ? getpid() : nil
    }
  }

  package func unlock(_ descriptor: Descriptor) throws(FileSystemError) {
    try call(.unlock) { state throws(FileSystemError.Code) in
      _ = try state.file(descriptor)
      state.locks[descriptor.rawValue] = nil
    }
  }
}

extension MemoryFileSystem.State {
  /// Gives out a descriptor.
  mutating func open(_ inode: Int, isWritable: Bool) -> Descriptor {
    defer { nextDescriptor += 1 }
    open[nextDescriptor] = MemoryFileSystem.OpenFile(inode: inode, isWritable: isWritable)
    return Descriptor(rawValue: nextDescriptor)
  }

  /// Gives out a descriptor of a directory.
  mutating func openDirectory(_ inode: Int, user: UInt32) throws(FileSystemError.Code) -> Descriptor {
    let item = disk.live[inode]!
    switch item.kind {
    case .directory: break
    case .symbolicLink: throw .symbolicLink
    default: throw .notDirectory
    }
    guard item.permits(0o500, user) else { throw .accessDenied }
    return open(inode, isWritable: false)
  }

  /// Throws `.noSpace` unless a file may become so long.
  func requireRoom(for inode: Int, upTo length: Int) throws(FileSystemError.Code) {
    guard features.capacity < .max else { return }
    let growth = max(0, length - disk.live[inode]!.content.count)
    guard growth == 0 || disk.byteCount + growth <= features.capacity else { throw .noSpace }
  }

  /// The open file behind a descriptor.
  func file(_ descriptor: Descriptor) throws(FileSystemError.Code) -> MemoryFileSystem.OpenFile {
    guard let file = open[descriptor.rawValue] else { throw .badDescriptor }
    return file
  }

  /// The directory behind a descriptor.
  func directory(
    _ descriptor: Descriptor, writableBy user: UInt32? = nil
  ) throws(FileSystemError.Code) -> Int {
    let inode = try file(descriptor).inode
    guard disk.live[inode]!.kind == .directory else { throw .notDirectory }
    if let user {
      guard disk.live[inode]!.permits(0o300, user) else { throw .accessDenied }
      // A directory that was removed takes no names any more, even from a process that has it open.
      guard inode == Disk.root || disk.linkCount(of: inode) > 0 else { throw .noSuchFile }
    }
    return inode
  }

  /// The item at an absolute path, following links on the way but not a last one.
  func inode(atPath path: String) throws(FileSystemError.Code) -> Int {
    guard path.hasPrefix("/") else { throw .noSuchFile }
    var inode = Disk.root
    var links = 0
    var rest = path.split(separator: "/").map(String.init)
    while !rest.isEmpty {
      guard disk.live[inode]!.kind == .directory else { throw .notDirectory }
      guard let next = disk.live[inode]!.entries[rest.removeFirst()] else { throw .noSuchFile }
      let isLink = disk.live[next]!.kind == .symbolicLink
      let target = isLink ? String(decoding: disk.live[next]!.content, as: UTF8.self) : ""
      guard !rest.isEmpty, !target.isEmpty else {
        inode = next
        continue
      }
      links += 1
      guard links <= 40 else { throw .symbolicLink }
      rest = target.split(separator: "/").map(String.init) + rest
      if target.hasPrefix("/") { inode = Disk.root }
    }
    return inode
  }

  /// The status of an item.
  func status(_ number: Int) -> FileStatus {
    let inode = disk.live[number]!
    return FileStatus(
      kind: inode.kind, mode: inode.mode, owner: inode.owner, linkCount: UInt64(disk.linkCount(of: number)),
      byteCount: Int64(inode.content.count), inode: UInt64(number), device: 1, modificationTime: 0)
  }
}

extension Disk.Inode {
  /// Whether the owner bits allow it; the super-user may do everything, others nothing.
  func permits(_ bits: UInt32, _ user: UInt32) -> Bool {
    user == 0 || (owner == user && mode & bits == bits)
  }
}
