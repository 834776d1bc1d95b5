import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// What is wrong is said, and "nothing was saved" only of a slot that this device never had.
@Suite struct StoreOutcomeTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  private func saved(_ generations: Int = 2, in slot: ArchiveSlot? = nil) throws {
    let store = try rig.archives(memory, slot: slot)
    for number in 1...generations { try store.publish(Data("\(number)".utf8)) }
    store.close()
  }

  private func outcome(_ rig: StoreRig? = nil, slot: ArchiveSlot? = nil) throws -> ProtectionError.Code? {
    try errorCode { try (rig ?? self.rig).archives(memory, slot: slot).openNewest() }
  }

  private func damage(_ path: String) {
    var bytes = memory.content(atPath: path)!
    bytes[bytes.count / 2] ^= 1
    memory.plant(bytes, atPath: path)
  }

  @Test func `a slot that never was is not found, one that is gone is missing`() throws {
    #expect(try outcome() == .notFound)
    try saved()
    #expect(try outcome(slot: ArchiveSlot(application: "other")) == .notFound)
    memory.remove(atPath: rig.path())
    #expect(try outcome() == .missing)
    // With the directory of all slots it is as gone.
    memory.remove(atPath: StoreRig.path)
    #expect(try outcome() == .missing)
  }

  @Test func `a slot that is opened before the first save of another one is not missing`() throws {
    let early = try rig.archives(memory)
    try early.open()
    try saved(in: ArchiveSlot(application: "other"))
    #expect(try errorCode { try early.openNewest() } == .notFound)
    memory.remove(atPath: "/slots")
    #expect(try errorCode { try early.openNewest() } == .missing)
  }

  @Test func `a list that is gone while slots are there says that something is missing`() throws {
    let other = ArchiveSlot(application: "other")
    try saved()
    try saved(in: other)
    memory.remove(atPath: "/slots")
    #expect(try outcome() == nil)
    memory.remove(atPath: rig.path())
    #expect(try outcome() == .missing)
    // Nor does a list that is made anew forget that: nobody knows what was in the old one.
    try rig.archives(memory, slot: ArchiveSlot(application: "third")).publish(Data())
    #expect(try outcome() == .missing)
    #expect(try outcome(slot: other) == nil)
  }

  @Test func `a damaged list is corrupt where it is needed, and is made anew by a save`() throws {
    let other = ArchiveSlot(application: "other")
    try saved()
    try saved(in: other)
    damage("/slots")
    #expect(try outcome() == nil)
    memory.remove(atPath: rig.path())
    #expect(try outcome() == .corrupt)
    try saved()
    #expect(try rig.observe(memory).standing == .current)
    memory.remove(atPath: rig.path(other))
    #expect(try outcome(slot: other) == .missing)
  }

  @Test func `another device's keys, list, ledger and archives are each told for what they are`() throws {
    try saved()
    var other = rig
    other.keys.keybagIdentifier = KeybagIdentifier(bytes: [UInt8](repeating: 9, count: 16))
    other.sealing = ToySealing(device: 2)
    #expect(try outcome(other) == .otherDevice)
    #expect(
      try errorCode { try other.archives(memory, slot: ArchiveSlot(application: "x")).openNewest() } == .otherDevice)
    var sealed = rig
    sealed.sealing = ToySealing(device: 2)
    #expect(try outcome(sealed) == .otherDevice)
  }

  @Test func `a lost ledger's archive is found and unverified, and refused in strict mode`() throws {
    for isRemoved in [true, false] {
      try rig.archives(memory).deleteAll()
      try saved()
      let ledger = rig.path() + "/ledger"
      if isRemoved { memory.remove(atPath: ledger) } else { damage(ledger) }
      let found = try rig.observe(memory)
      #expect(found.content == Data("2".utf8) && found.standing == .rollbackUnverifiable)
      var strict = rig
      strict.options.refusesUnverifiableArchives = true
      #expect(try outcome(strict) == .rolledBack)
      // A save goes on from it, and the next run is sure.
      let store = try rig.archives(memory)
      try store.publish(Data("3".utf8))
      #expect(try store.openPredecessor().readAll() == Data("2".utf8))
      store.close()
      #expect(try rig.observe(memory).standing == .current)
    }
  }

  @Test(arguments: [true, false])
  func `a lost ledger takes neither pending saves nor generations set aside with it`(
    isRemoved: Bool
  ) throws {
    let store = try rig.archives(memory)
    let refused = try store.publish(Data("refused".utf8)).generation
    try store.publish(Data("whole".utf8), ArchiveSuccession(retiring: [refused]))
    store.close()
    for text in ["away", "away again"] { try rig.archives(memory).publishPending(Data(text.utf8)) }
    if isRemoved { memory.remove(atPath: rig.path() + "/ledger") } else { damage(rig.path() + "/ledger") }
    let pending = [Data("away".utf8), Data("away again".utf8)]
    #expect(try rig.observe(memory).allPending == pending)
    let next = try rig.archives(memory)
    _ = try next.openNewest()
    try next.requireDurable()
    next.close()
    let found = try rig.observe(memory.afterPowerCut(.dropAll))
    #expect(found.allPending == pending && found.content == Data("whole".utf8) && found.standing == .current)
    let aside = try rig.archives(memory)
    #expect(try aside.openSetAside(refused).readAll() == Data("refused".utf8))
    // Once they are merged they are gone.
    let consumed = try aside.openPending().archives.map(\.generation)
    try aside.publish(Data("merged".utf8), ArchiveSuccession(consuming: consumed))
    aside.close()
    memory.remove(atPath: rig.path() + "/ledger")
    #expect(try rig.observe(memory).allPending.isEmpty)
  }

  @Test func `pending saves without a ledger keep their key`() throws {
    rig.sealing.lock()
    try rig.archives(memory).publishPending(Data("pending".utf8))
    rig.sealing.unlock()
    #expect(try !rig.directory(memory).resealAll())
    memory.remove(atPath: rig.path() + "/ledger")
    #expect(try !rig.directory(memory).resealAll())
  }

  @Test func `with a ledger of the future nothing is said of pending saves`() throws {
    try saved()
    var future = try #require(memory.content(atPath: rig.path() + "/ledger")).dropLast(32)
    future[8] = 2
    memory.plant(
      Array(future) + (try rig.keys.authenticationCode(.ledger, over: Array(future))), atPath: rig.path() + "/ledger")
    #expect(try outcome() == .unsupportedVersion)
    #expect(try rig.archives(memory).openPending().archives.isEmpty)
  }

  @Test func `a state without its ledger that is unchanged is written anew, with its changes`() throws {
    let store = try rig.archives(memory)
    let newest = try store.publish(Data("1".utf8)).generation
    try store.append(Data("change".utf8), to: newest)
    store.close()
    memory.remove(atPath: rig.path() + "/ledger")
    let next = try rig.archives(memory)
    try next.open()
    _ = try next.openNewest()
    try next.requireDurable()
    next.close()
    #expect(try rig.observe(memory.afterPowerCut(.dropAll)) == .saved(Data("1".utf8), [Data("change".utf8)]))
  }

  @Test func `without ledger and generations, what was saved while locked says that something is missing`() throws {
    try saved()
    try rig.archives(memory).publishPending(Data("pending".utf8))
    memory.remove(atPath: rig.path() + "/ledger")
    for name in rig.generations(memory) { memory.remove(atPath: rig.path() + "/" + name) }
    memory.remove(atPath: "/slots")
    #expect(try outcome() == .missing)
  }

  /// The bytes of the version and of the class, in the header of these tests.
  @Test(arguments: [0, 1])
  func `a file that claims another version or class than was saved is damaged`(_ offset: Int) throws {
    try saved()
    let path = rig.path() + "/g-2"
    let bytes = try #require(memory.content(atPath: path))
    for bit in 0..<8 {
      var changed = bytes
      changed[offset] ^= 1 << bit
      memory.plant(changed, atPath: path)
      let found = try rig.observe(memory)
      #expect(found.content == Data("1".utf8) && found.standing == .olderGeneration(because: .corrupt), "\(bit)")
    }
    try saved(1)
    let found = try rig.observe(memory)
    #expect(found.standing == .current && found.setAsideCount == 1)
    #expect(try rig.archives(memory).openPredecessor().readAll() == Data("1".utf8))
  }

  @Test func `a damaged or missing newest generation is stood in for, and it is said`() throws {
    try saved()
    memory.plant([1, 2, 3], atPath: rig.path() + "/g-2")
    #expect(try rig.observe(memory).standing == .olderGeneration(because: .corrupt))
    memory.remove(atPath: rig.path() + "/g-2")
    let found = try rig.observe(memory)
    #expect(found.content == Data("1".utf8) && found.standing == .olderGeneration(because: .missing))
    memory.remove(atPath: rig.path() + "/g-1")
    #expect(try outcome() == .missing)
  }

  @Test func `an older generation in the newest's place is rolled back, another slot's has the wrong identity`() throws
  {
    try saved(1)
    let path = rig.path() + "/g-1"
    let old = try #require(memory.content(atPath: path))
    try rig.archives(memory).deleteAll()
    try saved(1)
    memory.plant(old, atPath: path)
    #expect(try outcome() == .rolledBack)
    let other = ArchiveSlot(application: "other")
    try saved(1, in: other)
    memory.plant(try #require(memory.content(atPath: rig.path(other) + "/g-1")), atPath: path)
    #expect(try outcome() == .wrongIdentity)
  }

  @Test func `an old copy of a deleted slot put back is rolled back, and a save begins anew`() throws {
    try saved()
    var old: [String: [UInt8]] = [:]
    for name in rig.names(memory) { old[name] = memory.content(atPath: rig.path() + "/" + name) }
    try rig.archives(memory).deleteAll()
    #expect(try outcome() == .notFound)
    try saved(1)
    for (name, bytes) in old { memory.plant(bytes, atPath: rig.path() + "/" + name) }
    #expect(try outcome() == .rolledBack)
    try saved(1)
    #expect(try rig.observe(memory) == .saved(Data("1".utf8)))
  }

  @Test func `an old keybag put back is rolled back by the ledger and by the list alone`() throws {
    var newer = rig
    newer.keys.keybagRevision = 2
    let store = try newer.archives(memory)
    try store.publish(Data("new".utf8))
    store.close()
    #expect(try outcome() == .rolledBack)
    memory.remove(atPath: "/slots")
    #expect(try outcome() == .rolledBack)
    // After a change of the passcode the list alone knows, until the next save.
    let memory = MemoryFileSystem()
    try rig.archives(memory).publish(Data("old".utf8))
    try newer.directory(memory).noteRevision()
    #expect(try errorCode { try rig.archives(memory).openNewest() } == .rolledBack)
    #expect(try newer.observe(memory).content == Data("old".utf8))
  }

  @Test func `while locked nothing is said of the content, and a whole save is sealed one-way`() throws {
    try saved()
    rig.sealing.lock()
    defer { rig.sealing.unlock() }
    #expect(try outcome() == .locked)
    #expect(try outcome(slot: ArchiveSlot(application: "other")) == .notFound)
    let store = try rig.archives(memory)
    #expect(try store.publish(Data("away".utf8)).isSealedOneWay)
    #expect(try errorCode { try store.openNewest() } == .locked)
    rig.sealing.unlock()
    #expect(try store.openNewest().readAll() == Data("away".utf8))
    // It is under another class: the next change is a whole generation.
    #expect(try store.append(Data(), to: Generation(rawValue: 3)) == nil)
    #expect(try !store.publish(Data("back".utf8)).isSealedOneWay)
  }

  @Test func `what could not be read to the end while locked keeps the one before it aside`() throws {
    try saved()
    rig.sealing.lock()
    let store = try rig.archives(memory)
    try store.publish(Data("away".utf8))
    rig.sealing.unlock()
    #expect(try store.openPredecessor().readAll() == Data("2".utf8))
    let aside = try store.setAsideRecords()
    #expect(aside.map(\.generation) == [1])
    #expect(try store.openSetAside(Generation(rawValue: 1)).readAll() == Data("1".utf8))
  }

  /// What has become of a part of a slot.
  enum Fate: CaseIterable {
    case kept, removed, damaged, anotherDevice
  }

  @Test(arguments: Fate.allCases, [false, true])
  func `whatever is gone, damaged or exchanged, a slot is never taken for one that never was`(
    _ list: Fate, _ isStrict: Bool
  ) throws {
    var rig = rig
    rig.options.refusesUnverifiableArchives = isStrict
    var other = rig
    other.keys.keybagIdentifier = KeybagIdentifier(bytes: [UInt8](repeating: 9, count: 16))
    other.sealing = ToySealing(device: 2)
    let foreign = MemoryFileSystem()
    for number in 1...2 { try other.archives(foreign).publish(Data("\(number)".utf8)) }
    func change(_ path: String, _ fate: Fate) {
      switch fate {
      case .kept: break
      case .removed: memory.remove(atPath: path)
      case .damaged: damage(path)
      case .anotherDevice: memory.plant(foreign.content(atPath: path)!, atPath: path)
      }
    }
    for ledger in Fate.allCases {
      for generations in Fate.allCases {
        try? rig.archives(memory).deleteAll()
        for path in [rig.path(), StoreRig.path, "/slots"] { memory.remove(atPath: path) }
        try saved()
        change("/slots", list)
        change(rig.path() + "/ledger", ledger)
        for number in 1...2 { change(rig.path() + "/g-\(number)", generations) }
        let place: Comment = "list \(list), ledger \(ledger), generations \(generations)"
        let found = try outcome(rig)
        if list == .removed, ledger == .removed, generations == .removed { continue }
        #expect(found != .notFound, place)
        #expect((found == nil) == (generations == .kept && (ledger == .kept || !isStrict)), place)
        let standing = try rig.observe(memory).standing
        #expect(standing == (found != nil ? nil : ledger == .kept ? .current : .rollbackUnverifiable), place)
      }
    }
  }

  @Test func `an old ledger put back under newer generations is never taken for the newest state`() throws {
    try saved(2)
    let old = try #require(memory.content(atPath: rig.path() + "/ledger"))
    let store = try rig.archives(memory)
    for number in 3...4 { try store.publish(Data("\(number)".utf8)) }
    store.close()
    memory.plant(old, atPath: rig.path() + "/ledger")
    #expect(try outcome() == .missing)
  }

  // MARK: The first save

  /// Puts a list in place that calls the slot new, as it was during the first save.
  private func callNew() throws {
    var list = try #require(try rig.directory(memory).readList().value)
    for name in list.entries.all.map(\.name) { list.entries[name]?.isNew = true }
    memory.plant(try list.encoded(keys: rig.keys), atPath: "/slots")
  }

  @Test(arguments: [false, true])
  func `a list that calls a saved slot new hides and deletes nothing`(_ isStrict: Bool) throws {
    var rig = rig
    rig.options.refusesUnverifiableArchives = isStrict
    try saved(5)
    try callNew()
    memory.remove(atPath: rig.path() + "/ledger")
    #expect(try outcome(rig) == (isStrict ? .rolledBack : nil))
    #expect(try isStrict || rig.observe(memory).standing == .rollbackUnverifiable)
    let store = try rig.archives(memory)
    try store.publish(Data("6".utf8))
    store.close()
    #expect(rig.generations(memory).contains("g-5"))
    #expect(try !isStrict || rig.observe(memory).setAsideCount == 2)
  }

  @Test func `a newest generation that is gone is missing, though the list calls the slot new`() throws {
    try saved(1)
    try callNew()
    memory.remove(atPath: rig.path() + "/g-1")
    #expect(try outcome() == .missing)
  }

  @Test func `a torn file of a first save is nothing, and no number or place is lost by it`() throws {
    try saved(1)
    try callNew()
    memory.remove(atPath: rig.path() + "/ledger")
    memory.plant([1, 2, 3], atPath: rig.path() + "/g-1")
    #expect(try outcome() == .notFound)
    try saved(1)
    #expect(try rig.observe(memory) == .saved(Data("1".utf8)))
  }

  /// Every write and sync of the list but the first fails, as on a full disk.
  @Test(arguments: [FileSystemError.Operation.write, .synchronize, .rename])
  func `a first save is durable only once the list says so durably`(_ operation: FileSystemError.Operation) throws {
    var callCount = 0
    for call in 1... {
      let memory = MemoryFileSystem()
      let faulty = FaultyFileSystem(memory)
      let store = try rig.archives(faulty)
      faulty.fail(from: faulty.callCount + call, [operation], .error(.noSpace))
      let isDurable = (try? store.publish(Data("1".utf8)))?.durability == .durable
      let isFaulty = !faulty.hits.isEmpty
      faulty.heal()
      if !isDurable { #expect(try store.publish(Data("1".utf8)).durability == .durable) }
      store.close()
      for after in [memory.afterProcessDeath(), memory.afterPowerCut(.dropAll)] {
        after.remove(atPath: rig.path())
        #expect(try errorCode { try rig.archives(after).openNewest() } == .missing, "call \(call)")
      }
      guard isFaulty else { break }
      callCount = call
    }
    #expect(callCount > 5)
  }

  @Test(arguments: [FileStatus.Kind.directory, .symbolicLink, .other])
  func `something that is no file in a file's place is no crash`(kind: FileStatus.Kind) throws {
    for name in ["ledger", "g-2", "marker"] {
      let memory = MemoryFileSystem()
      let store = try rig.archives(memory)
      try store.publish(Data("1".utf8))
      try store.publish(Data("2".utf8))
      store.close()
      memory.remove(atPath: rig.path() + "/" + name)
      memory.plant(kind, atPath: rig.path() + "/" + name)
      _ = try rig.observe(memory)
      let next = try rig.archives(memory)
      if let opened = try? next.openNewest() { _ = try? next.beginAttempt(at: opened) }
      _ = try? next.publish(Data("3".utf8))
    }
  }

  @Test func `a slot that is being deleted while it is inspected misses nothing`() throws {
    var callCount = Int.max
    var call = 1
    while call <= callCount {
      let disk = MemoryFileSystem()
      let store = try rig.archives(disk)
      for content in ["1", "2"] { try store.publish(Data(content.utf8)) }
      store.close()
      let writer = try rig.directory(disk)
      let name = try SlotName(identity: writer.identity(of: rig.slot))
      let entry = try #require(try writer.readList().value?.entries[name])
      let deleted = try writer.deletedName(name, epoch: entry.epoch)
      let faulty = FaultyFileSystem(disk)
      let inspection = try StoreInspection(rig.directory(faulty))
      let start = faulty.callCount
      let moment = start + call
      faulty.onCall { number, _ in
        // The first two steps of a deletion; the other files are still there.
        guard number == moment, let slot = try? writer.look(at: name) else { return }
        try? disk.rename(name.text, to: deleted, in: writer.directory, replacing: false)
        slot.remove(.generation(1))
      }
      let findings = try inspection.examine(name)
      #expect(findings.material.allSatisfy { $0.problem == nil }, "call \(call): \(findings.material)")
      #expect(!findings.hasChanged)
      callCount = faulty.callCount - start
      call += 1
    }
    #expect(call > 10)
  }

  /// At each call of the inspection a first save comes as far as each of its own calls.
  @Test func `a slot that is saved for the first time while it is inspected has no fault`() throws {
    var (cuts, longest) = (0, 0)
    while true {
      cuts += 1
      var (call, callCount, isCut) = (1, Int.max, false)
      while call <= callCount {
        let disk = MemoryFileSystem()
        // The list names another slot, so that one without a ledger counts as new.
        try rig.archives(disk, slot: ArchiveSlot(application: "other")).publish(Data("other".utf8))
        let cut = FaultyFileSystem(disk)
        let store = try rig.archives(cut)
        let directory = try rig.directory(disk)
        let name = try SlotName(identity: directory.identity(of: rig.slot))
        try disk.makeDirectory(name.text, in: directory.directory, mode: 0o700)
        let faulty = FaultyFileSystem(disk)
        let inspection = try StoreInspection(rig.directory(faulty))
        let start = faulty.callCount
        let moment = start + call
        cut.fail(from: cut.callCount + cuts, nil, .error(.inputOutput))
        faulty.onCall { number, _ in if number == moment { _ = try? store.publish(Data("1".utf8)) } }
        let findings = try inspection.examine(name)
        #expect(findings.material.allSatisfy { $0.problem == nil }, "cut \(cuts), call \(call): \(findings.material)")
        #expect(!findings.hasChanged)
        isCut = isCut || !cut.hits.isEmpty
        callCount = faulty.callCount - start
        call += 1
      }
      longest = max(longest, call)
      guard isCut else { break }
    }
    #expect(cuts > 10 && longest > 10)
  }
}
