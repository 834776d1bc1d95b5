import FaultyFileSystem
import FoundationEssentials
import StateRestoration
import StateRestorationTesting
import Synchronization
import Testing

/// What was saved while locked and can't be read is named after the unlock, and stays on the disk (R5.2).
@MainActor @Suite struct UnreadablePendingTests {
  private func hierarchy() -> Screen { Screen("root", children: [Screen("a"), Screen("b")]) }

  @Test func `it is named at the next launch, and stays on the disk when that saves`() async throws {
    let bench = try await Bench(.device)
    try await bench.preserve(Screen("root", text: "stored", children: [Screen("a", text: "stored"), Screen("b")]))
    try await bench.lock()
    for name in ["a", "b"] as [RestorationIdentifier] {
      let root = hierarchy()
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      root[name]?.text = "typed while locked"
      #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
      try await bench.kill()
    }
    let disk = try #require(bench.device?.memory)
    var bytes: [UInt8] = []
    for slot in disk.names(atPath: "/device/archives") {
      let names = disk.names(atPath: "/device/archives/\(slot)").filter { $0.hasPrefix("p-") }
      guard let first = names.min(by: { ($0.count, $0) < ($1.count, $1) }) else { continue }
      let path = "/device/archives/\(slot)/\(first)"
      bytes = try #require(disk.content(atPath: path)).map { $0 ^ 1 }
      disk.plant(bytes, atPath: path)
    }
    #expect(!bytes.isEmpty)
    try await bench.unlock()
    let coordinator = bench.launch()
    let root = hierarchy()
    let report = try await coordinator.restore(into: root)
    #expect(report.remarks.contains { $0.description.contains("saved while locked could not be read") })
    #expect([root["a"]?.text, root["b"]?.text] == ["stored", "typed while locked"])
    for text in ["first", "second"] {
      root.text = text
      _ = try await coordinator.preserve(root)
      #expect(bench.contents.values.contains(bytes))
    }
  }

  @Test func `when nothing of it can be read at all, that is named by the first save`() async throws {
    let bench = Bench()
    try await bench.preserve(hierarchy())
    bench.store.state.withLock { $0.failures = ["openPending": .corrupt] }
    let receipt = try #require(try await bench.launch().preserve(hierarchy()).receipt)
    #expect(receipt.findings.contains { $0.description.contains("saved while locked could not be read") })
  }
}
