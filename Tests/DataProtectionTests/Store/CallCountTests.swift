import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// What a save costs in calls; a state of one part pays nothing for there being others.
@Suite struct CallCountTests {
  private func count(_ memory: MemoryFileSystem) -> (calls: Int, syncs: Int) {
    let syncs = memory.calls.count { $0.operation == .synchronize || $0.operation == .synchronizeData }
    return (memory.callCount, syncs)
  }

  @Test func `a state of one part costs so many calls, and so many of them sync`() throws {
    let expected: [StoreScenario: (Int, Int)] = [
      .appending: (43, 6), .classChange: (35, 5), .compaction: (33, 4), .deletion: (40, 3), .firstPending: (56, 10),
      .firstSave: (61, 10), .mergingPending: (37, 4), .pending: (30, 4), .pendingAgain: (46, 9), .publishing: (33, 4),
      .resealing: (32, 5), .retiring: (29, 4), .savingAgainWhileLocked: (44, 9), .savingWhileLocked: (30, 4),
      .unchanged: (28, 3),
    ]
    for scenario in StoreScenario.allCases {
      let rig = StoreRig()
      let memory = MemoryFileSystem()
      try scenario.prepare(rig, memory)
      let start = memory.afterPowerCut(.dropAll)
      try scenario.run(rig, start) { _ in }
      #expect(count(start) == expected[scenario] ?? (0, 0), "\(scenario)")
    }
  }

  /// Of a run that has saved before; the first save of a run writes once more what earlier ones have left.
  @Test func `one changed part of three costs as many syncs as a state of one part, and an append no more`() throws {
    func added(_ memory: MemoryFileSystem, _ body: () throws -> Void) rethrows -> (calls: Int, syncs: Int) {
      let before = count(memory)
      try body()
      let after = count(memory)
      return (after.calls - before.calls, after.syncs - before.syncs)
    }
    let content = Data(repeating: 1, count: 5_000)
    let memory = MemoryFileSystem()
    let rig = StoreRig()
    let store = try rig.archives(memory)
    for _ in 0..<3 { try store.publish(content) }
    var newest = try store.publish(content).generation
    let one = try added(memory) { newest = try store.publish(content).generation }
    try store.append(content, to: newest)
    let append = try added(memory) { try store.append(content, to: newest) }
    var receipt = try store.publish([.new(.root, content), .new(.second, content), .new(.third, content)])
    for _ in 0..<3 {
      receipt = try store.publish([.new(.root, content)] + receipt.parts[1...].map { .unchanged($0) })
    }
    let ofThree = try added(memory) {
      receipt = try store.publish([.new(.root, content)] + receipt.parts[1...].map { .unchanged($0) })
    }
    #expect(ofThree.syncs == one.syncs && ofThree.calls <= one.calls, "\(ofThree) \(one)")
    try store.append(content, to: receipt.generation, at: .second, as: .complete)
    let toPart = try added(memory) {
      try store.append(content, to: receipt.generation, at: .second, as: .complete)
    }
    #expect(toPart == append, "\(toPart) \(append)")
    let both = try added(memory) {
      receipt = try store.publish([
        .new(.root, content), .new(.second, content), .unchanged(receipt.parts[2]),
      ])
    }
    // The second file, and the names before the ledger.
    #expect(both.syncs == one.syncs + 2, "\(both) \(one)")
  }
}
