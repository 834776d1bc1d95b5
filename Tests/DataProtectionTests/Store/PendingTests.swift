import FaultyFileSystem
import FileSystem
import FoundationEssentials
import SeededRandom
import Testing

@testable import DataProtection

@Suite struct PendingTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()
  let base = Data("base".utf8)
  let away = Data("away".utf8)

  /// A process that has read its base and then saves while locked.
  private func saveWhileLocked(_ kind: PendingArchive.Kind = .whole, _ content: Data? = nil) throws {
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    rig.sealing.lock()
    defer { rig.sealing.unlock() }
    try store.publishPending(content ?? away, kind: kind)
  }

  @Test func `a deletion that fails at any call keeps nobody from saving while locked`() throws {
    var number = 0
    while true {
      number += 1
      let faulty = FaultyFileSystem(MemoryFileSystem())
      rig.sealing.unlock()
      let store = try rig.archives(faulty)
      try store.publish(Data("state".utf8))
      rig.sealing.lock()
      defer { rig.sealing.unlock() }
      faulty.fail(call: faulty.callCount + number, .error(.inputOutput))
      try? store.deleteAll()
      if faulty.hits.isEmpty { break }
      faulty.heal()
      #expect(throws: Never.self, "call \(number)") { try store.publishPending(Data("whole".utf8), kind: .whole) }
    }
    #expect(number > 6)
  }

  @Test func `a pending generation is taken over when its base is unchanged`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    let store = try rig.archives(memory)
    let pending = try #require(try store.openPending().archives.first)
    #expect(pending.isBaseUnchanged && pending.kind == .whole && pending.content == away)
    #expect(pending.base?.rawValue == 1)
    try store.promotePending(pending)
    #expect(try rig.observe(memory) == .saved(away))
    try store.append(Data("on top".utf8))
    #expect(try rig.observe(memory) == .saved(away, [Data("on top".utf8)]))
    #expect(try rig.archives(memory).openPredecessor().readAll() == base)
    #expect(try rig.archives(memory).openNewest().protection == .completeUnlessOpen)
    try rig.archives(memory).publish(base)
    try rig.archives(memory).publish(base)
    #expect(rig.names(memory, endingWith: ".pending").isEmpty)
  }

  @Test func `while locked nothing pending can be read, and it is not nothing`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    rig.sealing.lock()
    defer { rig.sealing.unlock() }
    #expect(try errorCode { try rig.archives(memory).openPending() } == .locked)
  }

  @Test func `a process that hasn't read its base may save touched nodes only`() throws {
    try rig.archives(memory).publish(base)
    rig.sealing.lock()
    let store = try rig.archives(memory)
    #expect(try errorCode { try store.openNewest() } == .locked)
    #expect(try errorCode { try store.publishPending(away, kind: .whole) } == .superseded)
    try store.publishPending(away, kind: .touchedNodes)
    rig.sealing.unlock()
    let pending = try #require(try rig.archives(memory).openPending().archives.first)
    #expect(pending.kind == .touchedNodes && pending.base?.rawValue == 1 && pending.isBaseUnchanged)
    #expect(try errorCode { try rig.archives(memory).promotePending(pending) } == .superseded)
    #expect(try rig.observe(memory) == .saved(base, pending: away))
  }

  @Test func `a first launch that found nothing may save whole`() throws {
    try rig.directory(memory).archives(for: rig.slot, protection: .complete).deleteAll()
    let store = try rig.archives(memory)
    #expect(try errorCode { try store.openNewest() } == .notFound)
    rig.sealing.lock()
    try store.publishPending(away, kind: .whole)
    rig.sealing.unlock()
    let later = try rig.archives(memory)
    let pending = try #require(try later.openPending().archives.first)
    #expect(pending.base == nil && pending.isBaseUnchanged)
    #expect(try errorCode { try later.openNewest() } == .notFound)
    try later.promotePending(pending)
    #expect(try rig.observe(memory) == .saved(away))
  }

  @Test func `a changed base keeps both`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    let other = try rig.archives(memory)
    _ = try other.openNewest()
    try other.append(Data("meanwhile".utf8))
    let pending = try #require(try rig.archives(memory).openPending().archives.first)
    #expect(!pending.isBaseUnchanged)
    #expect(try errorCode { try rig.archives(memory).promotePending(pending) } == .superseded)
    #expect(try rig.observe(memory) == .saved(base, [Data("meanwhile".utf8)], pending: away))
    try other.publish(Data("whole".utf8))
    #expect(try rig.observe(memory) == .saved(Data("whole".utf8), pending: away))
    try rig.archives(memory).discardPending(pending)
    #expect(try rig.observe(memory) == .saved(Data("whole".utf8)))
    #expect(rig.names(memory, endingWith: ".pending").isEmpty)
  }

  /// What may happen to the files of a base.
  enum Harm: CaseIterable, Sendable { case headerFlipped, cutShort, gone }

  private func harm(_ harm: Harm, suffix: String) throws {
    let path = StoreRig.path + "/" + (try #require(rig.names(memory, endingWith: suffix).max()))
    let bytes = try #require(memory.content(atPath: path))
    switch harm {
    case .headerFlipped:
      var flipped = bytes
      flipped[40] ^= 1
      memory.plant(flipped, atPath: path)
    case .cutShort: memory.plant(Array(bytes.prefix(bytes.count / 2)), atPath: path)
    case .gone: memory.remove(atPath: path)
    }
  }

  @Test(arguments: Harm.allCases, [false, true])
  func `a whole state saved while locked is taken over although its base is damaged`(
    _ damage: Harm, hasPredecessor: Bool
  ) throws {
    let older = Data("older".utf8)
    if hasPredecessor { try rig.archives(memory).publish(older) }
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    try harm(damage, suffix: ".archive")
    let pending = try #require(try rig.archives(memory).openPending().archives.first)
    #expect(pending.isBaseUnchanged)
    let store = try rig.archives(memory)
    try store.promotePending(pending)
    #expect(try rig.observe(memory) == .saved(away))
    if hasPredecessor {
      #expect(try rig.archives(memory).openPredecessor().readAll() == older)
    } else {
      #expect(try errorCode { try rig.archives(memory).openPredecessor() } == .notFound)
    }
    try rig.archives(memory).publish(base)
    #expect(try rig.observe(memory) == .saved(base))
  }

  @Test(arguments: Harm.allCases)
  func `a whole state saved while locked is taken over although frames that it includes are damaged`(
    _ damage: Harm
  ) throws {
    let writer = try rig.archives(memory)
    try writer.publish(base)
    _ = try writer.openNewest()
    for frame in ["one", "two"] { try writer.append(Data(frame.utf8)) }
    try saveWhileLocked()
    try harm(damage, suffix: ".journal")
    let pending = try #require(try rig.archives(memory).openPending().archives.first)
    #expect(pending.isBaseUnchanged)
    try rig.archives(memory).promotePending(pending)
    #expect(try rig.observe(memory) == .saved(away))
  }

  @Test func `a base that a newer run went on from is changed, whatever became of it since`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    try rig.archives(memory).publish(Data("newer".utf8))
    try harm(.headerFlipped, suffix: ".archive")
    let pending = try #require(try rig.archives(memory).openPending().archives.first)
    #expect(!pending.isBaseUnchanged)
    #expect(try errorCode { try rig.archives(memory).promotePending(pending) } == .superseded)
  }

  /// Runs that find the device locked, one after the other; each saves the nodes that it touched.
  private func saveTouched(_ contents: String..., fileSystem: (any FileSystem)? = nil) throws {
    rig.sealing.lock()
    defer { rig.sealing.unlock() }
    for content in contents {
      try rig.archives(fileSystem ?? memory).publishPending(Data(content.utf8), kind: .touchedNodes)
    }
  }

  private func pending() throws -> [String] {
    try rig.archives(memory).openPending().archives.map { String(decoding: $0.content, as: UTF8.self) }
  }

  @Test func `a run replaces what it saved while locked itself, and nothing of another run`() throws {
    try rig.archives(memory).publish(base)
    rig.sealing.lock()
    for run in ["first", "second"] {
      let store = try rig.archives(memory)
      for edit in 1...3 { try store.publishPending(Data("\(run) \(edit)".utf8), kind: .touchedNodes) }
    }
    rig.sealing.unlock()
    #expect(rig.names(memory, endingWith: ".pending").count == 2)
    #expect(try pending() == ["first 3", "second 3"])
    #expect(try rig.archives(memory).openPending().archives.allSatisfy { $0.isBaseUnchanged })
    #expect(try rig.archives(memory).openPending().problems.isEmpty)
  }

  @Test func `all that is pending is merged in one step`() throws {
    try rig.archives(memory).publish(base)
    try saveTouched("a", "b", "c")
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    try store.publish(Data("merged".utf8), consuming: try store.openPending().archives)
    #expect(try rig.observe(memory) == .saved(Data("merged".utf8)))
    #expect(rig.names(memory, endingWith: ".pending").isEmpty)
    try saveTouched("d")
    #expect(try pending() == ["d"])
  }

  @Test func `what was saved while locked after the last look stays pending`() throws {
    try rig.archives(memory).publish(base)
    try saveTouched("a")
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    let known = try store.openPending().archives
    try saveTouched("b")
    try store.publish(Data("merged".utf8), consuming: known)
    #expect(try pending() == ["b"])
    #expect(try rig.archives(memory).openPending().archives.allSatisfy { !$0.isBaseUnchanged })
  }

  @Test func `touched nodes stay on top of a whole state that was saved while locked before`() throws {
    try rig.archives(memory).deleteAll()
    let first = try rig.archives(memory)
    #expect(try errorCode { try first.openNewest() } == .notFound)
    rig.sealing.lock()
    try first.publishPending(Data("whole".utf8), kind: .whole)
    rig.sealing.unlock()
    try saveTouched("touched")
    let later = try rig.archives(memory)
    let found = try later.openPending().archives
    #expect(found.map(\.kind) == [.whole, .touchedNodes])
    try later.promotePending(found[0])
    #expect(try rig.observe(memory) == .saved(Data("whole".utf8), pending: Data("touched".utf8)))
    #expect(try rig.archives(memory).openPending().archives.allSatisfy { $0.isBaseUnchanged })
    try later.publish(Data("merged".utf8), consuming: Array(found.dropFirst()))
    #expect(try rig.observe(memory) == .saved(Data("merged".utf8)))
    try later.publish(base)
    #expect(rig.names(memory, endingWith: ".pending").isEmpty)
  }

  @Test func `a whole state takes the place of the touched nodes that it includes`() throws {
    try rig.archives(memory).publish(base)
    try saveTouched("a", "b")
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    let known = try store.openPending().archives
    rig.sealing.lock()
    try store.publishPending(away, kind: .whole, including: known)
    rig.sealing.unlock()
    #expect(try pending() == ["away"])
    #expect(rig.names(memory, endingWith: ".pending").count == 1)
  }

  @Test func `one that is passed over is set aside, not deleted`() throws {
    try rig.archives(memory).publish(base)
    try saveTouched("old")
    try rig.archives(memory).publish(Data("newer".utf8))
    try saveTouched("young")
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    let found = try store.openPending().archives
    #expect(found.map(\.isBaseUnchanged) == [false, true])
    try store.publish(Data("merged".utf8), consuming: [found[1]])
    #expect(try rig.observe(memory) == .saved(Data("merged".utf8)))
    #expect(rig.names(memory, endingWith: ".pending").isEmpty)
    #expect(rig.names(memory).filter { $0.hasPrefix("aside-") }.count == 1)
  }

  @Test func `one that a crash cut short of the ledger is pending like the others`() throws {
    try rig.archives(memory).publish(base)
    let faulty = FaultyFileSystem(memory)
    faulty.fail(from: 1, [.rename], .error(.inputOutput))
    try saveTouched("unlisted", fileSystem: faulty)
    try saveTouched("listed")
    #expect(try pending() == ["unlisted", "listed"])
    try rig.archives(memory).publish(Data("beside".utf8))
    #expect(try pending() == ["unlisted", "listed"])
  }

  @Test func `a bound on the runs refuses a save and loses none`() throws {
    try rig.archives(memory).publish(base)
    rig.sealing.lock()
    for run in 1...ArchiveStore.pendingLimit {
      try rig.archives(memory).publishPending(Data("\(run)".utf8), kind: .touchedNodes)
    }
    let last = try rig.archives(memory)
    #expect(try errorCode { try last.publishPending(away, kind: .touchedNodes) } == .locked)
    rig.sealing.unlock()
    #expect(try pending() == (1...ArchiveStore.pendingLimit).map { "\($0)" })
  }

  @Test func `a replayed, replaced or planted pending generation is not used`() throws {
    try rig.archives(memory).publish(base)
    rig.sealing.lock()
    let store = try rig.archives(memory)
    try store.publishPending(Data("first".utf8), kind: .touchedNodes)
    let path = StoreRig.path + "/" + rig.names(memory, endingWith: ".pending")[0]
    let old = try #require(memory.content(atPath: path))
    try store.publishPending(Data("second".utf8), kind: .touchedNodes)
    rig.sealing.unlock()
    memory.plant(old, atPath: path)
    #expect(try self.pending() == ["second"])
    let pending = try #require(try rig.archives(memory).openPending().archives.first)
    try rig.archives(memory).discardPending(pending)
    #expect(rig.names(memory, endingWith: ".pending").isEmpty)
    memory.plant(old, atPath: path)
    #expect(try rig.observe(memory).pending == nil)
    let archive = StoreRig.path + "/" + rig.names(memory, endingWith: ".archive")[0]
    memory.plant(
      try #require(memory.content(atPath: archive)),
      atPath: archive.replacing(".archive", with: ".pending").replacing("1.pending", with: "9.pending"))
    #expect(try rig.archives(memory).openPending().archives.isEmpty)
    #expect(try rig.archives(memory).openPending().problems.count == 1)
    #expect(try rig.archives(memory).openNewest().readAll() == base)
  }

  @Test func `nothing pending comes back after it was merged or the class was changed`() throws {
    try rig.archives(memory).publish(base)
    try saveTouched("a")
    let path = StoreRig.path + "/" + rig.names(memory, endingWith: ".pending")[0]
    let old = try #require(memory.content(atPath: path))
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    try store.publish(base, consuming: try store.openPending().archives)
    memory.plant(old, atPath: path)
    #expect(try pending().isEmpty)
    try store.setProtection(.none)
    memory.plant(old, atPath: path)
    #expect(try rig.archives(memory, ProtectionClass.none).openPending().archives.isEmpty)
  }

  @Test func `a change of class keeps all that is pending`() throws {
    try rig.archives(memory).publish(base)
    try saveTouched("a", "b")
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    try store.setProtection(.none)
    #expect(try rig.archives(memory, ProtectionClass.none).openPending().archives.count == 2)
  }

  @Test func `a listed pending generation that is gone is missing`() throws {
    try rig.archives(memory).publish(base)
    try saveWhileLocked()
    memory.remove(atPath: StoreRig.path + "/" + rig.names(memory, endingWith: ".pending")[0])
    #expect(try rig.archives(memory).openPending().problems.map(\.code) == [.missing])
    #expect(try rig.archives(memory).openNewest().readAll() == base)
    try saveTouched("a", "b", "c")
    let names = rig.names(memory, endingWith: ".pending").sorted()
    memory.remove(atPath: StoreRig.path + "/" + names[1])
    #expect(try pending() == ["a", "c"])
    #expect(try rig.archives(memory).openPending().problems.map(\.code) == [.missing])
  }

  // MARK: Several runs in turns

  /// What was saved while locked last, by runs that begin and save in turns, oldest first.
  private func saveInTurns(seed: UInt64, saves: Int = 40) throws -> [String] {
    var random = SplitMix64(seed: seed)
    var runs: [ArchiveStore] = []
    var newest: [(run: Int, content: String)] = []
    rig.sealing.lock()
    defer { rig.sealing.unlock() }
    for save in 0..<saves {
      let run = Int.random(in: 0...min(runs.count, 5), using: &random)
      if run == runs.count { runs.append(try rig.archives(memory)) }
      try runs[run].publishPending(Data("run \(run), save \(save)".utf8), kind: .touchedNodes)
      newest.removeAll { $0.run == run }
      newest.append((run, "run \(run), save \(save)"))
    }
    return newest.map(\.content)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `what a run has replaced itself is not missed, in whatever turns the runs have saved`(seed: UInt64) throws {
    try rig.archives(memory).publish(base)
    let saved = try saveInTurns(seed: seed)
    #expect(try pending() == saved)
    #expect(try rig.archives(memory).openPending().problems.isEmpty)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `whichever is taken away is missed, in whatever turns the runs have saved`(seed: UInt64) throws {
    try rig.archives(memory).publish(base)
    let saved = try saveInTurns(seed: seed)
    for (index, name) in rig.names(memory, endingWith: ".pending").sorted().enumerated() {
      let path = StoreRig.path + "/" + name
      let bytes = try #require(memory.content(atPath: path))
      memory.remove(atPath: path)
      #expect(try rig.archives(memory).openPending().problems.map(\.code) == [.missing])
      #expect(try pending() == saved.enumerated().filter { $0.offset != index }.map(\.element))
      memory.plant(bytes, atPath: path)
    }
    #expect(try rig.archives(memory).openPending().problems.isEmpty)
  }

  @Test func `runs that save in turns name no more others the longer it goes on`() throws {
    try rig.archives(memory).publish(base)
    rig.sealing.lock()
    let runs = try (0..<3).map { _ in try rig.archives(memory) }
    var sizes: Set<Int> = []
    for save in 0..<60 {
      for run in runs { try run.publishPending(away, kind: .touchedNodes) }
      guard save > 1 else { continue }
      for name in rig.names(memory, endingWith: ".pending") {
        sizes.insert(try #require(memory.content(atPath: StoreRig.path + "/" + name)).count)
      }
    }
    #expect(sizes.count == 1)
  }

  @Test func `one that knows of others is taken over whole, and goes on in another class`() throws {
    try rig.archives(memory).publish(base)
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    for number in 1...3 {
      rig.sealing.lock()
      try store.publishPending(Data("whole \(number)".utf8), kind: .whole)
      rig.sealing.unlock()
      try saveTouched("\(number)", "also \(number)")
    }
    rig.sealing.lock()
    try store.publishPending(away, kind: .whole)
    rig.sealing.unlock()
    let later = try rig.archives(memory)
    let found = try later.openPending()
    #expect(found.problems.isEmpty)
    #expect(found.archives.map(\.kind) == Array(repeating: .touchedNodes, count: 6) + [.whole])
    try later.promotePending(found.archives[6])
    #expect(try rig.observe(memory) == .saved(away))
    try later.append(Data("on top".utf8))
    #expect(try rig.observe(memory) == .saved(away, [Data("on top".utf8)]))
    try later.setProtection(.none)
    #expect(try rig.observe(memory) == .saved(away, [Data("on top".utf8)], protection: ProtectionClass.none))
  }

  @Test(arguments: [3, 6])
  func `all that one step passes over are set aside, at most four`(count: Int) throws {
    try rig.archives(memory).publish(base)
    for number in 1...count { try saveTouched("old \(number)") }
    let files = contents(rig.names(memory, endingWith: ".pending"))
    try rig.archives(memory).publish(Data("newer".utf8))
    try saveTouched("young")
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    try store.publish(Data("merged".utf8), consuming: Array(try store.openPending().archives.suffix(1)))
    #expect(rig.names(memory, endingWith: ".pending").isEmpty)
    let aside = rig.names(memory).filter { $0.hasPrefix("aside-") }
    #expect(aside.count == min(count, 4))
    #expect(contents(aside).isSubset(of: files))
  }

  private func contents(_ names: [String]) -> Set<[UInt8]> {
    Set(names.compactMap { memory.content(atPath: StoreRig.path + "/" + $0) })
  }

  @Test func `one that a whole state saved while locked passes over is set aside, not deleted`() throws {
    try rig.archives(memory).publish(base)
    try saveTouched("could not be joined", "joined")
    let store = try rig.archives(memory)
    _ = try store.openNewest()
    let joined = Array(try store.openPending().archives.suffix(1))
    rig.sealing.lock()
    try store.publishPending(away, kind: .whole, including: joined)
    rig.sealing.unlock()
    #expect(try pending() == ["away"])
    #expect(rig.names(memory, endingWith: ".pending").count == 1)
    #expect(rig.names(memory).filter { $0.hasPrefix("aside-") }.count == 1)
  }
}
