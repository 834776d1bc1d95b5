import DataProtection
import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// Every way in which restoring can end, and every reason of a launch, is forced by the engine; the compiler checks
/// that none is left out.
@MainActor @Suite struct EveryOutcomeTests {
  @Test(arguments: RestorationReport.Outcome.allCases)
  func `every outcome is reached, and what was preserved is there afterwards`(outcome: RestorationReport.Outcome)
    async throws
  {
    let bench = outcome == .partlyRestored ? try await PartedBench().bench : Bench()
    if outcome != .nothingPreserved { try await bench.preserve(PartedBench.window(list: "list", note: "note")) }
    try await prepare(outcome, bench)
    let before = preserved(bench)
    #expect(try await bench.launch().restore(into: Screen("root")).outcome == outcome)
    #expect(preserved(bench) == before)
  }

  /// What the disk has but for the note that restoring has begun.
  private func preserved(_ bench: Bench) -> [String: [UInt8]] { bench.contents.filter { !$0.key.hasSuffix("/marker") } }

  private func prepare(_ outcome: RestorationReport.Outcome, _ bench: Bench) async throws {
    func fail(_ code: ProtectionError.Code) { bench.store.state.withLock { $0.failures = ["openNewest": code] } }
    switch outcome {
    case .restored, .nothingPreserved: break
    case .declined: bench.delegate.restores = false
    case .locked, .partlyRestored: try await bench.lock()
    case .damaged: fail(.corrupt)
    case .otherDevice: fail(.otherDevice)
    case .keysMissing: fail(.keysMissing)
    case .newerVersion: bench.configuration.schemaVersion = 0
    case .expired:
      bench.configuration.maximumAge = .seconds(1)
      bench.time += 2
    case .rolledBack: fail(.rolledBack)
    case .missing: fail(.missing)
    case .givenUpAfterCrashes: for _ in 0..<4 { try await bench.die(at: nil) }
    case .unavailable: fail(.io)
    }
  }

  @Test(arguments: RestorationReport.Reason.allCases)
  func `every reason of a launch is known before any user interface`(reason: RestorationReport.Reason) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("child", text: "text")]))
    switch reason {
    case .normal: break
    case .afterCrash: try await bench.die(at: ["root", "child"])
    case .afterUpdate: bench.configuration.applicationVersion = "2.0"
    case .olderGeneration: bench.store.state.withLock { $0.standing = .olderGeneration(because: .corrupt) }
    case .deferredUntilUnlock: try await bench.lock()
    }
    #expect(await bench.launch().prepare() == reason)
  }
}
