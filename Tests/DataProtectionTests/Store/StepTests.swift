import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Synchronization
import Testing

@testable import DataProtection

/// Single steps of the write protocol that only show when two things go wrong, or when somebody else is in the way.
@Suite struct StepTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  /// Lets the sync fail that follows the next renaming, which is the ledger's; tells whether it came to that.
  @discardableResult
  private func failSyncAfterRenaming(_ faulty: FaultyFileSystem) -> SharedFlag {
    let isRenamed = SharedFlag()
    faulty.onCall { number, operation in
      guard operation == .rename, !isRenamed.isSet else { return }
      isRenamed.set()
      faulty.fail(call: number + 1, .error(.inputOutput))
    }
    return isRenamed
  }

  @Test(arguments: [true, false])
  func `a name that appears while a save is under way is left alone`(hasNamelessFiles: Bool) throws {
    var features = MemoryFileSystem.Features()
    features.temporaryFiles = hasNamelessFiles
    let memory = MemoryFileSystem(features: features)
    try rig.archives(memory).publish(StoreScenario.first)
    let name = try #require(rig.names(memory, endingWith: ".archive").first)
    let path = StoreRig.path + "/" + name.replacing("0001.archive", with: "0002.archive")
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    let isPlanted = SharedFlag()
    faulty.onCall { _, operation in
      guard operation == .link || operation == .rename, !isPlanted.isSet else { return }
      memory.plant([1, 2, 3], atPath: path)
      isPlanted.set()
    }
    #expect(try store.publish(StoreScenario.second).generation == Generation(rawValue: 3))
    #expect(memory.content(atPath: path) == [1, 2, 3])
    #expect(try rig.archives(memory).openNewest().readAll() == StoreScenario.second)
  }

  @Test func `after a failed call in a first save, a power cut never leaves an archive without its ledger`() throws {
    let trial = MemoryFileSystem()
    try rig.archives(trial).publish(StoreScenario.first)
    for failing in 1...trial.callCount {
      for cut in failing...trial.callCount + 4 {
        let memory = MemoryFileSystem()
        let faulty = FaultyFileSystem(memory)
        faulty.fail(call: failing, .error(.inputOutput))
        memory.cutPower(afterCall: cut)
        _ = try? rig.archives(faulty).publish(StoreScenario.first)
        let found = try rig.observe(memory.afterPowerCut(.dropAll))
        #expect(found == .nothing || found.standing == .current, "failed \(failing), cut after \(cut): \(found)")
      }
    }
  }

  @Test func `a first save while locked that is cut short doesn't look like a ledger that was taken away`() throws {
    let trial = MemoryFileSystem()
    try rig.archives(trial).publishPending(StoreScenario.away, kind: .touchedNodes)
    for cut in 0...trial.callCount {
      let memory = MemoryFileSystem()
      memory.cutPower(afterCall: cut)
      _ = try? rig.archives(memory).publishPending(StoreScenario.away, kind: .touchedNodes)
      for policy in memory.powerCutPolicies {
        let next = try rig.archives(memory.afterPowerCut(policy))
        #expect(try next.ledgerProblem() == nil, "cut after \(cut), \(policy)")
      }
    }
  }

  @Test func `the number of what was saved while locked is never given out again`() throws {
    let number = try rig.archives(memory).publishPending(StoreScenario.away, kind: .touchedNodes).generation
    for name in rig.names(memory, endingWith: ".pending") { memory.remove(atPath: StoreRig.path + "/" + name) }
    #expect(try rig.archives(memory).publish(StoreScenario.first).generation > number)
  }

  @Test func `the number of a save is never given out again, even if its file is gone`() throws {
    let number = try rig.archives(memory).publish(StoreScenario.first).generation
    for name in rig.names(memory, endingWith: ".archive") { memory.remove(atPath: StoreRig.path + "/" + name) }
    #expect(try rig.archives(memory).publish(StoreScenario.second).generation > number)
  }

  @Test func `an authentic archive of the same number from another course of events is not the one listed`() throws {
    try rig.archives(memory).publish(StoreScenario.first)
    let other = memory.afterProcessDeath()
    try rig.archives(memory).publish(StoreScenario.second)
    try rig.archives(other).publish(StoreScenario.away)
    let name = try #require(rig.names(memory, endingWith: "2.archive").first)
    let path = StoreRig.path + "/" + name
    memory.plant(try #require(other.content(atPath: path)), atPath: path)
    let found = try rig.archives(memory).openNewest()
    #expect(found.standing == .olderGeneration(because: .rolledBack), "\(found.standing)")
    #expect(try found.readAll() == StoreScenario.first)
  }

  @Test func `only the two newest generations stay, each with its journal`() throws {
    let store = try rig.archives(memory)
    for content in [StoreScenario.first, StoreScenario.second, StoreScenario.away] {
      try store.publish(content)
      try store.append(StoreScenario.frames[0])
    }
    for ending in [".archive", "-00000000.journal"] {
      let numbers = rig.names(memory, endingWith: ending).map { $0.dropLast(ending.count).suffix(16) }
      #expect(numbers.sorted() == ["0000000000000002", "0000000000000003"], "\(ending)")
    }
  }

  @Test func `the ledger of another keybag vouches for nothing`() throws {
    try rig.archives(memory).publish(StoreScenario.first)
    var other = rig
    other.keys.keybagIdentifier = KeybagIdentifier(bytes: [UInt8](repeating: 6, count: 16))
    #expect(try other.archives(memory).ledgerProblem() == .corrupt)
    #expect(try other.archives(memory).openNewest().standing == .rollbackUnverifiable)
  }

  @Test func `a save whose listing may not last deletes nothing`() throws {
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    try store.publish(StoreScenario.first)
    try store.publish(StoreScenario.second)
    let before = rig.names(memory)
    let isRenamed = failSyncAfterRenaming(faulty)
    try store.publish(StoreScenario.away)
    #expect(isRenamed.isSet)
    #expect(Set(before).isSubset(of: Set(rig.names(memory))))
  }

  @Test func `no more than so many bytes are kept aside`() throws {
    try rig.archives(memory).publish(StoreScenario.first)
    let name = try #require(rig.names(memory, endingWith: ".archive").first)
    let path = StoreRig.path + "/" + name
    let aside = StoreRig.path + "/aside-\(name.prefix(32))-000000000000000"
    for number in 1...2 { memory.plant([UInt8](repeating: 1, count: 40 << 20), atPath: "\(aside)\(number)") }
    memory.plant([1], atPath: path)
    try rig.archives(memory).publish(StoreScenario.second)
    let left: [String] = rig.names(memory).filter { $0.hasPrefix("aside-") }
    let numbers: [String] = left.map { String($0.suffix(1)) }
    #expect(numbers.sorted() == ["2", "3"])
  }

  @Test func `once a class is changed, nothing more is written`() throws {
    let store = try rig.archives(memory)
    try store.publish(StoreScenario.first)
    try store.setProtection(.none)
    let before = memory.callCount
    _ = try rig.archives(memory, ProtectionClass.none).openNewest()
    let calls = Set(memory.calls.dropFirst(before).map(\.operation))
    #expect(calls.isDisjoint(with: [.write, .synchronize, .rename, .link, .unlink]), "\(calls)")
  }

  @Test func `a frame appended after a journal whose name failed survives a power cut`() throws {
    try rig.archives(memory).publish(StoreScenario.first)
    let trial = memory.afterProcessDeath()
    let opened = FaultyFileSystem(trial)
    let store = try rig.archives(opened)
    _ = try store.openNewest()
    let opening = opened.callCount
    try store.append(StoreScenario.frames[0])
    for failing in opening + 1...opened.callCount {
      for alsoUnlink in [false, true] {
        let memory = memory.afterProcessDeath()
        let faulty = FaultyFileSystem(memory)
        let store = try rig.archives(faulty)
        _ = try store.openNewest()
        faulty.fail(call: failing, .error(.inputOutput))
        if alsoUnlink { faulty.fail(from: failing + 1, [.unlink], .error(.inputOutput)) }
        _ = try? store.append(StoreScenario.frames[0])
        faulty.heal()
        // The same process goes on, or the next one does: not where it can't know, or finds the lock held for ever.
        let next = alsoUnlink ? nil : try? rig.archives(memory)
        for one in [store, next].compactMap(\.self) {
          if one !== store { guard (try? one.openNewest()) != nil else { break } }
          guard (try? one.append(StoreScenario.frames[1]))?.durability == .durable else { continue }
          let found = try rig.observe(memory.afterPowerCut(.dropAll))
          #expect(found.frames.last == StoreScenario.frames[1], "failed \(failing): \(found)")
          break
        }
      }
    }
  }

  @Test func `what was discarded stays away, whatever fails`() throws {
    try rig.archives(memory).publish(StoreScenario.first)
    try rig.archives(memory).publishPending(StoreScenario.away, kind: .touchedNodes)
    let settled = memory.afterPowerCut(.dropAll)
    for failing in 0...40 {
      let memory = settled.afterPowerCut(.dropAll)
      let faulty = FaultyFileSystem(memory)
      let store = try rig.archives(faulty)
      let pending = try #require(try store.openPending().archives.first)
      if failing > 0 { faulty.fail(call: faulty.callCount + failing, .error(.inputOutput)) }
      do throws(ProtectionError) {
        try store.discardPending(pending)
      } catch {
        #expect(failing > 0)
        continue
      }
      let next = try rig.archives(memory.afterPowerCut(.dropAll))
      #expect(try next.openPending().archives.isEmpty, "failed \(failing)")
    }
  }

  @Test func `a promotion that may not last deletes nothing`() throws {
    try rig.archives(memory).publish(StoreScenario.first)
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    try store.publish(StoreScenario.second)
    try store.publishPending(StoreScenario.away, kind: .whole)
    let pending = try #require(try store.openPending().archives.first)
    let before = rig.names(memory)
    failSyncAfterRenaming(faulty)
    #expect(try store.promotePending(pending).durability == .unknown)
    #expect(Set(before).isSubset(of: Set(rig.names(memory))))
  }

  @Test func `a mark that may not last is taken away, and is no crash`() throws {
    try rig.archives(memory).publish(StoreScenario.first)
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    let archive = try store.openNewest()
    for failing in 1...20 {
      faulty.fail(call: faulty.callCount + failing, .error(.inputOutput))
      let outcome = Result { try store.beginAttempt(for: archive) }
      faulty.heal()
      guard case .failure = outcome else {
        if case .success(let attempt) = outcome { attempt.finish() }
        continue
      }
      let next = try rig.archives(memory)
      #expect(try next.interruptedAttempt(for: next.openNewest()) == nil, "failed \(failing)")
    }
  }

  @Test func `a change of class whose listing may not last is not acknowledged`() throws {
    try rig.archives(memory).publish(StoreScenario.first)
    let faulty = FaultyFileSystem(memory)
    let store = try rig.archives(faulty)
    failSyncAfterRenaming(faulty)
    #expect(throws: ProtectionError.self) { try store.setProtection(.none) }
  }

  @Test func `a change of class that fails leaves no copy under the new class`() throws {
    let store = try rig.archives(memory)
    try store.publish(StoreScenario.first)
    try store.append(StoreScenario.frames[0])
    let before = rig.names(memory).sorted()
    var failures = 0
    for failing in 1...60 {
      let memory = memory.afterProcessDeath()
      let faulty = FaultyFileSystem(memory)
      let store = try rig.archives(faulty)
      faulty.fail(call: faulty.callCount + failing, .error(.inputOutput))
      do throws(ProtectionError) {
        try store.setProtection(.none)
      } catch {
        // From the moment at which the ledger lists it, the change is made.
        guard try rig.observe(memory).protection == .complete else { continue }
        failures += 1
        #expect(rig.names(memory).sorted() == before, "failed \(failing)")
      }
    }
    #expect(failures > 5)
  }
}
