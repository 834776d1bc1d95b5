import DataProtection
import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// Every way in which restoring can end, and every reason of a launch, is forced by the engine; the compiler checks
/// that none is left out.
@MainActor @Suite struct EveryOutcomeTests {
  @Test(arguments: RestorationOutcome.allCases)
  func `every outcome is reached, and what was preserved is there afterwards`(outcome: RestorationOutcome) async throws
  {
    let bench = Bench()
    if outcome != .nothingPreserved { try await bench.preserve(Screen("root", text: "text")) }
    try await prepare(outcome, bench)
    let before = bench.contents
    #expect(try await bench.launch().restore(into: Screen("root")).outcome == outcome)
    #expect(bench.contents == before)
  }

  private func prepare(_ outcome: RestorationOutcome, _ bench: Bench) async throws {
    func fail(_ code: ProtectionError.Code) { bench.store.state.withLock { $0.failures = ["openNewest": code] } }
    switch outcome {
    case .restored, .nothingPreserved: break
    case .declined: bench.delegate.restores = false
    case .locked: try await bench.lock()
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

  @Test(arguments: RestorationReason.allCases)
  func `every reason of a launch is known before any user interface`(reason: RestorationReason) async throws {
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
