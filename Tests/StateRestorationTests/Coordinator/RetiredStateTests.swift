import FoundationEssentials
import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

/// State that is too old or whose model is gone goes; what had made room for it comes back to its object all the same.
@MainActor @Suite struct RetiredStateTests {
  /// Why the state in the place is of no use any more.
  enum Reason: String, CaseIterable, Sendable {
    case gone, expired
  }

  private let path: RestorationPath = ["root", "editor"]

  private func launch(_ bench: Bench, _ reason: Reason, isOver: Bool = true) -> RestorationCoordinator {
    if isOver { bench.time += 3600 }
    return bench.launch { registry in
      switch reason {
      case .gone: registry.register(Screen.self, as: "note", onlyIf: { $0 != "two" || !isOver })
      case .expired: registry.register(Screen.self, as: "draft", freshFor: .seconds(60))
      }
    }
  }

  private func editor(_ name: String, _ reason: Reason) -> Screen {
    let editor = Screen("editor", tag: reason == .expired && name == "two" ? "draft" : "note")
    editor.restorationChildren = [Screen("page")]
    editor.restorationModelIdentifier = ModelIdentifier(name)
    return editor
  }

  /// One run with an editor; returns what came back.
  private func run(
    _ bench: Bench, _ name: String, _ reason: Reason, isOver: Bool = true, typing text: String? = nil
  ) async throws -> (texts: [String?], report: RestorationReport) {
    let editor = editor(name, reason)
    let root = Screen("root", children: [editor])
    let coordinator = launch(bench, reason, isOver: isOver)
    let report = try await coordinator.restore(into: root)
    let texts = [editor.text, editor["page"]?.text]
    if let text {
      editor.text = text
      editor["page"]?.text = "\(text)'s page"
    }
    _ = try await coordinator.preserve(root)
    return (texts, report)
  }

  private func isRetired(_ reason: NotRestoredReason?, _ expected: Reason) -> Bool {
    switch reason {
    case .modelGone?: expected == .gone
    case .expired?: expected == .expired
    default: false
    }
  }

  /// State of one is kept, and state of two is in the place.
  private func preserved(_ reason: Reason) async throws -> Bench {
    let bench = Bench()
    for name in ["one", "two"] { _ = try await run(bench, name, reason, isOver: false, typing: name) }
    #expect(try bench.newestReader().keptNodes().count == 1)
    return bench
  }

  @Test(arguments: Reason.allCases)
  func `an object that turns up late is not given state that is of no use any more`(reason: Reason) async throws {
    let bench = Bench()
    _ = try await run(bench, "two", reason, isOver: false, typing: "two")
    let root = Screen("root")
    let coordinator = launch(bench, reason)
    let report = try await coordinator.restore(into: root)
    #expect(isRetired(report[path]?.notRestoredReason, reason))
    let late = editor("two", reason)
    root.restorationChildren = [late]
    #expect(isRetired(coordinator.register(late, at: path)?.notRestoredReason, reason))
    #expect(late.text.isEmpty && late["page"]?.text.isEmpty == true)
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().node(at: path)?.byteCount == bench.newestReader().node(at: ["root"])?.byteCount)
  }

  @Test(arguments: Reason.allCases)
  func `what is kept for the object that is there comes back when the state in the place is of no use`(
    reason: Reason
  ) async throws {
    let bench = try await preserved(reason)
    let (texts, report) = try await run(bench, "one", reason)
    #expect(texts == ["one", "one's page"])
    #expect(report[path]?.findings.contains(.broughtBack) == true)
    #expect(report.nodes.map(\.path) == [["root"], path, path.appending("page"), path])
    #expect(isRetired(report.nodes.last?.notRestoredReason, reason))
    // What was of no use is not kept instead.
    #expect(try bench.newestReader().keptNodes().isEmpty)
    #expect(try await run(bench, "one", reason, typing: "edited").texts == ["one", "one's page"])
    #expect(try await run(bench, "one", reason).texts == ["edited", "edited's page"])
    #expect(try await run(bench, "two", reason, isOver: false).texts == ["", ""])
  }

  @Test(arguments: Reason.allCases)
  func `a kill before the next save leaves everything as it was`(reason: Reason) async throws {
    let bench = try await preserved(reason)
    for _ in 0..<2 {
      let one = editor("one", reason)
      _ = try await launch(bench, reason).restore(into: Screen("root", children: [one]))
      #expect([one.text, one["page"]?.text] == ["one", "one's page"])
    }
  }

  @Test(arguments: Reason.allCases)
  func `who turns up after the state in the place has gone is given what is kept for it`(reason: Reason) async throws {
    let bench = try await preserved(reason)
    let root = Screen("root")
    let coordinator = launch(bench, reason)
    let report = try await coordinator.restore(into: root)
    #expect(isRetired(report[path]?.notRestoredReason, reason))
    _ = try await coordinator.preserve(root)
    let late = editor("one", reason)
    root.restorationChildren = [late]
    #expect(coordinator.register(late, at: path)?.isRestored == true)
    #expect([late.text, late["page"]?.text] == ["one", "one's page"])
    _ = try await coordinator.preserve(root)
    #expect(try await run(bench, "one", reason).texts == ["one", "one's page"])
  }

  @Test(arguments: Reason.allCases)
  func `what is kept is given to no third one in the place`(reason: Reason) async throws {
    let bench = try await preserved(reason)
    let (texts, report) = try await run(bench, "three", reason)
    #expect(texts == ["", ""])
    #expect(isRetired(report[path]?.notRestoredReason, reason))
    #expect(try await run(bench, "three", reason, typing: "three").texts == ["", ""])
    #expect(try await run(bench, "one", reason).texts == ["one", "one's page"])
    #expect(try await run(bench, "three", reason).texts == ["three", "three's page"])
  }

  @Test func `what is kept comes back to the object at the top`() async throws {
    let bench = Bench()
    func root(_ model: ModelIdentifier, text: String = "") -> Screen {
      let root = Screen("root", text: text, tag: "note")
      root.restorationModelIdentifier = model
      return root
    }
    for model: ModelIdentifier in ["one", "two"] {
      let root = root(model)
      let coordinator = launch(bench, .gone, isOver: false)
      _ = try await coordinator.restore(into: root)
      root.text = model.rawValue
      _ = try await coordinator.preserve(root)
    }
    for _ in 0..<2 {
      let one = root("one")
      let coordinator = launch(bench, .gone)
      _ = try await coordinator.restore(into: one)
      #expect(one.text == "one")
      _ = try await coordinator.preserve(one)
    }
  }
}
