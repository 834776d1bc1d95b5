import FoundationEssentials
import RestorationArchive
import StateRestorationTesting
import Testing

@testable import StateRestoration

/// What can't be encoded keeps what it had, in its place, and stops nobody else (R3.5).
@MainActor @Suite struct UnencodableTests {
  /// A text that may refuse to be encoded.
  struct Text: Codable, Sendable {
    var text = ""
    var fails = false

    init(_ text: String = "", fails: Bool = false) {
      self.text = text
      self.fails = fails
    }

    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    func encode(to encoder: any Encoder) throws {
      if fails { throw EncodingError.invalidValue(text, .init(codingPath: [], debugDescription: "as the test wants")) }
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }

  /// A screen with such a text, in an older version.
  class Brittle: StatefulObject, RestorationParent {
    class var version: StateVersion { 1 }
    var restoration: RestorationIdentity
    var restorableState = Text()
    var restorationChildren: [any RestorableController] = []
    init(_ text: String = "", called identifier: RestorationIdentifier = "brittle") {
      restoration = RestorationIdentity(identifier, version: Self.version)
      restorableState.text = text
    }
  }

  /// The same class in the program's next version.
  enum Next {
    final class Brittle: UnencodableTests.Brittle {
      override class var version: StateVersion { 2 }
    }
  }

  /// A screen that can't be encoded any more once it is restored.
  final class Stubborn: Brittle {
    override var restorableState: Text {
      didSet { if !restorableState.fails { restorableState.fails = true } }
    }
  }

  private let path: RestorationPath = ["root", "brittle"]

  private func failures(_ outcome: PreservationOutcome) -> [RestorationPath] {
    (outcome.receipt?.findings ?? []).compactMap { finding in
      if case .encodingFailed(let path, _) = finding { path } else { nil }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a newer program's state stays in its place while the edit can't be encoded`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Next.Brittle("newer")]))
    let older = Brittle()
    let root = Screen("root", children: [older])
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: root)[path]?.isRestored == false)
    older.restorableState = Text("older", fails: true)
    for round in 0..<3 {
      root.text = "round \(round)"
      #expect(failures(try await coordinator.preserve(root)) == [path])
      let newer = Next.Brittle()
      _ = try await bench.launch().restore(into: Screen("root", children: [newer]))
      bench.closePlaces()
      #expect(newer.restorableState.text == "newer")
    }
    older.restorableState.fails = false
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().versions(at: path) == [2, 1])
    let newer = Brittle()
    _ = try await bench.launch().restore(into: Screen("root", children: [newer]))
    #expect(newer.restorableState.text == "older")
  }

  @Test func `every save names what could not be encoded when it was met`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Brittle("kept")]))
    let root = Screen("root", children: [Stubborn()])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    for _ in 0..<3 { #expect(failures(try await coordinator.preserve(root)) == [path]) }
  }

  @Test func `a save names nothing that can be encoded again since everything was restored again`() async throws {
    let bench = Bench()
    let brittle = Brittle()
    brittle.restorableState = Text("typed", fails: true)
    let root = Screen("root", children: [brittle])
    let coordinator = bench.launch()
    #expect(failures(try await coordinator.preserve(root)) == [path])
    _ = try await coordinator.restore(into: root)
    brittle.restorableState = Text("edited")
    #expect(failures(try await coordinator.preserve(root)).isEmpty)
  }

  @Test func `what could not be encoded before everything was discarded is nobody else's afterwards`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let (stubborn, other) = (Brittle("theirs", called: "stubborn"), Brittle("own", called: "other"))
    stubborn.restorableState.fails = true
    _ = try await coordinator.preserve(Screen("root", children: [stubborn, other]))
    try await coordinator.discard()
    stubborn.restorableState.fails = false
    let root = Screen("root", children: [other])
    _ = try await coordinator.preserve(root)
    let again = Brittle(called: "other")
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.restorableState.text == "own")
  }

  @Test func `a save names nothing more once the values are again as they were met`() async throws {
    let bench = Bench()
    let brittle = Next.Brittle("newer")
    try await bench.preserve(Screen("root", children: [brittle]))
    let older = Brittle()
    let root = Screen("root", children: [older])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let met = older.restorableState
    older.restorableState = Text("typed", fails: true)
    #expect(failures(try await coordinator.preserve(root)) == [path])
    older.restorableState = met
    #expect(failures(try await coordinator.preserve(root)).isEmpty)
    await #expect(coordinator.worker.run { $0.table.unencoded.isEmpty })
  }

