import FaultyFileSystem
import FileSystem
import Synchronization
import Testing

/// Faults come where they were planned, once, and are counted; everything that reads and writes whole survives them.
@Suite struct FaultyFileSystemTests {
  let memory = MemoryFileSystem()
  let faulty: FaultyFileSystem

  init() {
    faulty = FaultyFileSystem(memory)
  }

  private func openFile() throws -> Descriptor {
    try memory.openFile("a", in: memory.openDirectory(atPath: "/"), [.write, .create])
  }

  private func write(_ bytes: [UInt8], to file: Descriptor, at offset: Int64 = 0) throws {
    try unsafe faulty.writeAll(file, bytes.span.bytes, at: offset)
  }

  @Test func `only the planned call fails, and it changes nothing`() throws {
    let file = try openFile()
    faulty.fail(call: 2, .error(.noSpace))
    try write([1], to: file)
    #expect(throws: FileSystemError(.noSpace, .write)) { try write([2], to: file) }
    #expect(memory.content(atPath: "/a") == [1])
    try write([3], to: file)
    #expect(memory.content(atPath: "/a") == [3])
    #expect(faulty.hits == [.write])
    #expect(faulty.callCount == 3)
  }

  @Test func `a lasting fault hits the chosen calls until it is healed`() throws {
    let file = try openFile()
    faulty.fail(from: 1, [.synchronize], .error(.inputOutput))
    try write([1], to: file)
    #expect(throws: FileSystemError.self) { try faulty.synchronize(file) }
    #expect(throws: FileSystemError.self) { try faulty.synchronize(file) }
    faulty.heal()
    try faulty.synchronize(file)
    #expect(faulty.hits == [.synchronize, .synchronize])
  }

  @Test(arguments: [Fault.shortWrite, .error(.interrupted)])
  func `whole writes get through short writes and interruptions`(_ fault: Fault) throws {
    let file = try openFile()
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    for call in [1, 2, 4] { faulty.fail(call: call, fault) }
    try write(bytes, to: file, at: 5)
    #expect(memory.content(atPath: "/a") == [0, 0, 0, 0, 0] + bytes)
    #expect(!faulty.hits.isEmpty)
  }

  @Test func `whole reads get through interruptions and stop at the end`() throws {
    let file = try openFile()
    memory.plant([1, 2, 3], atPath: "/a")
    for call in [1, 3] { faulty.fail(call: call, .error(.interrupted)) }
    #expect(try faulty.readBytes(file, count: 10) == [1, 2, 3])
    #expect(try faulty.readBytes(file, count: 0) == [])
    faulty.fail(call: faulty.callCount + 1, .error(.inputOutput))
    #expect(throws: FileSystemError.self) { _ = try faulty.readBytes(file, count: 10) }
  }

  @Test func `waiting for a lock ends with the patience, and survives interruptions`() throws {
    let (one, two) = (try openFile(), try openFile())
    #expect(try memory.tryLock(one, .exclusive))
    faulty.fail(call: 2, .error(.interrupted))
    #expect(try !faulty.lock(two, .exclusive, patience: .seconds(1)))
    #expect(memory.waited >= .seconds(1) && memory.waited < .milliseconds(1100))
    try memory.unlock(one)
    #expect(try faulty.lock(two, .exclusive, patience: .zero))
  }

  @Test func `the hook runs before every call, with its number`() throws {
    let calls = CallLog()
    let file = try openFile()
    faulty.onCall { number, operation in calls.append("\(number) \(operation)") }
    _ = try faulty.status(of: file)
    faulty.fail(call: 2, .error(.inputOutput))
    _ = try? faulty.names(in: file)
    faulty.close(file)
    #expect(calls.all == ["1 status", "2 names"])
  }
}

/// What a hook was told.
private final class CallLog: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func append(_ line: String) {
    lines.withLock { $0.append(line) }
  }
}
