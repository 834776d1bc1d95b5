import FoundationEssentials
import Synchronization
import Testing

@testable import StateRestoration

/// R3.1–R3.5: order, context and versions.
@MainActor @Suite struct VersionTests {
  nonisolated struct Old: Codable, Sendable { var words: String }
  nonisolated struct New: VersionedState {
    static var stateVersion: StateVersion { 2 }
    static var migrations: StateMigrations<New> {
      StateMigrations(from: 1) { (old: Old) in New(list: old.words.split(separator: " ").map(String.init)) }
    }
    var list: [String]
  }

  final class OldEditor: RestorableController, StatefulObject {
    let restoration = RestorationIdentity("editor", class: "editor")
    var restorableState = Old(words: "")
  }

  final class NewEditor: RestorableController, StatefulObject {
    let restoration = RestorationIdentity("editor", class: "editor")
    var restorableState = New(list: [])
  }

  @Test(arguments: StoreKind.allCases)
  func `every coder tells versions, time of saving and idiom`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    bench.configuration = RestorationConfiguration(
      application: "test", applicationVersion: "3.1", interfaceVersion: "7", interfaceIdiom: .terminal)
    bench.configuration.log = .silent
    bench.configuration.systemVersion = "linux 6"
    bench.configuration.schemaVersion = 4
    try await bench.preserve(Screen("root"))
    _ = try await bench.launch().restore(into: Screen("root"))
    let context = try #require(bench.delegate.askedContext)
    #expect(context.applicationVersion == "3.1")
    #expect(context.schemaVersion == 4)
    #expect(context.systemVersion == "linux 6")
    #expect(context.versionTag == "7")
    #expect(context.interfaceIdiom == .terminal)
    #expect(context.timeSaved == bench.time)
  }

  @Test(arguments: StoreKind.allCases)
  func `older state is migrated and the report says from where to where`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let old = OldEditor()
    old.restorableState.words = "two words"
    _ = try await bench.preserve(Screen("root", children: [old]))
    let editor = NewEditor()
    let report = try await bench.launch { $0.register(NewEditor.self, as: "editor") }
      .restore(into: Screen("root", children: [editor]))
    #expect(editor.restorableState.list == ["two", "words"])
    #expect(report[["root", "editor"]]?.remarks == [.migrated(from: 1, to: 2)])
  }

  @Test(arguments: StoreKind.allCases)
  func `state of a newer class version is refused, kept through saves, and reported`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let new = NewEditor()
    new.restorableState.list = ["from", "the", "future"]
    try await bench.preserve(Screen("root", children: [new]))
    let old = OldEditor()
    let root = Screen("root", children: [old])
    let coordinator = bench.launch()
    let report = try await coordinator.restore(into: root)
    #expect(report[["root", "editor"]]?.notRestoredReason == .newerVersion(stored: 2, known: 1))
    for round in 0..<2 {
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
      #expect(try bench.newestReader().node(at: ["root", "editor"])?.attributes.version == 2)
    }
    old.restorableState.words = "newer state"
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().versions(at: ["root", "editor"]) == [2, 1])
  }

  @Test func `an archive of a newer schema is refused, kept as a generation, and reported`() async throws {
    let bench = Bench()
    bench.configuration.schemaVersion = 2
    try await bench.preserve(Screen("root", text: "future"))
    bench.configuration.schemaVersion = 1
    let coordinator = bench.launch()
    let root = Screen("root")
    #expect(try await coordinator.restore(into: root).outcome == .newerVersion)
    #expect(root.text.isEmpty)
    _ = try await coordinator.preserve(root)
    #expect(bench.store.state.withLock { [$0.generations.count, $0.setAside.count] } == [1, 1])
  }

  @Test func `a save without a restoration carries nothing over from a newer schema`() async throws {
    let bench = Bench()
    bench.configuration.schemaVersion = 2
    try await bench.preserve(Screen("root", children: [Screen("future", text: "future")]))
    bench.configuration.schemaVersion = 1
    _ = try await bench.launch().preserve(Screen("root", text: "present"))
    let reader = try bench.newestReader()
    #expect(try reader.context.schemaVersion == 1)
    #expect(try reader.node(at: ["root", "future"]) == nil)
    let report = try await bench.launch().restore(into: Screen("root"))
    #expect(report.remarks.contains { if case .setAside(let states) = $0 { states.count == 1 } else { false } })
  }

  @Test(arguments: StoreKind.allCases)
  func `a program of another version learns that it restores after an update`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root"))
    bench.configuration.applicationVersion = "2.0"
    let coordinator = bench.launch()
    #expect(await coordinator.prepare() == .afterUpdate)
    #expect(try await coordinator.restore(into: Screen("root")).reason == .afterUpdate)
  }

  @Test(arguments: StoreKind.allCases)
  func `finished hooks run after every object and the application have decoded`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Screen("a", text: "a")]))
    let root = Screen("root", children: [Screen("a")])
    var seen: [String?] = []
    root.onFinish = { seen.append(root["a"]?.text) }
    bench.delegate.journal = nil
    _ = try await bench.launch().restore(into: root)
    #expect(seen == ["a"])
    #expect(bench.delegate.restoredAppValue != nil)
    #expect(root.finishedCount == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `an object that throws while decoding is reported and its stored state is kept`(on kind: StoreKind) async throws
  {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Panel("panel", value: 8)]))
    let panel = Panel("panel")
    panel.failsDecoding = true
    let coordinator = bench.launch()
    let root = Screen("root", children: [panel])
    let report = try await coordinator.restore(into: root)
    guard case .decodingFailed(let text)? = report[["root", "panel"]]?.notRestoredReason else {
      Issue.record("not reported: \(report)")
      return
    }
    #expect(text.contains("as the test wants"))
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().record(at: ["root", "panel"])?.decode(Int.self, forKey: "value") == 8)
    panel.value = 9
    _ = try await coordinator.preserve(root)
    #expect(try bench.newestReader().records(at: ["root", "panel"]).count == 2)
  }

  @Test(arguments: StoreKind.allCases)
  func `keys that nobody read are named`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await bench.preserve(Screen("root", children: [Panel("child", value: 1)]))
    let coordinator = bench.launch { $0.register(Screen.self, formerly: ["Panel"]) }
    let report = try await coordinator.restore(into: Screen("root", children: [Screen("child")]))
    #expect(report[["root", "child"]]?.remarks == [.unreadKeys(["value"])])
  }
}
