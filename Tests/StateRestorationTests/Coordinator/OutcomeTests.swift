import DataProtection
import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// Outcomes that must never be confused, and what a save may do after each.
@MainActor @Suite struct OutcomeTests {
  nonisolated static let outcomes: [(ProtectionError.Code, RestorationReport.Outcome)] = [
    (.notFound, .nothingPreserved), (.locked, .locked), (.missing, .missing), (.corrupt, .damaged),
    (.wrongIdentity, .damaged), (.wrongClass, .damaged), (.otherDevice, .otherDevice), (.keysMissing, .keysMissing),
    (.rolledBack, .rolledBack), (.unsupportedVersion, .newerVersion), (.busy, .unavailable), (.io, .unavailable),
  ]

  @Test(arguments: outcomes.indices)
  func `every outcome of opening is told apart`(index: Int) async throws {
    let (code, outcome) = Self.outcomes[index]
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "kept"))
    bench.store.state.withLock { $0.failures = ["openNewest": code] }
    let root = Screen("root")
    let report = try await bench.launch().restore(into: root)
    #expect(report.outcome == outcome)
    #expect(root.text.isEmpty)
    #expect(report.source == nil)
  }

  @Test(arguments: [ProtectionError.Code.io, .busy])
  func `a state that could not be reached is not written over`(code: ProtectionError.Code) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "kept", children: [Screen("a", text: "a")]))
    let coordinator = bench.launch()
    bench.store.state.withLock { $0.failures = ["openNewest": code] }
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    await #expect(throws: RestorationError.self) { try await coordinator.preserve(root) }
    bench.store.state.withLock { $0.failures = [:] }
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [Screen("a")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "a")
  }

  @Test func `bytes that are no archive are damaged, never a trap`() async throws {
    let bench = Bench()
    bench.store.state.withLock { $0.generations = [.init(number: 1, base: Data("not an archive".utf8))] }
    let report = try await bench.launch().restore(into: Screen("root"))
    #expect(report.outcome == .damaged)
  }

  @Test func `state older than the age limit is not restored`() async throws {
    let bench = Bench()
    bench.configuration.maximumAge = .seconds(3600)
    try await bench.preserve(Screen("root", text: "old"))
    bench.time += 3599
    let fresh = Screen("root")
    #expect(try await bench.launch().restore(into: fresh).outcome == .restored)
    bench.time += 2
    #expect(try await bench.launch().restore(into: Screen("root")).outcome == .expired)
  }

  @Test func `an older generation that stands in is reported`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "older"))
    bench.store.state.withLock { $0.standing = .olderGeneration(because: .corrupt) }
    let coordinator = bench.launch()
    #expect(await coordinator.prepare() == .olderGeneration)
    let report = try await coordinator.restore(into: Screen("root"))
    #expect(report.reason == .olderGeneration)
    #expect(report.remarks == [.olderGeneration("the newest is corrupt")])
  }

  @Test(arguments: StoreKind.allCases)
  func `asking for an older generation where there is none changes nothing`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "only", children: [Screen("hidden", text: "kept")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    let report = try await coordinator.restore(into: root, from: .olderGeneration)
    #expect(report.outcome == .nothingPreserved)
    #expect(report.reason == .normal)
    _ = try await coordinator.restore(into: root)
    #expect(root.text == "only")
    root.text = "changed"
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [Screen("hidden")])
    _ = try await bench.launch().restore(into: again)
    #expect(again["hidden"]?.text == "kept")
  }

  @Test func `a lost ledger and a torn tail are remarked`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root"))
    bench.store.state.withLock { state in
      state.standing = .rollbackUnverifiable
      state.tailDropped = 12
    }
    let report = try await bench.launch().restore(into: Screen("root"))
    #expect(report.remarks == [.rollbackUnverifiable, .tailDropped(bytes: 12)])
  }

  @Test func `a second restoration during one is refused`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root"))
    let coordinator = bench.launch()
    let root = Screen("root")
    let held = bench.store.hold(at: "openNewest")
    async let first = coordinator.restore(into: root)
    try await held.arrived()
    let error = await #expect(throws: RestorationError.self) { try await coordinator.restore(into: root) }
    #expect(error?.code == .restorationInProgress)
    held.release()
    #expect(try await first.outcome == .restored)
  }
}
