import StateRestorationTesting
import Testing

@testable import StateRestoration

/// An object whose reference leads to state that was not restored keeps the stored reference until it is edited.
@MainActor @Suite struct AwaitedReferenceTests {
  private final class AppDelegate: RestorationCoordinatorDelegate {
    var focus: (any RestorableObject)?
    var afterReading: (() -> Void)?

    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
    func willEncodeRestorableState(with coder: RestorationEncoder) { coder.encodeReference(to: focus, forKey: "focus") }
    func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      focus = try coder.reference(to: Screen.self, forKey: "focus")
      afterReading?()
    }
  }

  /// A panel whose code runs after its decoding.
  private final class ActivePanel: Panel {
    var afterDecoding: (() -> Void)?
    override func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      try super.decodeRestorableState(with: coder)
      afterDecoding?()
    }
  }

  private let bench = Bench()

  @Test(arguments: [false, true]) func `the program's reference, with a late object in its decoding`(
    hasLate: Bool
  ) async throws {
    let delegate = AppDelegate()
    do {
      let page = Screen("page")
      delegate.focus = page
      let root = Screen("root", children: [Screen("late", text: "typed"), Screen("pages", children: [page])])
      _ = try await bench.launch(with: delegate).preserve(root)
    }
    do {
      let root = Screen("root", children: [Screen("pages")])
      let coordinator = bench.launch(with: delegate)
      if hasLate {
        delegate.afterReading = { [unowned coordinator] in
          let late = Screen("late")
          root.restorationChildren.append(late)
          coordinator.restore(late, at: ["root", "late"])
          #expect(late.text == "typed")
        }
      }
      _ = try await coordinator.restore(into: root)
      #expect(delegate.focus == nil)
      _ = try await coordinator.preserve(root)
    }
    delegate.afterReading = nil
    let page = Screen("page")
    let root = Screen("root", children: [Screen("pages", children: [page])])
    _ = try await bench.launch(with: delegate).restore(into: root)
    #expect(delegate.focus === page)
  }

  @Test(arguments: [false, true]) func `a late object's reference, with another late one in its decoding`(
    hasOther: Bool
  ) async throws {
    let target = Screen("target")
    let panel = Panel("panel", value: 1)
    panel.friend = target
    try await bench.preserve(
      Screen("root", children: [panel, Screen("other", text: "typed"), Screen("pages", children: [target])]))
    do {
      let root = Screen("root", children: [Screen("pages")])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      let (panel, other) = (ActivePanel("panel"), Screen("other"))
      root.restorationChildren += [panel, other] as [any RestorableController]
      if hasOther {
        panel.afterDecoding = { [unowned coordinator] in coordinator.restore(other, at: ["root", "other"]) }
      }
      coordinator.restore(panel, at: ["root", "panel"])
      #expect(panel.value == 1)
      _ = try await coordinator.preserve(root)
    }
    let (found, last) = (Screen("target"), ActivePanel("panel"))
    _ = try await bench.launch().restore(into: Screen("root", children: [last, Screen("pages", children: [found])]))
    #expect(last.strongFriend === found)
  }

  @Test func `an edit takes the place of what has such a reference, and no row waits`() async throws {
    let page = Screen("page")
    let panel = Panel("panel")
    panel.friend = page
    try await bench.preserve(Screen("root", children: [panel, page]))
    for run in 1...3 {
      let (panel, root) = (Panel("panel"), Screen("root"))
      root.restorationChildren = [panel]
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      panel.value = run
      let late = Screen("page")
      root.restorationChildren.append(late)
      coordinator.restore(late, at: ["root", "page"])
      panel.friend = late
      _ = try await coordinator.preserve(root)
      #expect(await coordinator.worker.run { $0.table.absent.count } == 0)
    }
  }

  @Test func `one that leaves takes its state along`() async throws {
    let page = Screen("page")
    let panel = Panel("panel", value: 1)
    panel.friend = page
    try await bench.preserve(Screen("root", children: [panel, page]))
    do {
      let root = Screen("root", children: [Panel("panel")])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      root.restorationChildren = []
      _ = try await coordinator.preserve(root)
    }
    let next = Panel("panel")
    _ = try await bench.launch().restore(into: Screen("root", children: [next]))
    #expect(next.value == 0)
  }
}
