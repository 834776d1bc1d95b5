import DataProtection
import FaultyFileSystem
import FoundationEssentials
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// State that was not restored is set aside before a save replaces it, and can be had again (R3.5, R5.2, R6.2).
@MainActor @Suite struct SettingAsideTests {
  /// Why a state is not restored.
  enum Refusal: String, CaseIterable, Sendable {
    case newerSchema, declined, expired, givenUp, damagedInside, olderAfterCrash, olderOnRequest, neverRestored
  }

  /// Saves a state and has a run refuse it; the run's coordinator may save.
  private func refuse(
    _ refusal: Refusal, _ bench: Bench, _ root: Screen
  ) async throws -> RestorationCoordinator {
    if refusal == .newerSchema || refusal == .neverRestored { bench.configuration.schemaVersion = 2 }
    try await bench.preserve(Screen("root", text: "older"))
    let first = bench.launch()
    let screen = Screen("root")
    _ = try await first.restore(into: screen)
    screen.text = "precious"
    if refusal == .damagedInside {
      _ = try bench.place.publish(Data("no archive".utf8), .init())
    } else {
      try await bench.compact(first, screen)
    }
    bench.configuration.schemaVersion = 1
    switch refusal {
    case .newerSchema, .damagedInside, .olderOnRequest, .neverRestored: break
    case .declined: bench.delegate.restores = false
    case .expired:
      bench.configuration.maximumAge = .seconds(60)
      bench.time = bench.time.addingTimeInterval(1000)
    case .givenUp:
      bench.delegate.crashDecision = .restoreNothing
      for _ in 0..<2 { try await bench.die(at: ["root"]) }
    case .olderAfterCrash: for _ in 0..<2 { try await bench.die(at: ["root"]) }
    }
    let coordinator = bench.launch()
    if refusal != .neverRestored {
      _ = try await coordinator.restore(into: root, from: refusal == .olderOnRequest ? .olderGeneration : .newest)
    }
    bench.delegate.restores = true
    bench.configuration.maximumAge = nil
    return coordinator
  }

  @Test(arguments: Refusal.allCases, StoreKind.allCases)
  func `state that was not restored outlives any number of saves and comes back on request`(
    refusal: Refusal, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let root = Screen("root")
    let coordinator = try await refuse(refusal, bench, root)
    var told: [PreservationOutcome.Finding] = []
    for round in 0..<6 {
      root.text = "round \(round)"
      told += try await bench.compact(coordinator, root)?.findings ?? []
    }
    guard case .setAside(let state)? = told.first else {
      Issue.record("the receipt doesn't say that anything was set aside: \(told)")
      return
    }
    #expect(told.count == 1)
    if refusal == .newerSchema || refusal == .neverRestored { bench.configuration.schemaVersion = 2 }
    let launch = bench.launch()
    let again = Screen("root")
    let report = try await launch.restore(into: again)
    #expect(again.text == "round 5")
    let aside = try await launch.setAsideStates()
    #expect(aside.map(\.id) == [state.id])
    #expect(report.remarks == [.setAside(aside)])
    guard refusal != .damagedInside else {
      #expect(aside.first?.isReadable == false)
      #expect(try await launch.restore(into: again, from: .setAside(state.id)).outcome == .damaged)
      #expect(again.text == "round 5")
      return
    }
    #expect(aside.first?.isReadable == true)
    #expect(try await launch.restore(into: again, from: .setAside(state.id), retriesLeftOut: true).outcome == .restored)
    #expect(again.text == "precious")
    _ = try await launch.preserve(again)
    let last = Screen("root")
    let coordinatorOfLast = bench.launch()
    _ = try await coordinatorOfLast.restore(into: last)
    #expect(last.text == "precious")
    // What it took the place of is set aside in its turn.
    let after = try await coordinatorOfLast.setAsideStates()
    #expect(after.count == 1)
    _ = try await coordinatorOfLast.restore(into: last, from: .setAside(try #require(after.first).id))
    #expect(last.text == "round 5")
  }

  @Test(arguments: StoreKind.allCases)
  func `small changes that were saved after the whole state are set aside with it`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let first = bench.launch()
    let screen = Screen("root", text: "whole")
    _ = try await first.preserve(screen)
    for text in ["a", "b", "c"] {
      screen.text = text
      #expect(try await first.preserve(screen).receipt?.kind == .change)
    }
    bench.delegate.restores = false
    let root = Screen("root", text: "anew")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    bench.delegate.restores = true
    let id = try #require(try await coordinator.setAsideStates().first).id
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again, from: .setAside(id))
    #expect(again.text == "c")
  }

