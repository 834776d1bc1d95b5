import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Synchronization
import Testing

@testable import DataProtection

/// A state of several parts, each under a class of its own.
@Suite struct PartsTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  private func text(_ name: String) -> Data { Data(name.utf8) }

  private func open() throws -> ArchiveStore {
    let store = try rig.archives(memory, PartPlace.root.protection)
    try store.open()
    return store
  }

  @discardableResult
  private func save(_ contents: String..., droppingWeakerThan weakest: ProtectionClass? = nil) throws -> PublishReceipt
  {
    let store = try open()
    defer { store.close() }
    return try store.publish(
      zip(PartPlace.allCases, contents).map { .new($0, text($1)) }, droppingWeakerThan: weakest)
  }

  private func shown(_ state: PartsState) -> [String] {
    state.parts.sorted { $0.key < $1.key }.map { (_, part) in
      (part.content.map { String(decoding: $0, as: UTF8.self) } ?? "-") + part.note
    }
  }

  private func shown() throws -> [String] { shown(try rig.observeParts(memory)) }

  private func path(_ file: PartFile) -> String { rig.path() + "/g-\(file.number)" }

  private func damage(_ file: PartFile) {
    var bytes = memory.content(atPath: path(file))!
    bytes[ToySealing.headerByteCount + 5] ^= 1
    memory.plant(bytes, atPath: path(file))
  }

  /// Damage that opening does not notice.
  private func damageInside(_ file: PartFile) {
    var bytes = memory.content(atPath: path(file))!
    bytes[ToySealing.headerByteCount + 33] ^= 1
    memory.plant(bytes, atPath: path(file))
  }

  // MARK: Naming again

  @Test func `a part that did not change is named again, and nothing of it is written`() throws {
    let counting = WrittenBytes(memory)
    let store = try rig.archives(counting, PartPlace.root.protection)
    let long = Data(repeating: 7, count: 300_000)
    let first = try store.publish([.new(.root, text("a1")), .new(.second, long), .new(.third, text("c1"))])
    #expect(first.parts.map(\.place) == [.root, .second, .third])
    let kept = memory.content(atPath: path(first.parts[1]))
    counting.reset()
    let second = try store.publish([.new(.root, text("a2")), .unchanged(first.parts[1]), .unchanged(first.parts[2])])
    #expect(second.durability == .durable && second.parts[1...] == first.parts[1...])
    #expect(second.parts[0] != first.parts[0])
    #expect(counting.count < 1_000 && second.bytesWritten == counting.count, "\(counting.count)")
    #expect(memory.content(atPath: path(first.parts[1])) == kept)
    store.close()
    #expect(try shown() == ["a2", String(decoding: long, as: UTF8.self), "c1"])
    // It is in both, so that either can go.
    #expect(shown(try StoreRig.describe(try open().openPredecessorParts()))[0] == "a1")
    #expect(rig.generations(memory).count == 4)
  }

  @Test func `a place that is not named is empty, and its file goes with the last generation that has it`() throws {
    try save("a1", "b1")
    try save("a2")
    #expect(try shown() == ["a2"])
    let store = try open()
    try store.publish([.new(.root, text("a3"))])
    try store.publish([.new(.root, text("a4")), .new(.fourth, text("d4"))])
    store.close()
    let found = try rig.observeParts(memory)
    #expect(Set(found.parts.keys) == [.root, .fourth])
    #expect(rig.generations(memory).count == 3)
  }

  @Test func `a file that no generation has any more can't be named again, and nothing changes`() throws {
    let store = try open()
    let first = try store.publish([.new(.root, text("a1")), .new(.second, text("b1"))])
    for number in 2...3 { try store.publish([.new(.root, text("a\(number)")), .new(.second, text("b\(number)"))]) }
    #expect(try errorCode { try store.publish([.new(.root, text("x")), .unchanged(first.parts[1])]) } == .superseded)
    #expect(try errorCode { try store.openPart(first.parts[1]) } == .superseded)
    store.close()
    #expect(try shown() == ["a3", "b3"])
    // Nor one of the slot that was deleted, though it has the same number.
    let newest = try open().openNewestParts()
    let last = try open()
    try last.deleteAll()
    last.close()
    try save("a1", "b1")
    try save("a2", "b2")
    try save("a3", "b3")
    let again = try open()
    #expect(
      try errorCode { try again.publish([.new(.root, text("x")), .unchanged(newest.parts[1].file)]) } == .superseded)
  }

  @Test func `a part of the generation before, or of one aside, can be named again`() throws {
    let store = try open()
    let old = try store.publish([.new(.root, text("a1")), .new(.second, text("b1"))])
    let newer = try store.publish([.new(.root, text("a2")), .new(.second, text("b2"))])
    try store.publish(
      [.new(.root, text("a3")), .unchanged(old.parts[1])], ArchiveSuccession(retiring: [newer.generation]))
    #expect(try shown(StoreRig.describe(store.openNewestParts())) == ["a3", "b1"])
    try store.publish([.new(.root, text("a4")), .unchanged(newer.parts[1])])
    #expect(try shown(StoreRig.describe(store.openNewestParts())) == ["a4", "b2"])
    // What is in the newest, too, stays when the one aside goes.
    #expect(try store.removeSetAside(newer.generation))
    #expect(try shown(StoreRig.describe(store.openNewestParts())) == ["a4", "b2"])
    store.close()
    #expect(try shown() == ["a4", "b2"])
  }

  @Test func `a change goes to the part that it is given for, and needs no other`() throws {
    let receipt = try save("a1", "b1", "c1")
    let store = try open()
    rig.sealing.lock()
    let opened = try store.openNewestParts()
    #expect(shown(try StoreRig.describe(opened)) == ["a1", "- locked", "c1"])
    let number = receipt.generation
    #expect(try store.append(text("1"), to: number, at: .third, as: .none)?.durability == .durable)
    #expect(try store.append(text("2"), to: number, at: .second, as: .complete) == nil)
    rig.sealing.unlock()
    #expect(try store.openPart(opened.parts[1].file).archive?.readAll() == text("b1"))
    #expect(try store.append(text("3"), to: number, at: .second, as: .complete)?.durability == .durable)
    #expect(try store.append(text("4"), to: number, at: .second, as: .none) == nil, "it is to have another class")
    #expect(try store.append(text("5"), to: number, at: .fourth, as: .none) == nil)
    let next = try store.publish([.new(.root, text("a2"))] + receipt.parts.dropFirst().map { .unchanged($0) })
    #expect(try store.append(text("6"), to: number, at: .second, as: .complete) == nil, "that is not the newest")
    #expect(try store.append(text("7"), to: next.generation, at: .second, as: .complete)?.durability == .durable)
    store.close()
    let found = try rig.observeParts(memory.afterPowerCut(.dropAll))
    #expect(found.parts[.second]?.frames == [text("3"), text("7")] && found.parts[.third]?.frames == [text("1")])
  }

  @Test func `a part whose last change failed has to be saved anew`() throws {
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty, PartPlace.root.protection)
    let receipt = try store.publish([.new(.root, text("a1")), .new(.second, text("b1"))])
    faulty.fail(from: faulty.callCount + 1, [.synchronizeData], .error(.inputOutput))
    #expect(
      try store.append(text("lost"), to: receipt.generation, at: .second, as: .complete)?.durability == .unknown)
    faulty.heal()
    let root = PartToPublish.new(.root, text("a2"))
    #expect(try errorCode { try store.publish([root, .unchanged(receipt.parts[1])]) } == .superseded)
    #expect(try store.publish([root, .new(.second, text("b2"))]).durability == .durable)
    store.close()
    #expect(try shown() == ["a2", "b2"])
  }

  // MARK: Locked

  @Test func `what the keys allow is opened, and nothing but locked is said when they allow none`() throws {
    let receipt = try save("a1", "b1")
    rig.sealing.lock()
    #expect(try shown() == ["a1", "- locked"])
    let store = try open()
    try store.publish([.new(.root, text("a2")), .new(.second, text("b2"))])
    store.close()
    #expect(try shown() == ["a2", "- locked"])
    rig.sealing.unlock()
    let found = try open().openNewestParts()
    #expect(found.parts.map(\.isSealedOneWay) == [false, true] && found.parts[1].protection == .completeUnlessOpen)
    #expect(try shown() == ["a2", "b2"])
    #expect(receipt.sealedOneWay.isEmpty && !receipt.isSealedOneWay)
    let both = try rig.archives(memory)
    let strong = [PartPlace.root, .second].map { PartToPublish($0, .new(text("s"), as: .complete)) }
    let last = try both.publish(strong)
    rig.sealing.lock()
    #expect(try errorCode { try both.openNewestParts() } == .locked)
    let oneWay = try both.publish([.unchanged(last.parts[0]), strong[1]])
    #expect(oneWay.sealedOneWay == [.second] && oneWay.isSealedOneWay)
    #expect(try errorCode { try both.openNewestParts() } == .locked)
  }

  @Test func `the root can wait for an unlock alone`() throws {
    let store = try rig.archives(memory)
    let saved = try store.publish([
      PartToPublish(.root, .new(text("a"), as: .complete)), PartToPublish(.second, .new(text("b"), as: .none)),
    ])
    store.close()
    rig.sealing.lock()
    #expect(try shown() == ["- locked", "b"])
    let again = try rig.archives(memory)
    try again.open()
    _ = try again.openNewestParts()
    #expect(try again.append(text("f"), to: saved.generation, at: .second, as: .none)?.durability == .durable)
    again.close()
    rig.sealing.unlock()
    let found = try rig.observeParts(memory)
    #expect(shown(found) == ["a", "b"] && found.parts[.second]?.frames == [text("f")])
  }

  @Test(arguments: ["damaged", "gone"])
  func `saves of a partly locked run keep what a part that it can't check falls back to`(_ fault: String) throws {
    try save("a0", "b0")
    let receipt = try save("a1", "b1")
    if fault == "gone" { memory.remove(atPath: path(receipt.parts[1])) } else { damage(receipt.parts[1]) }
    rig.sealing.lock()
    let store = try open()
    let opened = try store.openNewestParts()
    // Nobody can see that a file is damaged before there is a key; that it is gone, everybody.
    #expect(shown(try StoreRig.describe(opened)) == ["a1", "- locked"])
    var second = opened.parts[1].file
    for number in 2...6 {
      let next = try store.publish([.new(.root, text("a\(number)")), .unchanged(second)])
      #expect(next.durability == .durable && next.setAside.isEmpty)
      second = next.parts[1]
    }
    store.close()
    rig.sealing.unlock()
    let code = fault == "gone" ? ProtectionError.Code.missing : .corrupt
    #expect(try shown() == ["a6", "b0 fell back: \(code)"])
    #expect(rig.generations(memory).count <= 4)
  }

  @Test func `edits beside a readable state wait for the unlock, and no launch waits for them`() throws {
    try save("a1", "b1")
    rig.sealing.lock()
    let store = try open()
    let opened = try store.openNewestParts()
    let beside = try store.publishPending(text("edit"), isBeside: true)
    let root = try store.publish([.new(.root, text("a2")), .unchanged(opened.parts[1].file)])
    // A whole save does not take its place, and the next edits do.
    try store.publishPending(text("edit 2"), isBeside: true)
    store.close()
    let next = try open()
    let found = try next.openPending()
    #expect(found.archives.isEmpty && found.problems.isEmpty && found.waiting.count == 1)
    #expect(found.waiting[0] > beside.generation)
    rig.sealing.unlock()
    let pending = try next.openPending().archives
    #expect(pending.map(\.content) == [text("edit 2")] && pending[0].isBeside && !pending[0].isOwn)
    try next.publish(
      [.unchanged(root.parts[0]), .new(.second, text("b2"))], ArchiveSuccession(consuming: pending.map(\.generation)))
    next.close()
    #expect(try rig.observeParts(memory).pending == [] && shown() == ["a2", "b2"])
    // Those of a run that could read nothing do keep the others waiting.
    rig.sealing.lock()
    let locked = try open()
    try locked.publishPending(text("all"))
    #expect(try errorCode { try locked.openPending() } == .locked)
  }

  // MARK: Damage

  @Test func `a damaged part falls back alone, and the next save sets its generation aside`() throws {
    try save("a0", "b0", "c0")
    let receipt = try save("a1", "b1", "c1")
    damage(receipt.parts[1])
    #expect(try shown() == ["a1", "b0 fell back: corrupt", "c1"])
    #expect(try rig.observeParts(memory).standing == .current)
    let store = try open()
    let opened = try store.openNewestParts()
    // Changes of the others go on.
    #expect(try store.append(text("f"), to: opened.generation, at: .third, as: .none)?.durability == .durable)
    #expect(try store.append(text("f"), to: opened.generation, at: .second, as: .complete) == nil)
    let next = try store.publish([.new(.root, text("a2"))] + opened.parts.dropFirst().map { .unchanged($0.file) })
    #expect(next.setAside.map(\.generation) == [receipt.generation.rawValue])
    #expect(next.setAside[0].flags.contains(.damaged))
    store.close()
    #expect(try shown() == ["a2", "b0", "c1"])
    #expect(try rig.observeParts(memory).parts[.third]?.frames == [text("f")])
    let again = try open()
    // The generation that was set aside is damaged, and not its whole parts, where they are named again.
    let restored = try again.openSetAsideParts(receipt.generation).parts
    let root = try again.publish([.unchanged(restored[0].file), .unchanged(opened.parts[1].file)])
    let directory = try #require(try again.store.look(at: again.name))
    #expect(try again.store.readLedger(in: directory).value?.current?.flags == [])
    try again.publish([.unchanged(next.parts[0]), .unchanged(next.parts[1]), .unchanged(next.parts[2])])
    #expect(root.durability == .durable)
    #expect(shown(try StoreRig.describe(again.openPredecessorParts())) == ["a1", "b0"])
    #expect(
      shown(try StoreRig.describe(again.openSetAsideParts(receipt.generation))) == ["a1", "- damaged: corrupt", "c1"])
  }

  @Test func `a damaged part that is the same in the generation before is damaged, and the others are shown`() throws {
    let first = try save("a1", "b1")
    let store = try open()
    try store.publish([.new(.root, text("a2")), .unchanged(first.parts[1])])
    store.close()
    damage(first.parts[1])
    #expect(try shown() == ["a2", "- damaged: corrupt"])
    let next = try open()
    let opened = try next.openNewestParts()
    // Named again it is as damaged, and nobody is set aside for it.
    #expect(try next.publish([.new(.root, text("a3")), .unchanged(opened.parts[1].file)]).setAside.isEmpty)
    #expect(shown(try StoreRig.describe(next.openNewestParts())) == ["a3", "- damaged: corrupt"])
    #expect(try next.publish([.new(.root, text("a4"))]).setAside.count == 1)
    #expect(shown(try StoreRig.describe(next.openNewestParts())) == ["a4"])
  }

  @Test func `with a damaged root the whole generation falls back`() throws {
    try save("a0", "b0")
    let receipt = try save("a1", "b1")
    damage(receipt.parts[0])
    let found = try rig.observeParts(memory)
    #expect(shown(found) == ["a0", "b0"] && found.standing == .olderGeneration(because: .corrupt))
    rig.sealing.lock()
    #expect(try shown() == ["a0", "- locked"])
    rig.sealing.unlock()
    let store = try open()
    let opened = try store.openNewestParts()
    let next = try store.publish(
      [.new(.root, text("a2")), .unchanged(opened.parts[1].file)], ArchiveSuccession(retiring: [receipt.generation]))
    #expect(next.setAside.map(\.generation) == [receipt.generation.rawValue])
    #expect(shown(try StoreRig.describe(store.openNewestParts())) == ["a2", "b0"])
  }

  @Test func `a part that is damaged inside is found by reading, and stands aside as well`() throws {
    try save("a0", "b0")
    let receipt = try save("a1", "b1")
    damageInside(receipt.parts[1])
    let store = try open()
    let opened = try store.openNewestParts()
    #expect(try errorCode { try opened.parts[1].archive?.readAll() } == .corrupt)
    let standIn = try store.openStandIn(for: opened.parts[1].file, because: .corrupt)
    #expect(try standIn.archive?.readAll() == text("b0"))
    // It is remembered, as opening finds nothing.
    #expect(shown(try StoreRig.describe(store.openNewestParts())) == ["a1", "b0 fell back: corrupt"])
    #expect(try store.append(text("f"), to: opened.generation, at: .second, as: .complete) == nil)
    let next = try store.publish([.new(.root, text("a2")), .unchanged(standIn.file)])
    #expect(next.setAside.map(\.generation) == [receipt.generation.rawValue])
    store.close()
    #expect(try shown() == ["a2", "b0"])
  }

  @Test func `another file in the place of a part is told for what it is`() throws {
    var rig = rig
    let keys = try TestClassKeys()
    rig.sealer = FileSealer(keys: keys)
    let other = ArchiveSlot(application: "other")
    func publish(_ slot: ArchiveSlot, _ name: String) throws -> PublishReceipt {
      let store = try rig.archives(memory, PartPlace.root.protection, slot: slot)
      defer { store.close() }
      return try store.publish(PartPlace.allCases.map { .new($0, Data((name + "\($0.rawValue)").utf8)) })
    }
    let old = try publish(rig.slot, "old ")
    let new = try publish(rig.slot, "new ")
    for _ in 0..<2 { _ = try publish(other, "other ") }
    let content = { (slot: ArchiveSlot, number: UInt64) in
      memory.content(atPath: rig.path(slot) + "/g-\(number)")!
    }
    func found(_ file: PartFile, _ bytes: [UInt8]) throws -> String {
      let copy = memory.afterProcessDeath()
      copy.plant(bytes, atPath: rig.path() + "/g-\(file.number)")
      let parts = try rig.observeParts(copy).parts
      return parts[file.place]?.note ?? "none"
    }
    let (third, fourth) = (new.parts[2], new.parts[3])
    // Of the same class, one place further: its own number is higher.
    #expect(try found(third, content(rig.slot, fourth.number)) == " fell back: wrongIdentity")
    #expect(try found(fourth, content(rig.slot, third.number)) == " fell back: rolledBack")
    #expect(try found(third, content(rig.slot, old.parts[2].number)) == " fell back: rolledBack")
    #expect(try found(third, content(other, third.number)) == " fell back: wrongIdentity")
    #expect(try found(third, content(rig.slot, new.parts[1].number)) == " fell back: corrupt")
    var flipped = content(rig.slot, third.number)
    // The place in the header.
    flipped[79] ^= 1
    #expect(try found(third, flipped) == " fell back: corrupt")
    flipped[79] = 4
    #expect(try found(third, flipped) == " fell back: corrupt")
  }

  @Test func `a file of a deleted slot at another place is told for that, though its number is the same`() throws {
    let old = try save("a", "b", "c")
    let third = memory.content(atPath: path(old.parts[2]))!
    let store = try open()
    try store.deleteAll()
    try store.publish([.new(.root, text("a1"))])
    let new = try store.publish([.new(.root, text("a2")), .new(.fourth, text("d2"))])
    store.close()
    #expect(path(new.parts[1]) == path(old.parts[2]))
    memory.plant(third, atPath: path(old.parts[2]))
    #expect(try shown() == ["a2", "- damaged: wrongIdentity"])
  }

  // MARK: Without a ledger

  private func loseLedger() { memory.remove(atPath: rig.path() + "/ledger") }

  @Test func `a further part never passes for a state, nor a root for a further part`() throws {
    try save("a0", "b0")
    let receipt = try save("a1", "b1")
    loseLedger()
    let found = try rig.observeParts(memory)
    #expect(shown(found) == ["a1", "b1"] && found.standing == .rollbackUnverifiable)
    #expect(try rig.observe(memory).content == text("a1"))
    memory.remove(atPath: path(receipt.parts[0]))
    #expect(try shown() == ["a0", "b1"])
    #expect(try rig.observe(memory).content == text("a0"))
  }

  @Test func `a save without a ledger goes on from the newest parts and sets the others aside in pairs`() throws {
    let first = try save("a0", "b0")
    var store = try open()
    let second = try store.publish([.new(.root, text("a1")), .unchanged(first.parts[1])])
    store.close()
    loseLedger()
    store = try open()
    var opened = try store.openNewestParts()
    #expect(shown(try StoreRig.describe(opened)) == ["a1", "b0"])
    var next = try store.publish([.new(.root, text("a2")), .unchanged(opened.parts[1].file)])
    #expect(next.durability == .durable && next.parts[1] == first.parts[1] && second.parts[1] == first.parts[1])
    store.close()
    #expect(try shown() == ["a2", "b0"])
    #expect(try rig.observeParts(memory).standing == .current)
    // What was saved together stays together.
    next = try save("a3", "b3")
    loseLedger()
    store = try open()
    opened = try store.openNewestParts()
    #expect(shown(try StoreRig.describe(opened)) == ["a3", "b3"])
    try store.publish(opened.parts.map { .unchanged($0.file) })
    let aside = try store.setAsideRecords().map { Generation(rawValue: $0.generation) }
    #expect(try aside.map { try shown(StoreRig.describe(store.openSetAsideParts($0))) }.contains(["a2", "b0"]))
    #expect(shown(try StoreRig.describe(store.openNewestParts())) == ["a3", "b3"])
  }

  @Test func `what is locked is shown as locked without a ledger, and saving waits`() throws {
    try save("a1", "b1")
    loseLedger()
    rig.sealing.lock()
    let store = try open()
    let opened = try store.openNewestParts()
    #expect(shown(try StoreRig.describe(opened)) == ["a1", "- locked"])
    #expect(try errorCode { try store.publish([.new(.root, text("a2"))]) } == .locked)
    rig.sealing.unlock()
    let part = try store.openPart(opened.parts[1].file)
    #expect(try part.archive?.readAll() == text("b1"))
    try store.publish([.new(.root, text("a2")), .unchanged(part.file)])
    store.close()
    #expect(try shown() == ["a2", "b1"])
  }

  @Test func `edits beside a state stay pending without a ledger, though the root is newer`() throws {
    try save("a1", "b1")
    let store = try open()
    let opened = try store.openNewestParts()
    try store.publishPending(text("edit"), isBeside: true)
    try store.publish([.new(.root, text("a2")), .unchanged(opened.parts[1].file)])
    store.close()
    loseLedger()
    let found = try open().openPending().archives
    #expect(found.map(\.content) == [text("edit")] && found[0].isBeside)
  }

  // MARK: Classes

  @Test func `nothing older that a weaker class protects survives when something has come under a stronger one`() throws
  {
    let store = try open()
    try store.publish([.new(.root, text("with the secret 0"))])
    let refused = try store.publish([.new(.root, text("with the secret 1"))])
    try store.publish([.new(.root, text("with the secret 2"))], ArchiveSuccession(retiring: [refused.generation]))
    let receipt = try store.publish(
      [.new(.root, text("a")), .new(.second, text("secret"))], droppingWeakerThan: .complete)
    #expect(receipt.durability == .durable && receipt.removed.map(\.generation) == [refused.generation.rawValue])
    for policy in memory.powerCutPolicies {
      let after = memory.afterPowerCut(policy)
      #expect(rig.generations(after).count == 2, "\(policy): \(rig.names(after))")
    }
    // The next one need not say it again, and keeps a generation to fall back to.
    try store.publish([.new(.root, text("a2")), .unchanged(receipt.parts[1])])
    #expect(shown(try StoreRig.describe(store.openPredecessorParts())) == ["a", "secret"])
  }

  /// The file can't be removed, whatever is tried, or the program dies before it tries.
  @Test(arguments: [true, false], [true, false])
  func `nothing is acknowledged as long as a file is left that a weaker class protects`(
    isOfOne: Bool, dies: Bool
  ) throws {
    let faulty = FaultyFileSystem(memory)
    let weak = try rig.archives(memory, ProtectionClass.none)
    try weak.publish(text("secret"))
    weak.close()
    let store = try rig.archives(faulty)
    func publish(_ store: ArchiveStore) throws -> Durability {
      if isOfOne { return try store.publish(text("secret")).durability }
      return try store.publish(
        [.new(.root, text("a")), .new(.second, text("secret"))], droppingWeakerThan: .complete
      ).durability
    }
    if dies {
      // With the first call behind the ledger's new name.
      faulty.onCall { number, operation in
        if operation == .rename { faulty.fail(from: number + 1, nil, .error(.inputOutput)) }
      }
    } else {
      faulty.fail(from: 1, [.unlink], .error(.inputOutput))
    }
    #expect(try publish(store) == .unknown)
    #expect(rig.generations(memory).contains("g-1"))
    if dies {
      let disk = memory.afterProcessDeath()
      let broken = FaultyFileSystem(disk)
      broken.fail(from: 1, [.unlink], .error(.inputOutput))
      let next = try rig.archives(broken)
      #expect(try next.openNewest().generation.rawValue > 1)
      #expect(try errorCode { try next.requireDurable() } == .durabilityUnknown)
      broken.heal()
      try next.requireDurable()
      for policy in disk.powerCutPolicies {
        #expect(!rig.generations(disk.afterPowerCut(policy)).contains("g-1"))
      }
    } else {
      for _ in 0..<2 { #expect(try publish(store) == .unknown) }
      faulty.heal()
      #expect(try publish(store) == .durable)
      for policy in memory.powerCutPolicies {
        #expect(!rig.generations(memory.afterPowerCut(policy)).contains("g-1"))
      }
    }
  }

  @Test func `the crash marker knows a generation by all its parts, locked or not`() throws {
    let first = try save("a1", "b1")
    let store = try open()
    rig.sealing.lock()
    let locked = try store.openNewestParts()
    try store.beginAttempt(at: locked).note(node: 3 << 30 | 7)
    store.close()
    rig.sealing.unlock()
    let next = try open()
    let whole = try next.openNewestParts()
    #expect(whole.commitment == locked.commitment && whole.commitment != whole.parts[0].archive?.commitment)
    #expect(try next.attempts(at: whole)?.node == 3 << 30 | 7 && next.attempts(at: whole)?.deaths == 1)
    #expect(try next.attempts(at: next.openNewest()) == nil)
    try next.publish([.unchanged(first.parts[0]), .new(.second, text("b2"))])
    #expect(try next.attempts(at: next.openNewestParts()) == nil)
    try next.publish([.new(.root, text("alone"))])
    #expect(try next.openNewestParts().commitment == next.openNewest().commitment)
  }

  @Test func `a look goes on from what the writer has made of the parts meanwhile`() throws {
    try save("a0", "b0")
    let writer = try open()
    try writer.open()
    let faulty = FaultyFileSystem(memory)
    let reader = try rig.archives(faulty, PartPlace.root.protection)
    for call in 1...40 {
      let start = faulty.callCount
      faulty.onCall { number, _ in
        guard number == start + call else { return }
        for name in ["x", "y"] {
          _ = try? writer.publish([.new(.root, Data(name.utf8)), .new(.second, Data(name.utf8))])
        }
      }
      let found = try StoreRig.describe(reader.openNewestParts())
      faulty.onCall(nil)
      let isOfOneSave = Set(found.parts.values.map(\.content)).count == 1 || shown(found) == ["a0", "b0"]
      #expect(found.isClean && isOfOneSave, "\(call): \(found)")
      if faulty.callCount - start < call { break }
    }
  }

  // MARK: Part by part

  @Test func `a look opens the first part, and another one when that is asked for`() throws {
    let receipt = try save("a1", "b1", "c1")
    let counting = FaultyFileSystem(memory)
    let store = try rig.archives(counting, PartPlace.root.protection)
    let look = try store.lookAtNewestParts()
    #expect(look.generation == receipt.generation && look.standing == .current)
    #expect(look.places == [.second, .third])
    #expect(try look.first.archive?.readAll() == text("a1"))
    // Nothing of the others was needed.
    memory.plant([], atPath: path(receipt.parts[1]))
    #expect(try look.open(.third)?.archive?.readAll() == text("c1"))
    #expect(try look.open(.fourth) == nil)
    guard case .damaged(.corrupt)? = try look.open(.second)?.state else { return #expect(Bool(false)) }
  }

  @Test func `a look that fell back, or has no ledger, shows what opening everything shows`() throws {
    try save("a1", "b1")
    let receipt = try save("a2", "b2")
    damage(receipt.parts[1])
    guard case .fellBack(let older, because: .corrupt)? = try open().lookAtNewestParts().open(.second)?.state else {
      return #expect(Bool(false))
    }
    #expect(try older.readAll() == text("b1"))
    damage(receipt.parts[0])
    let before = try rig.archives(memory, PartPlace.root.protection).lookAtNewestParts()
    #expect(before.standing == .olderGeneration(because: .corrupt))
    #expect(try before.first.archive?.readAll() == text("a1"))
    #expect(try before.open(.second)?.archive?.readAll() == text("b1"))
  }

  @Test func `a look finds parts locked that have no key, also the first one`() throws {
    try save("a1", "b1")
    rig.sealing.lock()
    let store = try rig.archives(memory, PartPlace.root.protection)
    let all = try store.openNewestParts()
    let look = try store.lookAtNewestParts()
    #expect((look.first.archive == nil) == (all.parts[0].archive == nil))
    #expect(try (look.open(.second)?.archive == nil) == (all.parts[1].archive == nil))
  }

  @Test(arguments: [false, true])
  func `parts of two generations are never shown together`(sharesPart: Bool) throws {
    let first = try save("a1", "b1", "c1")
    let reader = try rig.archives(memory, PartPlace.root.protection)
    let look = try reader.lookAtNewestParts()
    let writer = try open()
    func publish(_ number: Int) throws {
      try writer.publish([
        .new(.root, text("a\(number)")), .new(.second, text("b\(number)")),
        sharesPart ? .unchanged(first.parts[2]) : .new(.third, text("c\(number)")),
      ])
    }
    // Its files are there as long as it is the one to fall back to.
    try publish(2)
    #expect(try look.open(.second)?.archive?.readAll() == text("b1"))
    #expect(try look.open(.third)?.archive?.readAll() == text("c1"))
    try publish(3)
    #expect(try errorCode { try look.open(.second) } == .superseded)
    let again = try reader.lookAtNewestParts()
    #expect(try again.open(.second)?.archive?.readAll() == text("b3"))
  }

  @Test func `a look that a writer overtakes at any call shows parts of one generation, or says so`() throws {
    try save("a0", "b0")
    let writer = try open()
    try writer.open()
    let faulty = FaultyFileSystem(memory)
    let reader = try rig.archives(faulty, PartPlace.root.protection)
    var outcomes: Set<String> = []
    for call in 1...60 {
      let start = faulty.callCount
      faulty.onCall { number, _ in
        guard number == start + call else { return }
        for name in ["x", "y", "z"].prefix(1 + call % 3) {
          _ = try? writer.publish([
            .new(.root, Data("a\(name)\(call)".utf8)), .new(.second, Data("b\(name)\(call)".utf8)),
          ])
        }
      }
      let look = try reader.lookAtNewestParts()
      let root = String(decoding: try #require(try look.first.archive?.readAll()), as: UTF8.self)
      do throws(ProtectionError) {
        let second = try look.open(.second)?.archive?.readAll()
        #expect(second == text("b" + root.dropFirst()), "call \(call)")
        outcomes.insert("one")
      } catch {
        #expect(error.code == .superseded, "call \(call): \(error)")
        outcomes.insert("superseded")
      }
      faulty.onCall(nil)
      if faulty.callCount - start < call { break }
    }
    #expect(outcomes == ["one", "superseded"])
  }

  @Test func `each file is listed with its part and class`() throws {
    try save("a1", "b1", "c1")
    let store = try rig.directory(memory)
    let inspection = try StoreInspection(store)
    let name = try inspection.slot(of: rig.slot)
    rig.sealing.lock()
    let findings = try inspection.examine(name)
    let files = findings.material.filter { $0.kind == .generation }
    #expect(files.map(\.place) == [.root, .second, .third])
    #expect(files.map(\.protection) == PartPlace.allCases.dropLast().map(\.protection))
    #expect(files.map(\.problem) == [nil, .locked, nil] && files.allSatisfy(\.isCurrent))
    #expect(findings.parts.map { $0.archive == nil } == [false, true, false])
    let summary = try inspection.summary(of: name)
    #expect(summary.parts.map(\.place) == [.root, .second, .third] && summary.problem == nil)
    #expect(summary.parts.allSatisfy { $0.byteCount > 0 } && summary.savedAt != nil)
  }
}

/// A file system that counts the bytes written.
final class WrittenBytes: WrappingFileSystem {
  let base: any FileSystem
  private let written = Mutex(0)

  init(_ base: any FileSystem) { self.base = base }

  var count: Int { written.withLock { $0 } }
  func reset() { written.withLock { $0 = 0 } }

  func write(_ descriptor: Descriptor, _ bytes: RawSpan, at offset: Int64) throws(FileSystemError) -> Int {
    let count = try base.write(descriptor, bytes, at: offset)
    written.withLock { $0 += count }
    return count
  }
}
