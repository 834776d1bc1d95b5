import FoundationEssentials
import Testing

@testable import StateRestoration

/// Reports and receipts are values that print as readable trees and survive coding.
@MainActor @Suite struct ReportTests {
  nonisolated static let reasons: [(RestorationReport.NotRestoredReason, String)] = [
    (.noObject, "no object"), (.unknownClass("tag"), "“tag” is not registered"),
    (.refusedByClass("tag"), "“tag” declined"), (.classMismatch(recorded: "tag", found: "Panel"), "is a Panel"),
    (.objectTaken(by: ["root", "a"]), "root/a"), (.newerVersion(stored: 3, known: 2), "newer than 2"),
    (.migrationFailed("step 2"), "step 2"),
    (.decodingFailed("key"), "key"), (.damaged("bytes"), "bytes"), (.parentNotRestored, "parent"),
    (.expired(age: 10, limit: 5), "10 s old"), (.modelGone("note"), "note"),
    (.modelMismatch(recorded: "A", found: nil), "“A”"), (.leftOutAfterCrash, "left out"),
    (.absent, "waits for an object"), (.beyondExtent(.restore), "extent “restore”"),
    (.nameDiffers(found: "inbox 4", type: "Screen"), "Screen “inbox 4”"), (.classRetired("tag"), "“tag” is retired"),
    (.touchedMeanwhile, "newer state"), (.notInstalled, "container"), (.shed, "size budget"), (.timedOut, "too late"),
  ]

  @Test(arguments: reasons.indices)
  func `every reason says in words what happened and survives coding`(index: Int) throws {
    let (reason, words) = Self.reasons[index]
    #expect("\(reason)".contains(words))
    #expect(!"\(reason)".contains("StateRestoration."))
    let encoded = try JSONEncoder().encode(reason)
    #expect(try JSONDecoder().decode(RestorationReport.NotRestoredReason.self, from: encoded) == reason)
  }

  @Test func `a report prints as a tree with a mark for every node`() async throws {
    let bench = Bench()
    try await bench.preserve(
      Screen("root", children: [Screen("a", children: [Screen("b")]), Screen("lost"), Panel("odd", value: 1)]))
    let root = Screen("root", children: [Screen("a", children: [Screen("b")]), Screen("odd")])
    let report = try await bench.launch { $0.register(Screen.self, formerly: ["Panel"]) }.restore(into: root)
    let lines = "\(report)".split(separator: "\n").map(String.init)
    #expect(lines[0].hasPrefix("Restoration: restored, generation 1"))
    #expect(lines[0].contains("4 of 5 nodes"))
    #expect(lines[1].hasPrefix("✓ root"))
    #expect(lines[2].hasPrefix("  ✓ a"))
    #expect(lines[3].hasPrefix("    ✓ b"))
    #expect(lines[4].hasPrefix("  ✗ lost  no object"))
    #expect(lines[5].hasPrefix("  ! odd") && lines[5].contains("never read: value"))
  }

  @Test func `a migration that went well is no reason for a mark`() async throws {
    let bench = Bench()
    try await bench.preserve(VersionTests.OldEditor())
    let report = try await bench.launch { $0.register(VersionTests.NewEditor.self, as: "editor") }
      .restore(into: VersionTests.NewEditor())
    let line = try #require("\(report)".split(separator: "\n").dropFirst().first)
    #expect(line.hasPrefix("✓ ") && line.contains("made by the program") && line.contains("migrated"))
  }

  @Test func `a first launch has nothing stored yet`() async throws {
    let report = try await Bench().launch().restore(into: Screen("root"))
    #expect("\(report)".hasPrefix("Restoration: nothing stored yet"))
  }

  @Test func `a renamed field without a version is said in the log, once for all objects`() async throws {
    let bench = Bench()
    let log = MemoryLog()
    try await bench.preserve(
      Screen("root", children: ["a", "b", "c"].map { StoredValue($0, MissingKeyTests.Before(text: "typed")) }))
    bench.configuration.log = log.log
    let again = Screen("root", children: ["a", "b", "c"].map { StoredValue($0, MissingKeyTests.Renamed()) })
    _ = try await bench.launch().restore(into: again)
    #expect(log.warnings.count == 1)
    let beginning = "root/a and 2 others: nobody reads “text”, and the next edit drops it"
    #expect(log.warnings.first?.hasPrefix(beginning) == true)
  }

  @Test func `an object whose name changes with its title is found under the other one`() async throws {
    let bench = Bench()
    try await bench.preserve(Screen("root", children: [Screen("inbox 3", text: "x"), Panel("other", value: 1)]))
    let root = Screen("root", children: [Screen("inbox 4"), Panel("other")])
    let report = try await bench.launch().restore(into: root)
    #expect(report[["root", "inbox 3"]]?.notRestoredReason == .nameDiffers(found: "inbox 4", type: "Screen"))
    // One of another class is not meant, nor one that has state of its own.
    let others = Screen("root", children: [Panel("inbox 4"), Panel("other")])
    let second = try await bench.launch().restore(into: others)
    #expect(second[["root", "inbox 3"]]?.notRestoredReason == .noObject)
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
    let receipt = PreservationOutcome.Receipt(generation: 1, kind: .whole, savedAt: Date(), duration: extreme)
    #expect("\(receipt)".hasSuffix(", \(text)"))
  }

  @Test(arguments: [(1e300, "1e+300 s old"), (-1e300, "-1e+300 s old"), (.infinity, "inf s old"), (.nan, "nan s old")])
  func `an age that is no whole number of seconds is printed as it is`(age: Double, text: String) {
    #expect("\(RestorationReport.NotRestoredReason.expired(age: age, limit: 5))" == "\(text), the limit is 5 s")
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
    let old = FragileController("old", "o", tag: "fresh")
    let gone = Screen("gone", text: "g", tag: "note")
    gone.restoration.model = "note 1"
    let register: (RestorationRegistry) -> Void = {
      $0.register(FragileController.self, as: "fresh", freshFor: .seconds(60))
      $0.register(Panel.self, as: "other")
    }
    let first = bench.launch(register)
    _ = try await first.preserve(Screen("root", children: [old, gone]))
    bench.time += 3600
    let registry = RestorationRegistry()
    registry.register(FragileController.self, as: "fresh", freshFor: .seconds(60))
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
    bench.configuration.log = log.log
    try await bench.preserve(Screen("root", text: "secret words", children: [Screen("lost")]))
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(log.lines.contains { $0.contains("root") && $0.contains("lost") })
    #expect(!log.lines.contains { $0.contains("secret") })
  }
}
