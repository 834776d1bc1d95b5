import StateRestoration
import Testing

/// What restoring the newest state died at is known although the older generation was asked for since.
@MainActor @Suite struct DeathsBehindRequestsTests {
  private let journal = Journal()

  private func hierarchy() -> (root: Screen, bad: Panel, good: Panel) {
    let (bad, good) = (Panel("bad", journal: journal), Panel("good"))
    return (Screen("root", children: [bad, good]), bad, good)
  }

  /// A launch at which the user asks for the older generation first, and looks at it.
  private func lookAtOlder(on bench: Bench) async throws {
    let older = hierarchy()
    let report = try await bench.launch().restore(into: older.root, from: .olderGeneration)
    #expect(report.outcome == .restored && report.leftOut.isEmpty)
    try await bench.kill()
  }

  @Test(arguments: StoreKind.allCases)
  func `a node that the newest died at is left out of it, and two deaths are asked about`(on kind: StoreKind)
    async throws
  {
    let bench = try await Bench(kind)
    try await bench.preserveTwice(hierarchy)
    bench.delegate.crashDecision = .tryAgain
    for _ in 1...2 {
      try await bench.die(restoring: hierarchy().root, at: "decode bad", of: journal)
      try await lookAtOlder(on: bench)
      let next = hierarchy()
      #expect(try await bench.launch().restore(into: next.root).leftOut == [["root", "bad"]])
      #expect([next.bad.value, next.good.value] == [0, 2])
      #expect(bench.delegate.histories.isEmpty)
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: next.root, retriesLeftOut: true)
      next.bad.value += 1
      _ = try await coordinator.preserve(next.root)
      try await bench.kill()
    }
    // Outside any node, and with a look in between each time.
    for death in 0...2 {
      #expect(bench.delegate.histories.map(\.failedAttempts) == (death < 2 ? [] : [2]))
      try await bench.die(at: nil)
      try await lookAtOlder(on: bench)
      if death == 1 { _ = try await bench.launch().restore(into: hierarchy().root) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what was typed while locked and is died at is left out after a look at the older generation`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserveTwice(hierarchy)
    let typing = hierarchy()
    try await bench.typeWhileLocked(into: typing.root) { typing.bad.value = 3 }
    try await bench.die(restoring: hierarchy().root, at: "decode bad", of: journal)
    try await lookAtOlder(on: bench)
    let next = hierarchy()
    #expect(try await bench.launch().restore(into: next.root).leftOut == [["root", "bad"]])
    #expect(next.good.value == 2)
    let asked = hierarchy()
    _ = try await bench.launch().restore(into: asked.root, retriesLeftOut: true)
    #expect(asked.bad.value == 3)
  }
}
