import Observation
import StateRestoration
import StateRestorationTesting
import Synchronization
import Testing

/// What is left out to keep within the budget of an archive: for how long, and what it leaves behind.
@MainActor struct BudgetReturnTests {
  private static let low = String(repeating: "l", count: 9_000)

  private static func bench(_ kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    bench.configuration.archiveByteBudget = 20_000
    return bench
  }

  /// A screen that matters little beside one that is as big as a test wants.
  private static func root() -> Screen {
    let low = Screen("low", text: low)
    low.restoration.priority = .low
    return Screen("root", children: [low, Screen("normal", text: String(repeating: "n", count: 5_000))])
  }

  @Test(arguments: StoreKind.allCases)
  func `what was left out is stored again as soon as there is room`(on kind: StoreKind) async throws {
    let bench = try await Self.bench(kind)
    let coordinator = bench.launch()
    let root = Self.root()
    _ = try await coordinator.preserve(root)
    root["normal"]?.text = String(repeating: "n", count: 16_000)
    #expect(try await coordinator.preserve(root).leftOut == [["root", "low"]])
    root["normal"]?.text = "short"
    #expect(try await coordinator.preserve(root).leftOut == [])
    try await bench.kill()
    let restored = Screen("root", children: [Screen("low"), Screen("normal")])
    let report = try await bench.launch().restore(into: restored)
    #expect(report[["root", "low"]]?.isRestored == true)
    #expect(restored["low"]?.text == Self.low && restored["normal"]?.text == "short")
  }

