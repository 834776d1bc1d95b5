import FoundationEssentials
import Observation
import StateRestoration
import Synchronization
import TestTraits
import Testing

/// R9: what is written, when, and where the work is done.
@MainActor @Suite(.tags(.threads)) struct PipelineTests {
  func tree(_ count: Int) -> Screen {
    Screen("root", children: (0..<count).map { Screen(RestorationIdentifier("child-\($0)"), text: "\($0)") })
  }

  @Test(arguments: StoreKind.allCases)
  func `when nothing has changed nothing is captured, encoded or written`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let root = tree(50)
    _ = try await coordinator.preserve(root)
    let calls = bench.diskCalls
    guard case .unchanged(let receipt) = try await coordinator.preserve(root) else {
      Issue.record("something was written")
      return
    }
    #expect(receipt?.generation == 1)
    #expect(bench.diskCalls == calls)
    #expect(coordinator.measureCapture(of: root).capturedCount == 0)
  }

  /// No other test has an instance of it.
  @Observable final class FirstOfItsClass: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "root"
    var restorableState = 0
  }

  @Test func `the first object of a class that the process meets is observed like all others`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = FirstOfItsClass()
    _ = try await coordinator.preserve(root)
    #expect(coordinator.measureCapture(of: root).capturedCount == 0)
    root.restorableState = 1
    #expect(try await coordinator.preserve(root).receipt?.capturedNodes == 1)
  }

  @Test func `after one change one node is captured and appended as a change`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree(50)
    _ = try await coordinator.preserve(root)
    _ = bench.store.takeCalls()
    root["child-7"]?.text = "changed"
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.kind == .change)
    #expect(receipt.capturedNodes == 1)
    #expect(bench.store.takeCalls() == ["append"])
    let again = tree(50)
    _ = try await bench.launch().restore(into: again)
    #expect(again["child-7"]?.text == "changed")
    #expect(again["child-8"]?.text == "8")
  }

  @Test func `of a long list every other child leaves at once, with its state`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree(200)
    _ = try await coordinator.preserve(root)
    let staying = root.restorationChildren.enumerated().filter { $0.offset.isMultiple(of: 2) }
    root.restorationChildren = staying.map(\.element)
    _ = try await coordinator.preserve(root)
    #expect(coordinator.measureCapture(of: root, everything: false).capturedCount == 0)
    let again = tree(200)
    for case let child as Screen in again.restorationChildren { child.text = "new" }
    _ = try await bench.launch().restore(into: again)
    for number in 0..<200 {
      #expect(again[RestorationIdentifier("child-\(number)")]?.text == (number.isMultiple(of: 2) ? "\(number)" : "new"))
    }
  }

  @Test func `one change of two thousand writes less than a hundredth of the archive`() async throws {
    let bench = try await Bench(.device)
    let coordinator = bench.launch()
    let root = tree(2_000)
    let whole = try #require(try await coordinator.preserve(root).receipt)
    // The first change begins a journal, whose header is written once.
    for child in 7..<10 {
      root[RestorationIdentifier("child-\(child)")]?.text = "changed"
      let receipt = try #require(try await coordinator.preserve(root).receipt)
      #expect(receipt.kind == .change)
      #expect(receipt.bytesWritten * 100 <= whole.bytesWritten, "\(receipt.bytesWritten) of \(whole.bytesWritten)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a controller that cannot be observed is asked at every save, and an equal answer writes nothing`(
    on kind: StoreKind
  )
    async throws
  {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let root = Panel("root", value: 1)
    _ = try await coordinator.preserve(root)
    let calls = bench.diskCalls
    guard case .unchanged = try await coordinator.preserve(root) else {
      Issue.record("something was written")
      return
    }
    #expect(bench.diskCalls == calls)
    root.value = 2
    #expect(try await coordinator.preserve(root).receipt?.kind == .change)
  }

  @Test(arguments: StoreKind.allCases)
  func `a restored hierarchy that did not change writes nothing`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(tree(5))
    let coordinator = bench.launch()
    let root = tree(5)
    _ = try await coordinator.restore(into: root)
    // The first save makes durable what earlier runs have left.
    _ = try await coordinator.preserve(root)
    let calls = bench.diskCalls
    guard case .unchanged = try await coordinator.preserve(root) else {
      Issue.record("something was written")
      return
    }
    #expect(bench.diskCalls == calls)
  }

  @Test func `compaction writes a whole generation when the journal has grown`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree(5)
    _ = try await coordinator.preserve(root)
    bench.store.state.withLock { $0.isCompactionDue = true }
    root["child-1"]?.text = "changed"
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
  }

  @Test(arguments: ["append", "publish"])
  func `a failed save throws, loses nothing, and the next one saves everything`(call: String) async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree(5)
    if call == "append" { _ = try await coordinator.preserve(root) }
    bench.store.state.withLock { $0.failures = [call: .io] }
    root["child-1"]?.text = "changed"
    await #expect(throws: RestorationError.self) { try await coordinator.preserve(root) }
    bench.store.state.withLock { $0.failures = [:] }
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    let again = tree(5)
    _ = try await bench.launch().restore(into: again)
    #expect(again["child-1"]?.text == "changed")
  }

  @Test func `a save of unknown durability is told, and the next one starts again from memory`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree(5)
    bench.store.state.withLock { $0.durability = .unknown }
    #expect(try await coordinator.preserve(root).receipt?.durability == .unknown)
    bench.store.state.withLock { $0.durability = .durable }
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
  }

  @Test func `saves requested during a save are folded into one more, and none is lost`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = tree(3)
    let held = bench.store.hold(at: "publish")
    async let first = coordinator.preserve(root)
    try await held.arrived()
    let later = (0..<4).map { number in
      root["child-0"]?.text = "request \(number)"
      return Task { try await coordinator.preserve(root) }
    }
    await Task.yield()
    held.release()
    _ = try await first
    var outcomes: Set<PreservationOutcome> = []
    for request in later { outcomes.insert(try await request.value) }
    #expect(outcomes.count == 1)
    let writes = bench.store.takeCalls().filter { $0 == "publish" || $0 == "append" }
    #expect(writes == ["publish", "append"])
    let again = tree(3)
    _ = try await bench.launch().restore(into: again)
    #expect(again["child-0"]?.text == "request 3")
  }

  @Test(arguments: StoreKind.allCases)
  func `a value that cannot be encoded is named and its earlier state kept`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let coordinator = bench.launch()
    let odd = Odd()
    let root = Screen("root", children: [odd])
    _ = try await coordinator.preserve(root)
    odd.restorableState.fails = true
    odd.restorableState.value = 9
    let receipt = try await coordinator.preserve(root).receipt
    guard case .encodingFailed(let path, let message)? = receipt?.findings.first else {
      Issue.record("not named: \(String(describing: receipt))")
      return
    }
    #expect(path == ["root", "odd"])
    #expect(message.hasPrefix("invalidValue: "), "the cause in words: \(message)")
    let again = Odd()
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.restorableState.value == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `what is found is told though nothing has changed, and tried again without a change`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Wayward()]))
    let coordinator = bench.launch()
    let wayward = Wayward()
    let root = Screen("root", children: [wayward, Screen("wayward")])
    _ = try await coordinator.restore(into: root)
    let valve = wayward.restorableState.valve
    valve.isShut.store(true, ordering: .relaxed)
    wayward.restorableState.value = 3
    let outcome = try await coordinator.preserve(root)
    let findings = try #require(outcome.receipt?.findings)
    #expect(findings.contains { if case .encodingFailed(["root", "wayward"], _) = $0 { true } else { false } })
    #expect(findings.contains { if case .duplicateIdentifier(["root", "wayward"], _, _) = $0 { true } else { false } })
    #expect("\(outcome)".hasPrefix("Preservation: nothing has changed"))
    #expect("\(outcome)".contains("\n! "))
    // Nothing that is observed says that it can be encoded by now.
    wayward.restorableState.value = 2
    #expect(try await coordinator.preserve(root).receipt?.kind == .unchanged)
    valve.isShut.store(false, ordering: .relaxed)
    #expect(try await coordinator.preserve(root).receipt?.kind == .change)
    let again = Wayward()
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.restorableState.value == 2)
  }

  @Test(arguments: StoreKind.allCases)
  func `a node over its budget is named with its owner`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    bench.configuration.nodeByteBudget = 200
    let big = Screen("big", text: String(repeating: "x", count: 1000))
    let receipt = try #require(try await bench.preserve(Screen("root", children: [big])).receipt)
    guard case .overBudget(let path, let bytes, 200)? = receipt.findings.first else {
      Issue.record("not named: \(receipt)")
      return
    }
    #expect(path == ["root", "big"])
    #expect(bytes > 1000)
  }

  @Test(arguments: StoreKind.allCases)
  func `an archive over its budget sheds the lowest priority and names the path`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    bench.configuration.archiveByteBudget = 20_000
    let low = Screen("low", text: String(repeating: "x", count: 15_000))
    low.restoration.priority = .low
    let high = Screen("high", text: String(repeating: "y", count: 15_000))
    high.restoration.priority = .high
    let receipt = try #require(try await bench.preserve(Screen("root", children: [low, high])).receipt)
    #expect(receipt.findings.contains { if case .shed(["root", "low"], _) = $0 { true } else { false } })
    let root = Screen("root", children: [Screen("low"), Screen("high")])
    _ = try await bench.launch().restore(into: root)
    #expect(root["low"]?.text == "")
    #expect(root["high"]?.text.count == 15_000)
  }

  final class Odd: RestorableController, StatefulObject {
    nonisolated struct State: Codable, Sendable {
      var value = 1
      var fails = false
      func encode(to encoder: any Encoder) throws {
        if fails { throw EncodingError.invalidValue(0, .init(codingPath: [], debugDescription: "as the test wants")) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encode(fails, forKey: .fails)
      }
    }
    let restoration: RestorationIdentity = "odd"
    var restorableState = State()
  }

  /// An observed screen whose state can be encoded while a valve is open, which nobody observes.
  @Observable final class Wayward: RestorableController, StatefulObject {
    nonisolated struct State: Codable, Sendable {
      final class Valve: Sendable {
        let isShut = Atomic(false)
      }

      var value = 1
      var valve = Valve()

      enum CodingKeys: CodingKey { case value }

      func encode(to encoder: any Encoder) throws {
        if valve.isShut.load(ordering: .relaxed) {
          throw EncodingError.invalidValue(0, .init(codingPath: [], debugDescription: "as the test wants"))
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
      }
    }

    @ObservationIgnored let restoration: RestorationIdentity = "wayward"
    var restorableState = State()
  }
}
