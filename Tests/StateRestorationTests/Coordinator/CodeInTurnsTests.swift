import Observation
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

  /// A container that tells when it is asked for something.
  @Observable final class Watcher: StatefulObject, RestorationContainer, RestorationViewOwner {
    @ObservationIgnored let identity: RestorationIdentity
    @ObservationIgnored var onViews: (() -> Void)?
    @ObservationIgnored var onChildren: (() -> Void)?
    @ObservationIgnored var onRead: (() -> Void)?
    @ObservationIgnored var onSet: (() -> Void)?
    var storedText = ""
    @ObservationIgnored var kids: [any RestorableController] = []
    @ObservationIgnored var views: [any RestorableView] = []

    init(_ identifier: RestorationIdentifier, _ text: String = "") {
      (identity, storedText) = (RestorationIdentity(identifier), text)
    }

    var restoration: RestorationIdentity { identity }
    var restorableState: String {
      get {
        onRead?()
        return storedText
      }
      set {
        storedText = newValue
        onSet?()
      }
    }
    var restorationChildren: [any RestorableController] {
      onChildren?()
      return kids
    }
    var restorationViews: [any RestorableView] {
      onViews?()
      return views
    }
    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
    func installRestoredChildren(_ children: [RestoredChild]) { kids = children.arranged(with: kids) }
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

  @Test func `a getter of an object's children, views and values is noted as that object's`() async throws {
    let bench = Bench()
    func make(_ watches: Bool, _ found: @escaping (String, RestorationIdentifier) -> Void) -> Watcher {
      let root = Watcher("root", "r")
      for name in ["a", "b", "c"] as [RestorationIdentifier] {
        let watcher = Watcher(name, "t")
        watcher.views = [Field("field", 3)]
        watcher.kids = [Watcher("kid", "k")]
        if watches {
          watcher.onViews = { found("views", name) }
          watcher.onChildren = { found("children", name) }
          watcher.onSet = { found("set", name) }
        }
        root.kids.append(watcher)
      }
      return root
    }
    try await bench.preserve(make(false) { _, _ in })
    var wrong: [String: Int] = [:]
    var isRestoring = true
    let root = make(true) { what, name in
      guard isRestoring, let place = marked(bench) else { return }
      if place.components.prefix(2) != ["root", name] { wrong["\(what)", default: 0] += 1 }
    }
    _ = try await bench.launch().restore(into: root)
    isRestoring = false
    #expect(wrong == [:])
  }

  @Test func `a death in a getter of values at the end of the turn is its object's`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Watcher("a", "t"), Watcher("b", "t")]))
    let (a, b) = (Watcher("a"), Watcher("b"))
    var seen: [RestorationPath?] = []
    var hasMarker: [Bool] = []
    b.onRead = {
      seen.append(marked(bench))
      hasMarker.append(bench.store.state.withLock { $0.marker != nil })
    }
    _ = try await bench.launch().restore(into: Screen("root", children: [a, b]))
    #expect(seen.first == .some(["root", "b"]), "\(seen) \(hasMarker)")
  }

  // MARK: - Containers that replace what they were given

  @Observable final class Rebuilder: CodingObject, RestorationContainer, FinishingObject {
    let restoration: RestorationIdentity = "box"
    var restorationChildren: [any RestorableController] = []
    @ObservationIgnored var inFinish = false
    var count = 0

    func installRestoredChildren(_ children: [RestoredChild]) {
      restorationChildren = children.arranged(with: restorationChildren)
    }
    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(count, forKey: "count") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      count = try coder.decode(forKey: "count")
      if !inFinish { rebuild() }
    }
    func applicationFinishedRestoringState() { if inFinish { rebuild() } }
    private func rebuild() { restorationChildren = [Screen("page", tag: "page")] }
  }

  @Test(arguments: [false, true])
  func `a child that its container has dropped since is not reported as restored`(inFinish: Bool) async throws {
    let bench = Bench()
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(Screen.self, as: "page") { path, _ in Screen(path.last, tag: "page") } }
    }
    let box = Rebuilder()
    box.restorationChildren = [Screen("page", text: "stored", tag: "page")]
    _ = try await launch().preserve(Screen("root", children: [box]))
    let shown = Rebuilder()
    shown.inFinish = inFinish
    let (coordinator, root) = (launch(), Screen("root", children: [shown]))
    let report = try await coordinator.restore(into: root)
    let page = try #require(shown.restorationChildren.first as? Screen)
    #expect(page.text == "stored" || report[["root", "box", "page"]]?.isRestored == false, "\(report)")
    _ = try await coordinator.preserve(root)
    page.text = "typed"
    _ = try await coordinator.preserve(root)
    let last = Screen("page", tag: "page")
    let other = Rebuilder()
    other.inFinish = true
    other.restorationChildren = [last]
    _ = try await bench.launch().restore(into: Screen("root", children: [other]))
    #expect(last.text == "typed")
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
          store: $1, delegate: bench.delegate, configuration: bench.configuration, window: .init("w\($0)"),
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
