import ApplicationLifecycle
import Observation
import StateRestoration
import Testing

/// Launches that bring back less than everything: what the user finds then, and in the launch after it.
@MainActor @Suite struct ExtentTests {
  /// A screen that comes back only when the session is restored.
  @Observable final class Document: RestorableController, StatefulObject {
    var restoration: RestorationIdentity
    var restorableState = ""
    init(_ identifier: RestorationIdentifier?, _ text: String = "") {
      restoration = RestorationIdentity(identifier, class: "document")
      restorableState = text
    }
  }

  private func root(_ documents: Document...) -> Screen {
    Screen("root", children: [Screen("window")] + documents)
  }

  private func launch(_ bench: Bench, as extent: Lifecycle.LaunchOptions.Extent) -> RestorationCoordinator {
    let coordinator = bench.launch { registry in
      registry.register(Document.self, as: "document", extent: .restore) { path, _ in Document(path.last) }
    }
    coordinator.extent = extent
    return coordinator
  }

  private func documents(_ root: Screen) -> [String] {
    root.restorationChildren.compactMap { ($0 as? Document)?.restorableState }
  }

  /// A window with the text "wide" and the documents "one" and "two".
  private func preserved(_ kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    let root = root(Document("1", "one"), Document("2", "two"))
    root["window"]?.text = "wide"
    _ = try await launch(bench, as: .restore).preserve(root)
    return bench
  }

  @Test(arguments: StoreKind.allCases)
  func `a normal launch leaves documents stored, and a restored session has them again`(
    _ kind: StoreKind
  ) async throws {
    let bench = try await preserved(kind)
    for text in ["wider", "widest"] {
      let root = root()
      let coordinator = launch(bench, as: .launch)
      let report = try await coordinator.restore(into: root)
      #expect(documents(root).isEmpty && root["window"]?.text != "")
      #expect(report.outcome == .restored)
      #expect(report.notRestored.map(\.notRestoredReason) == [.beyondExtent(.restore), .beyondExtent(.restore)])
      root["window"]?.text = text
      _ = try await coordinator.preserve(root)
      try await bench.kill()
    }
    let root = root()
    _ = try await launch(bench, as: .restore).restore(into: root)
    #expect(root["window"]?.text == "widest" && documents(root) == ["one", "two"])
  }

  @Test(arguments: StoreKind.allCases)
  func `what is typed into a document that is opened anew lies beside the stored one`(
    _ kind: StoreKind
  ) async throws {
    let bench = try await preserved(kind)
    let first = root()
    let coordinator = launch(bench, as: .launch)
    _ = try await coordinator.restore(into: first)
    // What was stored under its name is not the new one's.
    let anew = Document("1", "")
    first.restorationChildren.append(anew)
    first.invalidateRestorableState()
    _ = try await coordinator.preserve(first)
    anew.restorableState = "anew"
    _ = try await coordinator.preserve(first)
    try await bench.kill()
    let next = root()
    let report = try await launch(bench, as: .restore).restore(into: next)
    #expect(documents(next).sorted() == ["anew", "two"])
    #expect(report[["root", "1"]]?.remarks == [.superseded(1)], "one is not lost")
  }

  @Test(arguments: StoreKind.allCases)
  func `in the run that left them out, documents come back on request`(_ kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    let root = root()
    let coordinator = launch(bench, as: .launch)
    _ = try await coordinator.restore(into: root)
    let two = Document("2")
    root.restorationChildren.append(two)
    #expect(coordinator.restore(two, at: ["root", "2"])?.isRestored == true)
    #expect(two.restorableState == "two")
    two.restorableState = "two, edited"
    _ = try await coordinator.preserve(root)
    coordinator.extent = .restore
    _ = try await coordinator.restore(into: root)
    // The container keeps the object that was there beside the one that its class makes.
    #expect(Set(documents(root)) == ["one", "two, edited"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a pristine launch deletes nothing, and its first save sets everything aside`(_ kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    let before = bench.contents
    let idle = root()
    #expect(try await launch(bench, as: .pristine).restore(into: idle).outcome == .declined)
    #expect(idle["window"]?.text == "")
    #expect(bench.contents.filter { before[$0.key] != nil } == before)
    try await bench.kill()

    let fresh = root()
    let coordinator = launch(bench, as: .pristine)
    #expect(try await coordinator.restore(into: fresh).outcome == .declined)
    fresh["window"]?.text = "fresh"
    _ = try await coordinator.preserve(fresh)
    let aside = try #require(await coordinator.setAsideStates().first)
    try await bench.kill()

    let next = root()
    let later = launch(bench, as: .restore)
    _ = try await later.restore(into: next)
    #expect(next["window"]?.text == "fresh" && documents(next).isEmpty)
    // By name it comes back whole, whatever the extent.
    later.extent = .pristine
    #expect(try await later.restore(into: next, from: .setAside(aside.id)).outcome == .restored)
    #expect(next["window"]?.text == "wide" && documents(next) == ["one", "two"])
  }

  @Test(arguments: StoreKind.allCases)
  func `an unlock after a locked launch asks for no more than the launch`(_ kind: StoreKind) async throws {
    let bench = try await preserved(kind)
    try await bench.lock()
    let root = root(Document("1"), Document("3"))
    let coordinator = launch(bench, as: .launch)
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    // What it has is met now; what comes later is an edit.
    _ = try await coordinator.preserve(root)
    // The turn of the launch ends, in which nothing is an edit.
    for _ in 0..<10 { await Task.yield() }
    (root.restorationChildren.last as? Document)?.restorableState = "three"
    try await bench.unlock(coordinator)
    #expect(root["window"]?.text == "wide" && documents(root) == ["", "three"])
    let report = try #require(bench.delegate.lateReports.last)
    #expect(report[["root", "1"]]?.notRestoredReason == .beyondExtent(.restore))
    #expect(report[["root", "3"]]?.notRestoredReason == .touchedMeanwhile, "\(bench.delegate.lateReports)")
    _ = try await coordinator.preserve(root)
    try await bench.kill()
    let next = self.root()
    _ = try await launch(bench, as: .restore).restore(into: next)
    #expect(documents(next).sorted() == ["one", "three", "two"])
  }
}
