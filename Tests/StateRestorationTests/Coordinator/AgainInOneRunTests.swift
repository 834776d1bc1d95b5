import DataProtection
import FoundationEssentials
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// Reads that fail in a save, runs that restore twice while locked, and shared objects that come again.
@MainActor @Suite(.timeLimit(.minutes(10))) struct AgainInOneRunTests: SizedTexts {
  @Test(arguments: sizes, [false, true])
  func `an edit whose save could not read the disk is given at the next launch`(size: Int, isShort: Bool) async throws {
    let bench = try await Bench(.device)
    bench.configuration.protection = .completeUntilFirstUserAuthentication
    let device = try #require(bench.device)
    func screens() -> Screen { Screen("root", children: (0..<8).map { Screen(RestorationIdentifier("s\($0)")) }) }
    let first = bench.launch()
    let before = screens()
    _ = try await first.restore(into: before)
    for case let screen as Screen in before.restorationChildren { screen.text = text("stored", size) }
    try bench.requireWholeIfPossible()
    _ = try await first.preserve(before)
    try await bench.kill()
    let coordinator = bench.launch()
    let root = screens()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    coordinator.freeMemory()
    await coordinator.worker.run { _ in }
    root["s3"]?.text = text("typed", isShort ? 7 : size)
    device.failDisk(.unreachable)
    var failure: RestorationError?
    do throws(RestorationError) { _ = try await coordinator.preserve(root) } catch { failure = error }
    device.healDisk()
    let outcome = try await coordinator.preserve(root)
    try await bench.kill()
    let again = screens()
    let report = try await bench.launch().restore(into: again)
    #expect(word(again["s3"]?.text) == "typed", "\(failure.map { "\($0)" } ?? "-") \(outcome) \(report)")
    #expect(word(again["s4"]?.text) == "stored")
    #expect(report.nodes.allSatisfy { $0.remarks.isEmpty }, "\(report)")
  }

  @Test(arguments: sizes, [false, true])
  func `restoring twice while locked keeps what was typed before and after`(size: Int, isOtherRoot: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("page", text: text("stored", size))]))
    var root = Screen("root", children: [Screen("page")])
    let coordinator = try await bench.launchLocked(root) { root["page"]?.text = text("one", size) }
    if isOtherRoot { root = Screen("root", children: [Screen("page")]) }
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    root["page"]?.text = text("two", size)
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    #expect(word(root["page"]?.text) == "two")
    var read: [String] = []
    _ = coordinator.settleConflict(of: try #require(root["page"])) { older in
      read = older.compactMap { try? $0.decode(Screen.State.self, forKey: "state").text }
      if read.isEmpty { read = Array(repeating: "?", count: older.count) }
    }
    _ = try await coordinator.preserve(root)
    let next = Screen("root", children: [Screen("page")])
    let report = try await bench.launch().restore(into: next)
    #expect(word(next["page"]?.text) == "two" && report[["root", "page"]]?.remarks == [], "\(report) \(read.count)")
  }

  @Test(arguments: sizes)
  func `a shared object that dies and comes again in one run keeps what was typed last`(size: Int) async throws {
    let bench = Bench()
    func launch(_ shared: Screen) -> RestorationCoordinator { bench.launch { $0.share(shared, as: "library") } }
    var shared: Screen? = Screen("x", text: text("stored", size))
    _ = try await launch(shared!).preserve(Screen("root"))
    shared = Screen("x")
    let coordinator = launch(shared!)
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    #expect(word(shared?.text) == "stored")
    for round in 0..<12 {
      shared?.text = text("typed\(round)", size)
      _ = try await coordinator.preserve(root)
      shared = nil
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
      shared = Screen("x")
      coordinator.registry.share(shared!, as: "library")
      await coordinator.endTurn()
      root.text = "round \(round)b"
      _ = try await coordinator.preserve(root)
    }
    shared = Screen("x")
    let last = Screen("x")
    let report = try await launch(last).restore(into: Screen("root"))
    #expect(word(last.text) == "typed11", "\(report)")
  }

  @Test func `two windows that share an object keep a state of it each`() async throws {
    let bench = Bench()
    let registry = RestorationRegistry()
    let stores = [MemoryStore(), MemoryStore()]
    func windows(_ registry: RestorationRegistry) -> [RestorationCoordinator] {
      stores.enumerated().map {
        RestorationCoordinator(
          store: $1, delegate: bench.delegate, configuration: bench.configuration, window: .init("w\($0)"),
          registry: registry)
      }
    }
    let shared = Screen("x", text: "one")
    registry.share(shared, as: "library")
    let roots = [Screen("root"), Screen("root")]
    let first = windows(registry)
    for (coordinator, root) in zip(first, roots) { _ = try await coordinator.preserve(root) }
    shared.text = "two"
    for (coordinator, root) in zip(first, roots) { _ = try await coordinator.preserve(root) }
    for store in stores { store.run.add(1, ordering: .relaxed) }
    let other = RestorationRegistry()
    let again = Screen("x")
    other.share(again, as: "library")
    let second = windows(other)
    for (coordinator, root) in zip(second, [Screen("root"), Screen("root")]) {
      _ = try await coordinator.restore(into: root)
    }
    #expect(again.text == "two")
  }
}

extension Bench {
  fileprivate func requireWholeIfPossible() throws { store.state.withLock { $0.isCompactionDue = true } }
}
