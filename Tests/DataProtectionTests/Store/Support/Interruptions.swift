import FaultyFileSystem
import FileSystem
import Testing

@testable import DataProtection

/// What a program does with a store, and the states that it goes through: to be cut short anywhere.
protocol StoreScript: Sendable {
  /// What a new process finds.
  associatedtype Found: Equatable, Sendable
  /// What the program has reached, in order; the first was there before.
  var states: [Found] { get }
  /// Makes the first state.
  func prepare(_ rig: StoreRig, _ memory: MemoryFileSystem) throws
  /// Runs as a new process, and says which state was acknowledged.
  func run(_ rig: StoreRig, _ fileSystem: any FileSystem, reached: (Int) -> Void) throws(ProtectionError)
  /// What a new process finds on a disk.
  static func observe(_ rig: StoreRig, _ disk: MemoryFileSystem) throws -> Found
}

/// What the run after a death does, and what it was told is durable.
protocol NextScript: Sendable {
  associatedtype Promise: Sendable
  /// Runs as a new process; returns what it was told is durable, nil when that is nothing.
  func run(_ rig: StoreRig, _ fileSystem: any FileSystem) throws -> Promise?
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

/// A script, ready to be run as often as wanted, and cut short in every place.
struct Interruptions<Script: StoreScript> {
  let script: Script
  let rig = StoreRig()
  private let start: MemoryFileSystem

  /// Makes the script's first state, and sees that it is there.
  init(_ script: Script) throws {
    self.script = script
    let memory = MemoryFileSystem()
    try script.prepare(rig, memory)
    start = memory.afterPowerCut(.dropAll)
    #expect(try Script.observe(rig, start.afterProcessDeath()) == script.states.first)
  }

  /// The disk as it is before the script.
  var disk: MemoryFileSystem { start.afterPowerCut(.dropAll) }

  /// The calls of the script after which a power cut is another one.
  func cutPoints() throws -> [Int] { try wholeRun().cutPoints(after: 0) }

  /// The calls of the script.
  func calls() throws -> ClosedRange<Int> { 1...(try wholeRun().callCount) }

  private func wholeRun() throws -> MemoryFileSystem {
    let memory = disk
    try script.run(rig, memory) { _ in }
    return memory
  }

  /// Runs the script to its end or its death; returns which state was acknowledged last.
  private func run(_ fileSystem: any FileSystem) -> Int {
    var acknowledged = 0
    try? script.run(rig, fileSystem) { acknowledged = $0 }
    return acknowledged
  }

  /// Nothing goes wrong.
  func runWhole() throws -> MemoryFileSystem {
    let memory = disk
    var acknowledged = 0
    try script.run(rig, memory) { acknowledged = $0 }
    #expect(acknowledged == script.states.count - 1)
    #expect(try Script.observe(rig, memory.afterProcessDeath()) == script.states.last)
    #expect(try Script.observe(rig, memory.afterPowerCut(.dropAll)) == script.states.last)
    return memory
  }

  /// The power goes, or the process dies, after any call.
  ///
  /// - Parameter check: Is given what is on the disk then, the state that was acknowledged last, and where that was.
  func cutPowerAnywhere(_ check: (MemoryFileSystem, Int, String) throws -> Void) throws {
    for call in try cutPoints() {
      let memory = disk
      memory.cutPower(afterCall: call)
      let acknowledged = run(memory)
      #expect(memory.unsynchronizedCount <= PowerCutPolicy.exhaustiveCount, "any subset is tried")
      for policy in memory.powerCutPolicies {
        try check(memory.afterPowerCut(policy), acknowledged, "cut after \(call), \(policy)")
      }
      try check(memory.afterProcessDeath(), acknowledged, "killed after \(call)")
    }
  }

  /// Any call fails once.
  ///
  /// - Parameter codes: What the script may throw then.
  func failAnywhere(
    _ kind: FaultKind, throwing codes: [ProtectionError.Code], _ check: (MemoryFileSystem, Int, String) throws -> Void
  ) throws {
    for call in try calls() {
      let memory = disk
      let faulty = FaultyFileSystem(memory)
      faulty.fail(call: call, kind.fault)
      var acknowledged = 0
      do throws(ProtectionError) {
        try script.run(rig, faulty) { acknowledged = $0 }
      } catch {
        #expect(codes.contains(error.code), "\(script) \(call) \(error)")
      }
      let place = "\(kind) at \(call) \(faulty.hits)"
      if kind == .interrupted || kind == .shortWrite {
        #expect(acknowledged == script.states.count - 1, "neither is a failure: \(script) \(place)")
      }
      try check(memory.afterProcessDeath(), acknowledged, place)
      try check(memory.afterPowerCut(.dropAll), acknowledged, place + ", then a power cut")
    }
  }

  /// From any call on the disk is full, or can't be synced.
  func failFromAnywhere(_ check: (MemoryFileSystem, Int, String) throws -> Void) throws {
    for call in try calls() {
      for operations in [[.write, .allocate], [.synchronize, .synchronizeData]] as [Set<FileSystemError.Operation>] {
        let memory = disk
        let faulty = FaultyFileSystem(memory)
        faulty.fail(from: call, operations, .error(operations.contains(.write) ? .noSpace : .inputOutput))
        let acknowledged = run(faulty)
        let place = "\(operations) from \(call)"
        try check(memory.afterProcessDeath(), acknowledged, place)
        try check(memory.afterPowerCut(.dropAll), acknowledged, place + ", then a power cut")
      }
    }
  }

  /// A run is killed after any call, or has any call fail and dies.
  ///
  /// - Parameter check: Is given what the next process finds, and where the run has died.
  func dieAnywhere(_ check: (MemoryFileSystem, String) throws -> Void) throws {
    for call in try calls() {
      try check(killed(after: call).afterProcessDeath(), "\(script) killed after \(call)")
      let failed = disk
      let faulty = FaultyFileSystem(failed)
      faulty.fail(call: call, .error(.inputOutput))
      _ = run(faulty)
      try check(failed.afterProcessDeath(), "\(script) failed at \(call) \(faulty.hits)")
    }
  }

  /// A run is killed after any of these calls, and then each call of the next run fails.
  ///
  /// - Parameter check: Is given what the next run was told is durable, the disk after a power cut, and where all that was.
  func failAfterDeath<Next: NextScript>(
    after calls: some Sequence<Int>, _ next: Next, _ check: (Next.Promise, MemoryFileSystem, String) throws -> Void
  ) throws {
    for call in calls {
      let killed = killed(after: call)
      let trial = killed.afterProcessDeath()
      _ = try next.run(rig, trial)
      for second in 1...trial.callCount {
        let memory = killed.afterProcessDeath()
        let faulty = FaultyFileSystem(memory)
        faulty.fail(call: second, .error(.inputOutput))
        guard let promised = try? next.run(rig, faulty) else { continue }
        for policy in memory.powerCutPolicies {
          try check(
            promised, memory.afterPowerCut(policy), "\(script) killed after \(call), \(next) failed at \(second)")
        }
      }
    }
  }

  private func killed(after call: Int) -> MemoryFileSystem {
    let memory = disk
    memory.cutPower(afterCall: call)
    _ = run(memory)
    return memory
  }
}
