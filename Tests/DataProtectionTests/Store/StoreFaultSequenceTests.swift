import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// What one attempt has left, the next one, which is cut short as well, does not take for its own.
@Suite struct StoreFaultSequenceTests {
  let rig = StoreRig()
  let content = Data("first".utf8)

  /// A first save whose sync has failed is tried again, and any call of the second attempt fails.
  @Test func `a save that is acknowledged after a failed sync survives a power cut`() throws {
    let syncs: Set<FileSystemError.Operation> = [.synchronize, .synchronizeData]
    var (first, isDone, acknowledged) = (0, false, 0)
    while !isDone {
      first += 1
      for second in 1...40 {
        let memory = MemoryFileSystem()
        let faulty = FaultyFileSystem(memory)
        faulty.fail(from: first, syncs, .error(.inputOutput))
        let store = try? rig.archives(faulty)
        _ = try? store?.publish(content)
        isDone = faulty.hits.isEmpty
        faulty.heal()
        faulty.fail(call: faulty.callCount + second, .error(.inputOutput))
        let receipt = try? store?.publish(content)
        guard receipt?.durability == .durable else { continue }
        acknowledged += 1
        let found = try rig.observe(memory.afterPowerCut(.dropAll))
        #expect(found.content == content, "syncs fail from \(first), then call \(second): \(found)")
      }
    }
    #expect(first > 5 && acknowledged > 100)
  }

  /// One in 256 changes ends with a zero, which is there without being written, and only as long as the file is.
  @Test func `a change that ends with a zero is made durable to its last byte`() throws {
    var found = 0
    for _ in 0..<20_000 where found < 2 {
      let memory = MemoryFileSystem()
      let faulty = FaultyFileSystem(memory)
      let store = try rig.archives(faulty)
      let newest = try store.publish(content).generation
      let start = try #require(memory.content(atPath: rig.path() + "/g-1")).count
      faulty.fail(from: faulty.callCount + 1, [.synchronizeData], .error(.inputOutput))
      let receipt = try #require(try store.append(Data("change".utf8), to: newest))
      #expect(receipt.durability == .unknown)
      guard memory.content(atPath: rig.path() + "/g-1")?[start + receipt.bytesWritten - 1] == 0 else { continue }
      found += 1
      let disk = memory.afterProcessDeath()
      let next = try rig.archives(disk)
      try next.open()
      #expect(try next.openNewest().frames == [Data("change".utf8)])
      try next.requireDurable()
      #expect(try rig.observe(disk.afterPowerCut(.dropAll)) == .saved(content, [Data("change".utf8)]))
    }
    #expect(found == 2)
  }

  /// Whatever fails on the way, once, or from then on.
  @Test(arguments: [false, true], [1, 300_000])
  func `nothing under the weaker class comes back once a save under a stronger one is acknowledged`(
    isLasting: Bool, size: Int
  ) throws {
    var (call, acknowledged, refused) = (0, 0, 0)
    var isDone = false
    while !isDone {
      call += 1
      let memory = MemoryFileSystem()
      let weak = try rig.archives(memory, .completeUntilFirstUserAuthentication)
      for text in ["1", "2"] { try weak.publish(Data(String(repeating: text, count: size).utf8)) }
      weak.close()
      let faulty = FaultyFileSystem(memory)
      let store = try rig.archives(faulty, .complete)
      let from = faulty.callCount + call
      if isLasting {
        faulty.fail(from: from, nil, .error(.inputOutput))
      } else {
        faulty.fail(call: from, .error(.inputOutput))
      }
      let receipt = try? store.publish(Data(String(repeating: "3", count: size).utf8))
      isDone = faulty.hits.isEmpty
      guard receipt?.durability == .durable else {
        refused += 1
        continue
      }
      acknowledged += 1
      for policy in memory.powerCutPolicies {
        let found = rig.generations(memory.afterPowerCut(policy))
        #expect(found.count == 1, "call \(call), \(policy): \(found)")
      }
    }
    #expect(acknowledged > 0 && refused > 5)
  }

  /// The second attempt reuses the name of a file that the first one has left.
  @Test(arguments: [StoreScenario.firstSave, .publishing, .pending, .savingWhileLocked])
  func `a file that a death has left never stands for the one that replaces it`(_ scenario: StoreScenario) throws {
    let start = MemoryFileSystem()
    try scenario.prepare(rig, start)
    let trial = start.afterPowerCut(.dropAll)
    try scenario.run(rig, trial) { _ in }
    for first in trial.cutPoints(after: 0) {
      let killed = start.afterPowerCut(.dropAll)
      killed.cutPower(afterCall: first)
      try? scenario.run(rig, killed) { _ in }
      // The bytes that a dead process has written reach the disk sooner or later.
      for left in [killed.afterProcessDeath(), killed.afterPowerCut(.keepPrefix(.max))] {
        let trial = left.afterProcessDeath()
        try scenario.run(rig, trial) { _ in }
        for second in trial.cutPoints(after: 0) {
          let memory = left.afterProcessDeath()
          memory.cutPower(afterCall: second)
          try? scenario.run(rig, memory) { _ in }
          for policy in memory.powerCutPolicies {
            let found = try rig.observe(memory.afterPowerCut(policy))
            let isKnown = scenario.states.contains { $0.content == found.content && $0.problem == found.problem }
            let standsIn = found.standing == .olderGeneration(because: .missing)
            #expect(
              isKnown && (found.standing == .current || found.standing == nil || standsIn),
              "killed after \(first), then cut after \(second), \(policy): \(found)")
          }
        }
      }
    }
  }

  /// A save fails and can't take its file away again; the next save of the run loses its power.
  @Test func `a file that a failed save has left is never taken for one that somebody has put back`() throws {
    var cuts = 0
    for cut in 1...60 {
      let memory = MemoryFileSystem()
      let faulty = FaultyFileSystem(memory)
      let store = try rig.archives(faulty)
      try store.publish(content)
      faulty.fail(from: faulty.callCount + 1, [.rename, .unlink], .error(.inputOutput))
      #expect(try errorCode { try store.publish(Data("lost".utf8)) } == .io)
      faulty.heal()
      #expect(rig.generations(memory) == ["g-1", "g-2"])
      memory.cutPower(afterCall: memory.callCount + cut)
      let isOver = (try? store.publish(Data("next".utf8)).durability) == .durable
      for policy in memory.powerCutPolicies {
        let found = try rig.observe(memory.afterPowerCut(policy))
        let standsIn = found.content == content && found.standing == .olderGeneration(because: .missing)
        #expect(found.standing == .current || standsIn, "cut after \(cut), \(policy): \(found)")
        #expect([content, Data("next".utf8)].contains(found.content), "cut after \(cut), \(policy): \(found)")
      }
      cuts = cut
      if isOver { break }
    }
    #expect(cuts > 5 && cuts < 60)
  }

  @Test func `a deletion that is repeated after a failed sync survives a power cut`() throws {
    for isRestarted in [false, true] {
      let memory = MemoryFileSystem()
      try rig.archives(memory).publish(content)
      let start = memory.afterPowerCut(.dropAll)
      let faulty = FaultyFileSystem(start)
      faulty.fail(from: 1, [.synchronize], .error(.inputOutput))
      let store = try rig.archives(faulty)
      #expect(try errorCode { try store.deleteAll() } == .durabilityUnknown)
      #expect(try rig.observe(start.afterPowerCut(.dropAll)).content == content)
      faulty.heal()
      try (isRestarted ? rig.archives(start) : store).deleteAll()
      #expect(try rig.observe(start.afterPowerCut(.dropAll)) == .nothing)
    }
  }
}
