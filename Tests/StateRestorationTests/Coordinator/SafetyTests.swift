import DataProtection
import FoundationEssentials
import SimulatedTime
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// R6: force quits, crashes while restoring, asynchronous restoring, developer mode.
@MainActor @Suite(.tags(.threads)) struct SafetyTests {
  /// A bench with a root and two children, and a way to die at one of them.
  func preserved(_ kind: StoreKind = .memory) async throws -> Bench {
    let bench = try await Bench(kind)
    try await bench.preserve(
      Screen("root", text: "r", children: [Panel("good", value: 1), Panel("bad", value: 2), Panel("last", value: 3)]))
    return bench
  }

  func hierarchy() -> Screen { Screen("root", children: [Panel("good"), Panel("bad"), Panel("last")]) }

  func values(_ root: Screen) -> [Int] { root.restorationChildren.compactMap { ($0 as? Panel)?.value } }

  @Test(arguments: StoreKind.allCases)
  func `a force quit deletes the state and nothing saved afterwards brings it back`(on kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    try await coordinator.discardAfterForceQuit()
    #expect(try await coordinator.preserve(root) == .deferred(.discarded))
    #expect(try await bench.launch().restore(into: root).outcome == .nothingPreserved)
  }

  @Test(arguments: StoreKind.allCases)
  func `an explicit discard deletes the state and saving begins anew`(on kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    try await coordinator.discard()
    #expect(throws: ProtectionError.self) { try bench.place.open(.newest) }
    guard case .preserved(let receipt) = try await coordinator.preserve(root) else {
      Issue.record("not preserved")
      return
    }
    #expect(receipt.kind == .whole)
    #expect(receipt.capturedNodes == 4)
  }

  @Test(arguments: StoreKind.allCases)
  func `developer mode keeps state across force quits and failures`(on kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    bench.configuration.isDeveloperMode = true
    try await bench.launch().discardAfterForceQuit()
    for _ in 0..<4 { try await bench.die(at: ["root", "bad"]) }
    let root = hierarchy()
    #expect(try await bench.launch().restore(into: root).restoredCount == 4)
    #expect(values(root) == [1, 2, 3])
  }

  @Test func `the marker is there before the first factory, knows the node, and goes at the end`() async throws {
    let bench = try await preserved()
    let root = hierarchy()
    var during: MemoryStore.Marker?
    (root.restorationChildren[1] as? Panel)?.onDecode = { [store = bench.store] in
      during = store.state.withLock { $0.marker }
    }
    _ = try await bench.launch().restore(into: root)
    #expect(during?.node == (try bench.newestReader().node(at: ["root", "bad"]))?.id.rawValue)
    #expect(bench.store.state.withLock { $0.marker } == nil)
  }

  @Test(arguments: [1, 2])
  func `a death after an object has turned up well is nobody's fault, and one in its own code is its own`(
    extensions: Int
  ) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Panel("late", value: 1)]))
    func marked() -> UInt32? { bench.store.state.withLock { $0.marker?.node } }
    let node = try bench.newestReader().node(at: ["root", "late"])?.id.rawValue
    for _ in 0..<extensions {
      let root = Screen("root")
      let coordinator = bench.launch()
      root.onFinish = { coordinator.extendStateRestoration() }
      _ = try await coordinator.restore(into: root)
      #expect(bench.store.state.withLock { $0.marker != nil } && marked() == nil)
      let late = Panel("late")
      late.onDecode = { #expect(marked() == node) }
      root.restorationChildren = [late]
      #expect(coordinator.restore(late, at: ["root", "late"])?.isRestored == true)
      #expect(late.value == 1 && bench.store.state.withLock { $0.marker != nil } && marked() == nil)
      coordinator.completeStateRestoration()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `after a crash everything is restored but the node that was being restored`(on kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    try await bench.die(at: ["root", "bad"])
    let coordinator = bench.launch()
    #expect(await coordinator.prepare() == .afterCrash)
    let root = hierarchy()
    let report = try await coordinator.restore(into: root)
    #expect(Set(values(root)) == [1, 3, 0])
    #expect(report.leftOut == [["root", "bad"]])
    #expect(report.remarks.contains(.interruptedBefore(attempts: 1)))
  }

  @Test(arguments: StoreKind.allCases)
  func `what was left out is carried over, not tried again by itself, and comes back on request`(on kind: StoreKind)
    async throws
  {
    let bench = try await preserved(kind)
    try await bench.die(at: ["root", "bad"])
    for round in 0..<3 {
      let coordinator = bench.launch()
      let root = Screen("root", children: [Panel("good"), Panel("last")])
      let report = try await coordinator.restore(into: root)
      #expect(report.leftOut == [["root", "bad"]])
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    let root = hierarchy()
    _ = try await bench.launch().restore(into: root, retriesLeftOut: true)
    #expect(values(root).contains(2))
    let again = hierarchy()
    #expect(try await bench.launch().restore(into: again).leftOut.isEmpty == false)
  }

  @Test(arguments: StoreKind.allCases)
  func `the delegate can have a left-out node tried again, and success ends it`(on kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    try await bench.die(at: ["root", "bad"])
    _ = try await bench.launch().restore(into: hierarchy())
    bench.delegate.retries = [["root", "bad"]]
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    #expect(Set(values(root)) == [1, 2, 3])
    _ = try await coordinator.preserve(root)
    bench.delegate.retries = []
    #expect(try await bench.launch().restore(into: hierarchy()).leftOut.isEmpty)
  }

  @Test func `after two bad runs the delegate is asked, and may choose the older generation`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root.text = "newer"
    bench.store.state.withLock { $0.isCompactionDue = true }
    _ = try await coordinator.preserve(root)
    try await bench.die(at: ["root", "bad"])
    try await bench.die(at: ["root", "bad"])
    let again = hierarchy()
    let report = try await bench.launch().restore(into: again)
    #expect(bench.delegate.histories.map(\.failedAttempts) == [2])
    #expect(again.text == "r")
    #expect(report.reason == .olderGeneration)
  }

  @Test(arguments: StoreKind.allCases)
  func `after two bad runs the delegate may choose to restore nothing, and nothing is deleted`(on kind: StoreKind)
    async throws
  {
    let bench = try await preserved(kind)
    let generation = try bench.place.open(.newest).generation
    bench.delegate.crashDecision = .restoreNothing
    try await bench.die(at: ["root", "bad"])
    try await bench.die(at: ["root", "bad"])
    let root = hierarchy()
    #expect(try await bench.launch().restore(into: root).outcome == .givenUpAfterCrashes)
    #expect(try bench.place.open(.newest).generation == generation)
  }

  @Test(arguments: StoreKind.allCases)
  func `after two bad runs the delegate may choose to try again without the crash node`(on kind: StoreKind) async throws
  {
    let bench = try await preserved(kind)
    bench.delegate.crashDecision = .tryAgain
    try await bench.die(at: ["root", "bad"])
    try await bench.die(at: ["root", "last"])
    let root = hierarchy()
    #expect(try await bench.launch().restore(into: root).leftOut == [["root", "last"]])
  }

  @Test(arguments: StoreKind.allCases)
  func `when everything was tried nothing is restored and the state stays`(on kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    let generation = try bench.place.open(.newest).generation
    for _ in 0..<4 { try await bench.die(at: nil) }
    let report = try await bench.launch().restore(into: hierarchy())
    #expect(report.outcome == .givenUpAfterCrashes)
    #expect(report.reason == .afterCrash)
    #expect(try bench.place.open(.newest).generation == generation)
  }

  /// Saves another whole state, after which "r" is in the older generation.
  private func preservedTwice(_ kind: StoreKind) async throws -> Bench {
    let bench = try await preserved(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root.text = "newer"
    try await bench.compact(coordinator, root)
    return bench
  }

  /// A restoration that is extended before it ends.
  private func extended(
    _ bench: Bench, from source: RestorationCoordinator.Source = .newest
  ) async throws -> (coordinator: RestorationCoordinator, root: Screen, report: RestorationReport) {
    let coordinator = bench.launch()
    let root = hierarchy()
    root.onFinish = { coordinator.extendStateRestoration() }
    return (coordinator, root, try await coordinator.restore(into: root, from: source))
  }

  /// Leaves what a process leaves that is killed while its restoring is extended.
  private func dieExtended(
    _ bench: Bench, from source: RestorationCoordinator.Source = .newest
  ) async throws -> RestorationReport {
    let report = try await extended(bench, from: source).report
    try await bench.kill()
    return report
  }

  @Test(arguments: StoreKind.allCases)
  func `when restoring the older generation died too, the report tells of a bad end, not of none`(
    on kind: StoreKind
  ) async throws {
    let bench = try await preservedTwice(kind)
    for _ in 0..<2 { try await bench.die(at: ["root", "bad"]) }
    // A kill outside any node is likelier than a crash, once.
    for _ in 0..<2 {
      let report = try await dieExtended(bench)
      #expect(report.reason == .olderGeneration)
      #expect(report.remarks.filter { if case .olderGeneration = $0 { true } else { false } }.count == 1)
    }
    let report = try await bench.launch().restore(into: hierarchy())
    #expect(report.outcome == .givenUpAfterCrashes)
    #expect(report.remarks.contains { if case .interruptedBefore = $0 { true } else { false } })
  }

  @Test(arguments: StoreKind.allCases)
  func `an older generation that was asked for and dies costs the newest nothing`(on kind: StoreKind) async throws {
    let bench = try await preservedTwice(kind)
    #expect(try await dieExtended(bench, from: .olderGeneration).reason == .olderGeneration)
    let root = hierarchy()
    #expect(try await bench.launch().restore(into: root).outcome == .restored)
    #expect(root.text == "newer")
  }

  @Test(arguments: [false, true], StoreKind.allCases)
  func `what was typed while locked is in what is saved over a state that failed, and is set aside with nothing`(
    givesUp: Bool, on kind: StoreKind
  ) async throws {
    let bench = try await preservedTwice(kind)
    if givesUp { bench.delegate.crashDecision = .restoreNothing }
    for _ in 0..<2 { try await bench.die(at: ["root", "bad"]) }
    try await bench.lock()
    let coordinator = bench.launch()
    let root = hierarchy()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    root.text = "typed"
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    try await bench.unlock(coordinator)
    #expect(coordinator.lastReport?.outcome == (givesUp ? .givenUpAfterCrashes : .restored))
    #expect(root.text == "typed")
    _ = try await coordinator.preserve(root)
    let aside = try await coordinator.setAsideStates().count

    let (next, again) = (bench.launch(), hierarchy())
    _ = try await next.restore(into: again)
    #expect(again.text == "typed")
    #expect(try await next.setAsideStates().count == aside)
  }

  @Test(arguments: [false, true])
  func `when the older generation was given up too, both are set aside`(locks: Bool) async throws {
    let bench = try await preservedTwice(.memory)
    for _ in 0..<2 { try await bench.die(at: ["root", "bad"]) }
    for _ in 0..<2 { _ = try await dieExtended(bench) }
    var coordinator = bench.launch()
    let root = hierarchy()
    #expect(try await coordinator.restore(into: root).outcome == .givenUpAfterCrashes)
    if locks {
      try await bench.lock()
      root.text = "locked"
      #expect(try await coordinator.preserve(root).receipt?.kind == .pendingWhole)
      try await bench.kill()
      try await bench.unlock()
      coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
    }
    for round in 0..<3 {
      root.text = "round \(round)"
      try await bench.compact(coordinator, root)
    }
    var texts: [String] = []
    for state in try await coordinator.setAsideStates() {
      _ = try await coordinator.restore(into: root, from: .setAside(state.id))
      texts.append(root.text)
    }
    #expect(texts == ["r", "newer"])
  }

  @Test(arguments: [1, 2], StoreKind.allCases)
  func `what the newest died at stays out of it when the older generation is asked for in between`(
    deaths: Int, on kind: StoreKind
  ) async throws {
    let bench = try await preservedTwice(kind)
    for _ in 0..<deaths { try await bench.die(at: ["root", "bad"]) }
    if deaths == 2 {
      // Also when something waits to be joined to the newest.
      try await bench.lock()
      let (locked, typing) = (bench.launch(), hierarchy())
      _ = try await locked.restore(into: typing)
      (typing.restorationChildren[2] as? Panel)?.value = 4
      #expect(try await locked.preserve(typing).receipt?.kind == .pendingChange)
      try await bench.kill()
      try await bench.unlock()
    }
    let older = hierarchy()
    let report = try await bench.launch().restore(into: older, from: .olderGeneration)
    #expect(report.reason == .olderGeneration)
    #expect(values(older) == [1, 2, 3])
    let root = hierarchy()
    bench.delegate.crashDecision = .tryAgain
    #expect(try await bench.launch().restore(into: root).leftOut == [["root", "bad"]])
    // Both deaths are known, and asked about.
    #expect(bench.delegate.histories.map(\.failedAttempts) == (deaths == 2 ? [2] : []))
    #expect(root.text == "newer")
    #expect(Set(values(root)) == [1, deaths == 2 ? 4 : 3, 0])
  }

  @Test(arguments: StoreKind.allCases)
  func `a kill while restoring is extended costs nothing of a whole state that was saved meanwhile`(
    on kind: StoreKind
  ) async throws {
    let bench = try await preserved(kind)
    let (coordinator, root, _) = try await extended(bench)
    root.text = "typed"
    try await bench.compact(coordinator, root)
    try await bench.kill()
    let again = hierarchy()
    #expect(try await bench.launch().restore(into: again).outcome == .restored)
    #expect(again.text == "typed")
    #expect(values(again) == [1, 2, 3])
  }

  @Test func `extended restoring guards what the next launch restores, also when that was saved meanwhile`()
    async throws
  {
    let bench = try await preserved()
    let (coordinator, root, _) = try await extended(bench)
    root.text = "typed"
    _ = try await bench.compact(coordinator, root)
    func marked() -> UInt64? { bench.store.state.withLock { $0.marker?.generation } }
    let newest = try bench.place.open(.newest).generation.rawValue
    #expect(newest > 1)
    #expect(marked() == newest)
    coordinator.completeStateRestoration()
    #expect(marked() == nil)
    await coordinator.withRestorationExtended { #expect(marked() == newest) }
    #expect(marked() == nil)
  }

  @Test(arguments: [1, 2])
  func `what stands in for a damaged state leaves out what it dies at, and is given up when it dies again`(
    deaths: Int
  ) async throws {
    let bench = try await preservedTwice(.memory)
    bench.store.state.withLock { $0.generations[1].failsReading = true }
    let older = try bench.place.open(.predecessor)
    let content = try #require(older.parts.first?.content)
    let node = try #require(
      try RestorationArchive.Reader(base: .init(content.read(0..<content.byteCount))).node(at: ["root", "bad"]))
    for _ in 0..<deaths {
      try bench.place.beginAttempt(at: older, isRequest: false).note(
        node: node.id.rawValue)
      try await bench.kill()
    }
    let root = hierarchy()
    let report = try await bench.launch().restore(into: root)
    if deaths == 1 {
      #expect(report.leftOut == [["root", "bad"]])
      // Left out, it stands where it stood.
      #expect(values(root) == [1, 0, 3])
    } else {
      #expect(report.outcome == .givenUpAfterCrashes)
      #expect(values(root) == [0, 0, 0])
    }
  }

  @Test func `a power cut while restoring does not count the first time`() async throws {
    let bench = try await preserved()
    try await bench.die(at: ["root", "bad"])
    bench.store.state.withLock { $0.marker?.isPowerCut = true }
    let root = hierarchy()
    let report = try await bench.launch().restore(into: root)
    #expect(report.reason == .normal)
    #expect(values(root) == [1, 2, 3])
  }

  @Test(arguments: StoreKind.allCases)
  func `extended restoring stays guarded until it is completed`(on kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    let (coordinator, _, _) = try await extended(bench)
    #expect(coordinator.isRestorationExtended)
    coordinator.completeStateRestoration()
    try await bench.kill()
    #expect(try bench.marker == nil)
    _ = try await extended(bench)
    try await bench.kill()
    #expect(try bench.marker != nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `extensions are balanced by scope`(on kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    let coordinator = bench.launch()
    let value = await coordinator.withRestorationExtended {
      #expect(coordinator.isRestorationExtended)
      return 5
    }
    #expect(value == 5)
    #expect(!coordinator.isRestorationExtended)
  }

  /// A restoration that was extended for longer than the time limit.
  private func timedOut() async throws -> (Bench, RestorationCoordinator, Screen) {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = Screen("root")
    try await bench.restorePastTimeLimit(coordinator, into: root)
    return (bench, coordinator, root)
  }

  @Test func `after the time limit late answers are ignored and the delegate is told`() async throws {
    let (bench, coordinator, _) = try await timedOut()
    #expect(bench.delegate.timeouts == 1)
    #expect(bench.store.state.withLock { $0.marker } == nil)
    #expect(coordinator.restore(Panel("bad"), at: ["root", "bad"])?.notRestoredReason == .timedOut)
    #expect(coordinator.lastReport?.remarks.contains(.extensionTimedOut) == true)
    coordinator.completeStateRestoration()
  }

  @Test func `what came too late keeps its state, and who turns up after the end is given his`() async throws {
    let (bench, coordinator, root) = try await timedOut()
    let late = Panel("bad")
    root.restorationChildren = [late]
    #expect(coordinator.restore(late, at: ["root", "bad"])?.notRestoredReason == .timedOut)
    _ = try await coordinator.preserve(root)
    coordinator.completeStateRestoration()
    let next = Panel("last")
    root.restorationChildren.append(next)
    #expect(coordinator.restore(next, at: ["root", "last"])?.isRestored == true)
    #expect(next.value == 3)
    _ = try await coordinator.preserve(root)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(Set(values(again)) == [1, 2, 3])
  }

  /// Lets another time limit pass, after a late object was given its state.
  private func expectAnotherTimeLimit(
    _ bench: Bench, _ coordinator: RestorationCoordinator, _ root: Screen
  ) async throws {
    #expect(coordinator.isRestorationExtended)
    let late = Panel("bad")
    root.restorationChildren.append(late)
    #expect(coordinator.restore(late, at: ["root", "bad"])?.isRestored == true)
    #expect(bench.store.state.withLock { $0.marker } != nil)
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: bench.configuration.extensionTimeLimit)
    await bench.delegate.nextEvent()
    #expect(!coordinator.isRestorationExtended && bench.delegate.timeouts == 2)
    #expect(bench.store.state.withLock { $0.marker } == nil)
    coordinator.completeStateRestoration()
  }

  @Test func `a restoration after the time limit has a time limit of its own`() async throws {
    let (bench, coordinator, root) = try await timedOut()
    let last = Panel("last")
    root.onFinish = {
      root.restorationChildren.append(last)
      coordinator.restore(last, at: ["root", "last"])
    }
    #expect(try await coordinator.restore(into: root).outcome == .restored)
    #expect(last.value == 3)
    try await expectAnotherTimeLimit(bench, coordinator, root)
  }

  @Test func `a refused restoration leaves extended restoring its time limit`() async throws {
    let bench = try await preserved()
    let (coordinator, root) = (bench.launch(), hierarchy())
    root.onFinish = { coordinator.extendStateRestoration() }
    _ = try await coordinator.restore(into: root)
    root.text = "typed"
    _ = try await bench.compact(coordinator, root)
    bench.delegate.restores = false
    #expect(try await coordinator.restore(into: root, from: .olderGeneration).outcome == .declined)
    #expect(coordinator.isRestorationExtended)
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: bench.configuration.extensionTimeLimit)
    await bench.delegate.nextEvent()
    #expect(!coordinator.isRestorationExtended)
    coordinator.completeStateRestoration()
  }

  @Test func `an extension after the time limit guards anew`() async throws {
    let (bench, coordinator, root) = try await timedOut()
    coordinator.extendStateRestoration()
    try await expectAnotherTimeLimit(bench, coordinator, root)
    coordinator.completeStateRestoration()
  }

  @Test func `a time limit longer than any clock counts is ten years`() async throws {
    let bench = try await preserved()
    bench.configuration.extensionTimeLimit = .seconds(Int64.max)
    let coordinator = bench.launch()
    let root = Screen("root")
    root.onFinish = { coordinator.extendStateRestoration() }
    _ = try await coordinator.restore(into: root)
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(10 * 366 * 86_400))
    await bench.delegate.nextEvent()
    #expect(bench.delegate.timeouts == 1)
    coordinator.completeStateRestoration()
  }

  @Test func `completing more often than extending is a mistake that names the scene`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        RestorationCoordinator(store: MemoryStore(), delegate: nil).completeStateRestoration()
      }
    }
  }
}
