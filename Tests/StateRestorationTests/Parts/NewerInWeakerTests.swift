import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// A program that names a weaker class while the state under the stronger one can't be read: what it writes then is newer, whatever
/// the numbers of saves say, as those of the locked part are not known.
@MainActor @Suite(.tags(.threads)) struct NewerInWeakerTests {
  /// Saves a secret note many times, and then runs locked with a note of no class of its own.
  private func run(_ parted: PartedBench, size: Int, saves: Int = 12, model: String? = nil) async throws {
    let first = PartedBench.window(list: "list", note: "note")
    if model != nil { first["editor"]?.restoration.model = "first" }
    let coordinator = parted.bench.launch()
    for number in 0..<saves {
      first["editor"]?.text = parted.text("note\(number)", size)
      _ = try await coordinator.preserve(first)
    }
    try await parted.bench.kill()
    try await parted.bench.lock()
    let locked = Self.window(model)
    let next = parted.bench.launch()
    #expect(try await next.restore(into: locked).outcome == .partlyRestored)
    await next.endTurn()
    locked["editor"]?.text = parted.text("edit", size)
    #expect(try await next.preserve(locked).receipt?.durability == .durable)
    try await parted.bench.kill()
    try await parted.bench.unlock()
  }

  private static func window(_ model: String? = nil) -> Screen {
    let editor = Screen("editor")
    editor.restoration.model = model.map { ModelIdentifier($0) }
    return Screen("root", children: [Screen("list"), editor])
  }

  @Test(arguments: PartedBench.sizes)
  func `an edit in a weaker class is newer than what was locked`(size: Int) async throws {
    let parted = try await PartedBench()
    try await run(parted, size: size)
    for _ in 0..<2 {
      let root = Self.window()
      let coordinator = parted.bench.launch()
      _ = try await coordinator.restore(into: root)
      #expect(parted.word(root["editor"]?.text) == "edit")
      _ = try await coordinator.preserve(root)
      try await parted.bench.kill()
    }
  }

  @Test func `what was locked does not get the weaker class with it`() async throws {
    let parted = try await PartedBench()
    try await run(parted, size: 10)
    let coordinator = parted.bench.launch()
    let root = Screen("root", children: [Screen("list")])
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    try await parted.bench.kill()
    try await parted.bench.lock()
    #expect(!(try parted.readableText().contains("note11")))
  }

  @Test func `the model that was on the screen last is shown`() async throws {
    let parted = try await PartedBench()
    try await run(parted, size: 10, model: "second")
    let root = Self.window()
    _ = try await parted.bench.launch().restore(into: root)
    #expect(parted.word(root["editor"]?.text) == "edit")
  }

  @Test func `eight records of a locked row and edits beside them lose nothing that was read by nobody`() async throws {
    let parted = try await PartedBench()
    try await run(parted, size: 10, saves: 1)
    for number in 0..<10 {
      try await parted.bench.lock()
      let locked = PartedBench.window()
      let next = parted.bench.launch()
      #expect(try await next.restore(into: locked).outcome == .partlyRestored)
      await next.endTurn()
      locked["editor"]?.text = "locked\(number)"
      locked["list"]?.text = "list\(number)"
      let outcome = try await next.preserve(locked)
      #expect(outcome.receipt?.findings == [])
      try await parted.bench.kill()
    }
    try await parted.bench.unlock()
    let root = PartedBench.window()
    let report = try await parted.bench.launch().restore(into: root)
    #expect(root["editor"]?.text == "locked9", "\(report)")
    #expect(root["list"]?.text == "list9")
  }
}
