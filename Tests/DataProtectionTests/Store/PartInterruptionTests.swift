import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// Every call of every scenario with several parts fails, and the power goes after every call.
@Suite struct PartInterruptionTests {
  @Test(arguments: PartScenario.allCases)
  func `without interruption the last state is reached and found`(_ scenario: PartScenario) throws {
    let script = try Interruptions(scenario)
    let names = script.rig.generations(try script.runWhole().afterPowerCut(.dropAll))
    switch scenario {
    case .stronger: #expect(names.count == 2, "nothing is left that a weaker class protects: \(names)")
    case .resealing: #expect(names.count == 2, "nothing is left under the old keys: \(names)")
    case .joined: #expect(names.count == 1, "no other class is left: \(names)")
    default: #expect(names.count <= 6)
    }
  }

  @Test(arguments: PartScenario.allCases)
  func `a power cut after any call leaves the old or the new state, whole`(_ scenario: PartScenario) throws {
    let script = try Interruptions(scenario)
    try script.cutPowerAnywhere { try check(scenario, script.rig, $0, $1, $2) }
  }

  @Test(arguments: PartScenario.allCases, FaultKind.allCases)
  func `a fault in any call leaves the old or the new state, whole`(
    _ scenario: PartScenario, _ kind: FaultKind
  ) throws {
    let script = try Interruptions(scenario)
    try script.failAnywhere(kind, throwing: [.io, .durabilityUnknown, .superseded]) {
      try check(scenario, script.rig, $0, $1, $2)
    }
  }

  @Test(arguments: PartScenario.allCases)
  func `a disk that stays full or broken leaves the old or the new state, whole`(_ scenario: PartScenario) throws {
    let script = try Interruptions(scenario)
    try script.failFromAnywhere { try check(scenario, script.rig, $0, $1, $2) }
  }

  /// A run is killed after any call, or has any call fail and dies; the next one acknowledges something; then the power goes.
  @Test(arguments: PartScenario.allCases, NextRun.allCases)
  func `what the next run acknowledges after a death or a fault survives a power cut`(
    _ scenario: PartScenario, _ next: NextRun
  ) throws {
    let script = try Interruptions(scenario)
    try script.dieAnywhere { try check(next, script.rig, $0, $1) }
  }

  /// The same, with a fault in each call of the next run.
  @Test(arguments: [PartScenario.both, .appendingToBoth, .rootAlone], NextRun.allCases)
  func `a fault in the next run leaves what was acknowledged`(_ scenario: PartScenario, _ next: NextRun) throws {
    let script = try Interruptions(scenario)
    try script.failAfterDeath(after: try script.cutPoints(), next) { promised, disk, place in
      let found = try script.rig.observeParts(disk)
      #expect(found.contents == promised, "\(place): \(found) for \(promised)")
    }
  }

  /// What the run after a death does.
  enum NextRun: String, CaseIterable, NextScript, CustomTestStringConvertible {
    case saysUnchanged, appendsToTheLast, publishesTheRoot, publishesAllWhileLocked

    var testDescription: String { rawValue }

    func run(_ rig: StoreRig, _ fileSystem: any FileSystem) throws -> [PartPlace: PartsState.Part]? {
      let store = try rig.archives(fileSystem, PartPlace.root.protection)
      try store.open()
      defer { store.close() }
      guard let opened = try? store.openNewestParts(), let last = opened.parts.last else { return nil }
      let files = opened.parts.map(\.file)
      var state = try StoreRig.describe(opened).contents
      switch self {
      case .saysUnchanged:
        try store.requireDurable()
      case .appendsToTheLast:
        guard
          let receipt = try store.append(
            Data("next".utf8), to: opened.generation, at: last.place, as: last.protection),
          receipt.durability == .durable
        else { return nil }
        state[last.place]!.frames.append(Data("next".utf8))
      case .publishesTheRoot:
        let receipt = try store.publish(
          [.new(.root, PartScenario.text("next"))] + files.dropFirst().map { .unchanged($0) })
        guard receipt.durability == .durable else { return nil }
        state[.root] = PartsState.Part(content: PartScenario.text("next"))
      case .publishesAllWhileLocked:
        rig.sealing.lock()
        defer { rig.sealing.unlock() }
        let receipt = try store.publish(files.map { .new($0.place, PartScenario.text("next")) })
        guard receipt.durability == .durable else { return nil }
        for file in files { state[file.place] = PartsState.Part(content: PartScenario.text("next")) }
      }
      return state
    }
  }

  private func check(_ next: NextRun, _ rig: StoreRig, _ memory: MemoryFileSystem, _ place: String) throws {
    guard let promised = try next.run(rig, memory) else { return }
    for policy in memory.powerCutPolicies {
      let found = try rig.observeParts(memory.afterPowerCut(policy))
      #expect(
        found.contents == promised, "\(place), then \(next), then \(policy): \(found) for \(promised)")
    }
  }

  /// What a new process finds is one of the states from the last acknowledged one on, never parts of two of them; and saving goes on
  /// from there.
  private func check(
    _ scenario: PartScenario, _ rig: StoreRig, _ disk: MemoryFileSystem, _ acknowledged: Int, _ place: String
  ) throws {
    let found: PartsState
    do {
      found = try rig.observeParts(disk)
    } catch {
      Issue.record("\(scenario), \(place): \(error)")
      return
    }
    let states = scenario.states
    let isFound = states[acknowledged...].contains(found)
    // A ledger whose files were lost names a save that nobody was told of: older files stand in, and say so.
    let standsIn =
      acknowledged < states.count - 1 && found.isCutShort
      && states[acknowledged...].contains { $0.contents == found.contents }
    guard isFound || standsIn else {
      Issue.record("\(scenario), \(place): found \(found), acknowledged \(acknowledged)")
      return
    }
    let store = try rig.archives(disk, PartPlace.root.protection)
    var parts: [PartToPublish] = [.new(.root, Data("goes on".utf8))]
    var expected = [PartPlace.root: PartsState.Part(content: Data("goes on".utf8))]
    try store.open()
    if let opened = try? store.openNewestParts(), let second = opened[.second], let archive = second.archive {
      parts.append(.unchanged(second.file))
      expected[.second] = PartsState.Part(content: try archive.readAll(), frames: archive.frames)
    } else {
      parts.append(.new(.second, Data("there".utf8)))
      expected[.second] = PartsState.Part(content: Data("there".utf8))
    }
    let receipt = try store.publish(parts)
    #expect(receipt.durability == .durable)
    let appended = try store.append(Data("more".utf8), to: receipt.generation, at: .root, as: PartPlace.root.protection)
    #expect(appended?.durability == .durable)
    expected[.root]!.frames = [Data("more".utf8)]
    store.close()
    let later = try rig.observeParts(disk.afterPowerCut(.dropAll))
    #expect(later.contents == expected && later.isClean, "\(scenario), \(place): then \(later)")
    #expect(rig.generations(disk).count <= 8, "\(scenario), \(place): \(rig.names(disk))")
  }
}

extension PartScenario: StoreScript {
  static func observe(_ rig: StoreRig, _ disk: MemoryFileSystem) throws -> PartsState { try rig.observeParts(disk) }
}
