import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// Changes behind the base of a generation.
@Suite struct FrameTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  /// A store with a base and so many frames, closed.
  private func saved(_ count: Int) throws -> String {
    let store = try rig.archives(memory)
    let newest = try store.publish(StoreScenario.second).generation
    for number in 0..<count { try store.append(Data("frame \(number)".utf8), to: newest) }
    store.close()
    return rig.path() + "/g-1"
  }

  private func frames(_ count: Int) -> [Data] { (0..<count).map { Data("frame \($0)".utf8) } }

  @Test func `an append is one write and one sync, and a run's first one more of each file and the directory`() throws {
    _ = try saved(2)
    let store = try rig.archives(memory)
    try store.open()
    let newest = try store.openNewest().generation
    func operations(_ body: () throws -> Void) rethrows -> [FileSystemError.Operation] {
      let start = memory.callCount
      try body()
      return memory.calls[start...].map(\.operation)
    }
    let first = try operations { try store.append(Data("x".utf8), to: newest) }
    #expect(first.count { $0 == .synchronize } == 3 && first.count { $0 == .synchronizeData } == 1)
    let second = try operations { try store.append(Data("y".utf8), to: newest) }
    // The slot and the file before; the slot once more before it is acknowledged.
    #expect(second == [.statusOfPath, .statusOfName, .write, .synchronizeData, .statusOfPath])
  }

  @Test func `a forged length in the newest file has nothing read behind what was saved`() throws {
    let path = try saved(2)
    var bytes = try #require(memory.content(atPath: path))
    // The length of the base, in the header of these tests.
    bytes.replaceSubrange(12..<16, with: [0, 0, 0x40, 0])
    memory.plant(bytes + [UInt8](repeating: 0, count: 8 << 20), atPath: path)
    rig.sealing.lock()
    defer { rig.sealing.unlock() }
    let counting = CountingFileSystem(memory)
    #expect(try rig.archives(counting).publishPending(Data("pending".utf8)).durability == .durable)
    #expect(counting.counts.bytesRead < 1 << 19)
  }

  @Test func `changes end at a quarter of the base, or at 256`() throws {
    let store = try rig.archives(memory)
    var newest = try store.publish(Data(count: 400_000)).generation
    var count = 0
    while try store.append(Data(count: 1), to: newest) != nil { count += 1 }
    #expect(count == FrameRoom.limit)
    newest = try store.publish(Data(count: 400_000)).generation
    count = 0
    while try store.append(Data(count: 10_000), to: newest) != nil { count += 1 }
    #expect((8...10).contains(count))
    #expect(try store.openNewest().frames.count == count)
    // A frame that never fits is a whole generation at once.
    #expect(try store.append(Data(count: 200_000), to: newest) == nil)
  }

  /// Lengths of a base: below the least room for frames, about where a quarter begins to count, and far above.
  static let baseByteCounts = [1_000, 65_300, 65_536, 66_001, 90_000, 120_000, 1 << 20, 2 << 20]

  /// The last frames end in every place before the end of the room, byte by byte.
  @Test(arguments: baseByteCounts, [false, true])
  func `every change that is acknowledged is found, until a whole generation is due`(
    _ byteCount: Int, _ isSealed: Bool
  ) throws {
    var rig = rig
    if isSealed { rig.sealer = FileSealer(keys: try TestClassKeys()) }
    let content = Data(count: byteCount)
    for residue in stride(from: 0, to: 100, by: byteCount > 1 << 19 ? 7 : 1) {
      let memory = MemoryFileSystem()
      let store = try rig.archives(memory)
      let newest = try store.publish(content).generation
      var expected: [Data] = []
      // The first change leaves little; the next ones fill what is left to the last byte that anything fits in.
      var size = max(byteCount, 64 << 10) / 4 - 700 + residue
      while size >= 0 {
        let change = Data(repeating: UInt8(expected.count + 1), count: size)
        if try store.append(change, to: newest)?.durability == .durable {
          expected.append(change)
          size = min(size, 150)
        } else {
          size -= 1
        }
      }
      store.close()
      let found = try rig.archives(memory).openNewest()
      try #require(
        found.frames == expected && found.tailDropped == 0,
        "\(found.frames.count) of \(expected.count) with residue \(residue), \(found.tailDropped) bytes dropped")
    }
  }

  @Test func `a copy of any frame behind the last one is reported, and no later change vanishes unsaid`() throws {
    for copied in 0..<3 {
      try rig.archives(memory).deleteAll()
      let path = try saved(3)
      let bytes = try #require(memory.content(atPath: path))
      let opened = try rig.archives(memory).openNewest()
      let start = opened.content.endOffset
      let length = (opened.scan.end - start) / 3
      var changed = bytes
      changed.replaceSubrange(
        opened.scan.end..<opened.scan.end + length, with: bytes[start + copied * length..<start + (copied + 1) * length]
      )
      memory.plant(changed, atPath: path)
      let again = try rig.archives(memory)
      try again.open()
      let found = try again.openNewest()
      // A tail ends at its last byte that is not zero, and the last ones of a frame may be.
      #expect(found.frames == frames(3) && (length - 4...length).contains(found.tailDropped), "frame \(copied)")
      // Behind such a tail nothing is appended.
      #expect(try again.append(Data("lost?".utf8), to: found.generation) == nil)
    }
  }

  @Test func `every flipped byte of a frame ends the frames there, and is reported`() throws {
    let path = try saved(3)
    let bytes = try #require(memory.content(atPath: path))
    let opened = try rig.archives(memory).openNewest()
    let start = opened.content.endOffset
    let length = (opened.scan.end - start) / 3
    for offset in start..<opened.scan.end {
      var changed = bytes
      changed[offset] ^= 0x41
      memory.plant(changed, atPath: path)
      let found = try rig.archives(memory).openNewest()
      #expect(found.frames == frames((offset - start) / length) && found.tailDropped > 0, "byte \(offset)")
    }
  }

  @Test func `a file made longer by a terabyte of nothing costs no more than one that isn't`() throws {
    let path = try saved(2)
    let faulty = FaultyFileSystem(memory)
    let sparse = SparseFileSystem(faulty, byteCount: 1 << 40)
    let reader = try rig.archives(sparse)
    let opened = try reader.openNewest()
    #expect(opened.frames == frames(2) && opened.tailDropped > 1 << 39)
    #expect(sparse.bytesRead < 1 << 20)
    #expect(path.hasSuffix("g-1"))
  }

  @Test func `after a sync that failed the next save is a whole generation`() throws {
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    let newest = try store.publish(StoreScenario.second).generation
    faulty.fail(from: 1, [.synchronizeData], .error(.inputOutput))
    #expect(try store.append(Data("one".utf8), to: newest)?.durability == .unknown)
    faulty.heal()
    #expect(try store.append(Data("two".utf8), to: newest) == nil)
    #expect(try store.publish(StoreScenario.third).durability == .durable)
  }

  @Test func `nobody who asks for the class or the writer waits for a sync`() throws {
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    let newest = try store.publish(StoreScenario.second).generation
    let asked = Log<Bool>()
    faulty.onCall { _, operation in
      // Asked in the middle of the save, on its own thread, so that waiting for it would never end.
      if operation == .synchronizeData { asked.append(store.isOpen && store.protection == .complete) }
    }
    try store.append(Data("one".utf8), to: newest)
    #expect(asked.all == [true])
  }

  @Test func `an error after a sync that succeeded is no error of the save`() throws {
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    let newest = try store.publish(StoreScenario.second).generation
    try store.append(Data("one".utf8), to: newest)
    faulty.onCall { number, operation in
      if operation == .synchronizeData { faulty.fail(from: number + 1, nil, .error(.inputOutput)) }
    }
    #expect(try store.append(Data("two".utf8), to: newest)?.durability == .durable)
  }
}

/// Says of every generation that it is longer than it is; what is behind its end reads as zeroes.
private final class SparseFileSystem: WrappingFileSystem {
  let base: any FileSystem
  let byteCount: Int64
  private let read = Log<Int>()

  init(_ base: any FileSystem, byteCount: Int64) { (self.base, self.byteCount) = (base, byteCount) }

  var bytesRead: Int { read.all.reduce(0, +) }

  func status(of descriptor: Descriptor) throws(FileSystemError) -> FileStatus {
    var status = try base.status(of: descriptor)
    if status.kind == .regular, status.byteCount > 1000 { status.byteCount = byteCount }
    return status
  }

  func read(
    _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileSystemError) -> Int {
    read.append(buffer.count)
    let count = try unsafe base.read(descriptor, into: buffer, at: offset)
    guard count < buffer.count, try base.status(of: descriptor).byteCount > 1000 else { return count }
    for index in count..<buffer.count { unsafe buffer[index] = 0 }
    return buffer.count
  }
}