  @Test func `who comes by its path takes nothing that it can't replace`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Next.Brittle("newer")]))
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let older = Brittle()
    older.restorableState = Text("older", fails: true)
    root.restorationChildren = [older]
    #expect(failures(try await coordinator.preserve(root)) == [path])
    #expect(try bench.newestReader().versions(at: path) == [2])
    older.restorableState.fails = false
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().versions(at: path) == [2, 1])
  }

  @Test func `what is below another model's object stays while its own state can't be encoded`() async throws {
    let bench = Bench()
    let first = Brittle("first")
    first.restoration.model = "one"
    first.restorationChildren = [Screen("page", text: "page")]
    try await bench.preserve(Screen("root", children: [first]))
    let again = Brittle()
    again.restoration.model = "one"
    let root = Screen("root", children: [again])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    again.restoration.model = "two"
    again.restorableState.fails = true
    #expect(failures(try await coordinator.preserve(root)) == [path])
    let reader = try bench.newestReader()
    #expect(try reader.node(at: path.appending("page")) != nil)
    #expect(try reader.node(at: path)?.attributes.model == "one")
    #expect(try reader.absentRows().compactMap(\.attributes.model) == ["one"])
    again.restorableState.fails = false
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().absentRows().count == 1)
  }

  @Test func `a screen whose first encoding fails can be made again, and what is below it`() async throws {
    let bench = Bench()
    let brittle = Brittle()
    brittle.restoration.class = "brittle"
    brittle.restorableState.fails = true
    brittle.restorationChildren = [Screen("page", text: "page")]
    let register: (RestorationRegistry) -> Void = { registry in
      registry.register(Brittle.self, as: "brittle") { _, _ in
        let made = Brittle("made")
        made.restoration.class = "brittle"
        made.restorationChildren = [Screen("page")]
        return made
      }
    }
    let outcome = try await bench.launch(register).preserve(Screen("root", children: [brittle]))
    #expect(failures(outcome) == [path])
    let root = Screen("root")
    let report = try await bench.launch(register).restore(into: root)
    #expect(report[path]?.isRestored == true)
    let made = try #require(root.restorationChildren.first as? Brittle)
    #expect(made.restorableState.text == "made")
    #expect((made.restorationChildren.first as? Screen)?.text == "page")
  }

  @Test func `a state over its budget is named by every save, until it is not`() async throws {
    let bench = Bench()
    bench.configuration.nodeByteBudget = 1_000
    let big = Screen("big", text: String(repeating: "x", count: 2_000))
    let root = Screen("root", children: [big])
    let coordinator = bench.launch()
    func names() async throws -> Int {
      try await coordinator.preserve(root).receipt?.findings.count { finding in
        if case .overBudget(["root", "big"], _, 1_000) = finding { true } else { false }
      } ?? -1
    }
    #expect(try await names() == 1)
    root.text = "changed"
    #expect(try await names() == 1)
    #expect(try await names() == 1)
    big.text = "small"
    #expect(try await names() == 0)
    big.text = String(repeating: "x", count: 2_000)
    #expect(try await names() == 1)
    root.restorationChildren = []
    #expect(try await names() == 0)
  }

  // MARK: - The program's own state

  /// A delegate with such a text.
  final class BrittleDelegate: RestorationCoordinatorDelegate {
    var state = Text()
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
    func willEncodeRestorableState(with coder: RestorationEncoder) { coder.encode(state, forKey: "state") }
    func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      state = try coder.decodeIfPresent(Text.self, forKey: "state") ?? state
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the program's own state stops no save of the screens, and keeps what it had`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let delegate = BrittleDelegate()
    delegate.state = Text("earlier")
    let root = Screen("root", text: "first")
    let coordinator = bench.launch(with: delegate)
    _ = try await coordinator.preserve(root)
    delegate.state = Text("later", fails: true)
    for round in 0..<2 {
      root.text = "round \(round)"
      #expect(failures(try await coordinator.preserve(root)) == [[]])
    }
    let other = BrittleDelegate()
    let again = Screen("root")
    _ = try await bench.launch(with: other).restore(into: again)
    #expect(again.text == "round 1")
    #expect(other.state.text == "earlier")
    // The other coordinator saves again.
    bench.closePlaces()
    delegate.state.fails = false
    _ = try await coordinator.preserve(root)
    _ = try await bench.launch(with: other).restore(into: again)
    #expect(other.state.text == "later")
  }

  @Test func `while it can't be encoded, what could not be decoded stays kept`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Next.Brittle("newer")]))
    let delegate = BrittleDelegate()
    let root = Screen("root", children: [Brittle()])
    let coordinator = bench.launch(with: delegate)
    _ = try await coordinator.restore(into: root)
    for fails in [true, false] {
      delegate.state = Text("state", fails: fails)
      root.text = "changed \(fails)"
      _ = try await coordinator.preserve(root)
    }
    let newer = Next.Brittle()
    _ = try await bench.launch().restore(into: Screen("root", children: [newer]))
    #expect(newer.restorableState.text == "newer")
  }

  @Test(arguments: StoreKind.allCases)
  func `what was typed while locked into a screen that is made anew is there after the unlock`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let register: (RestorationRegistry) -> Void = { registry in
      registry.register(Brittle.self, as: "brittle") { _, _ in
        let made = Brittle()
        made.restoration.class = "brittle"
        return made
      }
    }
    func screen(_ text: String = "") -> Brittle {
      let screen = Brittle(text)
      screen.restoration.class = "brittle"
      return screen
    }
    _ = try await bench.launch(register).preserve(Screen("root", children: [screen("stored")]))
    try await bench.lock()
    let delegate = BrittleDelegate()
    delegate.state.fails = true
    let shown = screen()
    let root = Screen("root", children: [shown])
    let coordinator = bench.launch(with: delegate, register)
    _ = try await coordinator.restore(into: root)
    for _ in 0..<5 { await Task.yield() }
    shown.restorableState.text = "typed"
    try await bench.unlock(coordinator)
    let made = try #require(root.restorationChildren.first as? Brittle)
    #expect(made.restorableState.text == "typed")
  }
}
