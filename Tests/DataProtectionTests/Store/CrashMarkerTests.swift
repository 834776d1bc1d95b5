import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

@Suite struct CrashMarkerTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  private func opened(_ disk: MemoryFileSystem, _ rig: StoreRig? = nil) throws -> (ArchiveStore, OpenedArchive) {
    let store = try (rig ?? self.rig).archives(disk)
    return (store, try store.openNewest())
  }

  private func saved() throws {
    try rig.archives(memory).publish(Data("state".utf8))
  }

  @Test func `a death while restoring is found with its node and counted on`() throws {
    try saved()
    var disk = memory
    for round in 1...3 {
      let (store, archive) = try opened(disk)
      let attempt = try store.beginAttempt(for: archive)
      #expect(attempt.failedAttempts == round - 1)
      attempt.note(node: 7)
      attempt.note(node: UInt32(round))
      disk = disk.afterProcessDeath()
      let (next, again) = try opened(disk)
      let found = try #require(try next.interruptedAttempt(for: again))
      #expect(found == InterruptedAttempt(meaning: .died, node: UInt32(round), failedAttempts: round))
    }
  }

  @Test func `restoring that completes leaves nothing`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    #expect(try store.interruptedAttempt(for: archive) == nil)
    let attempt = try store.beginAttempt(for: archive)
    attempt.note(node: 1)
    attempt.finish()
    #expect(try store.interruptedAttempt(for: archive) == nil)
    #expect(rig.names(memory, endingWith: ".marker").isEmpty)
  }

  @Test func `the mark is durable before restoring begins`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    _ = try store.beginAttempt(for: archive)
    let (next, again) = try opened(memory.afterPowerCut(.dropAll))
    #expect(try next.interruptedAttempt(for: again)?.meaning == .died)
    #expect(try next.interruptedAttempt(for: again)?.node == nil)
  }

  @Test func `a restart of the machine doesn't count the first time`() throws {
    try saved()
    var disk = memory
    for (boot, expected) in [(2, 0), (3, 1), (4, 2)] {
      let (store, archive) = try opened(disk, booted(UInt8(boot - 1)))
      _ = try store.beginAttempt(for: archive)
      disk = disk.afterPowerCut(.dropAll)
      let (next, again) = try opened(disk, booted(UInt8(boot)))
      let found = try #require(try next.interruptedAttempt(for: again))
      #expect(found.meaning == .machineRestarted)
      #expect(found.failedAttempts == expected)
    }
  }

  @Test func `a power cut brings no mark back that was taken away and settled`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    let attempt = try store.beginAttempt(for: archive)
    attempt.finish()
    let (early, same) = try opened(memory.afterPowerCut(.dropAll))
    #expect(try early.interruptedAttempt(for: same) != nil)
    attempt.settle()
    let (next, again) = try opened(memory.afterPowerCut(.dropAll))
    #expect(try next.interruptedAttempt(for: again) == nil)
  }

  private func booted(_ boot: UInt8) -> StoreRig {
    var rig = rig
    rig.keys.bootIdentifier = [UInt8](repeating: boot, count: 16)
    return rig
  }

  @Test func `a live peer is no crash`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    let attempt = try store.beginAttempt(for: archive)
    attempt.note(node: 3)
    let (peer, same) = try opened(memory)
    #expect(try peer.interruptedAttempt(for: same)?.meaning == .livePeer)
    #expect(throws: ProtectionError.self) { try peer.beginAttempt(for: same) }
    attempt.finish()
    #expect(try peer.interruptedAttempt(for: same) == nil)
    try peer.beginAttempt(for: same).finish()
  }

  @Test func `a marker of another generation is ignored`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    _ = try store.beginAttempt(for: archive)
    let disk = memory.afterProcessDeath()
    let next = try rig.archives(disk)
    try next.publish(Data("newer".utf8))
    let newer = try next.openNewest()
    #expect(try next.interruptedAttempt(for: newer)?.meaning == .otherArchive)
    #expect(try next.beginAttempt(for: newer).failedAttempts == 0)
  }

  @Test func `every flipped bit and every length but the right one is a damaged marker`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    let attempt = try store.beginAttempt(for: archive)
    attempt.note(node: 5)
    let disk = memory.afterProcessDeath()
    let path = StoreRig.path + "/" + rig.names(disk, endingWith: ".marker")[0]
    let bytes = try #require(disk.content(atPath: path))
    #expect(bytes.count == 64)
    let (next, same) = try opened(disk)
    for bit in 0..<512 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      disk.plant(flipped, atPath: path)
      #expect(try next.interruptedAttempt(for: same)?.meaning == .damaged)
    }
    for length in [0, 1, 63, 65, 4096] {
      disk.plant([UInt8](repeating: 0, count: length), atPath: path)
      #expect(try next.interruptedAttempt(for: same)?.meaning == .damaged)
    }
    disk.remove(atPath: path)
    disk.plant(.symbolicLink, atPath: path)
    #expect(try next.interruptedAttempt(for: same)?.meaning == .damaged)
    try next.beginAttempt(for: same).finish()
  }
}
