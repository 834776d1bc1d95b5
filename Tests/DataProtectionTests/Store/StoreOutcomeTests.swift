import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// What somebody with access to the directory can do, and what becomes of it: every outcome is told apart.
@Suite struct StoreOutcomeTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()
  let texts = ["one", "two", "three"].map { Data($0.utf8) }

  private func save(_ count: Int) throws -> ArchiveStore {
    let store = try rig.archives(memory)
    for text in texts.prefix(count) { try store.publish(text) }
    return store
  }

  private func path(_ generation: Int, _ ending: String = "archive") throws -> String {
    let names = rig.names(memory, endingWith: ".\(ending)").sorted()
    return StoreRig.path + "/" + (try #require(names.first { $0.contains(hex(generation)) }))
  }

  private func hex(_ number: Int) -> String {
    String(repeating: "0", count: 16 - String(number, radix: 16).count) + String(number, radix: 16)
  }

  private func problem(_ store: ArchiveStore? = nil) throws -> ProtectionError.Code? {
    do throws(ProtectionError) {
      var archives = store
      if archives == nil { archives = try rig.archives(memory) }
      _ = try archives!.openNewest().readAll()
      return nil
    } catch {
      return error.code
    }
  }

  private func damage(_ path: String, at offset: Int = 80) throws {
    var bytes = try #require(memory.content(atPath: path))
    bytes[offset] ^= 1
    memory.plant(bytes, atPath: path)
  }

  @Test func `nothing saved is notFound, and saving then works`() throws {
    #expect(try problem() == .notFound)
    _ = try save(1)
    #expect(try rig.observe(memory) == .saved(texts[0]))
  }

  @Test func `a store that was emptied is missing, not notFound, and saving goes on`() throws {
    _ = try save(2)
    for name in memory.names(atPath: StoreRig.path) where name != "lock" {
      memory.remove(atPath: StoreRig.path + "/" + name)
    }
    let store = try rig.archives(memory)
    #expect(try problem(store) == .missing)
    #expect(try problem(rig.archives(memory, slot: ArchiveSlot(application: "another"))) == .missing)
    // What is gone was not read: nothing whole may be saved over it while locked.
    #expect(throws: ProtectionError.self) { try store.publishPending(texts[0], kind: .whole) }
    try store.publish(texts[2])
    #expect(try rig.observe(memory) == .saved(texts[2]))
  }

  @Test func `with its lock file gone as well, an emptied store is a new one`() throws {
    _ = try save(2)
    for name in memory.names(atPath: StoreRig.path) { memory.remove(atPath: StoreRig.path + "/" + name) }
    #expect(try problem() == .notFound)
  }

  @Test func `what has nothing to delete or to seal anew doesn't make an empty store look emptied`() throws {
    let store = try rig.archives(memory)
    try store.deleteAll()
    try store.setProtection(.none)
    #expect(try problem() == .notFound)
    _ = try save(1)
    try rig.archives(memory).deleteAll()
    #expect(try problem() == .notFound)
  }

  @Test func `names with other bytes are other slots, whatever Swift calls equal`() throws {
    let names = ["\u{E9}", "e\u{301}"]
    try #require(names[0] == names[1])
    let slots = names.map { ArchiveSlot(application: $0, scene: $0, slot: $0) }
    #expect(Set(slots).count == 2)
    for (slot, text) in zip(slots, texts) { try rig.archives(memory, slot: slot).publish(text) }
    for (slot, text) in zip(slots, texts) {
      #expect(try rig.archives(memory, slot: slot).openNewest().readAll() == text)
    }
    #expect(ArchiveSlot(application: "ab", scene: "c") != ArchiveSlot(application: "a", scene: "bc"))
  }

  @Test func `a damaged newest generation is stood in for by its predecessor, and says so each time`() throws {
    _ = try save(3)
    try damage(try path(3))
    for _ in 0..<2 {
      let opened = try rig.archives(memory).openNewest()
      #expect(try opened.readAll() == texts[1])
      #expect(opened.standing == .olderGeneration(because: .corrupt))
    }
  }

  @Test func `a missing newest generation is stood in for by its predecessor`() throws {
    _ = try save(3)
    memory.remove(atPath: try path(3))
    let opened = try rig.archives(memory).openNewest()
    #expect(opened.standing == .olderGeneration(because: .missing))
    #expect(try opened.readAll() == texts[1])
  }

  @Test func `two damaged generations are corrupt, two missing ones missing, never notFound`() throws {
    _ = try save(3)
    try damage(try path(3))
    try damage(try path(2))
    #expect(try problem() == .corrupt)
    memory.remove(atPath: try path(3))
    memory.remove(atPath: try path(2))
    #expect(try problem() == .missing)
  }

  @Test func `an older generation put back in the place of the newest is refused`() throws {
    _ = try save(2)
    let first = try #require(memory.content(atPath: try path(1)))
    let second = try path(2)
    memory.plant(first, atPath: second)
    let opened = try rig.archives(memory).openNewest()
    #expect(opened.standing == .olderGeneration(because: .corrupt))
  }

  @Test func `a pruned generation that comes back is not used, and goes again`() throws {
    _ = try save(1)
    let old = try path(1)
    let content = try #require(memory.content(atPath: old))
    let store = try rig.archives(memory)
    try store.publish(texts[1])
    try store.publish(texts[2])
    #expect(memory.content(atPath: old) == nil)
    memory.plant(content, atPath: old)
    #expect(try rig.observe(memory) == .saved(texts[2]))
    #expect(try rig.archives(memory).listMaterial().contains { $0.problem == .rolledBack })
    try rig.archives(memory).publish(texts[0])
    #expect(memory.content(atPath: old) == nil)
  }

  @Test func `a deleted archive that comes back is rolledBack`() throws {
    let store = try save(1)
    let old = try path(1)
    let content = try #require(memory.content(atPath: old))
    try store.deleteAll()
    #expect(try problem() == .notFound)
    memory.plant(content, atPath: old)
    #expect(try problem() == .rolledBack)
    try rig.archives(memory).publish(texts[1])
    #expect(try rig.observe(memory) == .saved(texts[1]))
    #expect(rig.names(memory).contains { $0.hasPrefix("aside-") }, "what was put back is kept aside")
  }

  @Test func `files of two slots put in each other's places are refused`() throws {
    _ = try save(1)
    var other = rig
    other.slot.scene = "other"
    try other.archives(memory).publish(texts[1])
    let paths = try [path(1), path(2)]
    let contents = paths.map { memory.content(atPath: $0)! }
    memory.plant(contents[1], atPath: paths[0])
    memory.plant(contents[0], atPath: paths[1])
    #expect(try problem() == .wrongIdentity)
    #expect(try problem(try other.archives(memory)) == .wrongIdentity)
  }

  @Test func `a lost ledger is reported, refused in strict mode, and made anew by the next save`() throws {
    _ = try save(2)
    var other = rig
    other.slot.scene = "other"
    try other.archives(memory).publish(texts[2])
    memory.remove(atPath: StoreRig.path + "/ledger")
    #expect(try rig.archives(memory).openNewest().standing == .rollbackUnverifiable)
    var strict = rig
    strict.options.isStrict = true
    #expect(try problem(try strict.archives(memory)) == .rolledBack)
    try rig.archives(memory).publish(texts[0])
    #expect(try rig.observe(memory) == .saved(texts[0]))
    let found = try other.archives(memory).openNewest()
    #expect(found.standing == .rollbackUnverifiable, "what the lost ledger knew of other slots is lost as well")
    #expect(try found.readAll() == texts[2])
  }

  @Test func `a damaged ledger is kept aside by the next save`() throws {
    _ = try save(2)
    try damage(StoreRig.path + "/ledger", at: 40)
    #expect(try rig.archives(memory).openNewest().standing == .rollbackUnverifiable)
    try rig.archives(memory).publish(texts[2])
    #expect(rig.names(memory).contains { $0.hasPrefix("aside-ledger-") })
    #expect(try rig.observe(memory) == .saved(texts[2]))
  }

  @Test func `a ledger of the future stops everything and is left alone`() throws {
    _ = try save(1)
    let path = StoreRig.path + "/ledger"
    var bytes = try #require(memory.content(atPath: path))
    bytes[8] = 9
    bytes.removeLast(Ledger.codeByteCount)
    bytes += try rig.keys.authenticationCode(.ledger, over: bytes)
    memory.plant(bytes, atPath: path)
    #expect(try problem() == .unsupportedVersion)
    #expect(throws: ProtectionError.self) { try rig.archives(memory).publish(texts[1]) }
    #expect(memory.content(atPath: path) == bytes)
  }

  @Test func `a ledger whose version was damaged is a damaged one, not one of the future`() throws {
    let store = try rig.archives(memory)
    try store.publish(Data("one".utf8))
    let path = StoreRig.path + "/ledger"
    let bytes = try #require(memory.content(atPath: path))
    for bit in 0..<16 {
      var changed = bytes
      changed[8 + bit / 8] ^= 1 << (bit % 8)
      memory.plant(changed, atPath: path)
      let opened = try rig.archives(memory).openNewest()
      #expect(opened.standing == .rollbackUnverifiable, "bit \(bit)")
    }
  }

  @Test func `a ledger that knows a later keybag proves that an old one was put back`() throws {
    var later = rig
    later.keys.keybagRevision = 2
    try later.archives(memory).publish(texts[0])
    #expect(try problem() == .rolledBack)
    #expect(try later.observe(memory) == .saved(texts[0]))
  }

  @Test func `a planted file of a weaker class is not used`() throws {
    let other = MemoryFileSystem()
    var weak = rig
    weak.protection = .none
    let store = try weak.archives(other)
    for text in texts { try store.publish(text) }
    let planted = try #require(
      other.content(atPath: StoreRig.path + "/" + rig.names(other, endingWith: "3.archive")[0]))
    #expect(try problem() == .notFound)
    memory.plant(planted, atPath: StoreRig.path + "/" + rig.names(other, endingWith: "3.archive")[0])
    #expect(try problem() == .wrongClass, "and it is not taken for nothing")
    memory.remove(atPath: StoreRig.path + "/" + rig.names(other, endingWith: "3.archive")[0])
    _ = try save(3)
    memory.plant(planted, atPath: try path(3))
    #expect(try rig.archives(memory).openNewest().standing == .olderGeneration(because: .wrongClass))
  }

  @Test func `an archive asked for under another class is wrongClass and stays as it is`() throws {
    _ = try save(1)
    let before = rig.names(memory)
    let weak = try rig.archives(memory, ProtectionClass.none)
    #expect(try problem(weak) == .wrongClass)
    #expect(throws: ProtectionError.self) { try weak.publish(texts[1]) }
    #expect(rig.names(memory) == before)
    #expect(try rig.observe(memory) == .saved(texts[0]))
  }

  @Test func `a locked archive is locked, never notFound, and no byte of it changes`() throws {
    let store = try save(2)
    let names = rig.names(memory)
    let contents = names.map { memory.content(atPath: StoreRig.path + "/" + $0) }
    rig.sealing.lock()
    #expect(try problem() == .locked)
    #expect(throws: ProtectionError.self) { try store.publish(texts[2]) }
    #expect(throws: ProtectionError.self) { try store.append(texts[2]) }
    #expect(throws: ProtectionError.self) { try store.openPredecessor() }
    #expect(rig.names(memory) == names)
    let after = names.map { memory.content(atPath: StoreRig.path + "/" + $0) }
    #expect(zip(names, zip(contents, after)).allSatisfy { $0 == "lock" || $1.0 == $1.1 })
    rig.sealing.unlock()
    #expect(try rig.observe(memory) == .saved(texts[1]))
  }

  @Test func `another device's archives are otherDevice and survive our saves`() throws {
    var foreign = rig
    foreign.sealing = ToySealing(device: 2)
    foreign.keys.keybagIdentifier = KeybagIdentifier(bytes: [UInt8](repeating: 9, count: 16))
    try foreign.archives(memory).publish(texts[0])
    #expect(try problem() == .otherDevice)
    let name = try path(1)
    for text in texts { try rig.archives(memory).publish(text) }
    #expect(memory.content(atPath: name) != nil)
    #expect(try rig.observe(memory) == .saved(texts[2]))
  }

  @Test(arguments: [FileStatus.Kind.symbolicLink, .other, .directory])
  func `something else in an archive's place is corrupt`(_ kind: FileStatus.Kind) throws {
    _ = try save(1)
    let name = try path(1)
    memory.remove(atPath: name)
    memory.plant(kind, atPath: name)
    #expect(try problem() == .corrupt)
    try rig.archives(memory).publish(texts[1])
    #expect(try rig.observe(memory) == .saved(texts[1]))
  }

  @Test func `a second name and a foreign owner make a file untrusted`() throws {
    _ = try save(1)
    memory.plantLink(from: try path(1), toPath: "/elsewhere")
    #expect(try problem() == .corrupt)
    memory.remove(atPath: "/elsewhere")
    #expect(try problem() == nil)
    memory.setOwner(4711, atPath: try path(1))
    #expect(try problem() == .io, "not ours to read")
  }

  @Test func `a directory that is not ours alone is refused`() throws {
    _ = try save(1)
    memory.setMode(0o770, atPath: StoreRig.path)
    #expect(try errorCode { _ = try rig.directory(memory) } == .unsafeLocation)
    memory.setMode(0o700, atPath: StoreRig.path)
    memory.setOwner(0, atPath: StoreRig.path)
    #expect(try errorCode { _ = try rig.directory(MemoryFileSystem(user: 0)) } == nil)
    var features = MemoryFileSystem.Features()
    features.volumeKind = .network
    let network = MemoryFileSystem(features: features)
    #expect(try errorCode { _ = try rig.directory(network) } == .unsafeLocation)
    var willing = rig
    willing.options.allowsNetworkVolumes = true
    #expect(try errorCode { _ = try willing.directory(network) } == nil)
  }

  @Test func `a lock that another process keeps is busy after the patience`() throws {
    let store = try save(1)
    let root = try memory.openDirectory(atPath: StoreRig.path)
    let lock = try memory.openFile("lock", in: root, .write)
    #expect(try memory.tryLock(lock, .exclusive))
    #expect(try problem(store) == .busy)
    #expect(memory.waited >= rig.options.patience)
    #expect(memory.waited < rig.options.patience + .seconds(1))
    memory.close(lock)
    #expect(try problem(store) == nil)
  }

  @Test func `absurd numbers in names neither trap nor use the numbers up`() throws {
    _ = try save(1)
    let slot = try #require(rig.names(memory, endingWith: ".archive").first).prefix(32)
    for number in ["ffffffffffffffff", "7fffffffffffffff", "4000000000000000", "0000000000000000"] {
      memory.plant([1, 2, 3], atPath: "\(StoreRig.path)/\(slot)-\(number).archive")
      memory.plant([1, 2, 3], atPath: "\(StoreRig.path)/\(slot)-\(number)-ffffffff.journal")
    }
    #expect(try rig.observe(memory) == .saved(texts[0]))
    try rig.archives(memory).publish(texts[1])
    #expect(try rig.observe(memory) == .saved(texts[1]))
    #expect(try rig.archives(memory).openNewest().generation.rawValue < 100)
  }

  @Test func `no more than four damaged files are kept aside, and a deletion removes them`() throws {
    for round in 0..<7 {
      _ = try save(2)
      let newest = try #require(rig.names(memory, endingWith: ".archive").max())
      try damage(StoreRig.path + "/" + newest)
      try rig.archives(memory).publish(texts[2])
      #expect(rig.names(memory).count { $0.hasPrefix("aside-") } <= 4, "round \(round)")
    }
    #expect(rig.names(memory).contains { $0.hasPrefix("aside-") })
    try rig.archives(memory).deleteAll()
    #expect(Set(rig.names(memory)) == ["lock", "ledger"])
  }

  @Test func `any string names a slot, none becomes part of a path, and no two share one`() throws {
    let hostile = [
      "", "/", "../../etc/passwd", "..", ".", "a/b", "a\u{0}b", "\u{202e}evil", String(repeating: "x", count: 100_000),
      "lock", "ledger", "é", "e\u{301}", "\u{1F600}", "%s%n", "\n",
    ]
    var names: Set<String> = []
    for text in hostile {
      for slot in [
        ArchiveSlot(application: text, scene: "s", slot: "t"), ArchiveSlot(application: "a", scene: text, slot: "t"),
        ArchiveSlot(application: "a", scene: "s", slot: text), ArchiveSlot(application: "as", scene: text, slot: ""),
      ] {
        let identity = try rig.directory(memory).identity(of: slot)
        names.insert(SlotName(identity: identity).text)
      }
    }
    #expect(names.count == hostile.count * 4)
    let store = try rig.archives(memory, slot: ArchiveSlot(application: hostile[2], scene: "a\u{0}b", slot: "/"))
    try store.publish(texts[0])
    #expect(try store.openNewest().readAll() == texts[0])
    #expect(memory.names(atPath: "/") == ["archives"])
  }

  @Test func `a generation damaged in the middle never becomes the predecessor`() throws {
    _ = try save(2)
    try damage(try path(2), at: ToySealing.headerByteCount + 33)
    let store = try rig.archives(memory)
    #expect(throws: ProtectionError.self) { try store.openNewest().readAll() }
    try store.publish(texts[2])
    let opened = try rig.archives(memory).openPredecessor()
    #expect(try opened.readAll() == texts[0], "the one before it was verified")
    #expect(rig.names(memory).contains { $0.hasPrefix("aside-") })
  }

  @Test func `only notFound starts from nothing: reading errors stop a save`() throws {
    _ = try save(2)
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    faulty.fail(from: 1, [.read], .error(.inputOutput))
    #expect(throws: ProtectionError.self) { try store.publish(texts[2]) }
    faulty.heal()
    faulty.fail(from: 1, [.names], .error(.inputOutput))
    #expect(throws: ProtectionError.self) { try store.publish(texts[2]) }
    faulty.heal()
    #expect(try rig.observe(memory) == .saved(texts[1]))
  }
}