  @Test(arguments: StoreKind.allCases)
  func `so is what nobody asked for in this run`(on kind: StoreKind) async throws {
    let bench = try await Self.bench(kind)
    try await bench.preserve(Self.root())
    try await bench.kill()
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("normal")])
    _ = try await coordinator.restore(into: root)
    root["normal"]?.text = String(repeating: "n", count: 16_000)
    #expect(try await coordinator.preserve(root).leftOut == [["root", "low"]])
    root["normal"]?.text = String(repeating: "m", count: 16_000)
    #expect(try await coordinator.preserve(root).leftOut == [])
    root["normal"]?.text = "short"
    #expect(try await coordinator.preserve(root).leftOut == [])
    try await bench.kill()
    let restored = Screen("root", children: [Screen("low"), Screen("normal")])
    _ = try await bench.launch().restore(into: restored)
    #expect(restored["low"]?.text == Self.low && restored["normal"]?.text == "short")
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `a save that fails leaves nothing out of the next one`(on kind: StoreKind, isTold: Bool) async throws {
    let bench = try await Self.bench(kind)
    let coordinator = bench.launch()
    let root = Self.root()
    _ = try await coordinator.preserve(root)
    root["normal"]?.text = String(repeating: "n", count: 16_000)
    bench.failsWriting(true)
    await #expect(throws: RestorationError.self) { try await coordinator.preserve(root) }
    bench.failsWriting(false)
    if isTold {
      // Nobody knows yet that it is left out now.
      #expect(try await coordinator.preserve(root).leftOut == [["root", "low"]])
    }
    root["normal"]?.text = "short"
    #expect(try await coordinator.preserve(root).leftOut == [])
    try await bench.kill()
    let restored = Screen("root", children: [Screen("low"), Screen("normal")])
    _ = try await bench.launch().restore(into: restored)
    #expect(restored["low"]?.text == Self.low && restored["normal"]?.text == "short")
  }

  @Test(arguments: StoreKind.allCases)
  func `over the budget nothing is written when nothing changes`(on kind: StoreKind) async throws {
    let bench = try await Self.bench(kind)
    let coordinator = bench.launch()
    // Whatever codes by hand is asked anew in each save.
    let notes = ["low", "normal"].map { Note(RestorationIdentifier($0)) }
    notes[0].restoration.priority = .low
    notes[0].text = Self.low
    notes[1].text = String(repeating: "n", count: 16_000)
    let root = Screen("root", children: notes)
    #expect(try await coordinator.preserve(root).leftOut == [["root", "low"]])
    let calls = bench.diskCalls
    for _ in 0..<3 {
      guard case .unchanged(let receipt) = try await coordinator.preserve(root) else {
        Issue.record("it is written again")
        return
      }
      #expect(receipt?.findings.isEmpty ?? true)
    }
    #expect(bench.diskCalls == calls)
    notes[1].text = "short"
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    let restored = ["low", "normal"].map { Note(RestorationIdentifier($0)) }
    _ = try await bench.launch().restore(into: Screen("root", children: restored))
    #expect(restored.map(\.text) == [Self.low, "short"])
  }

  // MARK: - Roles

  @Test(arguments: StoreKind.allCases)
  func `a dialog whose state is left out does not come back as the content of its window`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Self.bench(kind)
    let window = WindowController("window", content: Sheet("high"))
    window.present(Sheet("low"))
    #expect(try await bench.preserve(window).leftOut == [["window", "low"]])
    try await bench.kill()
    let restored = WindowController("window")
    let report = try await bench.launch { $0.register(Sheet.self, as: "sheet") { path, _ in Sheet(path) } }
      .restore(into: restored)
    #expect((restored.content as? Sheet)?.text.count == 12_000)
    #expect((restored.presentedController as? Sheet)?.restoration.identifier == "low")
    #expect(report[["window", "low"]]?.notRestoredReason == .shed)
    #expect(report[["window", "low"]]?.byteCount == 0)
  }

  @Test(arguments: StoreKind.allCases)
  func `a dialog whose state is left out is not pushed onto a stack`(on kind: StoreKind) async throws {
    let bench = try await Self.bench(kind)
    let navigation = NavigationController("navigation", root: Sheet("high"))
    navigation.present(Sheet("low"))
    #expect(try await bench.preserve(navigation).leftOut == [["navigation", "low"]])
    try await bench.kill()
    let restored = NavigationController("navigation")
    _ = try await bench.launch { $0.register(Sheet.self, as: "sheet") { path, _ in Sheet(path) } }
      .restore(into: restored)
    #expect(restored.stack.map(\.restoration.identifier) == ["high"])
    #expect((restored.presentedController as? Sheet)?.restoration.identifier == "low")
  }

  @Test(arguments: StoreKind.allCases)
  func `a column whose state is left out is still that column`(on kind: StoreKind) async throws {
    let bench = try await Self.bench(kind)
    let split = SplitController("split", primary: Sheet("high"), secondary: Sheet("low"))
    #expect(try await bench.preserve(split).leftOut == [["split", "low"]])
    try await bench.kill()
    let restored = SplitController("split")
    let coordinator = bench.launch { $0.register(Sheet.self, as: "sheet") { path, _ in Sheet(path) } }
    _ = try await coordinator.restore(into: restored)
    #expect((restored.primary as? Sheet)?.restoration.identifier == "high")
    #expect((restored.secondary as? Sheet)?.restoration.identifier == "low")
    #expect((restored.secondary as? Sheet)?.text == "")
  }

  @Test func `so is one that is too big for a node`() async throws {
    let bench = try await Self.bench(.memory)
    let sheet = Sheet("low")
    sheet.text = String(repeating: "l", count: 1_100_000)
    let split = SplitController("split", secondary: sheet)
    #expect(try await bench.preserve(split).leftOut == [["split", "low"]])
    let restored = SplitController("split")
    _ = try await bench.launch { $0.register(Sheet.self, as: "sheet") { path, _ in Sheet(path) } }
      .restore(into: restored)
    #expect((restored.secondary as? Sheet)?.text == "")
  }

  @Test(arguments: StoreKind.allCases)
  func `what was left out while locked does not replace what was stored before`(on kind: StoreKind) async throws {
    let bench = try await Self.bench(kind)
    let split = SplitController("split", primary: Sheet("high"), secondary: Sheet("low"))
    (split.secondary as? Sheet)?.text = "old"
    (split.primary as? Sheet)?.text = "old"
    try await bench.preserve(split)
    try await bench.kill()
    try await bench.lock()
    let locked = bench.launch()
    let touched = SplitController("split", primary: Sheet("high"), secondary: Sheet("low"))
    _ = try await locked.restore(into: touched)
    (touched.primary as? Sheet)?.text = String(repeating: "m", count: 12_000)
    (touched.secondary as? Sheet)?.text = String(repeating: "m", count: 9_000)
    #expect(try await locked.preserve(touched).leftOut == [["split", "low"]])
    try await bench.kill()
    try await bench.unlock()
    let restored = SplitController("split")
    _ = try await bench.launch { $0.register(Sheet.self, as: "sheet") { path, _ in Sheet(path) } }
      .restore(into: restored)
    #expect((restored.primary as? Sheet)?.text.count == 12_000)
    #expect((restored.secondary as? Sheet)?.text == "old")
  }

  /// A controller that codes by hand, with much text.
  private final class Note: RestorableController, CodingObject {
    var restoration: RestorationIdentity
    var text = ""

    init(_ identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier) }

    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "text") }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      text = try coder.decode(forKey: "text")
    }
  }

  /// A controller that is made anew; the one called "low" matters little, the other one has most of the text.
  @Observable final class Sheet: RestorableController, StatefulObject {
    nonisolated struct State: Codable, Sendable { var text = "" }

    let restoration: RestorationIdentity
    var restorableState = State()
    var text: String {
      get { restorableState.text }
      set { restorableState.text = newValue }
    }

    init(_ identifier: RestorationIdentifier) {
      restoration = Self.identity(identifier)
      text = String(repeating: "x", count: identifier == "low" ? 9_000 : 12_000)
    }

    init(_ path: RestorationPath) { restoration = Self.identity(path.last) }

    private static func identity(_ identifier: RestorationIdentifier?) -> RestorationIdentity {
      RestorationIdentity(identifier, class: "sheet", priority: identifier == "low" ? .low : .high)
    }
  }
}

extension Bench {
  /// Lets everything that writes find the disk full, or no longer.
  fileprivate func failsWriting(_ fails: Bool) {
    store.state.withLock { state in
      for call in ["append", "publish"] { state.failures[call] = fails ? .io : nil }
    }
    if fails { device?.failDisk(.full) } else { device?.healDisk() }
  }
}
