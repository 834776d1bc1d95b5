import DataProtection
import FoundationEssentials
import SimulatedTime
import StateRestoration
import Synchronization
import Testing

/// Every reason for which a node does not come back is forced by the engine, not only made up.
///
/// Both switches are checked by the compiler: a new reason needs a name, and a name needs a way to force it.
@MainActor @Suite struct EveryNotRestoredReasonTests {
  enum Name: String, CaseIterable, Sendable {
    case noObject, unknownClass, refusedByClass, classMismatch, newerVersion, migrationFailed, decodingFailed
    case damaged, parentNotRestored, expired, modelGone, modelMismatch, leftOutAfterCrash, touchedMeanwhile
    case notInstalled, objectTaken, shed, timedOut, absent, beyondExtent, otherIdentifier
    case nameDiffers, classRetired, locked

    init(_ reason: RestorationReport.NotRestoredReason) {
      self =
        switch reason {
        case .noObject: .noObject
        case .unknownClass: .unknownClass
        case .refusedByClass: .refusedByClass
        case .classMismatch: .classMismatch
        case .objectTaken: .objectTaken
        case .newerVersion: .newerVersion
        case .migrationFailed: .migrationFailed
        case .decodingFailed: .decodingFailed
        case .damaged: .damaged
        case .parentNotRestored: .parentNotRestored
        case .expired: .expired
        case .modelGone: .modelGone
        case .modelMismatch: .modelMismatch
        case .leftOutAfterCrash: .leftOutAfterCrash
        case .touchedMeanwhile: .touchedMeanwhile
        case .notInstalled: .notInstalled
        case .shed: .shed
        case .timedOut: .timedOut
        case .absent: .absent
        case .otherIdentifier: .otherIdentifier
        case .beyondExtent: .beyondExtent
        case .nameDiffers: .nameDiffers
        case .classRetired: .classRetired
        case .locked: .locked
        }
    }
  }

  /// An editor whose state this program can't take.
  final class Editor<Number: Codable & Sendable>: RestorableController, StatefulObject {
    let restoration = RestorationIdentity("child", class: "editor")
    var restorableState: Number
    init(_ number: Number) { restorableState = number }
  }

  final class LaterEditor: RestorableController, StatefulObject {
    let restoration = RestorationIdentity("child", class: "editor", version: 2)
    var restorableState = 0
  }

  @Test(arguments: Name.allCases) func `every reason is given by a restoration, at its node`(name: Name) async throws {
    let reason = try await force(name)
    #expect(reason.map(Name.init) == name)
  }

  /// Makes a restoration leave the child out for a reason, and gives the reason.
  private func force(_ name: Name) async throws -> RestorationReport.NotRestoredReason? {
    switch name {
    case .locked: try await PartedBench().reportWhileLocked().nodes.compactMap(\.notRestoredReason).first
    case .noObject: try await childReason(preserved: Screen("child"), restored: nil)
    case .unknownClass: try await childReason(preserved: Screen("child", tag: "gone"), restored: nil)
    case .refusedByClass:
      try await childReason(preserved: Screen("child", tag: "screen"), restored: nil) {
        $0.register(Screen.self, as: "screen") { _, _ in nil }
      }
    case .classMismatch:
      try await childReason(preserved: Screen("child", tag: "panel"), restored: Screen("child")) {
        $0.register(Panel.self, as: "panel")
      }
    case .objectTaken: try await taken()
    case .newerVersion: try await childReason(preserved: LaterEditor(), restored: Editor(1))
    case .migrationFailed: try await childReason(preserved: Editor(1), restored: LaterEditor())
    case .decodingFailed: try await childReason(preserved: Editor(1), restored: Editor("text"))
    case .damaged: try await damaged()
    case .parentNotRestored:
      try await childReason(
        preserved: Screen("child", children: [Screen("deep")]), restored: nil, path: ["root", "child", "deep"])
    case .expired:
      try await childReason(preserved: Editor(1), restored: Editor(0), after: 61) {
        $0.register(Editor<Int>.self, as: "editor", freshFor: .seconds(60))
      }
    case .modelGone:
      try await childReason(preserved: note("A", tag: "note"), restored: Screen("child")) {
        $0.register(Screen.self, as: "note", onlyIf: { _ in false })
      }
    case .modelMismatch: try await childReason(preserved: note("A"), restored: note("B"))
    case .leftOutAfterCrash: try await leftOut()
    case .touchedMeanwhile: try await touched()
    case .notInstalled: try await notInstalled()
    case .shed: try await shed()
    case .absent: try await absent()
    case .otherIdentifier:
      try await childReason(preserved: Screen("child", tag: "screen"), restored: nil) {
        $0.register(Screen.self, as: "screen") { _, _ in Screen("another") }
      }
    case .nameDiffers: try await childReason(preserved: Screen("child"), restored: Screen("child 2"))
    case .classRetired:
      try await childReason(preserved: Screen("child", tag: "gone"), restored: nil) { $0.retire("gone") }
    case .timedOut: try await timedOut()
    case .beyondExtent: try await beyondExtent()
    }
  }

