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
    if scenario == .classChange || scenario == .resealing {
      #expect(rig.generations(memory.afterPowerCut(.dropAll)).count == 1, "nothing is left under the old class or key")
    }
  }

  @Test(arguments: StoreScenario.allCases)
  func `a power cut after any call leaves the old or the new state, whole`(_ scenario: StoreScenario) throws {
    let (rig, start) = try prepared(scenario)
    for call in try cutPoints(scenario, rig, start) {
      let memory = start.afterPowerCut(.dropAll)
      memory.cutPower(afterCall: call)
      let acknowledged = run(scenario, rig, memory)
      #expect(memory.unsynchronizedCount <= PowerCutPolicy.exhaustiveCount, "any subset is tried")
      for policy in memory.powerCutPolicies {
        try check(scenario, rig, memory.afterPowerCut(policy), acknowledged, "cut after \(call), \(policy)")
      }
      try check(scenario, rig, memory.afterProcessDeath(), acknowledged, "killed after \(call)")
    }
  }

  @Test(arguments: StoreScenario.allCases, FaultKind.allCases)
  func `a fault in any call leaves the old or the new state, whole`(
    _ scenario: StoreScenario, _ kind: FaultKind
  ) throws {
    let (rig, start) = try prepared(scenario)
    for call in 1...(try countCalls(scenario, rig, start)) {
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
    for call in 1...(try countCalls(scenario, rig, start)) {
      for operations in [[.write, .allocate], [.synchronize, .synchronizeData]] as [Set<FileSystemError.Operation>] {
        let memory = start.afterPowerCut(.dropAll)
        let faulty = FaultyFileSystem(memory)
        faulty.fail(from: call, operations, .error(operations.contains(.write) ? .noSpace : .inputOutput))
        let acknowledged = run(scenario, rig, faulty)
        let place = "\(operations) from \(call)"
        try check(scenario, rig, memory.afterProcessDeath(), acknowledged, place)
        try check(scenario, rig, memory.afterPowerCut(.dropAll), acknowledged, place + ", then a power cut")
      }
    }
  }

  /// A run is killed after any call, or has any call fail and dies; the next one finds something and acknowledges that it is
  /// unchanged, or builds on it; then the power goes.
  @Test(arguments: StoreScenario.allCases, NextRun.allCases)
  func `what the next run acknowledges after a death or a fault survives a power cut`(
    _ scenario: StoreScenario, _ next: NextRun
  ) throws {
    let (rig, start) = try prepared(scenario)
    for call in 1...(try countCalls(scenario, rig, start)) {
      let killed = start.afterPowerCut(.dropAll)
      killed.cutPower(afterCall: call)
      _ = run(scenario, rig, killed)
      try check(next, rig, killed.afterProcessDeath(), "\(scenario) killed after \(call)")
      let failed = start.afterPowerCut(.dropAll)
      let faulty = FaultyFileSystem(failed)
      faulty.fail(call: call, .error(.inputOutput))
      _ = run(scenario, rig, faulty)
      try check(next, rig, failed.afterProcessDeath(), "\(scenario) failed at \(call) \(faulty.hits)")
    }
  }

  /// The same, with a fault in each call of the next run.
  @Test(arguments: [StoreScenario.appending, .publishing, .pending], NextRun.allCases)
  func `a fault in the next run leaves what was acknowledged`(_ scenario: StoreScenario, _ next: NextRun) throws {
    let (rig, start) = try prepared(scenario)
    for call in 1...(try countCalls(scenario, rig, start)) {
      let killed = start.afterPowerCut(.dropAll)
      killed.cutPower(afterCall: call)
      _ = run(scenario, rig, killed)
      let trial = killed.afterProcessDeath()
      _ = try next.run(rig, trial)
      for second in 1...trial.callCount {
        let memory = killed.afterProcessDeath()
        let faulty = FaultyFileSystem(memory)
        faulty.fail(call: second, .error(.inputOutput))
        guard let promised = try? next.run(rig, faulty) else { continue }
        for policy in memory.powerCutPolicies {
          let found = try rig.observe(memory.afterPowerCut(policy))
          #expect(
            found.content == promised.content && found.frames == promised.frames,
            "\(scenario) killed after \(call), \(next) failed at \(second): \(found) for \(promised)")
        }
      }
    }
  }

  /// What the run after a death does.
  enum NextRun: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case saysUnchanged, appends, publishes, savesPending

    var testDescription: String { rawValue }

    /// Runs as a new process; returns what it was told is durable, nil when that is nothing.
    func run(_ rig: StoreRig, _ fileSystem: any FileSystem) throws -> StoreState? {
      let store = try rig.archives(fileSystem)
      try store.open()
      defer { store.close() }
      guard let opened = try? store.openNewest() else { return nil }
      let content = try opened.readAll()
      var state = StoreState.saved(content, opened.frames)
      switch self {
      case .saysUnchanged:
        try store.requireDurable()
      case .appends:
        guard let receipt = try store.append(Data("next".utf8), to: opened.generation), receipt.durability == .durable
        else { return nil }
        state.frames.append(Data("next".utf8))
      case .publishes:
        guard try store.publish(StoreScenario.later).durability == .durable else { return nil }
        state = .saved(StoreScenario.later)
      case .savesPending:
        rig.sealing.lock()
        defer { rig.sealing.unlock() }
        guard try store.publishPending(Data("pending".utf8)).durability == .durable else { return nil }
      }
      return state
    }
  }

  private func check(_ next: NextRun, _ rig: StoreRig, _ memory: MemoryFileSystem, _ place: String) throws {
    guard let promised = try next.run(rig, memory) else { return }
    for policy in memory.powerCutPolicies {
      let found = try rig.observe(memory.afterPowerCut(policy))
      #expect(
        found.content == promised.content && found.frames == promised.frames && found.standing == .current,
        "\(place), then \(next), then \(policy): \(found) for \(promised)")
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

  /// Runs a scenario to its end or its death; returns which state was acknowledged last.
  private func run(_ scenario: StoreScenario, _ rig: StoreRig, _ fileSystem: any FileSystem) -> Int {
    var acknowledged = 0
    try? scenario.run(rig, fileSystem) { acknowledged = $0 }
    return acknowledged
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

  /// What a new process finds is one of the states from the last acknowledged one on; and saving goes on from there.
  private func check(
    _ scenario: StoreScenario, _ rig: StoreRig, _ disk: MemoryFileSystem, _ acknowledged: Int, _ place: String
  ) throws {
    var found: StoreState
    do {
      found = try rig.observe(disk)
    } catch {
      Issue.record("\(scenario), \(place): \(error)")
      return
    }
    let states = scenario.states
    // What an append that was cut short has left is reported.
    if acknowledged < states.count - 1 || scenario == .unchanged { found.tailDropped = 0 }
    let isFound = states[acknowledged...].contains(found)
    // A ledger whose generation was lost names a save that nobody was told of: the one before stands in, and says so.
    let standsIn =
      acknowledged < states.count - 1 && found.standing == .olderGeneration(because: .missing)
      && states[acknowledged...].contains { $0.content == found.content && $0.frames == found.frames }
    guard isFound || standsIn else {
      Issue.record("\(scenario), \(place): found \(found), acknowledged \(acknowledged)")
      return
    }
    if scenario == .deletion, acknowledged == 1 { #expect(rig.names(disk).isEmpty, "\(scenario), \(place)") }
    let store = try rig.archives(disk)
    let content = Data("goes on".utf8)
    let receipt = try store.publish(content)
    #expect(receipt.durability == .durable)
    #expect(try store.append(StoreScenario.frames[0], to: receipt.generation)?.durability == .durable)
    store.close()
    let later = try rig.observe(disk.afterPowerCut(.dropAll))
    #expect(
      later.content == content && later.frames == [StoreScenario.frames[0]] && later.standing == .current,
      "\(scenario), \(place): then \(later)")
    #expect(rig.generations(disk).count <= 2 + later.setAsideCount, "\(scenario), \(place): \(rig.names(disk))")
    #expect(later.setAsideCount <= (scenario == .retiring ? 1 : 0), "\(scenario), \(place): \(later)")
  }
}
