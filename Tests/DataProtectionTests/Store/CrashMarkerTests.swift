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
      let (store, archive) = try opened(disk, rig.booted(UInt8(boot - 1)))
      _ = try store.beginAttempt(for: archive)
      disk = disk.afterPowerCut(.dropAll)
      let (next, again) = try opened(disk, rig.booted(UInt8(boot)))
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

  /// What takes the place of an archive while it is restored.
  enum Successor: CaseIterable, Sendable {
    case change, whole, pending
  }

  private func save(_ successor: Successor, in store: ArchiveStore) throws {
    switch successor {
    case .change: try store.append(Data("change".utf8))
    case .whole: try store.publish(Data("newer".utf8))
    case .pending:
      rig.sealing.lock()
      try store.publishPending(Data("newer".utf8), kind: .whole)
      rig.sealing.unlock()
    }
  }

  @Test(arguments: Successor.allCases)
  func `an attempt follows what its store saves, and counts from there`(successor: Successor) throws {
    try saved()
    var disk = memory
    for round in 1...3 {
      let (store, archive) = try opened(disk)
      let attempt = try store.beginAttempt(for: archive, as: .standIn, joining: 9)
      attempt.note(node: 7)
      #expect(try store.interruptedAttempt(for: archive) == nil)
      if round > 1 { try save(successor, in: store) }
      if round == 3 { attempt.note(node: 8) }
      disk = disk.afterProcessDeath()
      let next = try rig.archives(disk)
      for pending in try next.openPending().archives { try next.promotePending(pending) }
      let found = try #require(try next.interruptedAttempt(for: try next.openNewest()))
      #expect(found.meaning == .died)
      #expect(found.node == (round == 3 ? 8 : 7))
      #expect(found.failedAttempts == 1)
      #expect(found.isStandIn == (round == 1))
      #expect(found.pendingMark == (round == 1 || successor == .change ? 9 : 0))
    }
  }

  @Test func `attempts that all die count from the fifth on, whatever they have saved`() throws {
    try saved()
    var disk = memory
    for round in 1...8 {
      let (store, archive) = try opened(disk)
      let attempt = try store.beginAttempt(for: archive)
      try store.append(Data("change".utf8))
      #expect(attempt.isOpen)
      disk = disk.afterProcessDeath()
      let (next, again) = try opened(disk)
      #expect(try next.interruptedAttempt(for: again)?.failedAttempts == (round < 5 ? 1 : 2))
    }
    // What it died of may have been something else: that it has died so often stays.
    let fork = disk.afterProcessDeath()
    let (other, same) = try opened(fork)
    #expect(try other.beginAttempt(for: same, countingFormer: false).failedAttempts == 0)
    let (judge, _) = try opened(fork.afterProcessDeath())
    #expect(try judge.interruptedAttempt(for: same)?.endsInARow == 9)
    let (store, archive) = try opened(disk)
    try store.beginAttempt(for: archive).finish()
    disk = disk.afterProcessDeath()
    let (well, after) = try opened(disk)
    _ = try well.beginAttempt(for: after)
    let (next, again) = try opened(disk.afterProcessDeath())
    #expect(try next.interruptedAttempt(for: again)?.failedAttempts == 1)
  }

  @Test func `a finished attempt follows nothing`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    let attempt = try store.beginAttempt(for: archive)
    attempt.finish()
    try store.publish(Data("newer".utf8))
    #expect(rig.names(memory, endingWith: ".marker").isEmpty)
    let next = try rig.archives(memory.afterProcessDeath())
    #expect(try next.interruptedAttempt(for: try next.openNewest()) == nil)
    // Nor does it hide another one's.
    let peer = try rig.archives(memory)
    let peers = try peer.beginAttempt(for: try peer.openNewest())
    #expect(try store.interruptedAttempt(for: try store.openNewest())?.meaning == .livePeer)
    peers.finish()
    #expect(!attempt.isOpen)
  }

  // MARK: - At rest

  @Test func `a marker at rest is no attempt, and what is noted ends the rest`() throws {
    try saved()
    var disk = memory
    for round in 1...3 {
      let (store, archive) = try opened(disk)
      let attempt = try store.beginAttempt(for: archive, as: .standIn)
      #expect(attempt.failedAttempts == round - 1)
      attempt.note(node: 7)
      attempt.rest()
      #expect(attempt.isOpen)
      let (peer, same) = try opened(disk.afterProcessDeath())
      #expect(try peer.interruptedAttempt(for: same) == nil)
      #expect(try peer.beginAttempt(for: same).failedAttempts == 0)
      attempt.note(node: 8)
      disk = disk.afterProcessDeath()
      let (next, again) = try opened(disk)
      let found = try #require(try next.interruptedAttempt(for: again))
      #expect(found == InterruptedAttempt(meaning: .died, node: 8, failedAttempts: round, isStandIn: true))
    }
  }

  @Test func `what failed before can be forgotten, and nothing else is`() throws {
    try saved()
    var disk = memory
    for boot in [1, 1, 2] as [UInt8] {
      let (store, archive) = try opened(disk, rig.booted(boot))
      _ = try store.beginAttempt(for: archive)
      disk = disk.afterProcessDeath()
    }
    let (store, archive) = try opened(disk, rig.booted(3))
    let attempt = try store.beginAttempt(for: archive, as: .standIn, joining: 9)
    attempt.rest()
    attempt.forgetFormer()
    attempt.note(node: 4)
    disk = disk.afterProcessDeath()
    for (boot, count) in [(3, 1), (4, 0)] as [(UInt8, Int)] {
      let (next, again) = try opened(disk, rig.booted(boot))
      let found = try #require(try next.interruptedAttempt(for: again))
      #expect(found.failedAttempts == count && found.endsInARow == count)
      #expect(found.node == 4 && found.isStandIn && found.pendingMark == 9)
    }
  }

  @Test func `a second attempt of one run goes on counting, until what was before is forgotten`() throws {
    try saved()
    _ = try rig.archives(memory).beginAttempt(for: rig.archives(memory).openNewest())
    let (store, archive) = try opened(memory.afterProcessDeath())
    let first = try store.beginAttempt(for: archive)
    #expect(first.failedAttempts == 1)
    first.finish()
    let second = try store.beginAttempt(for: archive)
    #expect(second.failedAttempts == 1)
    second.forgetFormer()
    second.finish()
    #expect(try store.beginAttempt(for: archive).failedAttempts == 0)
  }

  @Test func `what another process has died of between two attempts of one run counts`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    try store.beginAttempt(for: archive).finish()
    do {
      let (peer, same) = try opened(memory)
      // Dropped, as by a death.
      _ = try peer.beginAttempt(for: same)
    }
    #expect(try store.beginAttempt(for: archive).failedAttempts == 1)
  }

  @Test(arguments: Successor.allCases)
  func `nor does a second attempt of one run count over a save`(successor: Successor) throws {
    try saved()
    _ = try rig.archives(memory).beginAttempt(for: rig.archives(memory).openNewest())
    let (store, archive) = try opened(memory.afterProcessDeath())
    let second = try store.beginAttempt(for: archive)
    try save(successor, in: store)
    second.finish()
    for pending in try store.openPending().archives { try store.promotePending(pending) }
    #expect(try store.beginAttempt(for: try store.openNewest()).failedAttempts == 0)
  }

  @Test(arguments: Successor.allCases)
  func `what is saved while it rests is what a note is about, and ends no rest`(successor: Successor) throws {
    try saved()
    let (store, archive) = try opened(memory)
    let attempt = try store.beginAttempt(for: archive)
    attempt.rest()
    try save(successor, in: store)
    for node in [nil, UInt32(8)] {
      if let node { attempt.note(node: node) }
      let next = try rig.archives(memory.afterProcessDeath())
      for pending in try next.openPending().archives { try next.promotePending(pending) }
      let found = try next.interruptedAttempt(for: try next.openNewest())
      #expect(found == node.map { InterruptedAttempt(meaning: .died, node: $0, failedAttempts: 1) })
    }
  }

  @Test func `while a marker rests another process may restore, and keeps its own marker`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    let attempt = try store.beginAttempt(for: archive)
    attempt.rest()
    let (peer, same) = try opened(memory)
    #expect(try peer.interruptedAttempt(for: same) == nil)
    let peers = try peer.beginAttempt(for: same)
    peers.note(node: 3)
    attempt.note(node: 8)
    attempt.finish()
    let (next, again) = try opened(memory.afterProcessDeath())
    #expect(try next.interruptedAttempt(for: again)?.node == 3)
    peers.finish()
    #expect(rig.names(memory, endingWith: ".marker").isEmpty)
  }

  @Test func `a power cut brings no note back after a rest that was settled`() throws {
    try saved()
    let (store, archive) = try opened(memory)
    let attempt = try store.beginAttempt(for: archive)
    attempt.rest()
    let (early, same) = try opened(memory.afterPowerCut(.dropAll))
    #expect(try early.interruptedAttempt(for: same) != nil)
    attempt.settle()
    let (next, again) = try opened(memory.afterPowerCut(.dropAll))
    #expect(try next.interruptedAttempt(for: again) == nil)
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
