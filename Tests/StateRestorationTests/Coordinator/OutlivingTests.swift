import FoundationEssentials
import Testing

@testable import StateRestoration

/// State whose object is not there at the next save, and does not leave with it.
@MainActor @Suite struct OutlivingTests {
  @Test(arguments: StoreKind.allCases)
  func `a shared object that dies after restoring leaves its state`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let first = bench.launch()
    let settings = Screen("settings", text: "stored")
    first.registry.share(settings, as: "settings")
    _ = try await first.preserve(Screen("root"))
    let coordinator = bench.launch()
    let root = Screen("root")
    try await {
      let settings = Screen("settings")
      coordinator.registry.share(settings, as: "settings")
      _ = try await coordinator.restore(into: root)
      #expect(settings.text == "stored")
    }()
    root.text = "changed"
    _ = try await coordinator.preserve(root)
    let last = Screen("settings")
    _ = try await bench.launch { $0.share(last, as: "settings") }.restore(into: Screen("root"))
    #expect(last.text == "stored")
  }

  @Test(arguments: StoreKind.allCases)
  func `what only a reference named is carried over while nobody holds its object`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    let referrer = Panel("referrer")
    let panel = Panel("panel", value: 7)
    panel.tag = "panel"
    panel.restorationChildren = [Screen("below", text: "below")]
    referrer.strongFriend = panel
    try await bench.preserve(Screen("root", children: [referrer]))
    let path: RestorationPath = ["root", "referrer", "panel"]

    // One launch can't make it, and edits who refers to it; in the next one nobody does any more.
    for makes in [false, true] {
      var made = 0
      let coordinator = bench.launch { registry in
        registry.register(Panel.self, as: "panel") { _, _ in
          guard makes else { return nil }
          made += 1
          let panel = Panel("panel")
          panel.tag = "panel"
          return panel
        }
      }
      let referrer = Panel("referrer")
      let root = Screen("root", children: [referrer])
      let report = try await coordinator.restore(into: root)
      referrer.value = 1
      #expect(report[path]?.isRestored == false)
      if makes { #expect(report[path]?.notRestoredReason == .notInstalled) }
      #expect(made == (makes ? 1 : 0))
      for round in 0..<2 {
        root.text = "round \(makes) \(round)"
        _ = try await coordinator.preserve(root)
      }
    }
    let reader = try bench.newestReader()
    let node = try #require(try reader.node(at: path))
    #expect(try reader.record(of: node.id).decode(Int.self, forKey: "value") == 7)
    #expect(try reader.children(of: node.id).count == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `what only a reference names and could not be read stays as long as nobody edits`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    let referrer = Panel("referrer")
    let panel = Panel("panel", value: 7)
    panel.tag = "panel"
    referrer.strongFriend = panel
    try await bench.preserve(Screen("root", children: [referrer]))
    let path: RestorationPath = ["root", "referrer", "panel"]
    var made: [Panel] = []
    let coordinator = bench.launch { registry in
      registry.register(Panel.self, as: "panel") { _, _ in
        let panel = Panel("panel")
        panel.tag = "panel"
        panel.failsDecoding = true
        made.append(panel)
        return panel
      }
    }
    let again = Panel("referrer")
    let root = Screen("root", children: [again])
    #expect(try await coordinator.restore(into: root)[path]?.isRestored == false)
    again.strongFriend = made.first
    func stored() throws -> [Int] {
      let reader = try bench.newestReader()
      return try reader.records(at: path).map { try reader.record(of: $0.id).decode(Int.self, forKey: "value") }
    }
    for round in 0..<2 {
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
      #expect(try stored() == [7])
    }
    made.first?.value = 9
    _ = try await coordinator.preserve(root)
    #expect(try stored() == [7, 9])
  }

  @Test(arguments: StoreKind.allCases)
  func `what the program writes beside its own state that restoring died at is given, also by a retry`(
    on kind: StoreKind
  ) async throws {
    let bench = try await Bench(kind)
    bench.delegate.appValue = "precious"
    try await bench.preserve(Screen("root"))
    bench.delegate.appValue = ""
    try await bench.die(at: ["$application"])
    let coordinator = bench.launch()
    let root = Screen("root")
    let report = try await coordinator.restore(into: root)
    #expect(report.remarks.contains { if case .applicationStateFailed = $0 { true } else { false } })
    for round in 0..<2 {
      root.text = "round \(round)"
      _ = try await coordinator.preserve(root)
    }
    bench.delegate.appValue = "newer"
    for round in 0..<2 {
      root.text = "again \(round)"
      _ = try await coordinator.preserve(root)
    }
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(bench.delegate.restoredAppValue == "newer")
    bench.delegate.retries = [[]]
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(bench.delegate.restoredAppValue == "newer")
  }

  @Test(arguments: StoreKind.allCases)
  func `the program's own state that can't be decoded stays as long as nobody edits`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    bench.delegate.appValue = "precious"
    try await bench.preserve(Screen("root"))
    bench.delegate.appValue = ""
    bench.delegate.failsDecoding = true
    let coordinator = bench.launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    bench.delegate.failsDecoding = false
    root.text = "edited"
    _ = try await coordinator.preserve(root)
    _ = try await bench.launch().restore(into: Screen("root"))
    #expect(bench.delegate.restoredAppValue == "precious")
  }
}
