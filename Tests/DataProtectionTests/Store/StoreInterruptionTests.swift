import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// Every call of every scenario fails, and the power goes after every call.
@Suite struct StoreInterruptionTests {
  @Test(arguments: StoreScenario.allCases)
  func `without interruption the last state is reached and found`(_ scenario: StoreScenario) throws {
    let script = try Interruptions(scenario)
    let memory = try script.runWhole()
    if scenario == .classChange || scenario == .resealing {
      let names = script.rig.generations(memory.afterPowerCut(.dropAll))
      #expect(names.count == 1, "nothing is left under the old class or key")
    }
  }

  @Test(arguments: StoreScenario.allCases)
  func `a power cut after any call leaves the old or the new state, whole`(_ scenario: StoreScenario) throws {
    let script = try Interruptions(scenario)
    try script.cutPowerAnywhere { try check(scenario, script.rig, $0, $1, $2) }
  }

  @Test(arguments: StoreScenario.allCases, FaultKind.allCases)
  func `a fault in any call leaves the old or the new state, whole`(
    _ scenario: StoreScenario, _ kind: FaultKind
  ) throws {
    let script = try Interruptions(scenario)
    try script.failAnywhere(kind, throwing: [.io, .durabilityUnknown]) { try check(scenario, script.rig, $0, $1, $2) }
  }

  @Test(arguments: StoreScenario.allCases)
  func `a disk that stays full or broken leaves the old or the new state, whole`(_ scenario: StoreScenario) throws {
    let script = try Interruptions(scenario)
    try script.failFromAnywhere { try check(scenario, script.rig, $0, $1, $2) }
  }

  /// A run is killed after any call, or has any call fail and dies; the next one finds something and acknowledges that it is
  /// unchanged, or builds on it; then the power goes.
  @Test(arguments: StoreScenario.allCases, NextRun.allCases)
  func `what the next run acknowledges after a death or a fault survives a power cut`(
    _ scenario: StoreScenario, _ next: NextRun
  ) throws {
    let script = try Interruptions(scenario)
    try script.dieAnywhere { try check(next, script.rig, $0, $1) }
  }

  /// The same, with a fault in each call of the next run.
  @Test(arguments: [StoreScenario.appending, .publishing, .pending], NextRun.allCases)
  func `a fault in the next run leaves what was acknowledged`(_ scenario: StoreScenario, _ next: NextRun) throws {
    let script = try Interruptions(scenario)
    try script.failAfterDeath(after: try script.calls(), next) { promised, disk, place in
      let found = try script.rig.observe(disk)
      #expect(
        found.content == promised.content && found.frames == promised.frames, "\(place): \(found) for \(promised)")
    }
  }

  /// What the run after a death does.
  enum NextRun: String, CaseIterable, NextScript, CustomTestStringConvertible {
    case saysUnchanged, appends, publishes, savesPending

    var testDescription: String { rawValue }

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

extension StoreScenario: StoreScript {
  static func observe(_ rig: StoreRig, _ disk: MemoryFileSystem) throws -> StoreState { try rig.observe(disk) }
}
