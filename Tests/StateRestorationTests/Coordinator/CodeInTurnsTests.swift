import RestorationArchive
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// Whose the code of the program is that runs in a restoring turn, and what references lead to.
@MainActor @Suite(.timeLimit(.minutes(5))) struct CodeInTurnsTests {
  /// The path of the row or record that the marker names now; nil when it names none.
  private func marked(_ bench: Bench) -> RestorationPath? {
    guard let node = bench.store.state.withLock({ $0.marker?.node }) else { return nil }
    guard let reader = try? bench.newestReader(),
      let found = try? reader.path(of: NodeID(rawValue: node))
    else { return ["?"] }
    return found
  }

  @Test func `the check whether a model exists is noted as the row's whose model it is`() async throws {
    let bench = Bench()
    func screen(_ identifier: RestorationIdentifier) -> Screen {
      let screen = Screen(identifier, text: "t", tag: "screen")
      screen.restoration.model = ModelIdentifier("\(identifier)")
      return screen
    }
    var seen: [String: RestorationPath?] = [:]
    func launch() -> RestorationCoordinator {
      bench.launch {
        $0.register(
          Screen.self, as: "screen",
          onlyIf: { model in
            seen[model.rawValue] = marked(bench)
            return true
          }
        ) { path, _ in screen(path.last!) }
      }
    }
    _ = try await launch().preserve(Screen("root", children: [screen("a"), screen("b"), screen("c")]))
    seen = [:]
    _ = try await launch().restore(into: Screen("root"))
    for name in ["a", "b", "c"] {
      #expect(seen[name] == .some(["root", RestorationIdentifier(name)]), "\(seen)")
    }
  }

  // MARK: - References

  @Test func `objects that only a ring of references keeps come back through renames`() async throws {
    let bench = Bench()
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(Panel.self, as: "panel") { path, _ in Panel.made(path.last) } }
    }
    let top = Panel("top", value: 1)
    let (a, b) = (Panel.made("a", value: 2), Panel.made("b", value: 3))
    (top.strongFriend, a.strongFriend, b.friend) = (a, b, a)
    let first = launch()
    _ = try await first.preserve(Screen("root", children: [top]))
    let shown = Panel("top")
    let second = launch()
    let root = Screen("root", children: [shown])
    let report = try await second.restore(into: root)
    let x = try #require(shown.strongFriend as? Panel, "\(report)")
    let y = try #require(x.strongFriend as? Panel)
    #expect(y.strongFriend === x && x.value == 2 && y.value == 3)
    (y.friend, y.strongFriend) = (x, nil)
    y.restoration.identifier = "renamed"
    y.value = 4
    x.invalidateRestorableState()
    _ = try await second.preserve(root)
    let last = Panel("top")
    let third = launch()
    let final = try await third.restore(into: Screen("root", children: [last]))
    let z = (last.strongFriend as? Panel)?.strongFriend as? Panel
    #expect(z?.value == 4 && z?.restoration.identifier == "renamed", "\(final)")
    for panel in [a, b, x, y] { (panel.friend, panel.strongFriend) = (nil, nil) }
    z?.strongFriend = nil
  }

  @Test func `an object that two windows refer to by hand keeps in each what was typed last`() async throws {
    let bench = Bench()
    let stores = [MemoryStore(), MemoryStore()]
    func windows() -> [RestorationCoordinator] {
      stores.enumerated().map {
        let registry = RestorationRegistry()
        registry.register(Panel.self, as: "panel") { path, _ in Panel.made(path.last) }
        $1.run.add(1, ordering: .relaxed)
        return RestorationCoordinator(
          store: $1, delegate: bench.delegate, configuration: bench.configuration, session: .init("w\($0)"),
          registry: registry)
      }
    }
    let common = Panel.made("common", value: 1)
    let tops = [Panel("top"), Panel("top")]
    for top in tops { top.strongFriend = common }
    let first = windows()
    for (window, top) in zip(first, tops) { _ = try await window.preserve(top) }
    common.value = 2
    common.invalidateRestorableState()
    for (window, top) in zip(first, tops) { _ = try await window.preserve(top) }
    let second = windows()
    for window in second {
      let top = Panel("top")
      _ = try await window.restore(into: top)
      #expect((top.strongFriend as? Panel)?.value == 2)
    }
  }
}
