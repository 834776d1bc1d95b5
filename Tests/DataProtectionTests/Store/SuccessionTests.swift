import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// What becomes of older generations when a new one is saved.
@Suite struct SuccessionTests {
  private func record(
    _ number: UInt64, _ flags: Ledger.Part.Flags = [], _ protection: ProtectionClass = .complete, bytes: UInt64 = 100
  ) -> Ledger.Record {
    Ledger.Record(
      generation: number, commitment: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32),
      protection: protection, flags: flags, byteCount: bytes)
  }

  private func ledger(
    _ current: UInt64?, _ predecessor: UInt64?, pending: [UInt64] = [], aside: [Ledger.Record] = []
  ) -> Ledger {
    var ledger = Ledger(identity: [UInt8](repeating: 1, count: 32), epoch: [UInt8](repeating: 2, count: 8))
    ledger.current = current.map { record($0) }
    ledger.predecessor = predecessor.map { record($0) }
    ledger.pending = pending.map { record($0, [.oneWay, .partial]) }
    ledger.setAside = aside
    ledger.counter = 50
    return ledger
  }

  private func generations(_ records: [Ledger.Record]) -> [UInt64] { records.map(\.generation) }

  @Test(arguments: [
    (Verification.whole, [UInt64](), UInt64?(5), [UInt64]()), (.passing, [], 4, []),
    (.locked, [], 5, [4]), (.damaged, [], 4, [5]), (.whole, [5], 4, [5]), (.whole, [4, 5], nil, [4, 5]),
    (.whole, [4], 5, [4]),
  ])
  func `the newest becomes the one before, unless it is damaged, gone or refused`(
    _ verification: Verification, _ retiring: [UInt64], _ predecessor: UInt64?, _ aside: [UInt64]
  ) {
    let next = ledger(5, 4).succeeded(
      by: record(51), ArchiveSuccession(retiring: retiring.map(Generation.init(rawValue:))), verification)
    #expect(next.ledger.current?.generation == 51)
    #expect(next.ledger.predecessor?.generation == predecessor)
    #expect(generations(next.ledger.setAside) == aside && generations(next.setAside) == aside)
    #expect(next.removed.isEmpty)
    if verification == .damaged { #expect(next.ledger.setAside[0].flags == .damaged) }
  }

  @Test func `pending ones are deleted when they are contained, kept when not, and set aside when refused`() {
    let next = ledger(5, 4, pending: [10, 11, 12]).succeeded(
      by: record(51),
      ArchiveSuccession(consuming: [Generation(rawValue: 10)], retiring: [Generation(rawValue: 12)]), .whole)
    #expect(generations(next.ledger.pending) == [11])
    #expect(generations(next.ledger.setAside) == [12])
    #expect(next.ledger.setAside[0].flags == [.oneWay, .partial])
  }

  @Test func `four are set aside, damaged ones go first, and the newest never`() {
    let aside = [record(1), record(2, .damaged), record(3), record(4)]
    var next = ledger(30, 20, aside: aside).succeeded(
      by: record(51), ArchiveSuccession(retiring: [Generation(rawValue: 30)]), .whole)
    #expect(generations(next.ledger.setAside) == [1, 3, 4, 30] && generations(next.removed) == [2])
    next = next.ledger.succeeded(by: record(52), ArchiveSuccession(retiring: [Generation(rawValue: 51)]), .whole)
    #expect(generations(next.ledger.setAside) == [3, 4, 30, 51] && generations(next.removed) == [1])
    // Also when it is the only damaged one.
    next = ledger(30, 20, aside: (1...4).map { record($0) }).succeeded(by: record(51), ArchiveSuccession(), .damaged)
    #expect(generations(next.ledger.setAside) == [2, 3, 4, 30] && generations(next.removed) == [1])
    // More than the bound at once, all saved while locked: the newest stays, however long it is.
    var long = ledger(30, 20, aside: aside)
    long.pending = [record(40, [.oneWay, .partial], bytes: 65 << 20)]
    next = long.succeeded(by: record(51), ArchiveSuccession(retiring: [Generation(rawValue: 40)]), .whole)
    #expect(generations(next.ledger.setAside) == [40] && generations(next.removed) == [2, 1, 3, 4])
    #expect(generations(next.setAside) == [40])
  }

  @Test func `the set-aside one that is continued goes, and makes nobody go before`() {
    let aside = (1...4).map { record($0) }
    let next = ledger(30, 20, aside: aside).succeeded(
      by: record(51), ArchiveSuccession(retiring: [Generation(rawValue: 30)], reclaiming: Generation(rawValue: 2)),
      .whole)
    #expect(generations(next.ledger.setAside) == [1, 3, 4, 30] && next.removed.isEmpty)
  }

  @Test func `under another class the one before goes, and what was aside under a weaker one`() {
    var next = ledger(51, 5, aside: [record(1, [], .none), record(2), record(3, [.oneWay], .completeUnlessOpen)])
    next.predecessor = record(5, [], .completeUntilFirstUserAuthentication)
    #expect(generations(next.forgetOtherClasses()) == [1])
    #expect(next.predecessor == nil && generations(next.setAside) == [2, 3])
    next.predecessor = record(5, [.oneWay], .completeUnlessOpen)
    #expect(next.forgetOtherClasses().isEmpty && next.predecessor != nil)
  }

  // MARK: On disk

  @Test func `what is refused is set aside where it is, opens, and can be removed`() throws {
    let rig = StoreRig()
    let memory = MemoryFileSystem()
    let store = try rig.archives(memory)
    let refused = try store.publish(Data("refused".utf8)).generation
    try store.append(Data("frame".utf8), to: refused)
    let receipt = try store.publish(Data("new".utf8), ArchiveSuccession(retiring: [refused]))
    #expect(receipt.setAside.map(\.generation) == [refused.rawValue])
    let opened = try store.openSetAside(refused)
    #expect(try opened.readAll() == Data("refused".utf8) && opened.frames == [Data("frame".utf8)])
    #expect(try store.removeSetAside(refused))
    #expect(try !store.removeSetAside(refused))
    #expect(rig.generations(memory) == ["g-2"])
    #expect(try errorCode { try store.openSetAside(refused) } == .notFound)
    #expect(try store.append(Data("goes on".utf8), to: receipt.generation)?.durability == .durable)
  }

  @Test func `a save that may not survive a power cut is nothing to fall back to`() throws {
    let rig = StoreRig()
    let faulty = FaultyFileSystem(MemoryFileSystem())
    let store = try rig.archives(faulty)
    try store.publish(Data("durable".utf8))
    faulty.onCall { number, operation in
      // The sync of the directory, behind the ledger's new name.
      if operation == .rename { faulty.fail(from: number + 1, [.synchronize], .error(.inputOutput)) }
    }
    #expect(try store.publish(Data("doubtful".utf8)).durability == .unknown)
    faulty.onCall(nil)
    faulty.heal()
    #expect(try store.publish(Data("newest".utf8)).durability == .durable)
    #expect(try store.openPredecessor().readAll() == Data("durable".utf8))
  }

  @Test func `at most 64 runs save while locked, and the 65th is refused`() throws {
    let rig = StoreRig()
    let memory = MemoryFileSystem()
    try rig.archives(memory).publish(Data("base".utf8))
    rig.sealing.lock()
    for number in 0..<Ledger.pendingLimit { try rig.archives(memory).publishPending(Data([UInt8(number)])) }
    let store = try rig.archives(memory)
    #expect(try errorCode { try store.publishPending(Data()) } == .locked)
    rig.sealing.unlock()
    let pending = try store.openPending()
    #expect(pending.archives.map(\.content) == (0..<64).map { Data([$0]) } && pending.problems.isEmpty)
    #expect(pending.archives.allSatisfy { !$0.isOwn })
  }

  @Test func `a run replaces its own save while locked, and never another's`() throws {
    let rig = StoreRig()
    let memory = MemoryFileSystem()
    rig.sealing.lock()
    try rig.archives(memory).publishPending(Data("another's".utf8))
    let store = try rig.archives(memory)
    for number in 0..<70 {
      try store.publishPending(Data("\(number)".utf8))
      // Also if it lets the slot go in between.
      if number % 2 == 0 { store.close() }
    }
    rig.sealing.unlock()
    let pending = try store.openPending().archives
    #expect(pending.map(\.content) == [Data("another's".utf8), Data("69".utf8)])
  }

  @Test func `a deletion takes everything, on a full disk too, and the next save begins anew`() throws {
    for isFull in [false, true] {
      let rig = StoreRig()
      let memory = MemoryFileSystem()
      try rig.archives(memory).publish(Data("one".utf8))
      let faulty = FaultyFileSystem(memory)
      if isFull { faulty.fail(from: 1, [.write, .allocate], .error(.noSpace)) }
      try rig.archives(faulty).deleteAll()
      faulty.heal()
      #expect(try rig.observe(memory) == .nothing)
      #expect(try rig.observe(memory.afterPowerCut(.dropAll)) == .nothing)
      let store = try rig.archives(memory)
      try store.publish(Data("two".utf8))
      store.close()
      #expect(try rig.observe(memory.afterPowerCut(.dropAll)) == .saved(Data("two".utf8)))
      #expect(memory.names(atPath: StoreRig.path).filter { $0.hasPrefix("deleted-") }.isEmpty)
    }
  }
}
