import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// What one attempt with several parts has left, the next one does not take for its own.
@Suite struct PartFaultSequenceTests {
  let rig = StoreRig()

  /// A run has a fault, tries once more with another one, and dies; the next run finds what was acknowledged last, and no two states
  /// mixed.
  @Test(arguments: [PartScenario.both, .secondAlone, .threeParts, .appendingToBoth, .stronger, .split])
  func `two faults in a row leave what was acknowledged, whole`(_ scenario: PartScenario) throws {
    let start = MemoryFileSystem()
    try scenario.prepare(rig, start)
    let trial = start.afterPowerCut(.dropAll)
    try scenario.run(rig, trial) { _ in }
    for first in 1...trial.callCount {
      for second in stride(from: 1, through: 60, by: first % 2 == 0 ? 3 : 2) {
        let memory = start.afterPowerCut(.dropAll)
        let faulty = FaultyFileSystem(memory)
        faulty.fail(call: first, .error(.inputOutput))
        var (before, acknowledged) = (0, 0)
        try? scenario.run(rig, faulty) { before = $0 }
        guard !faulty.hits.isEmpty else { break }
        faulty.fail(call: faulty.callCount + second, .error(.inputOutput))
        let content = PartScenario.text("again")
        if let store = try? rig.archives(faulty, PartPlace.root.protection), (try? store.open()) != nil {
          defer { store.close() }
          if let opened = try? store.openNewestParts() {
            let others = opened.parts.dropFirst().map { PartToPublish.unchanged($0.file) }
            if (try? store.publish([.new(.root, content)] + others).durability) == .durable { acknowledged = 1 }
          }
        }
        for policy in [PowerCutPolicy.dropAll, .keepPrefix(1), .keepPrefix(.max)] {
          let found = try rig.observeParts(memory.afterPowerCut(policy))
          let place = "\(scenario) failed at \(first) and \(second), \(policy): \(found)"
          if acknowledged == 1 {
            #expect(found.parts[.root]?.content == content && found.isClean, "\(place)")
          }
          // The second part is that of one of the states, with the changes that were acknowledged.
          var contents = found.contents
          if contents[.root]?.content == content {
            contents[.root] = nil
            let seconds = scenario.states.map { state in
              var contents = state.contents
              contents[.root] = nil
              return contents
            }
            #expect(seconds[before...].contains(contents), "\(place)")
          } else {
            #expect(scenario.states[before...].contains { $0.contents == contents }, "\(place)")
          }
        }
      }
    }
  }
}
