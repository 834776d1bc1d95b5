import FaultyFileSystem
import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import DataProtection
@testable import StateRestoration

/// A window whose state is readable after the first unlock, with notes of which some are secret.
@MainActor struct PartedBench: SizedTexts {
  let bench: Bench

  init() async throws {
    bench = try await Bench(.device)
    bench.configuration.protection = .completeUntilFirstUserAuthentication
  }

  /// A secret screen.
  static func secret(_ identifier: RestorationIdentifier, text: String = "", tag: RestorationIdentity.ClassTag? = nil)
    -> Screen
  {
    let screen = Screen(identifier, text: text, tag: tag)
    screen.restoration.protection = .complete
    return screen
  }

  /// What a restoration says that finds the window's note locked.
  func reportWhileLocked() async throws -> RestorationReport {
    try await bench.preserve(Self.window(list: "list", note: "note"))
    try await bench.kill()
    try await bench.lock()
    return try await bench.launch().restore(into: Self.window())
  }

  /// Changes a byte in the middle of the file that has the secrets, and ends the process.
  func damageSecrets() async throws {
    let file = try #require(try bench.place.open(.newest).parts.last?.file)
    let disk = try #require(bench.device?.memory)
    for slot in disk.names(atPath: "/device/archives") {
      let path = "/device/archives/\(slot)/g-\(file.number)"
      guard var bytes = disk.content(atPath: path) else { continue }
      bytes[bytes.count / 2] ^= 1
      disk.plant(bytes, atPath: path)
    }
    try await bench.kill()
  }

  /// What the keys of a locked device open of the newest generation, and of the one before.
  func readableText() throws -> String {
    var pieces: [Data] = []
    for choice in [StateChoice.newest, .predecessor] {
      guard let state = try? bench.place.open(choice) else { continue }
      for content in state.parts.compactMap(\.content) {
        pieces += try [content.read(0..<content.byteCount)] + content.frames
      }
    }
    return String(decoding: pieces.joined(), as: UTF8.self)
  }

  /// The window: a list, and an editor that is secret.
  static func window(list: String = "", note: String = "") -> Screen {
    Screen("root", children: [Screen("list", text: list), secret("editor", text: note)])
  }
}

