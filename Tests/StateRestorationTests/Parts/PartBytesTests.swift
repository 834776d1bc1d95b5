import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// What saves of a state in parts write.
@MainActor @Suite(.tags(.threads)) struct PartBytesTests {
  @Test(arguments: ["list", "editor"] as [RestorationIdentifier])
  func `a whole generation writes the parts that have changed alone`(edited: RestorationIdentifier) async throws {
    let parted = try await PartedBench()
    let coordinator = parted.bench.launch()
    let root = PartedBench.window(list: parted.text("list", 300_000), note: parted.text("note", 300_000))
    let first = try #require(try await coordinator.preserve(root).receipt)
    #expect(first.kind == .whole && first.bytesWritten > 600_000)
    // Too much for the room behind it.
    root[edited]?.text = parted.text("again", 200_000)
    let second = try #require(try await coordinator.preserve(root).receipt)
    #expect(second.kind == .whole)
    #expect((200_000..<300_000).contains(second.bytesWritten), "\(second)")
    root[edited]?.text = parted.text("little", 10)
    let third = try #require(try await coordinator.preserve(root).receipt)
    #expect(third.bytesWritten < 20_000, "\(third)")
    root["list"]?.text = parted.text("both", 100_000)
    root["editor"]?.text = parted.text("both", 100_000)
    let fourth = try #require(try await coordinator.preserve(root).receipt)
    #expect(fourth.kind == .whole && (200_000..<300_000).contains(fourth.bytesWritten), "\(fourth)")
    try await parted.bench.kill()
    let again = PartedBench.window()
    _ = try await parted.bench.launch().restore(into: again)
    #expect(parted.word(again["list"]?.text) == "both" && parted.word(again["editor"]?.text) == "both")
  }

  @Test func `a save of a partly locked run writes nothing of what it can't read`() async throws {
    let parted = try await PartedBench()
    try await parted.bench.preserve(
      PartedBench.window(list: parted.text("list", 100_000), note: parted.text("note", 300_000)))
    try await parted.bench.kill()
    try await parted.bench.lock()
    let coordinator = parted.bench.launch()
    let root = PartedBench.window()
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    root["list"]?.text = parted.text("again", 100_000)
    let receipt = try #require(try await coordinator.preserve(root).receipt)
    #expect(receipt.kind == .whole && (100_000..<150_000).contains(receipt.bytesWritten), "\(receipt)")
  }
}
