import FoundationEssentials
import Glibc
import StateRestoration
import Testing

/// Reports and receipts are values that print as readable trees and survive coding.
@MainActor @Suite struct ReportTests {
  nonisolated static let reasons: [(NotRestoredReason, String)] = [
    (.noObject, "no object"), (.unknownClass("tag"), "“tag” is not registered"),
    (.refusedByClass("tag"), "“tag” declined"), (.classMismatch(recorded: "tag", found: "Panel"), "is a Panel"),
    (.objectTaken(by: ["root", "a"]), "root/a"), (.newerVersion(stored: 3, known: 2), "newer than 2"),
    (.migrationFailed("step 2"), "step 2"),
    (.decodingFailed("key"), "key"), (.damaged("bytes"), "bytes"), (.parentNotRestored, "parent"),
    (.expired(age: 10, limit: 5), "10 s old"), (.modelGone("note"), "note"),
    (.modelMismatch(recorded: "A", found: nil), "“A”"), (.leftOutAfterCrash, "left out"),
    (.dormant, "waits for an object"), (.beyondExtent(.restore), "extent “restore”"),
    (.touchedMeanwhile, "newer state"), (.notInstalled, "container"), (.shed, "size budget"), (.timedOut, "too late"),
  ]

  @Test(arguments: reasons.indices)
  func `every reason says in words what happened and survives coding`(index: Int) throws {
    let (reason, words) = Self.reasons[index]
    #expect("\(reason)".contains(words))
    #expect(!"\(reason)".contains("StateRestoration."))
    let encoded = try JSONEncoder().encode(reason)
    #expect(try JSONDecoder().decode(NotRestoredReason.self, from: encoded) == reason)
  }

  @Test func `a report prints as a tree with a mark for every node`() async throws {
    let bench = Bench()
    try await bench.preserve(
      Screen("root", children: [Screen("a", children: [Screen("b")]), Screen("lost"), Panel("odd", value: 1)]))
    let root = Screen("root", children: [Screen("a", children: [Screen("b")]), Screen("odd")])
    let report = try await bench.launch().restore(into: root)
    let lines = "\(report)".split(separator: "\n").map(String.init)
    #expect(lines[0].hasPrefix("Restoration: restored, generation 1"))
    #expect(lines[0].contains("4 of 5 nodes"))
    #expect(lines[1].hasPrefix("✓ root"))
    #expect(lines[2].hasPrefix("  ✓ a"))
    #expect(lines[3].hasPrefix("    ✓ b"))
    #expect(lines[4].hasPrefix("  ✗ lost  no object"))
    #expect(lines[5].hasPrefix("  ! odd") && lines[5].contains("never read: value"))
  }

