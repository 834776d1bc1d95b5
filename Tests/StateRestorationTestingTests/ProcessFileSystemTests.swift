import FaultyFileSystem
import FileSystem
import StateRestorationTesting
import Synchronization
import Testing

@Suite struct ProcessFileSystemTests {
  @Test func `a dead process changes nothing any more`() throws {
    let disk = MemoryFileSystem()
    let process = ProcessFileSystem(disk)
    let root = try process.openDirectory(atPath: "/")
    let file = try process.openFile("a", in: root, [.write, .create])
    let bytes: [UInt8] = [1, 2]
    _ = try unsafe process.write(file, bytes.span.bytes, at: 0)
    process.die()
    #expect(throws: FileSystemError.self) { try unsafe process.write(file, bytes.span.bytes, at: 0) }
    #expect(throws: FileSystemError.self) { try process.unlink("a", in: root) }
    #expect(disk.content(atPath: "/a") == [1, 2])
    #expect(!process.isAlive)
  }

  @Test func `its locks go with it`() throws {
    let disk = MemoryFileSystem()
    let (first, second) = (ProcessFileSystem(disk), ProcessFileSystem(disk))
    let held = try first.openFile("lock", in: try first.openDirectory(atPath: "/"), [.write, .create])
    #expect(try first.tryLock(held, .exclusive))
    let wanted = try second.openFile("lock", in: try second.openDirectory(atPath: "/"), .write)
    #expect(try !second.tryLock(wanted, .exclusive))
    first.die()
    #expect(try second.tryLock(wanted, .exclusive))
    // Closing what death has closed must not close somebody else's descriptor of the same number.
    first.close(held)
    #expect(try second.tryLock(wanted, .exclusive))
  }

  @Test func `it dies before the call that the test names`() throws {
    let disk = MemoryFileSystem()
    let process = ProcessFileSystem(disk)
    let deaths = Atomic<Int>(0)
    let root = try process.openDirectory(atPath: "/")
    process.die(beforeCall: process.callCount + 2) { deaths.add(1, ordering: .relaxed) }
    try process.makeDirectory("a", in: root, mode: 0o700)
    #expect(throws: FileSystemError.self) { try process.makeDirectory("b", in: root, mode: 0o700) }
    #expect(throws: FileSystemError.self) { try process.makeDirectory("c", in: root, mode: 0o700) }
    #expect(disk.names(atPath: "/") == ["a"])
    #expect(deaths.load(ordering: .relaxed) == 1)
  }
}
