#if canImport(Glibc)
import CSystem
import CTestProcess
import FileSystem
import Foundation
import Glibc
import Testing

/// What the store's promises rest on, asked of the kernel itself.
@Suite struct LinuxFileSystemTests {
  private let files = LinuxFileSystem()

  /// Runs a body with a new directory, and removes it.
  private func withDirectory(_ body: (Descriptor, String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "linux-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    let directory = try files.openDirectory(atPath: path)
    defer { files.close(directory) }
    try body(directory, path)
  }

  /// Writes a file and closes it.
  private func make(_ name: String, _ bytes: [UInt8] = [], in directory: Descriptor) throws {
    let file = try files.openFile(name, in: directory, [.write, .create, .exclusive])
    defer { files.close(file) }
    try unsafe files.writeAll(file, bytes.span.bytes, at: 0)
  }

  private func read(_ name: String, in directory: Descriptor) throws -> [UInt8] {
    let file = try files.openFile(name, in: directory, [])
    defer { files.close(file) }
    return try files.readBytes(file, count: 1000)
  }

  private func code(_ body: () throws -> Void) -> FileSystemError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? FileSystemError)?.code
    }
  }

  @Test func `nothing that is open goes on to other programs`() throws {
    try withDirectory { directory, path in
      try make("a", in: directory)
      let opened = [
        directory, try files.openDirectory(atPath: path), try files.openDirectory(".", in: directory),
        try files.openFile("a", in: directory, []), try files.openFile("a", in: directory, .write),
        try files.openFile("b", in: directory, [.write, .create]),
      ]
      for descriptor in opened {
        #expect(csystem_descriptor_flags(descriptor.rawValue) & FD_CLOEXEC != 0, "\(descriptor)")
      }
      for descriptor in opened.dropFirst() { files.close(descriptor) }
    }
  }

  @Test func `links are not followed, whatever they lead to`() throws {
    try withDirectory { directory, path in
      try make("file", in: directory)
      try files.makeDirectory("folder", in: directory, mode: 0o700)
      for target in ["file", "folder", "nothing"] {
        try FileManager.default.createSymbolicLink(atPath: "\(path)/to-\(target)", withDestinationPath: target)
        #expect(code { _ = try files.openFile("to-\(target)", in: directory, []) } == .symbolicLink)
        #expect(code { _ = try files.openFile("to-\(target)", in: directory, [.write, .create]) } == .symbolicLink)
        let refusal = code { _ = try files.openDirectory("to-\(target)", in: directory) }
        #expect(refusal == .symbolicLink || refusal == .notDirectory)
        let byPath = code { _ = try files.openDirectory(atPath: "\(path)/to-\(target)") }
        #expect(byPath == .symbolicLink || byPath == .notDirectory)
        #expect(try files.status(ofName: "to-\(target)", in: directory).kind == .symbolicLink)
      }
      #expect(try !files.names(in: directory).contains("nothing"))
    }
  }

  @Test func `a FIFO is opened without waiting, and told from a file`() throws {
    try withDirectory { directory, path in
      #expect(unsafe mkfifo(path + "/fifo", 0o600) == 0)
      let fifo = try files.openFile("fifo", in: directory, [])
      defer { files.close(fifo) }
      #expect(try files.status(of: fifo).kind == .other)
    }
  }

  @Test func `a rename never replaces unless it is told to`() throws {
    try withDirectory { directory, _ in
      try make("old", [1], in: directory)
      try make("new", [2], in: directory)
      #expect(code { try files.rename("new", to: "old", in: directory, replacing: false) } == .fileExists)
      #expect(try read("old", in: directory) == [1])
      try files.rename("new", to: "old", in: directory, replacing: true)
      #expect(try read("old", in: directory) == [2])
      #expect(try Set(files.names(in: directory)) == ["old"])
    }
  }

  @Test(arguments: [0o000, 0o077, 0o777])
  func `what is made has the mode that was asked for, whatever the umask`(_ mask: Int) async {
    await #expect(processExitsWith: .success) { [mask = mask as Int] in
      let files = LinuxFileSystem()
      let path = NSTemporaryDirectory() + "umask-\(UUID().uuidString)"
      precondition(unsafe mkdir(path, 0o700) == 0)
      defer { try? FileManager.default.removeItem(atPath: path) }
      let directory = try files.openDirectory(atPath: path)
      umask(mode_t(mask))
      let made = try files.openFile("made", in: directory, [.write, .create, .exclusive])
      try #require(files.status(of: made).mode == 0o600)
      try files.makeDirectory("folder", in: directory, mode: 0o700)
      try #require(files.status(ofName: "folder", in: directory).mode == 0o700)
      _ = umask(0o022)
    }
  }

  @Test func `a file beyond the process's limit is an error, not the end of the process`() async {
    await #expect(processExitsWith: .success) {
      let files = LinuxFileSystem()
      let path = NSTemporaryDirectory() + "limit-\(UUID().uuidString)"
      precondition(unsafe mkdir(path, 0o700) == 0)
      defer { try? FileManager.default.removeItem(atPath: path) }
      let file = try files.openFile("a", in: files.openDirectory(atPath: path), [.write, .create, .exclusive])
      // Threads of Dispatch block the signal; a program's own don't.
      var size = sigset_t()
      unsafe sigemptyset(&size)
      unsafe sigaddset(&size, SIGXFSZ)
      unsafe pthread_sigmask(SIG_UNBLOCK, &size, nil)
      var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
      precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      try unsafe files.writeAll(file, [UInt8](repeating: 1, count: 1000).span.bytes, at: 0)
      try #require(throws: FileSystemError.self) { try unsafe files.writeAll(file, [1].span.bytes, at: 1000) }
      try #require(throws: FileSystemError.self) { try files.allocate(file, length: 2000) }
    }
  }

  @Test func `the program's own handler of that limit stays, is not called, and so do its children's`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ) { _ in _exit(9) }
      let files = LinuxFileSystem()
      let path = NSTemporaryDirectory() + "limit-\(UUID().uuidString)"
      precondition(unsafe mkdir(path, 0o700) == 0)
      defer { try? FileManager.default.removeItem(atPath: path) }
      let file = try files.openFile("a", in: files.openDirectory(atPath: path), [.write, .create, .exclusive])
      var (size, former) = (sigset_t(), sigset_t())
      unsafe sigemptyset(&size)
      unsafe sigaddset(&size, SIGXFSZ)
      unsafe pthread_sigmask(SIG_UNBLOCK, &size, nil)
      var limit = rlimit(rlim_cur: 1000, rlim_max: rlim_t.max)
      precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      try #require(throws: FileSystemError.self) { try unsafe files.writeAll(file, [1].span.bytes, at: 1000) }
      unsafe pthread_sigmask(SIG_BLOCK, nil, &former)
      precondition(unsafe sigismember(&former, SIGXFSZ) == 0, "the signal comes through to this thread again")
      limit.rlim_cur = rlim_t.max
      precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      let handler = signal(SIGXFSZ, SIG_DFL)
      precondition(unsafe handler != nil && unsafeBitCast(handler, to: Int.self) > 1, "the handler is the program's")
    }
  }

  @Test func `a forked child keeps no lock of its parent, whose descriptors stay its own`() async {
    await #expect(processExitsWith: .success) {
      let files = LinuxFileSystem()
      let path = NSTemporaryDirectory() + "fork-\(UUID().uuidString)"
      precondition(unsafe mkdir(path, 0o700) == 0)
      defer { try? FileManager.default.removeItem(atPath: path) }
      let directory = try files.openDirectory(atPath: path)
      let lock = try files.openFile("lock", in: directory, [.write, .create])
      try #require(try files.tryLock(lock, .exclusive))
      var ready: [Int32] = [0, 0]
      precondition(unsafe pipe(&ready) == 0)
      let child = test_process_fork()
      var byte: UInt8 = 0
      if child == 0 {
        _ = unsafe write(ready[1], &byte, 1)
        // Not for ever, should its parent not come to kill it.
        sleep(60)
        _exit(0)
      }
      defer {
        kill(child, SIGKILL)
        _ = test_process_end(child)
      }
      // Until the child runs, it has its parent's descriptors.
      var read = pollfd(fd: ready[0], events: Int16(POLLIN), revents: 0)
      try #require(unsafe poll(&read, 1, 30_000) == 1, "the child does not run")
      let other = try files.openFile("lock", in: directory, .write)
      try #require(try !files.tryLock(other, .exclusive), "the parent has it")
      precondition(files.lockHolder(of: other) == getpid())
      files.close(lock)
      try #require(try files.tryLock(other, .exclusive), "the child has kept it")
    }
  }

  @Test func `reserved space is zero, and reserving never makes a file shorter`() throws {
    try withDirectory { directory, _ in
      try make("a", [1, 2, 3], in: directory)
      let file = try files.openFile("a", in: directory, .write)
      defer { files.close(file) }
      try files.allocate(file, length: 10)
      #expect(try files.readBytes(file, count: 100) == [1, 2, 3] + [UInt8](repeating: 0, count: 7))
      try files.allocate(file, length: 5)
      #expect(try files.status(of: file).byteCount == 10)
    }
  }

  @Test func `a lock belongs to the open file, shuts others out, and ends with it`() throws {
    try withDirectory { directory, _ in
      try make("lock", in: directory)
      let one = try files.openFile("lock", in: directory, .write)
      let two = try files.openFile("lock", in: directory, .write)
      defer { files.close(two) }
      #expect(try files.tryLock(one, .exclusive))
      #expect(try !files.tryLock(two, .shared))
      #expect(try !files.lock(two, .exclusive, patience: .milliseconds(5)))
      try files.unlock(one)
      #expect(try files.tryLock(two, .shared))
      #expect(try files.tryLock(one, .shared))
      #expect(try !files.tryLock(one, .exclusive))
      files.close(one)
      // A child process that another test is starting has the open file until it runs its program.
      #expect(try files.lock(two, .exclusive, patience: .seconds(60)))
    }
  }

  @Test func `the holder of a lock is the process that has it, and nobody when it is free`() throws {
    try withDirectory { directory, path in
      try make("file", in: directory)
      let one = try files.openFile("file", in: directory, .write)
      let two = try files.openFile("file", in: directory, [])
      defer { files.close(two) }
      #expect(files.lockHolder(of: two) == nil)
      try #require(try files.tryLock(two, .shared))
      #expect(files.lockHolder(of: one) == nil)
      try files.unlock(two)
      try #require(try files.tryLock(one, .exclusive))
      #expect(files.lockHolder(of: two) == getpid())
      // Closing alone would leave it to a child process that another test is starting, until that runs its program.
      try files.unlock(one)
      files.close(one)
      #expect(files.lockHolder(of: two) == nil)
    }
  }

  @Test func `a directory is listed anew each time, by several threads at once`() async throws {
    try withDirectory { directory, _ in
      let names = Set((0..<300).map { "file \($0)" })
      for name in names { try make(name, in: directory) }
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        #expect((try? Set(files.names(in: directory))) == names)
      }
      try make("one more", in: directory)
      #expect(try files.names(in: directory).count == 301)
    }
  }

  @Test func `a directory that was removed while it was open has no names`() throws {
    try withDirectory { directory, _ in
      try files.makeDirectory("gone", in: directory, mode: 0o700)
      let gone = try files.openDirectory("gone", in: directory)
      defer { files.close(gone) }
      try files.removeDirectory("gone", in: directory)
      #expect(try files.names(in: gone).isEmpty)
    }
  }

  @Test func `names that are no text are listed, found, renamed and removed like any other`() throws {
    try withDirectory { directory, path in
      let names: [[UInt8]] = [
        [0xFF], [0x61, 0x80, 0x62], [0xC3], Array("ä\u{FFFD}".utf8), [0xED, 0xA0, 0x80], [0x0A],
      ]
      for name in names {
        let path = path.utf8.map(CChar.init(bitPattern:)) + [0x2F] + name.map(CChar.init(bitPattern:)) + [0]
        let isFile = name.count == 1
        if isFile { close(unsafe csystem_openat(AT_FDCWD, path, O_CREAT | O_WRONLY, 0o600)) }
        if !isFile { #expect(unsafe mkdir(path, 0o700) == 0) }
      }
      let listed = try files.names(in: directory)
      #expect(Set(listed) == Set(names.map { EntryName.spelling(of: $0) }) && Set(listed).count == names.count)
      for name in listed {
        let status = try files.status(ofName: name, in: directory)
        try files.rename(name, to: "other", in: directory, replacing: false)
        #expect(try files.status(ofName: "other", in: directory).inode == status.inode)
        try files.rename("other", to: name, in: directory, replacing: true)
        switch status.kind {
        case .directory:
          files.close(try files.openDirectory(name, in: directory))
          try files.removeDirectory(name, in: directory)
        default:
          files.close(try files.openFile(name, in: directory, .write))
          try files.unlink(name, in: directory)
        }
      }
      #expect(try files.names(in: directory).isEmpty)
      for name in ["\0", "\0f", "\0fg", "\061", "\0FF", "\0ff00", "a\0ff"] {
        #expect(code { try files.makeDirectory(name, in: directory, mode: 0o700) } == .invalidArgument)
      }
    }
  }

  @Test func `no file takes the place of a closed standard stream`() async {
    await #expect(processExitsWith: .success) {
      let files = LinuxFileSystem()
      let path = NSTemporaryDirectory() + "streams-\(UUID().uuidString)"
      precondition(unsafe mkdir(path, 0o700) == 0)
      defer { try? FileManager.default.removeItem(atPath: path) }
      for stream in 0...2 as ClosedRange<Int32> { close(stream) }
      let directory = try files.openDirectory(atPath: path)
      let opened = [
        directory, try files.openFile("a", in: directory, [.write, .create]),
        try files.openFile("a", in: directory, []),
        try files.openDirectory(".", in: directory),
      ]
      try #require(opened.allSatisfy { $0.rawValue > 2 && csystem_descriptor_flags($0.rawValue) & FD_CLOEXEC != 0 })
      try #require((0...2).allSatisfy { csystem_descriptor_flags($0) == -1 })
    }
  }

  @Test func `errors name the call, the number and the name`() throws {
    try withDirectory { directory, _ in
      do throws(FileSystemError) {
        _ = try files.openFile("nothing", in: directory, [])
        Issue.record("a file that isn't there was opened")
      } catch {
        #expect(error == FileSystemError(.noSuchFile, .openFile, name: "nothing"))
        #expect("\(error)" == "openFile of \"nothing\" failed with errno 2")
      }
      #expect(code { _ = try files.openFile("a\0b", in: directory, [.write, .create]) } == .invalidArgument)
      #expect(code { _ = try files.openFile(String(repeating: "x", count: 300), in: directory, []) } == .nameTooLong)
      #expect(code { try files.unlink("nothing", in: directory) } == .noSuchFile)
    }
  }

  @Test func `the temporary directory is a local volume`() throws {
    try withDirectory { directory, _ throws in
      let kind = try files.volumeKind(of: directory)
      #expect(kind != .network)
    }
  }
}
#endif
