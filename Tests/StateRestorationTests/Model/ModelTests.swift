import Foundation
import SeededRandom
import StateRestoration
import Testing

/// Random hierarchies and operations over a protected device, against a model that imports nothing of the engine.
///
/// `MODEL_SEEDS=1000` tries so many scripts instead of the usual ones, `MODEL_FIRST` says with which to begin, and
/// `MODEL_LENGTH` how many steps each has.
@MainActor @Suite struct ModelTests {
  nonisolated private static func setting(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  nonisolated static let length = setting("MODEL_LENGTH", 120)

  nonisolated static let numbers: Range<Int> = {
    let first = setting("MODEL_FIRST", 1)
    return first..<first + setting("MODEL_SEEDS", 40)
  }()

  @Test(arguments: numbers) func `random operations agree with a simple model`(number: Int) async {
    // Mixed: neighbouring states of the generator give one and the same sequence, shifted by a step.
    var mixer = SplitMix64(seed: UInt64(number))
    let steps = ModelStep.script(seed: mixer.next(), length: Self.length)
    guard await ModelRunner.difference(steps) != nil else { return }
    let short = await Self.shrink(steps)
    let difference = await ModelRunner.difference(short) ?? "gone"
    Issue.record("number \(number): \(difference)\n[\(short.map(\.description).joined(separator: ", "))]")
  }

  /// Takes steps out for as long as what is left still fails.
  static func shrink(_ steps: [ModelStep]) async -> [ModelStep] {
    var steps = steps
    var chunk = steps.count / 2
    while chunk > 0 {
      var start = 0
      while start < steps.count {
        var shorter = steps
        shorter.removeSubrange(start..<min(start + chunk, steps.count))
        if await ModelRunner.difference(shorter) != nil { steps = shorter } else { start += chunk }
      }
      chunk /= 2
    }
    return steps
  }

  @Test(arguments: StoreKind.allCases)
  func `a presented controller that was away in one run is presented again in the next`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let root = Page.make("root", version: 1)
    root.present(Page.make("sheet", version: 1))
    try await bench.preserve(root)
    let coordinator = bench.launch()
    let without = Page.make("root", version: 1)
    _ = try await coordinator.restore(into: without)
    without.value = 5
    _ = try await coordinator.preserve(without)
    bench.delegate.make = { path, _ in path.last == "sheet" ? Page.make("sheet", version: 1) : nil }
    let again = Page.make("root", version: 1)
    _ = try await bench.launch().restore(into: again)
    #expect(again.summary == "root=5(^sheet=0)")
  }
}
