import DataProtection
import FoundationEssentials
import SimulatedTime
import StateRestoration
import Synchronization
import TestTraits
import Testing

/// What the coordinator promises beside the rows, seen by somebody who wants to break it.
@MainActor @Suite(.tags(.threads)) struct PromiseTests {
  func hierarchy() -> Screen { Screen("root", children: [Screen("a"), Screen("b")]) }

  func preserved() async throws -> Bench {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "r", children: [Screen("a", text: "a"), Screen("b", text: "b")]))
    return bench
  }

  // MARK: - Ownership

  @Test func `a controller that leaves the hierarchy after restoring dies`() async throws {
    let bench = try await preserved()
    bench.delegate.make = { path, _ in path.last == "a" ? Screen("a") : nil }
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    weak let made = root["a"]
    #expect(made?.text == "a")
    root.restorationChildren = []
    root.installed = []
    #expect(made == nil)
    #expect(coordinator.lastReport?[["root", "a"]]?.isRestored == true)
  }

  @Test func `a coordinator keeps neither the hierarchy nor itself alive`() async throws {
    let bench = try await preserved()
    var coordinator: RestorationCoordinator? = bench.launch()
    var root: Screen? = hierarchy()
    _ = try await coordinator?.restore(into: try #require(root))
    _ = try await coordinator?.preserve(try #require(root))
    weak let weakRoot = root
    weak let weakCoordinator = coordinator
    root = nil
    #expect(weakRoot == nil)
    coordinator = nil
    #expect(weakCoordinator == nil)
  }

  // MARK: - Carried over and forgotten

  @Test func `what was forgotten is given to nobody any more`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("b")])
    _ = try await coordinator.restore(into: root)
    #expect(await coordinator.forget(["root", "a"]))
    let late = Screen("a")
    root.restorationChildren.append(late)
    #expect(coordinator.restore(late, at: ["root", "a"]) == nil)
    #expect(late.text.isEmpty)
    _ = try await coordinator.preserve(root)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "")
  }

  @Test func `what a live object owns can't be forgotten, even before the first save`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    #expect(await coordinator.forget(["root", "a"]) == false)
    _ = try await coordinator.preserve(root)
    #expect(await coordinator.forget(["root", "a"]) == false)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "a")
  }

  @Test func `moves and renames in small changes are found by the next launch`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    let moved = try #require(root["a"])
    root.restorationChildren = [try #require(root["b"])]
    root["b"]?.restorationChildren = [moved]
    #expect(try await coordinator.preserve(root).receipt?.kind == .change)
    moved.restoration.identifier = "renamed"
    #expect(try await coordinator.preserve(root).receipt?.kind == .change)
    let again = Screen("root", children: [Screen("b", children: [Screen("renamed")])])
    let report = try await bench.launch().restore(into: again)
    #expect(again["b"]?["renamed"]?.text == "a")
    #expect(report[["root", "a"]] == nil)
  }

  // MARK: - In the middle of something

  @Test func `discarding waits for a restoration in progress, so that nothing comes back`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    async let report = coordinator.restore(into: root)
    await Task.yield()
    try await coordinator.discard()
    _ = try await report
    #expect(bench.store.state.withLock { $0.generations.isEmpty })
    #expect(try await bench.launch().restore(into: hierarchy()).outcome == .nothingPreserved)
  }

  @Test func `discarding during a save deletes what the save wrote`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root.text = "changed"
    let held = bench.store.hold(at: "append")
    async let outcome = coordinator.preserve(root)
    try await held.arrived()
    async let discarding: Void = coordinator.discard()
    held.release()
    _ = try await outcome
    try await discarding
    #expect(bench.store.state.withLock { $0.generations.isEmpty })
  }

  @Test func `a hook may ask for a save and for a restoration`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    var inner: [Task<RestorationError.Code?, Never>] = []
    var saves: [Task<PreservationOutcome?, Never>] = []
    root.onFinish = {
      inner.append(
        Task {
          do throws(RestorationError) {
            _ = try await coordinator.restore(into: root)
            return nil
          } catch {
            return error.code
          }
        })
      saves.append(Task { try? await coordinator.preserve(root) })
    }
    _ = try await coordinator.restore(into: root)
    root.onFinish = nil
    for task in inner { #expect([nil, .restorationInProgress].contains(await task.value)) }
    for task in saves { #expect(await task.value != nil) }
    #expect(root["a"]?.text == "a")
  }

  @Test func `a controller that takes siblings away while it decodes traps nothing and loses nothing else`()
    async throws
  {
    let bench = Bench()
    try await bench.preserve(
      Screen(
        "root", text: "r", children: [Panel("first", value: 1), Panel("second", value: 2), Screen("b", text: "b")]))
    let coordinator = bench.launch()
    let first = Panel("first")
    let root = Screen("root", children: [first, Panel("second"), Screen("b")])
    first.onDecode = { root.restorationChildren.removeAll { $0.restoration.identifier == "second" } }
    _ = try await coordinator.restore(into: root)
    #expect(root["b"]?.text == "b")
    _ = try await coordinator.preserve(root)
    let again = Screen("root", children: [Panel("first"), Screen("b")])
    _ = try await bench.launch().restore(into: again)
    #expect((again.restorationChildren.first as? Panel)?.value == 1)
    #expect(again["b"]?.text == "b")
  }

  // MARK: - Guarded by the marker

  @Test func `restoring that is extended after its turn is guarded again`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: hierarchy())
    #expect(bench.store.state.withLock { $0.marker } == nil)
    await coordinator.withRestorationExtended {
      let marker = bench.store.state.withLock { $0.marker }
      #expect(marker != nil)
      #expect(marker?.node == nil)
    }
    #expect(bench.store.state.withLock { $0.marker } == nil)
  }

  @Test func `where nothing was restored an extension marks nothing`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: hierarchy())
    await coordinator.withRestorationExtended {
      #expect(bench.store.state.withLock { $0.marker } == nil)
    }
  }

  @Test func `a death after the turn is no node's fault, and costs no node`() async throws {
    let bench = try await preserved()
    let coordinator = bench.launch()
    let root = hierarchy()
    root.onFinish = { coordinator.extendStateRestoration() }
    _ = try await coordinator.restore(into: root)
    #expect(bench.store.state.withLock { $0.marker.map { $0.node == nil } } == true)
    let again = hierarchy()
    let report = try await bench.launch().restore(into: again)
    #expect(report.leftOut.isEmpty)
    #expect(again["b"]?.text == "b")
    coordinator.completeStateRestoration()
  }

  @Test func `a death in late restoring leaves out the node that it died at, like any other`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "r", children: [Panel("bad", value: 1), Screen("b", text: "b")]))
    bench.store.lock(true)
    let coordinator = bench.launch()
    let bad = Panel("bad")
    let root = Screen("root", children: [bad, Screen("b")])
    _ = try await coordinator.restore(into: root)
    var died: MemoryStore.Marker?
    bad.onDecode = { died = bench.store.state.withLock { $0.marker } }
    bench.store.lock(false)
    await coordinator.protectedDataDidBecomeAvailable()
    bench.store.state.withLock { $0.marker = died }
    let again = Screen("root", children: [Panel("bad"), Screen("b")])
    let report = try await bench.launch().restore(into: again)
    #expect(report.leftOut == [["root", "bad"]])
    #expect(again["b"]?.text == "b")
    let later = Screen("root", children: [Panel("bad"), Screen("b")])
    _ = try await bench.launch().restore(into: later, retriesLeftOut: true)
    #expect(later.restorationChildren.compactMap { ($0 as? Panel)?.value } == [1])
  }

  // MARK: - Receipts and failures

  @Test func `a receipt counts what differs, not what was asked`() async throws {
    let bench = Bench()
    let root = Screen("root", children: [Panel("p", value: 1), Panel("q", value: 2), Screen("a")])
    let coordinator = bench.launch()
    let first = try #require(try await coordinator.preserve(root).receipt)
    #expect(first.capturedNodes == 4 && first.changedNodes == 4)
    (root.restorationChildren[0] as? Panel)?.value = 5
    let second = try #require(try await coordinator.preserve(root).receipt)
    #expect(second.capturedNodes >= 2)
    #expect(second.changedNodes == 1)
  }

  @Test func `a save that fails throws, and automatic preservation makes up for it after the interval`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    await bench.delegate.nextEvent()
    await bench.clock.waitForSleepers()
    bench.store.state.withLock { state in
      for call in ["append", "publish"] { state.failures[call] = .busy }
    }
    root["a"]?.text = "changed"
    await #expect(throws: RestorationError.self) { try await coordinator.preserve(root) }
    bench.store.state.withLock { $0.failures = [:] }
    bench.clock.advance(by: .seconds(1))
    await bench.delegate.nextEvent()
    #expect(bench.delegate.outcomes.last?.receipt != nil)
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["a"]?.text == "changed")
  }

  @Test func `the first save that fails is made up for as well`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = hierarchy()
    root.text = "first"
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    bench.store.state.withLock { $0.failures["openNewest"] = .busy }
    let error = await #expect(throws: RestorationError.self) { try await coordinator.preserve(root) }
    #expect(error?.code == .preservationFailed)
    bench.store.state.withLock { $0.failures = [:] }
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(1))
    await bench.delegate.nextEvent()
    #expect(bench.store.state.withLock { $0.generations.count } == 1)
  }
}
