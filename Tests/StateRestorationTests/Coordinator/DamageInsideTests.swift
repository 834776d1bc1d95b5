import FoundationEssentials
import Synchronization
import Testing

@testable import StateRestoration

/// A generation that opens well and can't be read to its end.
@MainActor @Suite struct DamageInsideTests {
  @Test func `the generation before it stands in, and the next save keeps both`() async throws {
    let bench = Bench()
    let root = Screen("root", text: "older")
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    root.text = "newer"
    bench.store.state.withLock { $0.isCompactionDue = true }
    _ = try await coordinator.preserve(root)
    bench.store.state.withLock { state in
      let last = state.generations.count - 1
      state.generations[last].failsReading = true
    }
    let again = Screen("root")
    let report = try await bench.launch().restore(into: again)
    #expect(report.outcome == .restored)
    #expect(report.reason == .olderGeneration)
    #expect(again.text == "older")
  }

  @Test func `without one before it the outcome is damaged, and nothing is deleted`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "only"))
    bench.store.state.withLock { $0.generations[0].failsReading = true }
    #expect(try await bench.launch().restore(into: Screen("root")).outcome == .damaged)
    #expect(bench.store.state.withLock { $0.generations.count } == 1)
  }

  /// What becomes of the generation that stands in.
  enum Fate: CaseIterable, Sendable {
    /// It was killed from outside, or died, until it was given up.
    case givenUp
    /// It is a newer program's.
    case newer
    /// The delegate does not want it.
    case declined
    /// The same, and what the program saves then it saves while locked.
    case declinedAndLocked
    /// A state that was set aside earlier is restored on request instead.
    case otherOnRequest
    /// The same, and what the program saves then it saves while locked.
    case otherOnRequestAndLocked

    var isOtherOnRequest: Bool { self == .otherOnRequest || self == .otherOnRequestAndLocked }
  }

  @Test(arguments: Fate.allCases, [false, true])
  func `the last good generation is set aside when it is refused, before saves replace it`(
    fate: Fate, parses: Bool
  ) async throws {
    let bench = Bench()
    if fate.isOtherOnRequest {
      try await bench.preserve(Screen("root", text: "aside"))
      bench.delegate.restores = false
      let coordinator = bench.launch()
      let root = Screen("root")
      _ = try await coordinator.restore(into: root)
      root.text = "older"
      _ = try await coordinator.preserve(root)
      bench.delegate.restores = true
    } else {
      bench.configuration.schemaVersion = 2
      try await bench.preserve(Screen("root", text: "older"))
    }
    if parses {
      _ = try bench.place.publish(Data("no archive".utf8), .init())
    } else {
      let coordinator = bench.launch()
      let root = Screen("root")
      _ = try await coordinator.restore(into: root)
      root.text = "newer"
      try await bench.compact(coordinator, root)
      bench.store.state.withLock { $0.generations[$0.generations.count - 1].failsReading = true }
    }
    switch fate {
    case .givenUp:
      for _ in 0..<2 {
        let attempt = try bench.place.beginAttempt(
          at: try bench.place.open(.predecessor), isRequest: false)
        _ = attempt
        try await bench.kill()
      }
    case .newer: bench.configuration.schemaVersion = 1
    case .declined, .declinedAndLocked: bench.delegate.restores = false
    case .otherOnRequest, .otherOnRequestAndLocked: break
    }
    var coordinator = bench.launch()
    let root = Screen("root")
    if fate.isOtherOnRequest {
      let id = try #require(try await coordinator.setAsideStates().first).id
      _ = try await coordinator.restore(into: root, from: .setAside(id))
    } else {
      #expect(try await coordinator.restore(into: root).outcome != .restored)
    }
    if fate == .declinedAndLocked || fate == .otherOnRequestAndLocked {
      try await bench.lock()
      root.text = "locked"
      #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
      try await bench.kill()
      try await bench.unlock()
      bench.configuration.schemaVersion = 2
      bench.delegate.restores = true
      coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      #expect(root.text == "locked")
    }
    for round in 0..<3 {
      root.text = "round \(round)"
      try await bench.compact(coordinator, root)
    }

    bench.configuration.schemaVersion = 2
    bench.delegate.restores = true
    let last = bench.launch()
    var texts: [String] = []
    for state in try await last.setAsideStates() {
      let again = Screen("root")
      _ = try await last.restore(into: again, from: .setAside(state.id))
      texts.append(again.text)
    }
    #expect(texts.contains("older"))
  }
}