/// Issue: the windows come back on a locked device, and their secrets after the unlock, into the same objects.
@MainActor @Suite(.tags(.threads)) struct PartlyLockedTests {
  @Test(arguments: PartedBench.sizes)
  func `what has its key comes back while locked, and the rest at the unlock, into the same objects`(
    size: Int
  ) async throws {
    let parted = try await PartedBench()
    let (list, note) = (parted.text("list", size), parted.text("note", size))
    try await parted.bench.preserve(PartedBench.window(list: list, note: note))
    try await parted.bench.kill()
    try await parted.bench.lock()
    let coordinator = parted.bench.launch()
    let root = PartedBench.window()
    let report = try await coordinator.restore(into: root)
    #expect(report.outcome == .partlyRestored)
    #expect(report.remarks.contains(.waitsForUnlock(.complete)))
    #expect(report.nodes.filter { $0.notRestoredReason == .locked }.count == 1)
    let editor = root["editor"]
    #expect(root["list"]?.text == list)
    #expect(editor?.text == "")
    try await parted.bench.unlock(coordinator)
    #expect(coordinator.lastReport?.outcome == .restored)
    #expect(coordinator.lastReport?.notRestored.isEmpty == true)
    #expect(editor?.text == note)
    #expect(root["editor"] === editor)
    #expect(root["list"]?.text == list)
  }

  @Test(arguments: PartedBench.sizes, [false, true])
  func `what is edited while locked is there after the unlock, of both classes`(size: Int, isKilled: Bool) async throws
  {
    let parted = try await PartedBench()
    try await parted.bench.preserve(
      PartedBench.window(list: parted.text("list", size), note: parted.text("note", size)))
    try await parted.bench.kill()
    try await parted.bench.lock()
    let coordinator = parted.bench.launch()
    let root = PartedBench.window()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    root["list"]?.text = parted.text("list2", size)
    root["editor"]?.text = parted.text("note2", size)
    let receipt = try await coordinator.preserve(root).receipt
    #expect(receipt?.durability == .durable)
    if isKilled {
      try await parted.bench.kill()
      let locked = PartedBench.window()
      #expect(try await parted.bench.launch().restore(into: locked).outcome == .partlyRestored)
      #expect(parted.word(locked["list"]?.text) == "list2")
      #expect(locked["editor"]?.text == "")
      try await parted.bench.kill()
    }
    try await parted.bench.unlock(isKilled ? nil : coordinator)
    if !isKilled {
      #expect(parted.word(root["list"]?.text) == "list2")
      #expect(parted.word(root["editor"]?.text) == "note2")
      _ = try await coordinator.preserve(root)
      try await parted.bench.kill()
    }
    for _ in 0..<2 {
      let again = PartedBench.window()
      let next = parted.bench.launch()
      #expect(try await next.restore(into: again).outcome == .restored)
      #expect(parted.word(again["list"]?.text) == "list2")
      #expect(parted.word(again["editor"]?.text) == "note2")
      _ = try await next.preserve(again)
      try await parted.bench.kill()
    }
  }

  @Test func `what waits for the unlock is no warning`() async throws {
    let parted = try await PartedBench()
    let log = MemoryLog()
    parted.bench.configuration.log = log.log
    let report = try await parted.reportWhileLocked()
    #expect(report.nodes.contains { $0.notRestoredReason == .locked })
    #expect(log.warnings.isEmpty)
  }

  @Test func `a first passcode, and then a change of one class, keeps all classes`() async throws {
    let parted = try await PartedBench()
    let coordinator = parted.bench.launch()
    let root = PartedBench.window(list: "list", note: "note")
    _ = try await coordinator.preserve(root)
    // A first passcode has all files sealed anew, under other names.
    let device = try #require(parted.bench.process?.device)
    try await device.removePasscode(ProtectedDevice.Passcode("1234"))
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    root["list"]?.text = "list2"
    #expect(try await coordinator.preserve(root).receipt?.durability == .durable)
    try await parted.bench.kill()
    let again = PartedBench.window()
    #expect(try await parted.bench.launch().restore(into: again).outcome == .restored)
    #expect(again["list"]?.text == "list2")
    #expect(again["editor"]?.text == "note")
  }

  @Test func `an object that is made of a secret row comes at the unlock, at its place`() async throws {
    let parted = try await PartedBench()
    func launch() -> RestorationCoordinator {
      parted.bench.launch {
        $0.register(Screen.self, as: "open") { path, _ in Screen(path.last, tag: "open") }
        $0.register(Screen.self, as: "secret") { path, _ in PartedBench.secret(path.last!, tag: "secret") }
      }
    }
    let first = Screen(
      "root",
      children: [
        Screen("a", text: "a", tag: "open"), PartedBench.secret("b", text: "b", tag: "secret"),
        Screen("c", text: "c", tag: "open"),
      ])
    _ = try await launch().preserve(first)
    try await parted.bench.kill()
    try await parted.bench.lock()
    let coordinator = launch()
    let root = Screen("root")
    _ = try await coordinator.restore(into: root)
    #expect(root.restorationChildren.map { $0.restoration.identifier } == ["a", "c"])
    _ = try await coordinator.preserve(root)
    try await parted.bench.unlock(coordinator)
    #expect(root.restorationChildren.map { $0.restoration.identifier } == ["a", "b", "c"])
    #expect(root["b"]?.text == "b")
    _ = try await coordinator.preserve(root)
    try await parted.bench.kill()
    let again = Screen("root")
    _ = try await launch().restore(into: again)
    #expect(again.restorationChildren.map { $0.restoration.identifier } == ["a", "b", "c"])
  }

  @Test func `a class that gets stronger takes the state out of what the weaker key opens, for good`() async throws {
    let parted = try await PartedBench()
    let coordinator = parted.bench.launch()
    let root = Screen("root", children: [Screen("note", text: "SECRET-WORD")])
    _ = try await coordinator.preserve(root)
    root["note"]?.restoration.protection = .complete
    root["note"]?.invalidateRestorableState()
    _ = try await coordinator.preserve(root)
    try await parted.bench.kill()
    try await parted.bench.lock()
    let locked = Screen("root", children: [PartedBench.secret("note")])
    let next = parted.bench.launch()
    #expect(try await next.restore(into: locked).outcome == .partlyRestored)
    #expect(locked["note"]?.text == "")
    // Nothing older stands in for it either.
    #expect(try await next.restore(into: locked, from: .olderGeneration).outcome == .nothingPreserved)
    try await parted.bench.unlock(next)
    #expect(locked["note"]?.text == "SECRET-WORD")
  }

  @Test func `a class that gets weaker is readable while locked after the next save`() async throws {
    let parted = try await PartedBench()
    let coordinator = parted.bench.launch()
    let root = Screen("root", children: [PartedBench.secret("note", text: "plain")])
    _ = try await coordinator.preserve(root)
    root["note"]?.restoration.protection = nil
    root["note"]?.invalidateRestorableState()
    _ = try await coordinator.preserve(root)
    try await parted.bench.kill()
    try await parted.bench.lock()
    let locked = Screen("root", children: [Screen("note")])
    #expect(try await parted.bench.launch().restore(into: locked).outcome == .restored)
    #expect(locked["note"]?.text == "plain")
  }

  @Test func `a change of one part writes that part alone`() async throws {
    let parted = try await PartedBench()
    let coordinator = parted.bench.launch()
    let root = PartedBench.window(list: parted.text("list", 300_000), note: parted.text("note", 300_000))
    _ = try await coordinator.preserve(root)
    root["list"]?.text = parted.text("list2", 200_000)
    let receipt = try await coordinator.preserve(root).receipt
    #expect((200_000..<290_000).contains(receipt?.bytesWritten ?? 0))
  }

  @Test func `without the key of a class nothing of its objects is written where others can read it`() async throws {
    let parted = try await PartedBench()
    try await parted.bench.preserve(PartedBench.window(list: "list", note: "note"))
    try await parted.bench.kill()
    try await parted.bench.lock()
    let coordinator = parted.bench.launch()
    let root = PartedBench.window()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    root.restorationChildren.append(PartedBench.secret("another", text: "HIDDEN"))
    root["list"]?.text = "list2"
    _ = try await coordinator.preserve(root)
    let reader = try parted.bench.newestReader()
    var stack = try reader.roots
    var names: [String] = []
    while let id = stack.popLast() {
      stack += try reader.children(of: id)
      if let name = try reader.node(id)?.identifier { names.append(name.rawValue) }
    }
    #expect(!names.contains("another"))
    #expect(!names.contains("editor"))
    try await parted.bench.unlock(coordinator)
    #expect(root["another"]?.text == "HIDDEN")
    #expect(root["editor"]?.text == "note")
    _ = try await coordinator.preserve(root)
    try await parted.bench.kill()
    let again = PartedBench.window()
    let next = parted.bench.launch()
    _ = try await next.restore(into: again)
    let late = PartedBench.secret("another")
    again.restorationChildren.append(late)
    #expect(next.restore(late, at: ["root", "another"])?.isRestored == true)
    #expect(late.text == "HIDDEN")
  }

  @Test func `an empty secret adds nothing while locked, and takes what is stored at the unlock`() async throws {
    let parted = try await PartedBench()
    try await parted.bench.preserve(PartedBench.window(list: "list", note: "note"))
    try await parted.bench.kill()
    try await parted.bench.lock()
    let coordinator = parted.bench.launch()
    let root = Screen("root", children: [Screen("list")])
    _ = try await coordinator.restore(into: root)
    root.restorationChildren.append(PartedBench.secret("editor", text: "Untitled"))
    await coordinator.endTurn()
    _ = try await coordinator.preserve(root)
    try await parted.bench.unlock(coordinator)
    #expect(root["editor"]?.text == "note")
  }

  @Test(arguments: [1, 2]) func `edits of several locked runs, of objects new to each, come together at the unlock`(
    runs: Int
  ) async throws {
    let parted = try await PartedBench()
    func launch() -> RestorationCoordinator {
      parted.bench.launch {
        $0.register(Screen.self, as: "entry") { path, _ in PartlyLockedTests.entry(path.last!) }
      }
    }
    _ = try await launch().preserve(Screen("root", children: [Self.entry("1", text: "first")]))
    try await parted.bench.lock()
    var root = Screen("root")
    var coordinator = launch()
    for run in 0..<runs {
      try await parted.bench.kill()
      root = Screen("root")
      coordinator = launch()
      #expect(try await coordinator.restore(into: root).outcome == .partlyRestored)
      await coordinator.endTurn()
      #expect(root.restorationChildren.count == 1 + run)
      root.restorationChildren.append(Self.entry(RestorationIdentifier("\(run + 2)"), text: "typed"))
      _ = try await coordinator.preserve(root)
    }
    try await parted.bench.unlock(coordinator)
    #expect(coordinator.lastReport?.outcome == .restored, "\(coordinator.lastReport!)")
    let texts = root.restorationChildren.map { ($0 as? Screen)?["page"]?.text }
    #expect(texts == ["first"] + Array(repeating: "typed", count: runs))
  }

  @Test func `what was saved while the device was locked in a run comes back after the next locked launch`()
    async throws
  {
    let parted = try await PartedBench()
    func launch() -> RestorationCoordinator {
      parted.bench.launch {
        $0.register(Screen.self, as: "entry") { path, _ in PartlyLockedTests.entry(path.last!) }
      }
    }
    let first = launch()
    var root = Screen("root", children: [Self.entry("1", text: "first")])
    _ = try await first.preserve(root)
    try await parted.bench.lock()
    root.restorationChildren.append(Self.entry("2", text: "second"))
    _ = try await first.preserve(root)
    try await parted.bench.unlock(first)
    try await parted.bench.kill()
    try await parted.bench.lock()
    root = Screen("root")
    var next = launch()
    #expect(try await next.restore(into: root).outcome == .partlyRestored)
    await next.endTurn()
    root.restorationChildren.append(Self.entry("3", text: "third"))
    _ = try await next.preserve(root)
    try await parted.bench.kill()
    root = Screen("root")
    next = launch()
    #expect(try await next.restore(into: root).outcome == .partlyRestored)
    try await parted.bench.unlock(next)
    let texts = root.restorationChildren.map { ($0 as? Screen)?["page"]?.text }
    #expect(texts == ["first", "second", "third"], "\(next.lastReport!)")
  }

  @Test func `what was prepared while locked is loaded again once the device is unlocked`() async throws {
    let parted = try await PartedBench()
    try await parted.bench.preserve(PartedBench.window(list: "list", note: "note"))
    try await parted.bench.kill()
    try await parted.bench.lock()
    let coordinator = parted.bench.launch()
    await coordinator.prepare()
    try await parted.bench.unlock(coordinator)
    let root = PartedBench.window()
    #expect(try await coordinator.restore(into: root).outcome == .restored)
    #expect(root["editor"]?.text == "note")
  }

  /// Damage in a large file is found when it is read, and not when it is opened.
  @Test(arguments: PartedBench.sizes) func `a damaged part is left out, and all others come back`(
    size: Int
  ) async throws {
    let parted = try await PartedBench()
    let list = parted.text("list", size)
    try await parted.bench.preserve(PartedBench.window(list: list, note: parted.text("note", size)))
    try await parted.damageSecrets()
    var root = PartedBench.window()
    var coordinator = parted.bench.launch()
    let report = try await coordinator.restore(into: root)
    #expect(report.outcome == .restored)
    #expect(root["list"]?.text == list)
    #expect(root["editor"]?.text == "")
    #expect(report.notRestored.contains { if case .damaged = $0.notRestoredReason { true } else { false } })
    root["editor"]?.text = "again"
    _ = try await coordinator.preserve(root)
    try await parted.bench.kill()
    root = PartedBench.window()
    coordinator = parted.bench.launch()
    #expect(try await coordinator.restore(into: root).notRestored.isEmpty)
    #expect(root["list"]?.text == list)
    #expect(root["editor"]?.text == "again")
  }

  @Test(arguments: [70_000, 300_000])
  func `the part of the generation before stands in for a damaged one, and the report says so`(
    size: Int
  ) async throws {
    let parted = try await PartedBench()
    let coordinator = parted.bench.launch()
    var root = PartedBench.window(list: "list", note: parted.text("older", size))
    _ = try await coordinator.preserve(root)
    root["editor"]?.text = parted.text("newer", size)
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    try await parted.damageSecrets()
    root = PartedBench.window()
    let report = try await parted.bench.launch().restore(into: root)
    #expect(report.outcome == .restored)
    #expect(root["list"]?.text == "list")
    #expect(parted.word(root["editor"]?.text) == "older")
    #expect(report.remarks.contains { if case .olderGeneration = $0 { true } else { false } })
  }

  /// A screen that can be seen, with a page that is secret.
  private static func entry(_ identifier: RestorationIdentifier, text: String = "") -> Screen {
    Screen(identifier, tag: "entry", children: [PartedBench.secret("page", text: text)])
  }

  @Test func `a program that has one class alone waits as before`() async throws {
    let bench = try await Bench(.device)
    try await bench.preserve(PartedBench.window(list: "list", note: "note"))
    try await bench.kill()
    try await bench.lock()
    let root = PartedBench.window()
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    try await bench.unlock(coordinator)
    #expect(root["editor"]?.text == "note")
  }
}
