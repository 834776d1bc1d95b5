import FoundationEssentials
import RestorationArchive
import SimulatedTime
import StateRestoration
import StateRestorationTesting
import Testing

/// Objects that turn up while others are given their state, and shared ones whenever they do.
@MainActor @Suite struct ArrivalsTests {
  /// Where a program registers something in the middle of a restoration.
  enum Moment: CaseIterable, Sendable {
    case question, factory, decoding, applicationState, finished
  }

  private let path: RestorationPath = ["root", "late"]

  /// Calls back at one moment of a restoration.
  private func launch(
    _ bench: Bench, _ moment: Moment, _ body: @escaping (RestorationCoordinator) -> Void
  ) -> (RestorationCoordinator, Screen) {
    final class Box { weak var coordinator: RestorationCoordinator? }
    let box = Box()
    let call = { if let coordinator = box.coordinator { body(coordinator) } }
    let journal = Journal()
    bench.delegate.journal = journal
    journal.onLine = { line in
      switch (moment, line) {
      case (.question, "shouldRestore"), (.applicationState, "didDecode"): call()
      case (.decoding, "decode panel"), (.finished, "finished panel"): call()
      default: break
      }
    }
    let coordinator = bench.launch { registry in
      registry.register(Panel.self, as: "panel") { _, _ in
        if moment == .factory { call() }
        let panel = Panel("panel", journal: journal)
        panel.tag = "panel"
        return panel
      }
    }
    box.coordinator = coordinator
    return (coordinator, Screen("root"))
  }

  private func preserved(_ bench: Bench) async throws {
    let panel = Panel("panel", value: 1)
    panel.tag = "panel"
    let coordinator = bench.launch()
    let settings = Screen("settings", text: "stored")
    coordinator.registry.share(settings, as: "settings")
    let root = Screen(
      "root",
      children: [Screen("other"), Screen("late", text: "late", children: [Screen("below", text: "below")]), panel])
    _ = try await coordinator.preserve(root)
    // Another root puts the shared objects first.
    _ = try await coordinator.preserve(Screen("root", children: root.restorationChildren))
  }

  @Test(arguments: Moment.allCases, StoreKind.allCases)
  func `a shared object that registers in the middle gets its state, and loses none of it`(
    moment: Moment, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await preserved(bench)
    let settings = Screen("settings")
    let (coordinator, root) = launch(bench, moment) { $0.registry.share(settings, as: "settings") }
    let report = try await coordinator.restore(into: root)
    #expect(settings.text == "stored")
    #expect(settings.finishedCount == 1)
    #expect(report[["$shared", "settings"]]?.isRestored == true)
    for round in 0..<2 {
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    let again = Screen("settings")
    _ = try await bench.launch { $0.share(again, as: "settings") }.restore(into: Screen("root"))
    #expect(again.text == "stored")
  }

  @Test(arguments: Moment.allCases, StoreKind.allCases)
  func `a controller that registers in the middle gets its state, and loses none of it`(
    moment: Moment, on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    try await preserved(bench)
    let late = Screen("late", children: [Screen("below")])
    var reports: [NodeReport?] = []
    let root = Screen("root", children: [Screen("other")])
    let (coordinator, _) = launch(bench, moment) { [path] coordinator in
      root.restorationChildren.append(late)
      reports.append(coordinator.restore(late, at: path))
    }
    let report = try await coordinator.restore(into: root)
    #expect(late.text == "late" && late["below"]?.text == "below")
    #expect(late.finishedCount == 1)
    #expect(reports.count == 1)
    #expect(report[path]?.isRestored == true)
    for round in 0..<2 {
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    let again = Screen("late", children: [Screen("below")])
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.text == "late" && again["below"]?.text == "below")
  }

  @Test func `a shared object that is registered after the last save is saved by itself`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    // Whatever was saved before.
    while bench.delegate.outcomes.isEmpty { await bench.delegate.nextEvent() }
    let count = bench.delegate.outcomes.count
    let settings = Screen("settings", text: "new")
    coordinator.registry.share(settings, as: "settings")
    await bench.clock.waitForSleepers()
    bench.clock.advance(by: .seconds(1))
    while bench.delegate.outcomes.count == count { await bench.delegate.nextEvent() }
    let reader = try bench.newestReader()
    #expect(try reader.node(at: ["$shared", "settings"]) != nil)
  }

  @Test func `a shared object that is registered under another identifier is preserved under that one`() async throws {
    let bench = Bench()
    let coordinator = bench.launch()
    let root = Screen("root")
    let document = Screen("document", text: "text")
    coordinator.registry.share(document, as: "one")
    _ = try await coordinator.preserve(root)
    coordinator.registry.share(document, as: "two")
    _ = try await coordinator.preserve(root)
    // The first one is free again.
    let other = Screen("document", text: "other")
    coordinator.registry.share(other, as: "one")
    _ = try await coordinator.preserve(root)
    let (one, two) = (Screen("document"), Screen("document"))
    let last = bench.launch { registry in
      registry.share(one, as: "one")
      registry.share(two, as: "two")
    }
    _ = try await last.restore(into: Screen("root"))
    #expect(one.text == "other" && two.text == "text")
  }

  @Test func `a shared object that stands in the hierarchy is preserved there`() async throws {
    let bench = Bench()
    func hierarchy(_ text: String, _ below: String) -> (Screen, Screen) {
      let editor = Screen("editor", text: text, children: [Screen("below", text: below)])
      return (Screen("root", children: [editor]), editor)
    }
    let (root, editor) = hierarchy("text", "below")
    _ = try await bench.launch { $0.share(editor, as: "current") }.preserve(root)
    let (again, restored) = hierarchy("", "")
    let coordinator = bench.launch { $0.share(restored, as: "current") }
    _ = try await coordinator.restore(into: again)
    #expect(restored.text == "text" && restored["below"]?.text == "below")
    _ = try await coordinator.preserve(again)
    again.restorationChildren = []
    restored.text = "on its own"
    // At once: there is no save in which it is nowhere.
    _ = try await coordinator.preserve(again)
    let last = Screen("editor")
    _ = try await bench.launch { $0.share(last, as: "current") }.restore(into: Screen("root"))
    #expect(last.text == "on its own")
  }

  @Test func `nothing is forgotten above what somebody owns, nor the framework's own`() async throws {
    let bench = Bench()
    let settings = Screen("settings", text: "text")
    let coordinator = bench.launch { $0.share(settings, as: "settings") }
    let root = Screen("root")
    _ = try await coordinator.preserve(root)
    for path: RestorationPath in [["$shared"], ["$application"], ["$kept"], ["$shared", "settings"], []] {
      #expect(await coordinator.forget(path) == false)
    }
    root.text = "changed"
    settings.text = "changed"
    _ = try await coordinator.preserve(root)
    let again = Screen("settings")
    _ = try await bench.launch { $0.share(again, as: "settings") }.restore(into: Screen("root"))
    #expect(again.text == "changed")
  }
}
