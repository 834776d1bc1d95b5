import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// Every call of every scenario fails, and the power goes after every call.
@Suite struct StoreInterruptionTests {
  @Test(arguments: StoreScenario.allCases)
  func `without interruption the last state is reached and found`(_ scenario: StoreScenario) throws {
    let (rig, memory) = try prepared(scenario)
    var acknowledged = 0
    try scenario.run(rig, memory) { acknowledged = $0 }
    #expect(acknowledged == scenario.states.count - 1)
    #expect(try rig.observe(memory.afterProcessDeath()) == scenario.states.last)
    #expect(try rig.observe(memory.afterPowerCut(.dropAll)) == scenario.states.last)
  }

  @Test(arguments: StoreScenario.allCases)
  func `a power cut after any call leaves the old or the new state, whole`(_ scenario: StoreScenario) throws {
    let (rig, start) = try prepared(scenario)
    for call in try cutPoints(scenario, rig, start) {
      let memory = start.afterPowerCut(.dropAll)
      memory.cutPower(afterCall: call)
      var acknowledged = 0
      do throws(ProtectionError) {
        try scenario.run(rig, memory) { acknowledged = $0 }
      } catch {
        // The program died; what counts is what the next one finds.
      }
      for policy in memory.powerCutPolicies {
        try check(scenario, rig, memory.afterPowerCut(policy), acknowledged, "cut after \(call), \(policy)")
      }
    }
  }

  @Test(arguments: StoreScenario.allCases, FaultKind.allCases)
  func `a fault in any call leaves the old or the new state, whole`(
    _ scenario: StoreScenario, _ kind: FaultKind
  ) throws {
    let (rig, start) = try prepared(scenario)
    let calls = try countCalls(scenario, rig, start)
    for call in 1...calls {
      let memory = start.afterPowerCut(.dropAll)
      let faulty = FaultyFileSystem(memory)
      faulty.fail(call: call, kind.fault)
      var acknowledged = 0
      do throws(ProtectionError) {
        try scenario.run(rig, faulty) { acknowledged = $0 }
      } catch {
        #expect(error.code == .io || error.code == .durabilityUnknown, "\(scenario) \(call) \(error)")
      }
      let place = "\(kind) at \(call) \(faulty.hits)"
      if kind == .interrupted || kind == .shortWrite {
        #expect(acknowledged == scenario.states.count - 1, "neither is a failure: \(place)")
      }
      try check(scenario, rig, memory.afterProcessDeath(), acknowledged, place)
      try check(scenario, rig, memory.afterPowerCut(.dropAll), acknowledged, place + ", then a power cut")
    }
  }

  @Test(arguments: StoreScenario.allCases)
  func `a disk that stays full or broken leaves the old or the new state, whole`(_ scenario: StoreScenario) throws {
    let (rig, start) = try prepared(scenario)
    let calls = try countCalls(scenario, rig, start)
    for call in 1...calls {
      for operations in [[.write, .allocate], [.synchronize, .synchronizeData]] as [Set<FileSystemError.Operation>] {
        let memory = start.afterPowerCut(.dropAll)
        let faulty = FaultyFileSystem(memory)
        faulty.fail(from: call, operations, .error(operations.contains(.write) ? .noSpace : .inputOutput))
        var acknowledged = 0
        try? scenario.run(rig, faulty) { acknowledged = $0 }
        let place = "\(operations) from \(call)"
        try check(scenario, rig, memory.afterProcessDeath(), acknowledged, place)
        try check(scenario, rig, memory.afterPowerCut(.dropAll), acknowledged, place + ", then a power cut")
      }
    }
  }

  @Test(arguments: StoreScenario.allCases)
  func `the same holds on a volume without nameless files or reserved space`(_ scenario: StoreScenario) throws {
    var features = MemoryFileSystem.Features()
    features.temporaryFiles = false
    features.allocation = false
    features.attributes = false
    let (rig, start) = try prepared(scenario, features)
    for call in try cutPoints(scenario, rig, start) {
      let memory = start.afterPowerCut(.dropAll)
      memory.cutPower(afterCall: call)
      var acknowledged = 0
      try? scenario.run(rig, memory) { acknowledged = $0 }
      for policy in memory.powerCutPolicies {
        try check(scenario, rig, memory.afterPowerCut(policy), acknowledged, "cut after \(call), \(policy)")
      }
      try check(scenario, rig, memory.afterProcessDeath(), acknowledged, "killed after \(call)")
    }
  }

