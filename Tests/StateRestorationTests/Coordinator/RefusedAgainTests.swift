import RestorationArchive
import StateRestoration
import Testing

/// What the user has typed into an object that is refused the stored state is newer, also when it is refused once more before
/// it was saved.
@MainActor @Suite struct RefusedAgainTests {
  private let path: RestorationPath = ["root", "panel"]

  /// Why the second restoration refuses the state.
  enum Reason: CaseIterable, Sendable {
    case decoding, decodingTheFirstTimeToo, leftOut
  }

  /// When the user types.
  enum Moment: CaseIterable, Sendable {
    case beforeAnySave, afterASave
  }

  @Test(arguments: Reason.allCases, Moment.allCases)
  func `what was typed is saved by the next save`(reason: Reason, moment: Moment) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Panel("panel", value: 1)]))
    if reason == .leftOut { try await bench.die(at: path) }

    let panel = Panel("panel")
    panel.failsDecoding = reason == .decodingTheFirstTimeToo
    let root = Screen("root", children: [panel])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    if moment == .afterASave { _ = try await coordinator.preserve(root) }
    panel.value = 2
    panel.failsDecoding = reason != .leftOut
    let report = try await coordinator.restore(into: root)
    // What was typed was saved first, and lies beside the record that restoring died at.
    #expect(report[path]?.isRestored == (reason == .leftOut))
    _ = try await coordinator.preserve(root)

    let again = Panel("panel")
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.value == 2)
  }

  @Test(arguments: [false, true])
  func `what nobody typed into stays refused, and the stored state stays`(savesBetween: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Panel("panel", value: 1)]))
    let panel = Panel("panel")
    panel.failsDecoding = true
    let root = Screen("root", children: [panel])
    let coordinator = bench.launch()
    for _ in 0..<2 {
      _ = try await coordinator.restore(into: root)
      if savesBetween { _ = try await coordinator.preserve(root) }
    }
    _ = try await coordinator.preserve(root)

    let again = Panel("panel")
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.value == 1)
  }

  @Test(arguments: [false, true], [false, true])
  func `the same holds for the program's own state`(fails: Bool, edits: Bool) async throws {
    let bench = Bench()
    bench.delegate.appValue = "saved"
    try await bench.preserve(Screen("root"))
    bench.delegate.appValue = ""
    bench.delegate.failsDecoding = fails
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    bench.delegate.appValue = bench.delegate.restoredAppValue ?? ""
    #expect(bench.delegate.appValue == (fails ? "" : "saved"))
    if edits { bench.delegate.appValue = "typed" }
    bench.delegate.failsDecoding = true
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    bench.delegate.failsDecoding = false
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(bench.delegate.restoredAppValue == (edits ? "typed" : "saved"))
  }

  /// A screen that makes its inspector when it is first asked for it, and has it take its state then.
  final class LazyScreen: CodingObject, RestorationParent {
    let restoration: RestorationIdentity = "screen"
    let restorer: RestorationCoordinator
    let fails: Bool
    private var made: Panel?

    init(_ restorer: RestorationCoordinator, fails: Bool = false) {
      self.restorer = restorer
      self.fails = fails
    }

    var restorationChildren: [any RestorableController] { made.map { [$0] } ?? [] }

    var inspector: Panel {
      if let made { return made }
      let panel = Panel("inspector")
      panel.failsDecoding = fails
      made = panel
      restorer.restore(panel, at: ["screen", "inspector"])
      return panel
    }

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(inspector.value, forKey: "shown")
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      if fails { throw RestorationError(.invalidState, "as the test wants") }
    }
  }

  @Test func `an object that is refused its state may have another one turn up by its own code`() async throws {
    let bench = Bench()
    let first = bench.launch()
    let screen = LazyScreen(first)
    screen.inspector.value = 1
    _ = try await first.preserve(screen)
    for _ in 0..<2 {
      let coordinator = bench.launch()
      let screen = LazyScreen(coordinator, fails: true)
      let report = try await coordinator.restore(into: screen)
      #expect(report[["screen"]]?.isRestored == false)
      _ = try await coordinator.preserve(screen)
    }
    let coordinator = bench.launch()
    let again = LazyScreen(coordinator)
    _ = try await coordinator.restore(into: again)
    #expect(again.inspector.value == 1)
  }
}
