import FoundationEssentials
import StateRestorationTesting
import Testing

@testable import StateRestoration

/// A program that ends in order has not crashed, whatever restoring was about to do; one that dies again and again in a late
/// extension has.
@MainActor @Suite struct OrderlyEndTests {
  private func preservedTwice(_ kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "older"))
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    root.text = "newest"
    try bench.requireWhole()
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    try await bench.kill()
    return bench
  }

  @Test(arguments: StoreKind.allCases)
  func `an end that is announced during an extension is no crash`(on kind: StoreKind) async throws {
    let bench = try await preservedTwice(kind)
    for run in 0..<4 {
      let root = Screen("root")
      let coordinator = bench.launch()
      root.onFinish = { coordinator.extendStateRestoration() }
      let report = try await coordinator.restore(into: root)
      #expect(report.reason == .normal, "run \(run): \(report)")
      #expect(root.text == "newest")
      coordinator.announceEnd()
      try await bench.kill()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is edited during an extension and saved outlives an announced end`(on kind: StoreKind) async throws {
    let bench = try await preservedTwice(kind)
    for run in 0..<4 {
      let root = Screen("root")
      let coordinator = bench.launch()
      root.onFinish = { coordinator.extendStateRestoration() }
      _ = try await coordinator.restore(into: root)
      #expect(root.text == (run == 0 ? "newest" : "run \(run - 1)"))
      root.text = "run \(run)"
      _ = try await coordinator.preserve(root)
      coordinator.announceEnd()
      try await bench.kill()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `deaths in an extension that begins after restoring are counted from run to run`(on kind: StoreKind) async throws
  {
    let bench = try await preservedTwice(kind)
    for run in 0..<2 {
      let root = Screen("root")
      let coordinator = bench.launch()
      let report = try await coordinator.restore(into: root)
      #expect(report.remarks.contains(.interruptedBefore(attempts: run)) == (run > 0), "run \(run): \(report)")
      coordinator.extendStateRestoration()
      await coordinator.worker.run { _ in }
      try await bench.kill()
    }
    let root = Screen("root")
    #expect(try await bench.launch().restore(into: root).reason == .olderGeneration)
    #expect(root.text == "older")
  }

  @Test(arguments: StoreKind.allCases)
  func `an extension that is completed forgets the deaths of earlier ones`(on kind: StoreKind) async throws {
    let bench = try await preservedTwice(kind)
    for run in 0..<6 {
      let root = Screen("root")
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      #expect(root.text == "newest", "run \(run)")
      coordinator.extendStateRestoration()
      await coordinator.worker.run { _ in }
      if run % 2 == 1 { coordinator.completeStateRestoration() }
      try await bench.kill()
    }
  }
}
