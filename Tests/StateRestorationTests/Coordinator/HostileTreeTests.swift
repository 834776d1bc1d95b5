import FoundationEssentials
import RestorationArchive
import Synchronization
import Testing

@testable import StateRestoration

/// Nothing that a file contains can trap, nor make `restore` throw.
@MainActor @Suite struct HostileTreeTests {
  typealias Archive = RestorationArchive

  /// A hierarchy with every kind of object that a file could mean.
  func hierarchy() -> Screen {
    let root = Screen(
      "root",
      children: [
        Screen("a", children: [Panel("deep")]), Panel("p"), NavigationController("nav"),
      ])
    root.restorationViews = [Field("field")]
    return root
  }

  func launch(_ bench: Bench) -> RestorationCoordinator {
    bench.launch { registry in
      registry.register(Panel.self, as: "panel") { path, _ in Panel(path.last) }
      registry.register(Screen.self, as: "screen") { path, _ in Screen(path.last) }
      registry.share(Field("shared"), as: "shared")
    }
  }

  /// Restores and saves an archive that somebody made up.
  @discardableResult
  func feed(_ archive: Data, _ bench: Bench = Bench()) async throws -> RestorationReport {
    bench.store.state.withLock { state in
      state.generations = [.init(number: state.next, base: archive)]
      state.next += 1
    }
    let coordinator = launch(bench)
    let root = hierarchy()
    let report = try await coordinator.restore(into: root)
    _ = report.description
    root.text += "x"
    _ = try await coordinator.preserve(root)
    return report
  }

  func writer() -> Archive.Writer {
    Archive.Writer(
      context: RestorationArchive.Context(
        applicationVersion: "1.0", schemaVersion: 1, systemVersion: "", timeSaved: Date(timeIntervalSince1970: 0),
        interfaceIdiom: .unspecified, versionTag: "1"))
  }

  @Test func `unknown tags, the version 0 and wrong kinds are reported`() async throws {
    var writer = writer()
    let root = try writer.insert("root", attributes: .init(classTag: "nobody", version: 0))
    for (index, flags) in [Archive.NodeFlags.view, .shared, .quarantined, .carriedOver, .reserved].enumerated() {
      for (tag, name) in [("panel", "a"), ("screen", "p"), ("nobody", "nav"), ("", "field")]
        as [(RestorationIdentity.ClassTag, String)]
      {
        let node = try writer.insert(
          RestorationIdentifier("\(name)\(index == 0 ? "" : "\(index)")"), parent: root,
          attributes: .init(classTag: tag, version: StateVersion(rawValue: index == 1 ? .max : 0), flags: flags))
        try writer.setRecord(
          of: node, entries: [.init(key: "value", value: ["not": "a number"]), .init(key: "$state", value: 5)],
          attributes: .init(classTag: tag, version: 0, flags: flags))
      }
    }
    let report = try await feed(try writer.makeArchive())
    #expect(report.outcome == .restored)
    #expect(!report.notRestored.isEmpty)
  }

  @Test func `a view at the root, a shared object in the middle and reserved names are no trap`() async throws {
    for flags in [Archive.NodeFlags.view, .shared, .reserved, .quarantined, [.view, .shared]] {
      var writer = writer()
      let root = try writer.insert("root", attributes: .init(flags: flags))
      let inner = try writer.insert("$shared", parent: root, attributes: .init(flags: .shared))
      _ = try writer.insert("$application", parent: inner, attributes: .init(flags: flags))
      let kept = try writer.insert("$kept", attributes: .init(flags: flags))
      _ = try writer.insert("root", parent: kept)
      let shared = try writer.insert("$shared")
      _ = try writer.insert("shared", parent: shared, attributes: .init(classTag: "panel", flags: flags))
      _ = try writer.insert("$application", attributes: .init(flags: flags))
      try await feed(try writer.makeArchive())
    }
  }

  @Test func `references that go round in circles or nowhere come back as nil or as what they say`() async throws {
    var writer = writer()
    let root = try writer.insert("root")
    let left = try writer.insert("p", parent: root)
    let targets: [RestorationPath?] = [["root", "p"], [], ["root", "p", "p", "p"], nil]
    for target in targets {
      try writer.setRecord(
        of: left, entries: [.init(key: "value", value: 1), .init(key: "friend", value: target)], attributes: .init())
      let report = try await feed(try writer.makeArchive())
      #expect(report[["root", "p"]]?.isRestored == true)
    }
  }