  @Test(arguments: StoreKind.allCases)
  func `a save before anything was restored sets nothing aside, and lies beside what is stored`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "typed", children: [Screen("hidden", text: "kept")]))
    let hasty = bench.launch()
    let root = Screen("root", text: "blank")
    #expect(try await hasty.preserve(root).receipt?.findings == [])
    root.text = "changed"
    #expect(try await hasty.preserve(root).receipt?.findings == [])
    #expect(try await hasty.setAsideStates().isEmpty)
    try await bench.kill()
    let restored = Screen("root", children: [Screen("hidden")])
    let report = try await bench.launch().restore(into: restored)
    #expect(restored.text == "changed")
    #expect(report[["root"]]?.remarks == [.superseded(1)])
    #expect(restored["hidden"]?.text == "kept")
  }

  @Test func `a save after the disk could not be read for the moment hides nothing`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "typed"))
    let coordinator = bench.launch()
    let root = Screen("root")
    bench.store.state.withLock { $0.failures = ["openNewest": .busy] }
    #expect(try await coordinator.restore(into: root).outcome == .unavailable)
    bench.store.state.withLock { $0.failures = [:] }
    _ = try await coordinator.preserve(root)
    #expect(try await coordinator.setAsideStates().isEmpty)
    _ = try await coordinator.restore(into: root)
    #expect(root.text == "typed")
  }

  @Test func `states that were damaged while set aside make room for the next`() async throws {
    let bench = try await Bench(.memory)
    try await bench.preserve(Screen("root", text: "0"))
    bench.delegate.restores = false
    for number in 1...6 {
      let coordinator = bench.launch()
      let root = Screen("root", text: "\(number)")
      _ = try await coordinator.restore(into: root)
      let receipt = try #require(try await coordinator.preserve(root).receipt)
      // Once there are as many as are kept one of them makes room, and the receipt says which.
      #expect(receipt.findings.count == (number > 4 ? 2 : 1), "\(receipt)")
      try bench.damageAside()
    }
    #expect(try await bench.launch().setAsideStates().map(\.isDamaged) == [true, true, true, true])
  }

  @Test(arguments: StoreKind.allCases)
  func `a state that was damaged while it was set aside is still listed, and can be given up`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "old"))
    bench.delegate.restores = false
    let root = Screen("root", text: "new")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    try bench.damageAside()
    bench.delegate.restores = true
    let launch = bench.launch()
    let again = Screen("root")
    let report = try await launch.restore(into: again)
    let state = try #require(try await launch.setAsideStates().first)
    #expect(state.isDamaged && !state.isReadable)
    #expect(report.remarks == [.setAside([state])])
    #expect("\(state)".contains("damaged"))
    #expect(try await launch.restore(into: again, from: .setAside(state.id)).outcome == .damaged)
    #expect(again.text == "new")
    #expect(try await launch.discardSetAside(state.id))
    #expect(try await launch.setAsideStates().isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `only so many states are kept aside, and the receipt names what goes`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "0"))
    bench.delegate.restores = false
    var gone: [UInt64] = []
    var kept: [UInt64] = []
    for number in 1...7 {
      let coordinator = bench.launch()
      let root = Screen("root", text: "\(number)")
      _ = try await coordinator.restore(into: root)
      for finding in try await coordinator.preserve(root).receipt?.findings ?? [] {
        switch finding {
        case .setAside(let state): kept.append(state.id)
        case .setAsideRemoved(let state): gone.append(state.id)
        default: Issue.record("\(finding)")
        }
      }
    }
    let aside = try await bench.launch().setAsideStates().map(\.id)
    #expect(aside == Array(kept.suffix(4)))
    #expect(gone == Array(kept.prefix(3)))
  }

  @Test(arguments: StoreKind.allCases, [true, false])
  func `discarding and a force quit remove what was set aside, also while locked`(
    on kind: StoreKind, isForceQuit: Bool
  ) async throws {
    let bench = try await Bench(kind)
    let root = Screen("root", text: "anew")
    let coordinator = try await refuse(.declined, bench, root)
    _ = try await coordinator.preserve(root)
    #expect(try await coordinator.setAsideStates().count == 1)
    try await bench.lock()
    if isForceQuit { try await coordinator.discardAfterForceQuit() } else { try await coordinator.discard() }
    try await bench.unlock()
    #expect(try await bench.launch().setAsideStates().isEmpty)
    #expect(try await bench.launch().restore(into: Screen("root")).remarks.isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `one state that was set aside can be given up`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let root = Screen("root", text: "anew")
    let coordinator = try await refuse(.declined, bench, root)
    _ = try await coordinator.preserve(root)
    let id = try #require(try await coordinator.setAsideStates().first).id
    #expect(try await coordinator.discardSetAside(id))
    #expect(try await coordinator.setAsideStates().isEmpty)
    #expect(try await coordinator.discardSetAside(id) == false)
    let report = try await coordinator.restore(into: root, from: .setAside(id))
    #expect(report.outcome == .nothingPreserved)
    #expect(root.text == "anew")
    // Nothing has changed for the next save either.
    root.text = "edited"
    #expect(try await coordinator.preserve(root).receipt?.kind == .change)
  }

  @Test func `a full disk lets nothing be replaced that could not be set aside`() async throws {
    let bench = try await Bench(.device)
    let root = Screen("root", text: "anew")
    let coordinator = try await refuse(.declined, bench, root)
    bench.device?.failDisk(.full)
    for _ in 0..<3 {
      await #expect(throws: RestorationError.self) { _ = try await coordinator.preserve(root) }
    }
    bench.device?.healDisk()
    let untouched = Screen("root")
    _ = try await bench.launch().restore(into: untouched)
    bench.closePlaces()
    #expect(untouched.text == "precious")
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.findings.count == 1)
    let id = try #require(try await coordinator.setAsideStates().first).id
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again, from: .setAside(id))
    #expect(again.text == "precious")
  }

  @Test(arguments: StoreKind.allCases)
  func `what a locked run saved anew takes the place of refused state only after that is set aside`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let root = Screen("root", text: "anew")
    let coordinator = try await refuse(.declined, bench, root)
    try await bench.lock()
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
    try await bench.kill()
    try await bench.unlock()
    let launch = bench.launch()
    let again = Screen("root")
    let report = try await launch.restore(into: again)
    #expect(again.text == "anew")
    #expect(report.remarks.contains { if case .setAside = $0 { true } else { false } })
    for round in 0..<3 {
      again.text = "round \(round)"
      try await bench.compact(launch, again)
    }
    let id = try #require(try await launch.setAsideStates().first).id
    _ = try await launch.restore(into: again, from: .setAside(id))
    #expect(again.text == "precious")
  }

  @Test(arguments: StoreKind.allCases)
  func `after an unlock in the same run the refused state is set aside as well`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let root = Screen("root", text: "anew")
    let coordinator = try await refuse(.declined, bench, root)
    try await bench.lock()
    _ = try await coordinator.preserve(root)
    try await bench.unlock(coordinator)
    root.text = "edited"
    _ = try await coordinator.preserve(root)
    let id = try #require(try await coordinator.setAsideStates().first).id
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again, from: .setAside(id))
    #expect(again.text == "precious")
  }

  @Test(arguments: StoreKind.allCases)
  func `a program that has restored nothing but a state on request saves it while locked`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "aside"))
    bench.delegate.restores = false
    let (declining, newestRoot) = (bench.launch(), Screen("root"))
    _ = try await declining.restore(into: newestRoot)
    newestRoot.text = "newest"
    _ = try await declining.preserve(newestRoot)
    bench.delegate.restores = true
    let coordinator = bench.launch()
    let root = Screen("root")
    let id = try #require(try await coordinator.setAsideStates().first).id
    _ = try await coordinator.restore(into: root, from: .setAside(id))
    try await bench.lock()
    root.text = "typed"
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
    try await bench.kill()
    try await bench.unlock()

    let (next, again) = (bench.launch(), Screen("root"))
    _ = try await next.restore(into: again)
    #expect(again.text == "typed")
    let newest = try #require(try await next.setAsideStates().last)
    _ = try await next.restore(into: again, from: .setAside(newest.id))
    #expect(again.text == "newest")
  }

  @Test(arguments: StoreKind.allCases)
  func `what was saved while locked makes no room at the cost of the state that is asked for`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", text: "state 0"))
    bench.delegate.restores = false
    for number in 1...4 {
      let declining = bench.launch()
      let root = Screen("root")
      _ = try await declining.restore(into: root)
      root.text = "state \(number)"
      _ = try await declining.preserve(root)
    }
    bench.delegate.restores = true
    let coordinator = bench.launch()
    let root = Screen("root")
    let ids = try await coordinator.setAsideStates().map(\.id)
    #expect(ids.count == 4)
    _ = try await coordinator.restore(into: root, from: .setAside(ids[3]))
    try await bench.lock()
    root.text = "typed"
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
    try await bench.kill()
    try await bench.unlock()
    for _ in 0..<2 {
      let asked = Screen("root")
      #expect(try await bench.launch().restore(into: asked, from: .setAside(ids[0])).outcome == .restored)
      #expect(asked.text == "state 0")
      try await bench.kill()
    }
    _ = try await bench.launch().restore(into: root)
    #expect(root.text == "typed")
  }

  @Test func `a state on request that is refused changes nothing`() async throws {
    let bench = try await Bench(.device)
    let root = Screen("root", text: "anew")
    let coordinator = try await refuse(.newerSchema, bench, root)
    _ = try await coordinator.preserve(root)
    let id = try #require(try await coordinator.setAsideStates().first).id
    let report = try await coordinator.restore(into: root, from: .setAside(id))
    #expect(report.outcome == .newerVersion)
    #expect(root.text == "anew")
    guard case .unchanged = try await coordinator.preserve(root) else {
      Issue.record("something was written")
      return
    }
    bench.configuration.schemaVersion = 2
    bench.delegate.restores = false
    let launch = bench.launch()
    #expect(try await launch.restore(into: root, from: .setAside(id)).outcome == .declined)
  }

  @Test(arguments: [false, true]) func `a damaged generation never becomes the one to fall back to`(locks: Bool)
    async throws
  {
    let bench = try await Bench(.device)
    try await bench.unlock()
    func make(_ text: String = "") -> Screen { Screen("root", text: text) }
    try await bench.preserve(make("1"))
    try bench.requireWhole()
    try await bench.kill()
    try damageNewest(bench)
    let (root, coordinator) = (make(), bench.launch())
    _ = try await coordinator.restore(into: root)
    #expect(root.text == "1")
    if locks { try await bench.lock() }
    root.text = "2"
    _ = try await coordinator.preserve(root)
    try await bench.unlock()
    try await bench.kill()
    try damageNewest(bench)
    let last = make()
    _ = try await bench.launch().restore(into: last)
    #expect(last.text == "1")
  }

  /// Changes a byte of the newest generation's file.
  private func damageNewest(_ bench: Bench) throws {
    let disk = try #require(bench.device?.memory)
    let name = "g-\(try bench.newestGeneration().rawValue)"
    for slot in disk.names(atPath: "/device/archives") {
      let path = "/device/archives/\(slot)/\(name)"
      guard var bytes = bench.device?.contents.fileSystem?.content(atPath: path) else { continue }
      bytes[200] ^= 0xff
      disk.plant(bytes, atPath: path)
    }
  }
}