  @Test(arguments: [true, false])
  func `a save that fails takes its temporary file away at once`(hasNamelessFiles: Bool) throws {
    var features = MemoryFileSystem.Features()
    features.temporaryFiles = hasNamelessFiles
    let rig = StoreRig()
    let memory = MemoryFileSystem(features: features)
    try rig.archives(memory).publish(StoreScenario.first)
    for operation in [.write, .synchronize, .rename, .link] as [FileSystemError.Operation] {
      let faulty = FaultyFileSystem(memory)
      let store = try rig.archives(faulty)
      faulty.fail(from: 1, [operation], .error(.inputOutput))
      _ = try? store.publish(StoreScenario.first)
      #expect(!faulty.hits.isEmpty || (operation == .link && !hasNamelessFiles))
      #expect(rig.names(memory).filter { $0.hasPrefix("tmp-") }.isEmpty, "\(operation)")
    }
  }

  /// How a call goes wrong in these tests.
  enum FaultKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case inputOutput, noSpace, interrupted, shortWrite

    var testDescription: String { rawValue }
    var fault: Fault {
      switch self {
      case .inputOutput: .error(.inputOutput)
      case .noSpace: .error(.noSpace)
      case .interrupted: .error(.interrupted)
      case .shortWrite: .shortWrite
      }
    }
  }

  private func prepared(
    _ scenario: StoreScenario, _ features: MemoryFileSystem.Features = .init()
  ) throws -> (StoreRig, MemoryFileSystem) {
    let rig = StoreRig()
    let memory = MemoryFileSystem(features: features)
    try scenario.prepare(rig, memory)
    let settled = memory.afterPowerCut(.dropAll)
    #expect(try rig.observe(settled.afterProcessDeath()) == scenario.states.first)
    return (rig, settled)
  }

  private func cutPoints(_ scenario: StoreScenario, _ rig: StoreRig, _ start: MemoryFileSystem) throws -> [Int] {
    let memory = start.afterPowerCut(.dropAll)
    try scenario.run(rig, memory) { _ in }
    return memory.cutPoints(after: 0)
  }

  private func countCalls(_ scenario: StoreScenario, _ rig: StoreRig, _ start: MemoryFileSystem) throws -> Int {
    let memory = start.afterPowerCut(.dropAll)
    try scenario.run(rig, memory) { _ in }
    return memory.callCount
  }

  /// What a new process finds is one of the states from the last acknowledged one on; nothing is left lying about;
  /// and saving goes on from there.
  private func check(
    _ scenario: StoreScenario, _ rig: StoreRig, _ disk: MemoryFileSystem, _ acknowledged: Int, _ place: String
  ) throws {
    let states = scenario.states
    let found: StoreState
    do {
      found = try rig.observe(disk)
    } catch {
      Issue.record("\(scenario), \(place): \(error)")
      return
    }
    guard let index = states.firstIndex(of: found), index >= acknowledged else {
      Issue.record("\(scenario), \(place): found \(found), acknowledged \(acknowledged)")
      return
    }
    #expect(rig.names(disk).filter { $0.hasPrefix("tmp-") }.isEmpty, "\(scenario), \(place)")
    if scenario == .classChange, acknowledged == 1 {
      #expect(rig.names(disk, endingWith: ".archive").count == 1, "\(scenario), \(place)")
    }
    if scenario == .deletion, index == 1 {
      #expect(rig.names(disk).allSatisfy { $0 == "lock" || $0 == "ledger" }, "\(scenario), \(place)")
    }
    let store = try rig.archives(disk, found.protection ?? rig.protection)
    let content = Data("goes on".utf8)
    let receipt = try store.publish(content)
    #expect(receipt.durability == .durable)
    try store.append(StoreScenario.frames[0])
    let later = try rig.observe(disk.afterPowerCut(.dropAll))
    #expect(
      later.content == content && later.frames == [StoreScenario.frames[0]] && later.standing == .current,
      "\(scenario), \(place): then \(later)")
    #expect(rig.names(disk, endingWith: ".archive").count <= 3, "\(scenario), \(place): \(rig.names(disk))")
    #expect(rig.names(disk).filter { $0.hasPrefix("aside-") }.isEmpty, "\(scenario), \(place): \(rig.names(disk))")
  }
}
