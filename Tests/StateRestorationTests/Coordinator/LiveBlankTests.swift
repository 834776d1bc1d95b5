import FoundationEssentials
import Observation
import StateRestoration
import Testing

/// An object that could not read its state is there: the state neither ages, nor loses its place, nor is carried over.
@MainActor @Suite struct LiveBlankTests {
  /// Why an editor could not read its state in a run.
  enum Cause: CaseIterable, Sendable {
    /// It has read it.
    case plain
    /// It refers to an object that does not come.
    case referrer
    case newerVersion, undecodable
  }

  private let bench = Bench()

  /// A launch of the program that can read everything.
  private func launch(_ cause: Cause, freshFor limit: Duration? = nil) -> RestorationCoordinator {
    bench.launchMakingPanels(isNewer: cause == .newerVersion, freshFor: limit)
  }

  /// A launch in which the editor can't read its state.
  private func blankLaunch(_ cause: Cause, freshFor limit: Duration? = nil) -> RestorationCoordinator {
    bench.launchMakingPanels(failing: cause == .undecodable ? "editor" : nil, freshFor: limit)
  }

  /// The editor that is stored.
  private func editor(_ cause: Cause, _ target: Screen) -> Panel {
    let editor = Panel.made("editor", value: 5, isNewer: cause == .newerVersion)
    if cause == .referrer { editor.friend = target }
    return editor
  }

  @Test(arguments: Cause.allCases, StackChange.allCases)
  func `unread state keeps its place in a stack, and all of its values`(
    cause: Cause, change: StackChange
  ) async throws {
    func hierarchy(_ list: RestorationIdentifier, _ targets: Screen...) -> (Screen, NavigationController) {
      let nav = NavigationController("nav", root: Screen(list))
      return (Screen("window", children: [nav, Screen("tools", children: targets)]), nav)
    }
    do {
      let target = Screen("target")
      let (root, nav) = hierarchy("list", target)
      nav.push(editor(cause, target))
      _ = try await launch(cause).preserve(root)
    }
    do {
      let (root, nav) = hierarchy("list")
      let coordinator = blankLaunch(cause)
      _ = try await coordinator.restore(into: root)
      #expect(nav.stack.map(\.restoration.identifier) == ["list", "editor"])
      change.apply(to: nav)
      root.text = "edit"
      _ = try await coordinator.preserve(root)
    }
    let target = Screen("target")
    let (root, nav) = hierarchy(change.listName, target)
    let report = try await launch(cause).restore(into: root)
    #expect(nav.stack.map(\.restoration.identifier) == change.names, "\(report)")
    let editor = nav.stack.compactMap { $0 as? Panel }.first { $0.restoration.identifier == "editor" }
    #expect(editor?.value == 5, "\(report)")
    #expect(editor?.strongFriend === (cause == .referrer ? target : nil), "\(report)")
  }

  @Test(arguments: Cause.allCases)
  func `unread state does not grow too old, and no receipt counts it as carried over`(
    cause: Cause
  ) async throws {
    let limit = Duration.seconds(1000)
    do {
      let target = Screen("target")
      let root = Screen("root", children: [Screen("tools", children: [target]), editor(cause, target)])
      _ = try await launch(cause, freshFor: limit).preserve(root)
    }
    func next(_ coordinator: RestorationCoordinator) async throws -> (root: Screen, editor: Panel?) {
      bench.time += 600
      let root = Screen("root", children: [Screen("tools")])
      _ = try await coordinator.restore(into: root)
      return (root, root.restorationChildren.compactMap { $0 as? Panel }.first)
    }
    for round in 1...3 {
      let coordinator = blankLaunch(cause, freshFor: limit)
      let (root, editor) = try await next(coordinator)
      #expect(editor != nil, "round \(round)")
      root.text = "round \(round)"
      // The target is.
      #expect(try await coordinator.preserve(root).receipt?.carriedOverNodes == 1, "round \(round)")
    }
    #expect(try await next(launch(cause, freshFor: limit)).editor?.value == 5)
  }

  @Observable final class Document: RestorableController, StatefulObject {
    let restoration = RestorationIdentity("document", class: "document")
    var restorableState = ""
  }

  @Test func `what its launch does not ask for does not grow too old`() async throws {
    func launch(_ extent: Lifecycle.LaunchOptions.Extent) -> RestorationCoordinator {
      let coordinator = bench.launch {
        $0.register(Document.self, as: "document", freshFor: .seconds(1000), extent: .restore)
      }
      coordinator.extent = extent
      return coordinator
    }
    let first = Document()
    first.restorableState = "stored"
    _ = try await launch(.restore).preserve(Screen("root", children: [first]))
    for round in 1...3 {
      bench.time += 600
      let root = Screen("root", children: [Document()])
      let coordinator = launch(.launch)
      _ = try await coordinator.restore(into: root)
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    bench.time += 600
    let last = Document()
    _ = try await launch(.restore).restore(into: Screen("root", children: [last]))
    #expect(last.restorableState == "stored")
  }
}