  @Test func `a report survives coding`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("lost")]))
    let report = try await bench.launch().restore(into: Screen("root"))
    let encoded = try JSONEncoder().encode(report)
    #expect(try JSONDecoder().decode(RestorationReport.self, from: encoded) == report)
  }

  @Test func `a receipt prints its numbers and survives coding`() async throws {
    let outcome = try await Bench().preserve(Screen("root", children: [Screen("a"), Screen("a")]))
    let receipt = try #require(outcome.receipt)
    #expect("\(receipt)".hasPrefix("Preservation: generation 1, whole"))
    #expect("\(receipt)".contains("! root"))
    let encoded = try JSONEncoder().encode(outcome)
    #expect(try JSONDecoder().decode(PreservationOutcome.self, from: encoded) == outcome)
  }

  @Test(
    arguments: [
      ("[9223372036854775807,18446744073709551615]", "170141183460469231731 s"),
      ("[-9223372036854775808,0]", "-170141183460469231731687303 µs"), ("[0,1500000000000000]", "1500 µs"),
    ])
  func `a report and a receipt print whatever durations they were decoded with`(
    duration: String, text: String
  ) throws {
    let extreme = try JSONDecoder().decode(Duration.self, from: Data(duration.utf8))
    #expect("\(RestorationReport(outcome: .restored, duration: extreme))".hasSuffix(", \(text)"))
    let receipt = PreservationReceipt(generation: 1, kind: .whole, savedAt: Date(), duration: extreme)
    #expect("\(receipt)".hasSuffix(", \(text)"))
  }

  @Test(arguments: [(1e300, "1e+300 s old"), (-1e300, "-1e+300 s old"), (.infinity, "inf s old"), (.nan, "nan s old")])
  func `an age that is no whole number of seconds is printed as it is`(age: Double, text: String) {
    #expect("\(NotRestoredReason.expired(age: age, limit: 5))" == "\(text), the limit is 5 s")
  }

  @Test func `a report never holds state`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", text: "secret words", children: [Panel("p", value: 4_711_471_147_114_711)]))
    let report = try await bench.launch().restore(into: Screen("root", children: [Screen("p")]))
    let encoded = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
    #expect(!encoded.contains("secret words"))
    #expect(!encoded.contains("4711471147114711"))
  }

  @Test func `expired state and state without its model are reported and not carried over`() async throws {
    let bench = Bench()
    let old = Screen("old", text: "o", tag: "fresh")
    let gone = Screen("gone", text: "g", tag: "note")
    gone.restorationModelIdentifier = "note 1"
    let register: (RestorationRegistry) -> Void = {
      $0.register(Screen.self, as: "fresh", freshFor: .seconds(60))
      $0.register(Panel.self, as: "other")
    }
    let first = bench.launch(register)
    _ = try await first.preserve(Screen("root", children: [old, gone]))
    bench.time += 3600
    let registry = RestorationRegistry()
    registry.register(Screen.self, as: "fresh", freshFor: .seconds(60))
    registry.register(Panel.self, as: "note", onlyIf: { _ in false })
    let time = bench.time
    bench.configuration.now = { time }
    let coordinator = RestorationCoordinator(
      store: bench.store, delegate: bench.delegate, configuration: bench.configuration, registry: registry)
    let root = Screen("root")
    let report = try await coordinator.restore(into: root)
    guard case .expired? = report[["root", "old"]]?.notRestoredReason else {
      Issue.record("not expired: \(report)")
      return
    }
    #expect(report[["root", "gone"]]?.notRestoredReason == .modelGone("note 1"))
    root.text = "changed"
    _ = try await coordinator.preserve(root)
    #expect(try await bench.launch().restore(into: Screen("root")).nodes.count == 1)
  }

  @Test func `logging tells paths and outcomes, and never values`() async throws {
    let bench = Bench()
    let log = MemoryLog()
    bench.configuration.log = log
    try await bench.preserve(Screen("root", text: "secret words", children: [Screen("lost")]))
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(log.lines.contains { $0.contains("root") && $0.contains("lost") })
    #expect(!log.lines.contains { $0.contains("secret") })
  }

  /// A view and a controller without a tag, in the version that is stored or in today's, whose migrations refuse some states.
  final class Ruler: StatefulController {
    nonisolated struct Old: Codable, Sendable { var marks = 1 }
    final class Scale: StatefulView {
      static var stateVersion: StateVersion { 2 }
      static var migrations: StateMigrations<Int> { Migration(from: 1) { (old: Old) throws -> Int in old.marks } }
      let restorationIdentifier: RestorationIdentifier? = "scale"
      var restorableState = 0
    }
    static var stateVersion: StateVersion { 2 }
    static var migrations: StateMigrations<Int> {
      Migration(from: 1) { (_: Old) throws -> Int in throw RestorationError(.invalidState, "refused") }
    }
    let restorationIdentifier: RestorationIdentifier? = "ruler"
    var restorableState = 0
    let restorationViews: [any RestorableView] = [Scale()]
  }

  final class OldRuler: StatefulController {
    final class Scale: StatefulView {
      let restorationIdentifier: RestorationIdentifier? = "scale"
      var restorableState = Ruler.Old()
    }
    let restorationIdentifier: RestorationIdentifier? = "ruler"
    var restorableState = Ruler.Old()
    let restorationViews: [any RestorableView] = [Scale()]
  }

  @Test func `what has no tag is checked by its place in a hierarchy, and listed without one`() async throws {
    let bench = Bench()
    let coordinator = bench.launch { $0.share(Screen("settings"), as: "settings") }
    let settings = Screen("settings", text: "shared")
    coordinator.registry.share(settings, as: "settings")
    _ = try await coordinator.preserve(Screen("root", children: [OldRuler()]))
    let archives = ["1.0": try #require(bench.store.newestBase)]
    let unknown = RestorationCoordinator.check(archives: archives, registry: RestorationRegistry())
    let all: [RestorationPath] = [["root"], ["root", "ruler"], ["root", "ruler", "scale"], ["$shared", "settings"]]
    #expect(unknown.map(\.isSound) == [true])
    #expect(Set(unknown[0].uncheckedPaths.map { $0.components.last }) == Set(all.map { $0.components.last }))
    #expect("\(unknown[0])".contains("? not decoded: root, root/ruler"))
    let known = RestorationCoordinator.check(
      archives: archives, registry: coordinator.registry, hierarchy: Screen("root", children: [Ruler()]))
    #expect(known[0].checkedCount == 4 && known[0].uncheckedPaths.isEmpty)
    #expect(known[0].problems.map(\.path) == [["root", "ruler"]])
    #expect(settings.text == "shared")
  }

  @Test func `of two of one name in a hierarchy the first tells the class, and a circle of children ends`() async throws
  {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [OldRuler()]))
    let root = Screen("root", children: [OldRuler(), Ruler()])
    let round = Screen("round")
    let further = Screen("further", children: [round])
    round.restorationChildren = [further, round]
    further.restorationChildren += [further]
    root.restorationChildren += [round, further]
    let checks = RestorationCoordinator.check(
      archives: ["1.0": try #require(bench.store.newestBase)], registry: RestorationRegistry(), hierarchy: root)
    #expect(checks[0].isSound && checks[0].checkedCount == 3)
    round.restorationChildren = []
    further.restorationChildren = []
  }

  @Test func `old archives are checked with today's migrations without an app`() async throws {
    let bench = Bench()
    let old = VersionTests.OldEditor()
    old.restorableState.words = "a b"
    try await bench.preserve(Screen("root", children: [old]))
    let data = try #require(bench.store.newestBase)
    let registry = RestorationRegistry()
    registry.register(VersionTests.NewEditor.self, as: "editor")
    let sound = RestorationCoordinator.check(archives: ["1.0": data], registry: registry)
    #expect(sound.map(\.isSound) == [true])
    #expect(sound.map(\.checkedCount) == [1])
    #expect(sound.map(\.unregisteredClasses) == [[]])
    // Whose properties nobody can read without an object is not checked.
    let plain = Bench()
    let panel = Panel("child", value: 1)
    panel.tag = "panel"
    try await plain.preserve(Screen("root", children: [panel]))
    let panels = RestorationRegistry()
    panels.register(Panel.self, as: "panel") { path, _ in Panel(path.last) }
    let undecoded = RestorationCoordinator.check(
      archives: ["1.0": try #require(plain.store.newestBase)], registry: panels)
    #expect(undecoded.map(\.checkedCount) == [0])
    // A class that was renamed without a word of its former tag.
    let renamed = RestorationRegistry()
    renamed.register(VersionTests.NewEditor.self, as: "writer")
    let unknown = RestorationCoordinator.check(archives: ["1.0": data], registry: renamed)
    #expect(unknown.map(\.checkedCount) == [0])
    #expect(unknown.map(\.unregisteredClasses) == [["editor"]])
    #expect("\(unknown[0])".contains("“editor” is not registered"))
    let other = RestorationRegistry()
    other.register(BrokenEditor.self, as: "editor")
    let broken = RestorationCoordinator.check(archives: ["1.0": data, "junk": Data([1, 2, 3])], registry: other)
    #expect(broken.map(\.isSound) == [false, false])
    #expect(broken[0].problems.map(\.path) == [["root", "editor"]])
    #expect(broken[1].failure != nil)
    #expect("\(broken[0])".contains("editor"))
  }

  @Test(.timeLimit(.minutes(1)))
  func `a folder of old archives may hold anything, and everything is told of`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "check-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(unsafe mkfifo(folder.appending(path: "a pipe").path, 0o600) == 0)
    #expect(unsafe symlink("/dev/zero", folder.appending(path: "b endless").path) == 0)
    #expect(unsafe symlink("nowhere", folder.appending(path: "c nothing").path) == 0)
    try FileManager.default.createDirectory(at: folder.appending(path: "d folder"), withIntermediateDirectories: false)
    try Data().write(to: folder.appending(path: "e empty"))
    let checks = try RestorationCoordinator.check(archives: folder, registry: RestorationRegistry())
    #expect(checks.map(\.name) == ["a pipe", "b endless", "c nothing", "d folder", "e empty"])
    #expect(checks.allSatisfy { $0.failure != nil })
  }

  final class BrokenEditor: StatefulController {
    nonisolated struct State: Codable, Sendable { var number: Int }
    static var stateVersion: StateVersion { 3 }
    let restorationIdentifier: RestorationIdentifier? = "editor"
    let restorationClass: RestorationClass? = "editor"
    var restorableState = State(number: 0)
  }
}
