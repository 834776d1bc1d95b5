import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// What an older generation that was asked for by name has died of stays marked behind the markers of others.
@Suite struct RequestMarkerTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  private func savedTwice() throws {
    let store = try rig.archives(memory)
    try store.publish(Data("state".utf8))
    try store.publish(Data("newer".utf8))
  }

  @Test func `the marker of an older generation that was asked for stays behind those of others`() throws {
    try savedTwice()
    var disk = memory
    func die(
      _ body: (ArchiveStore, _ newest: OpenedArchive, _ older: OpenedArchive) throws -> Void
    ) throws -> (newest: InterruptedAttempt?, older: InterruptedAttempt?) {
      let store = try rig.archives(disk)
      let (older, newest) = (try store.openPredecessor(), try store.openNewest())
      try body(store, newest, older)
      disk = disk.afterProcessDeath()
      let next = try rig.archives(disk)
      return (try next.interruptedAttempt(for: newest), try next.interruptedAttempt(for: older))
    }
    for death in 1...2 {
      var found = try die { store, _, older in
        let attempt = try store.beginAttempt(for: older, as: .requested)
        #expect(attempt.failedAttempts == death - 1)
        attempt.note(node: 4)
      }
      #expect(found.newest?.meaning == (death == 1 ? .otherArchive : .died))
      #expect(found.older?.meaning == .died && found.older?.failedAttempts == death)
      // Well, and not so well.
      found = try die { store, newest, older in
        let attempt = try store.beginAttempt(for: newest)
        attempt.note(node: 1)
        attempt.rest()
        // In the same run, too.
        #expect(try store.interruptedAttempt(for: newest) == nil)
        #expect(try store.interruptedAttempt(for: older)?.failedAttempts == death)
      }
      #expect(found.newest == nil)
      #expect(found.older?.node == 4 && found.older?.failedAttempts == death)
      for _ in 0..<2 {
        found = try die { store, newest, _ in try store.beginAttempt(for: newest).note(node: 2) }
        #expect(found.newest?.node == 2 && found.newest?.meaning == .died)
        #expect(found.older?.node == 4 && found.older?.failedAttempts == death)
      }
    }
    // What ends well takes nothing away, and neither does who gives the newest up.
    for isOlder in [true, false] {
      let found = try die { store, newest, older in
        let attempt = try store.beginAttempt(for: isOlder ? older : newest, as: isOlder ? .requested : .newest)
        attempt.note(node: 1)
        if isOlder { attempt.rest() } else { attempt.finish() }
      }
      #expect(found.newest?.failedAttempts == (isOlder ? 2 : nil))
      #expect(found.older?.node == 4 && found.older?.requestedNodes == [4])
    }
    // Requests and stand-ins are counted apart, and a stand-in is told what requests died at.
    var found = try die { store, _, older in
      let attempt = try store.beginAttempt(for: older, as: .standIn)
      #expect(attempt.failedAttempts == 0)
      attempt.note(node: 5)
    }
    #expect(found.older?.isStandIn == true && found.older?.failedAttempts == 1)
    #expect(found.older?.node == 5 && found.older?.requestedNodes == [4])
    // Each node is there once, the latest first, and not too many of them.
    for node in [4, 6, 4] + Array(10...30) as [UInt32] {
      found = try die { store, _, older in
        try store.beginAttempt(for: older, as: .requested).note(node: node)
      }
      #expect(found.older?.node == node && found.older?.requestedNodes.first == node)
    }
    #expect(found.older?.requestedNodes == Array((15...30).reversed()))
    #expect(
      try #require(disk.content(atPath: StoreRig.path + "/" + rig.names(disk, endingWith: ".marker")[0])).count == 1_024
    )
  }

  @Test func `a request that a restart of the machine ended counts the second time, and one that died stays so`() throws
  {
    try savedTwice()
    var disk = memory
    func nodes(_ store: ArchiveStore, _ older: OpenedArchive) throws -> [UInt32] {
      try store.interruptedAttempt(for: older)?.requestedNodes ?? []
    }
    func launch(_ boot: UInt8, _ body: (ArchiveStore, _ newest: OpenedArchive, _ older: OpenedArchive) throws -> Void)
      throws
    {
      let store = try rig.booted(boot).archives(disk)
      let (older, newest) = (try store.openPredecessor(), try store.openNewest())
      try body(store, newest, older)
      disk = disk.afterProcessDeath()
    }
    func request(_ boot: UInt8, expecting expected: [UInt32]) throws {
      try launch(boot) { store, _, older in
        let found = try nodes(store, older)
        #expect(found == expected)
        try store.beginAttempt(for: older, as: .requested).note(node: UInt32(boot))
      }
    }
    try request(1, expecting: [])
    try request(2, expecting: [])
    try request(3, expecting: [2])
    try launch(4) { store, newest, _ in try store.beginAttempt(for: newest).rest() }
    // Of the third it was known already that it is not the first; the first two stand behind it or not at all.
    try launch(5) { store, _, older in
      let found = try nodes(store, older)
      #expect(found == [3, 2])
      try store.beginAttempt(for: older, as: .requested).note(node: 9)
    }
    try launch(5) { store, newest, _ in try store.beginAttempt(for: newest).rest() }
    try launch(6) { store, _, older in
      let found = try nodes(store, older)
      #expect(found == [9, 3, 2])
    }
    // The first restart alone names nothing, and a death that was no restart counts after one.
    try rig.archives(disk).publish(Data("newest".utf8))
    try request(7, expecting: [])
    try launch(8) { store, newest, _ in try store.beginAttempt(for: newest).rest() }
    try request(8, expecting: [])
    try launch(8) { store, newest, _ in try store.beginAttempt(for: newest).rest() }
    try request(9, expecting: [8])
    // The second one is the second one whatever was restored in between.
    try rig.archives(disk).publish(Data("the very newest".utf8))
    for (boot, expected) in [(20, []), (21, []), (22, [21]), (23, [22, 21])] as [(UInt8, [UInt32])] {
      try launch(boot) { store, newest, _ in try store.beginAttempt(for: newest).rest() }
      try request(boot, expecting: expected)
    }
    // One that died is none of a restart later on, also when a restart ends another attempt at it that counts anew.
    try rig.archives(disk).publish(Data("the last".utf8))
    try request(30, expecting: [])
    try launch(30) { store, newest, _ in try store.beginAttempt(for: newest).rest() }
    try launch(31) { store, _, older in
      let found = try nodes(store, older)
      #expect(found == [30])
      try store.beginAttempt(for: older, as: .requested, countingFormer: false).note(node: 30)
    }
    try launch(32) { store, newest, _ in try store.beginAttempt(for: newest).rest() }
    try launch(33) { store, _, older in
      let found = try nodes(store, older)
      #expect(found == [30])
    }
  }

  @Test func `the newest's stays behind a request's, and is counted on`() throws {
    try savedTwice()
    var disk = memory
    func launch(
      _ boot: UInt8 = 1, _ body: (ArchiveStore, _ newest: OpenedArchive, _ older: OpenedArchive) throws -> Void
    )
      throws
    {
      let store = try rig.booted(boot).archives(disk)
      let (older, newest) = (try store.openPredecessor(), try store.openNewest())
      try body(store, newest, older)
      disk = disk.afterProcessDeath()
    }
    for death in 0..<3 {
      try launch { store, newest, _ in
        let attempt = try store.beginAttempt(for: newest, joining: 7)
        #expect(attempt.failedAttempts == death)
        attempt.note(node: 3)
      }
      // Asked for twice, well and not so well: also of that death something is known then.
      for isWell in [true, false] {
        try launch { store, _, older in
          let attempt = try store.beginAttempt(for: older, as: .requested)
          attempt.note(node: 5)
          if isWell { attempt.rest() }
        }
      }
      try launch { store, newest, older in
        let own = try store.interruptedAttempt(for: newest)
        let found = try #require(own)
        #expect(found.meaning == .died && found.node == 3 && found.pendingMark == 7)
        #expect(found.failedAttempts == death + 1 && !found.isRequested && found.requestedNodes == [])
        let asked = try store.interruptedAttempt(for: older)
        #expect(Set(asked?.requestedNodes ?? []) == [5])
      }
    }
    // Restored in good order it has nothing against it any more; what requests died at stays.
    try launch { store, newest, _ in try store.beginAttempt(for: newest).rest() }
    try launch { store, newest, older in
      let (own, asked) = (try store.interruptedAttempt(for: newest), try store.interruptedAttempt(for: older))
      #expect(own == nil && asked?.requestedNodes == [5])
    }
    // A restart of the machine is forgiven once, whatever was asked for since.
    try rig.archives(disk).publish(Data("newest".utf8))
    for (boot, failed) in [(2, 0), (3, 1)] as [(UInt8, Int)] {
      try launch(boot) { store, newest, _ in try store.beginAttempt(for: newest).note(node: 3) }
      try launch(boot + 1) { store, _, older in try store.beginAttempt(for: older, as: .requested).rest() }
      try launch(boot + 1) { store, newest, _ in
        let found = try store.interruptedAttempt(for: newest)
        #expect(found?.failedAttempts == failed)
      }
    }
  }

  @Test func `a death between two markers forgets nothing that requests have died of`() throws {
    try savedTwice()
    do {
      let store = try rig.archives(memory)
      try store.beginAttempt(for: try store.openPredecessor(), as: .requested).note(node: 4)
    }
    let before = memory.afterProcessDeath()
    var number = 0
    while true {
      number += 1
      let disk = before.afterProcessDeath()
      let faulty = FaultyFileSystem(disk)
      let store = try rig.archives(faulty)
      let newest = try store.openNewest()
      faulty.fail(from: faulty.callCount + number, nil, .error(.inputOutput))
      _ = try? store.beginAttempt(for: newest)
      if faulty.hits.isEmpty { break }
      let next = try rig.archives(disk.afterProcessDeath())
      let found = try next.interruptedAttempt(for: try next.openPredecessor())
      #expect(found?.requestedNodes == [4], "call \(number)")
    }
    #expect(number > 6)
  }

  @Test(arguments: [RestorationAttempt.Role.requested, .standIn, .newest])
  func `what stood in, or was asked for and well, leaves nothing behind`(role: RestorationAttempt.Role) throws {
    try savedTwice()
    let store = try rig.archives(memory)
    let (older, newest) = (try store.openPredecessor(), try store.openNewest())
    let attempt = try store.beginAttempt(for: older, as: role)
    attempt.note(node: 5)
    if role == .requested { attempt.rest() }
    var disk = memory.afterProcessDeath()
    try rig.archives(disk).beginAttempt(for: newest).note(node: 3)
    disk = disk.afterProcessDeath()
    #expect(try rig.archives(disk).interruptedAttempt(for: older)?.meaning == .otherArchive)
    let path = StoreRig.path + "/" + (try #require(rig.names(disk, endingWith: ".marker").first))
    #expect(disk.content(atPath: path)?.count == 64)
  }

  @Test func `a damaged marker behind a whole one is none, and bytes behind that make both damaged`() throws {
    try savedTwice()
    let store = try rig.archives(memory)
    let (older, newest) = (try store.openPredecessor(), try store.openNewest())
    try store.beginAttempt(for: older, as: .requested).note(node: 4)
    var disk = memory.afterProcessDeath()
    try rig.archives(disk).beginAttempt(for: newest).note(node: 1)
    disk = disk.afterProcessDeath()
    let path = StoreRig.path + "/" + (try #require(rig.names(disk, endingWith: ".marker").first))
    let bytes = try #require(disk.content(atPath: path))
    #expect(bytes.count == 128)
    func found() throws -> [InterruptedAttempt.Meaning?] {
      let store = try rig.archives(disk)
      return [try store.interruptedAttempt(for: newest)?.meaning, try store.interruptedAttempt(for: older)?.meaning]
    }
    #expect(try found() == [.died, .died])
    for offset in [64, 100, 127] {
      var damaged = bytes
      damaged[offset] ^= 1
      disk.plant(damaged, atPath: path)
      #expect(try found() == [.died, .otherArchive])
    }
    for planted in [bytes + [0], Array(bytes.dropLast()), Array(bytes[64...]) + bytes[..<63]] {
      disk.plant(planted, atPath: path)
      #expect(try found() == [.damaged, .damaged])
    }
  }
}
