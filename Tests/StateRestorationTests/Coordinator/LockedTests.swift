import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// R5.1–R5.2: a locked device never costs state, and is never taken for an empty one.
@MainActor @Suite struct LockedTests {
  func locked() async throws -> Bench {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "r", children: [Screen("a", text: "a"), Screen("b", text: "b")]))
    bench.store.lock(true)
    return bench
  }

  func hierarchy() -> Screen { Screen("root", children: [Screen("a"), Screen("b")]) }

  @Test func `a locked launch neither restores nor overwrites`() async throws {
    let bench = try await locked()
    let before = bench.store.state.withLock { $0.generations.map(\.base) }
    let coordinator = bench.launch()
    #expect(await coordinator.prepare() == .deferredUntilUnlock)
    let root = hierarchy()
    let report = try await coordinator.restore(into: root)
    #expect(report.outcome == .locked)
    #expect(report.reason == .deferredUntilUnlock)
    #expect(root.text.isEmpty)
    #expect(try await coordinator.preserve(root) == .deferred(.locked))
    #expect(bench.store.state.withLock { $0.generations.map(\.base) } == before)
    #expect(bench.store.state.withLock { $0.pending } == nil)
  }

  @Test func `a locked launch that never restores does not overwrite either`() async throws {
    let bench = try await locked()
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(Screen("root", text: "empty"))
    #expect(bench.store.state.withLock { $0.generations.count } == 1)
    bench.store.lock(false)
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root)
    #expect(root["a"]?.text == "a")
  }

  @Test func `after the unlock what was not touched is restored and what was touched keeps the newer state`()
    async throws
  {
    let bench = try await locked()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "typed while locked"
    bench.store.lock(false)
    await coordinator.protectedDataDidBecomeAvailable()
    #expect(root.text == "r")
    #expect(root["a"]?.text == "typed while locked")
    #expect(root["b"]?.text == "b")
    #expect(bench.delegate.lateReports.first?[["root", "a"]]?.notRestoredReason == .touchedMeanwhile)
    _ = try await coordinator.preserve(root)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "typed while locked")
    #expect(again["b"]?.text == "b")
  }

  @Test func `what is touched while locked is kept as touched nodes only`() async throws {
    let bench = try await locked()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "typed while locked"
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.kind == .pendingChange)
    #expect(bench.store.state.withLock { $0.pending?.isWhole } == false)
    #expect(bench.store.state.withLock { $0.generations.count } == 1)
    bench.store.lock(false)
    let again = hierarchy()
    let report = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "typed while locked")
    #expect(again["b"]?.text == "b")
    #expect(report.remarks.contains(.mergedPendingChanges(nodes: 1)))
  }

  @Test func `touched nodes are joined into the next whole generation after the unlock`() async throws {
    let bench = try await locked()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "typed while locked"
    _ = try await coordinator.preserve(root)
    bench.store.lock(false)
    await coordinator.protectedDataDidBecomeAvailable()
    guard case .preserved(let receipt) = try await coordinator.preserve(root) else {
      Issue.record("not preserved")
      return
    }
    #expect(receipt.kind == .whole)
    #expect(bench.store.state.withLock { $0.pending } == nil)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "typed while locked")
    #expect(again["b"]?.text == "b")
  }

  @Test func `a program that restored before the lock saves everything while locked`() async throws {
    let bench = try await locked()
    bench.store.lock(false)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    bench.store.lock(true)
    root["b"]?.text = "changed while locked"
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.kind == .pendingWhole)
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
    bench.store.lock(false)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["b"]?.text == "changed while locked")
    #expect(again["a"]?.text == "a")
  }

  @Test func `after the unlock a pending whole state becomes a generation by itself`() async throws {
    let bench = try await locked()
    bench.store.lock(false)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    bench.store.lock(true)
    root.text = "changed while locked"
    _ = try await coordinator.preserve(root)
    bench.store.lock(false)
    await coordinator.protectedDataDidBecomeAvailable()
    #expect(bench.store.state.withLock { $0.pending } == nil)
    #expect(bench.delegate.outcomes.first?.receipt?.kind == .whole)
  }

  @Test func `the delegate may choose to restore late by itself`() async throws {
    let bench = try await locked()
    bench.delegate.late = .wait
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    bench.store.lock(false)
    await coordinator.protectedDataDidBecomeAvailable()
    #expect(root.text.isEmpty)
    #expect(try await coordinator.restore(into: root).outcome == .restored)
    #expect(root.text == "r")
  }

  @Test func `pending state that does not fit a newer state is reported and kept`() async throws {
    let bench = try await locked()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root.text = "typed while locked"
    _ = try await coordinator.preserve(root)
    bench.store.state.withLock { state in
      let last = state.generations[state.generations.count - 1]
      state.generations.append(.init(number: state.next, base: last.base))
      state.next += 1
    }
    bench.store.lock(false)
    let report = try await bench.launch().restore(into: hierarchy())
    #expect(report.remarks.contains(.pendingConflict))
    #expect(bench.store.state.withLock { $0.pending } != nil)
  }
}
