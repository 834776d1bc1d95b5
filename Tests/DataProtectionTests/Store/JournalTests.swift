import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

@Suite struct JournalTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()
  let base = Data(repeating: 9, count: 300_000)

  private func frames(_ count: Int) -> [Data] {
    (0..<count).map { Data("frame \($0)".utf8) + Data(repeating: UInt8($0 % 256), count: ($0 * 37) % 700) }
  }

  private func saved(_ count: Int) throws -> ArchiveStore {
    let store = try rig.archives(memory)
    try store.publish(base)
    for frame in frames(count) { try store.append(frame) }
    return store
  }

  private func journal(_ index: Int = 0) throws -> String {
    StoreRig.path + "/" + (try #require(rig.names(memory, endingWith: "\(index).journal").first))
  }

  @Test func `an empty file in a journal's place is missed`() throws {
    _ = try saved(2)
    memory.plant([], atPath: try journal())
    let found = try rig.archives(memory).openNewest()
    #expect(try found.readAll() == base && found.frames.isEmpty && found.tailDropped > 0)
  }

  @Test func `a frame that is not the next one of its generation is refused, and the journal goes on`() throws {
    let store = try saved(2)
    let generation = try store.publish(base).generation
    let (next, other) = (Data("next".utf8), Data("other".utf8))
    for number in 1...3 {
      for wrong in [number - 1, number + 1] {
        #expect(try errorCode { try store.append(other, to: generation, as: wrong) } == .superseded)
      }
      let older = Generation(rawValue: generation.rawValue - 1)
      #expect(try errorCode { try store.append(other, to: older, as: number) } == .superseded)
      try store.append(next, to: generation, as: number)
    }
    // A run that goes on from it counts what is there, though its journal is another.
    let again = try rig.archives(memory)
    #expect(try again.openNewest().frames == [next, next, next])
    #expect(try errorCode { try again.append(other, to: generation, as: 1) } == .superseded)
    try again.append(next, to: generation, as: 4)
    #expect(try rig.archives(memory).openNewest().frames == [next, next, next, next])
  }

  @Test func `a frame in a journal that has lost its name is not saved, and the whole state is`() throws {
    let store = try saved(2)
    memory.remove(atPath: try journal())
    #expect(throws: ProtectionError.self) { try store.append(Data("lost".utf8)) }
    try store.publish(Data("whole".utf8))
    #expect(try rig.archives(memory).openNewest().readAll() == Data("whole".utf8))
  }

  @Test func `an append in the steady state is one write, one sync, and a look at the tip and the name`() throws {
    let store = try saved(2)
    let before = memory.callCount
    let bytes = try store.append(Data(repeating: 1, count: 300)).bytesWritten
    #expect(memory.calls.dropFirst(before).map(\.operation) == [.write, .synchronizeData, .read, .status])
    #expect(bytes < 300 + 120)
  }

  @Test(arguments: [1, 2, 3, 7, 8, 9, 31, 64, 100])
  func `every frame can be read alone, in any order`(_ count: Int) throws {
    _ = try saved(count)
    let opened = try rig.archives(memory).openNewest()
    #expect(opened.frameCount == count)
    let expected = frames(count)
    for index in expected.indices.reversed() { #expect(try opened.frame(at: index) == expected[index]) }
    #expect(try opened.frames == expected)
    #expect(throws: ProtectionError.self) { try opened.frame(at: count) }
  }

  @Test func `opening a long journal reads its end, not all of it`() throws {
    _ = try saved(500)
    let store = try rig.archives(memory)
    let before = memory.callCount
    let opened = try store.openNewest()
    #expect(opened.frameCount == 500)
    #expect(memory.callCount - before < 40)
    let later = memory.callCount
    _ = try opened.frame(at: 255)
    #expect(memory.callCount - later < 12)
  }

  @Test func `journals of several runs follow one another`() throws {
    let all = frames(12)
    let first = try rig.archives(memory)
    try first.publish(base)
    for run in 0..<4 {
      let store = try rig.archives(memory)
      #expect(try store.openNewest().frames == Array(all[..<(run * 3)]))
      for frame in all[(run * 3)..<(run * 3 + 3)] { try store.append(frame) }
    }
    #expect(try rig.observe(memory) == .saved(base, all))
    #expect(rig.names(memory, endingWith: ".journal").count == 4)
  }

  @Test func `a torn end is dropped and counted, and the next save is a whole one`() throws {
    _ = try saved(3)
    let path = try journal()
    let bytes = try #require(memory.content(atPath: path))
    let end = countUpToLastNonZero(bytes[...])
    for cut in [1, 2, 4, 5, 40, 80] {
      var torn = bytes
      for index in (end - cut)..<end { torn[index] = 0 }
      memory.plant(torn, atPath: path)
      let store = try rig.archives(memory)
      let opened = try store.openNewest()
      #expect(try opened.frames == Array(frames(2)))
      #expect(opened.tailDropped > 0)
      #expect(opened.standing == .current)
      #expect(try errorCode { try store.append(Data()) } == .superseded)
    }
    try rig.archives(memory).publish(base)
    #expect(try rig.archives(memory).openNewest().tailDropped == 0)
  }

  @Test func `a frame that only lost its beginning is dropped and counted, and the next save is a whole one`() throws {
    let store = try saved(1)
    let byteCount = try store.append(frames(2)[1]).bytesWritten
    let path = try journal()
    var torn = try #require(memory.content(atPath: path))
    let start = countUpToLastNonZero(torn[...]) - byteCount
    for index in start..<start + JournalFrames.headerByteCount { torn[index] = 0 }
    memory.plant(torn, atPath: path)
    let next = try rig.archives(memory)
    let opened = try next.openNewest()
    #expect(try opened.frames == frames(1))
    #expect(opened.tailDropped > 0)
    #expect(try errorCode { try next.append(Data()) } == .superseded)
  }

  @Test func `every flipped bit of a journal drops frames from there on, or is found when the frame is read`() throws {
    let count = 5
    _ = try saved(count)
    let path = try journal()
    let bytes = try #require(memory.content(atPath: path))
    let expected = frames(count)
    for offset in 0..<countUpToLastNonZero(bytes[...]) {
      var flipped = bytes
      flipped[offset] ^= UInt8(1 << (offset % 8))
      memory.plant(flipped, atPath: path)
      let checked = try rig.archives(memory).openNewest(checkingFrames: true)
      let good = try checked.frames
      #expect(good == Array(expected.prefix(good.count)))
      #expect(good.count < count || checked.tailDropped == 0)
      let lazy = try rig.archives(memory).openNewest()
      for index in 0..<lazy.frameCount {
        guard let frame = try? lazy.frame(at: index) else { continue }
        #expect(frame == expected[index])
      }
    }
  }

  @Test func `a frame moved, doubled or taken from another journal doesn't open`() throws {
    _ = try saved(4)
    let path = try journal()
    let bytes = try #require(memory.content(atPath: path))
    let other = MemoryFileSystem()
    let store = try rig.archives(other)
    try store.publish(base)
    for frame in frames(4) { try store.append(frame) }
    let foreign = try #require(other.content(atPath: StoreRig.path + "/" + rig.names(other, endingWith: ".journal")[0]))
    memory.plant(foreign, atPath: path)
    #expect(try rig.archives(memory).openNewest().frameCount == 0)
    var spliced = bytes
    let half = 500
    spliced.replaceSubrange(half..., with: foreign[half...])
    memory.plant(spliced, atPath: path)
    let opened = try rig.archives(memory).openNewest(checkingFrames: true)
    #expect(try opened.frames == Array(frames(4).prefix(opened.frameCount)))
    #expect(opened.frameCount < 4)
  }

  @Test func `another process that has gone ahead supersedes an append`() throws {
    let mine = try rig.archives(memory)
    try mine.publish(base)
    try mine.append(Data("mine".utf8))
    let theirs = try rig.archives(memory)
    _ = try theirs.openNewest()
    try theirs.append(Data("theirs".utf8))
    #expect(try errorCode { try mine.append(Data("lost?".utf8)) } == .superseded)
    #expect(try rig.observe(memory).frames == [Data("mine".utf8), Data("theirs".utf8)])
    try mine.publish(Data("whole".utf8))
    #expect(try errorCode { try theirs.append(Data()) } == .superseded)
    #expect(try rig.observe(memory) == .saved(Data("whole".utf8)))
  }

  @Test func `a peer's whole generation supersedes, and so does a deletion`() throws {
    let mine = try saved(1)
    try rig.archives(memory).publish(base)
    #expect(try errorCode { try mine.append(Data()) } == .superseded)
    let next = try rig.archives(memory)
    _ = try next.openNewest()
    try next.append(Data())
    try rig.archives(memory).deleteAll()
    #expect(try errorCode { try next.append(Data()) } == .superseded)
    #expect(try rig.observe(memory) == .nothing)
  }

  @Test func `a deletion supersedes as soon as it is decided`() throws {
    let mine = try saved(1)
    let faulty = FaultyFileSystem(memory)
    let theirs = try rig.archives(faulty)
    // The journal stays where it is, under its name.
    faulty.fail(from: faulty.callCount + 1, [.unlink], .error(.inputOutput))
    #expect(throws: ProtectionError.self) { try theirs.deleteAll() }
    #expect(!rig.names(memory, endingWith: ".journal").isEmpty)
    #expect(try errorCode { try mine.append(Data("lost?".utf8)) } == .superseded)
  }

  @Test func `a save of another slot doesn't supersede`() throws {
    let mine = try saved(1)
    var other = rig
    other.slot.scene = "other"
    try other.archives(memory).publish(base)
    try mine.append(Data("still".utf8))
    #expect(try rig.observe(memory).frames == frames(1) + [Data("still".utf8)])
  }

  @Test func `a peer that appended after we read ends what we have read`() throws {
    let store = try saved(1)
    let late = try rig.archives(memory)
    _ = try late.openNewest()
    try store.append(Data("after".utf8))
    #expect(try errorCode { try late.append(Data("on top".utf8)) } == .superseded)
    #expect(try rig.observe(memory).frames == frames(1) + [Data("after".utf8)])
  }

  @Test func `a lock ends a journal, and after the unlock a new one begins`() throws {
    let store = try saved(2)
    rig.sealing.lock()
    #expect(try errorCode { try store.append(Data()) } == .locked)
    rig.sealing.unlock()
    try store.append(Data("later".utf8))
    #expect(rig.names(memory, endingWith: ".journal").count == 2)
    #expect(try rig.observe(memory).frames == frames(2) + [Data("later".utf8)])
  }

  @Test func `an append whose sync failed is unknown; the next one goes to a new journal, and only it counts`() throws {
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    try store.publish(base)
    for frame in frames(2) { try store.append(frame) }
    faulty.fail(from: 1, [.synchronizeData], .error(.inputOutput))
    #expect(try store.append(Data("unknown".utf8)).durability == .unknown)
    faulty.heal()
    try store.append(Data("again".utf8))
    #expect(try rig.observe(memory).frames == frames(2) + [Data("again".utf8)])
    #expect(try rig.observe(memory.afterPowerCut(.dropAll)).frames == frames(2) + [Data("again".utf8)])
    #expect(rig.names(memory, endingWith: ".journal").count == 2)
  }

  @Test func `appending needs a base that was read or written in this run`() throws {
    _ = try saved(0)
    #expect(try errorCode { try rig.archives(memory).append(Data()) } == .superseded)
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    store.freezeJournal()
    #expect(try errorCode { try store.append(Data()) } == .superseded)
    try store.publish(base)
    try store.append(Data())
  }

  @Test func `compaction is due when the journals reach a quarter of the base`() throws {
    let store = try saved(0)
    #expect(!store.isCompactionDue)
    var appended = 0
    while !store.isCompactionDue { appended += try store.append(Data(repeating: 3, count: 2000)).bytesWritten }
    #expect(abs(appended - base.count / 4) < 4000)
    #expect(try rig.archives(memory).openNewest().frameCount > 30)
    try store.publish(base)
    #expect(!store.isCompactionDue)
  }

  @Test func `a damaged skip, which nothing authenticates, loses no frame of this journal or the next`() throws {
    _ = try saved(12)
    let second = try rig.archives(memory)
    _ = try second.openNewest()
    for frame in frames(14)[12...] { try second.append(frame) }
    let path = try journal(0)
    let bytes = try #require(memory.content(atPath: path))
    var offset = try #require(
      bytes.indices.first { start in
        guard let header = JournalFrames.Header(bytes[start...]), header.number == 0 else { return false }
        let mark = start + JournalFrames.headerByteCount + header.messageByteCount
        return mark + 4 <= bytes.count && JournalFrames.length(mark: bytes[mark..<mark + 4]) == header.messageByteCount
      })
    for _ in 0..<12 {
      let header = try #require(JournalFrames.Header(bytes[offset...]))
      for value in [0, 1, 0xff] as [UInt8] {
        var changed = bytes
        for index in 8..<12 { changed[offset + index] = value }
        memory.plant(changed, atPath: path)
        for checksAll in [false, true] {
          let opened = try rig.archives(memory).openNewest(checkingFrames: checksAll)
          let read = try (0..<opened.frameCount).map { try opened.frame(at: $0) }
          #expect(read == frames(14), "frame \(header.number), skip \(value)")
        }
      }
      offset += header.messageByteCount + JournalFrames.overhead
    }
  }

  @Test func `what follows the last frame is looked through in pieces, and an endless file is no journal`() throws {
    let rig = StoreRig()
    let memory = MemoryFileSystem()
    let store = try rig.archives(memory)
    try store.publish(Data("base".utf8))
    try store.append(Data("frame".utf8))
    let name = try #require(rig.names(memory, endingWith: ".journal").first)
    let path = "\(StoreRig.path)/\(name)"
    let bytes = try #require(memory.content(atPath: path))
    let end = try #require(bytes.lastIndex { $0 != 0 }) + 1
    var long = bytes + [UInt8](repeating: 0, count: 5 << 20)
    memory.plant(long, atPath: path)
    let opened = try rig.archives(memory).openNewest()
    #expect(try opened.frames == [Data("frame".utf8)])
    #expect(opened.tailDropped == 0)
    long[3 << 20] = 1
    memory.plant(long, atPath: path)
    #expect(try rig.archives(memory).openNewest().tailDropped == (3 << 20) + 1 - end)
    let file = StoreFile(memory, Descriptor(rawValue: -1), byteCount: JournalFrames.fileLimit + 1)
    let code = #expect(throws: ProtectionError.self) {
      _ = try JournalReader(file, NoJournal(), index: 0, start: 0, checksAll: true)
    }?.code
    #expect(code == .corrupt)
  }

  @Test func `a frame of many pages comes back whole`() throws {
    let store = try saved(1)
    let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try store.append(large)
    try store.append(Data("small".utf8))
    let opened = try rig.archives(memory).openNewest()
    #expect(try opened.frame(at: 1) == large)
    #expect(try opened.frame(at: 2) == Data("small".utf8))
  }
}

/// A journal that nobody gets to look into.
private struct NoJournal: JournalOpening {
  var fields: SealedFields {
    SealedFields(
      kind: .journal, protection: .none, identity: [], generation: 1, schema: 0, flags: 0,
      identifier: [UInt8](repeating: 0, count: 16))
  }
  var messagePrefixByteCount: Int { 1 }

  func claimedCommitment(of prefix: ArraySlice<UInt8>) -> [UInt8]? { nil }

  func open(
    _ message: ArraySlice<UInt8>, number: UInt64, previous: [UInt8]
  ) throws(ProtectionError) -> (frame: Data, commitment: [UInt8]) {
    throw ProtectionError(.corrupt, "Nothing.")
  }
}