  private func note(_ model: ModelIdentifier, tag: RestorationIdentity.ClassTag? = nil) -> Screen {
    let screen = Screen("child", text: "text", tag: tag)
    screen.restoration.model = model
    return screen
  }

  private func childReason(
    preserved: any RestorableController, restored: (any RestorableController)?,
    path: RestorationPath = ["root", "child"],
    after seconds: Double = 0, _ register: (RestorationRegistry) -> Void = { _ in }
  ) async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [preserved]))
    bench.time += seconds
    let root = Screen("root", children: restored.map { [$0] } ?? [])
    return try await bench.launch(register).restore(into: root)[path]?.notRestoredReason
  }

  /// Changes one byte after the other until one makes the child's record unreadable and leaves the rest as it was.
  private func damaged() async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("child", text: "text")]))
    return try await bench.store.changingEachByte {
      let report = try await bench.launch().restore(into: Screen("root", children: [Screen("child")]))
      if case .damaged(let text)? = report[["root", "child"]]?.notRestoredReason { return .damaged(text) }
      return nil
    }
  }

  private func taken() async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    try await bench.preserve(
      Screen(
        "root",
        children: [
          Screen("first", children: [Editor(1)]),
          Screen("second", children: [Editor(2)]),
        ]))
    let only = Editor(0)
    let coordinator = bench.launch { $0.register(Editor<Int>.self, as: "editor") { _, _ in only } }
    let root = Screen("root", children: [Screen("first"), Screen("second")])
    return try await coordinator.restore(into: root)[["root", "second", "child"]]?.notRestoredReason
  }

  private func leftOut() async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("child", text: "text")]))
    try await bench.die(at: ["root", "child"])
    let report = try await bench.launch().restore(into: Screen("root", children: [Screen("child")]))
    return report[["root", "child"]]?.notRestoredReason
  }

  private func touched() async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("child", text: "text")]))
    try await bench.lock()
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("child")])
    _ = try await coordinator.restore(into: root)
    root["child"]?.text = "typed while locked"
    try await bench.unlock(coordinator)
    return bench.delegate.lateReports.last?[["root", "child"]]?.notRestoredReason
  }

  private func notInstalled() async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("child", text: "text")]))
    bench.delegate.make = { path, _ in path.components.count > 1 ? Screen(path.last) : nil }
    let root = Screen("root")
    root.takesChildren = false
    return try await bench.launch().restore(into: root)[["root", "child"]]?.notRestoredReason
  }

  private func shed() async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    bench.configuration.archiveByteBudget = 1000
    try await bench.preserve(Screen("root", children: [Screen("child", text: String(repeating: "x", count: 2000))]))
    let report = try await bench.launch().restore(into: Screen("root", children: [Screen("child")]))
    return report[["root", "child"]]?.notRestoredReason
  }

  /// A child that shows another model object, and leaves then.
  private func absent() async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    let child = Screen("child", text: "of one")
    child.restoration.model = "one"
    let root = Screen("root", children: [child])
    let coordinator = bench.launch()
    _ = try await coordinator.preserve(root)
    child.restoration.model = "two"
    child.text = "of two"
    _ = try await coordinator.preserve(root)
    root.restorationChildren = []
    _ = try await coordinator.preserve(root)
    return try await bench.launch().restore(into: Screen("root"))[["root", "child"]]?.notRestoredReason
  }

  final class Document: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "child"
    var restorableState = 1
  }

  private func beyondExtent() async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Document()]))
    let coordinator = bench.launch { $0.register(Document.self, extent: .restore) }
    coordinator.extent = .recover
    return try await coordinator.restore(into: Screen("root", children: [Document()]))[["root", "child"]]?
      .notRestoredReason
  }

  private func timedOut() async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("child", text: "text")]))
    let coordinator = bench.launch()
    let root = Screen("root")
    try await bench.restorePastTimeLimit(coordinator, into: root)
    defer { coordinator.completeStateRestoration() }
    return coordinator.restore(Screen("child"), at: ["root", "child"])?.notRestoredReason
  }
}