  @Test func `identifiers that are empty, huge or full of slashes are identifiers`() async throws {
    var writer = writer()
    let root = try writer.insert("root")
    let names = ["", "/", "//root", "\u{0}", String(repeating: "x", count: 1 << 16), "root", "$moving-1"]
    for name in names {
      _ = try writer.insert(RestorationIdentifier(name), parent: root, attributes: .init(classTag: "screen"))
    }
    let report = try await feed(try writer.makeArchive())
    #expect(report.nodes.count == names.count + 1)
  }

  @Test func `ten thousand children of one name are no trap`() async throws {
    var writer = writer()
    let root = try writer.insert("root")
    for index in 0..<10_000 {
      _ = try writer.insert(
        RestorationIdentifier("n" + String(100_000 + index)), parent: root, attributes: .init(classTag: "screen"))
    }
    var bytes = Array(try writer.makeArchive())
    // The writer refuses equal names: give them all the same one behind its back.
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    var index = 0
    while index + 7 <= bytes.count {
      if bytes[index] == UInt8(ascii: "n"), bytes[(index + 1)..<(index + 7)].allSatisfy(digits.contains) {
        for offset in 1...6 { bytes[index + offset] = UInt8(ascii: "7") }
        index += 7
      } else {
        index += 1
      }
    }
    try await feed(Data(bytes))
  }

  @Test func `a chain as deep as the format allows is no trap`() async throws {
    var writer = writer()
    var parent = try writer.insert("root")
    do {
      while true { parent = try writer.insert("a", parent: parent, attributes: .init(classTag: "screen")) }
    } catch {
      #expect(error.code == .limitExceeded)
    }
    let report = try await feed(try writer.makeArchive())
    #expect(report.outcome == .restored)
  }

  @Test func `dates out of all reason and ages of any size are compared, not trapped on`() async throws {
    for seconds in [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -1e300, 0] {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      var writer = Archive.Writer(
        context: RestorationArchive.Context(
          applicationVersion: "", schemaVersion: 0, systemVersion: "", timeSaved: date, interfaceIdiom: .unspecified,
          versionTag: "1"))
      _ = try writer.insert("root", attributes: .init(classTag: "screen", savedAt: date))
      let bench = Bench()
      bench.configuration.maximumAge = .seconds(60)
      try await feed(try writer.makeArchive(), bench)
    }
  }

  @Test func `every flipped byte of a small archive is restored, reported or refused`() async throws {
    var writer = writer()
    let root = try writer.insert("root", attributes: .init(classTag: "screen"))
    let panel = try writer.insert("p", parent: root, attributes: .init(classTag: "panel"))
    try writer.setRecord(
      of: panel,
      entries: [.init(key: "value", value: 1), .init(key: "friend", value: RestorationPath?.some(["root"]))],
      attributes: .init(classTag: "panel"))
    _ = try writer.insert("field", parent: root, attributes: .init(flags: .view))
    let archive = try writer.makeArchive()
    for index in 0..<archive.count {
      for bit in [1, 0x10, 0x80, 0xFF] as [UInt8] {
        var flipped = Array(archive)
        flipped[index] ^= bit
        let bench = Bench()
        bench.store.state.withLock { $0.generations = [.init(number: 1, base: Data(flipped))] }
        let report = try await launch(bench).restore(into: hierarchy())
        _ = report.description
      }
    }
  }

  @Test func `every flipped byte of what was saved while locked is joined, reported or refused`() async throws {
    let bench = Bench()
    try await bench.preserve(hierarchy())
    bench.store.lock(true)
    let root = hierarchy()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    root["a"]?.text = "touched"
    _ = try await coordinator.preserve(root)
    bench.store.lock(false)
    let content = try #require(bench.store.pending?.content)
    for index in 0..<content.count {
      var flipped = Array(content)
      flipped[index] ^= 0x11
      bench.store.state.withLock { $0.allPending[0].replaceContent(Data(flipped)) }
      let report = try await bench.launch().restore(into: hierarchy())
      #expect([.restored, .newerVersion].contains(report.outcome))
    }
  }
}
