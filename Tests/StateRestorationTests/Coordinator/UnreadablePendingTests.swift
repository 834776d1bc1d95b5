import DataProtection
import FaultyFileSystem
import FoundationEssentials
import StateRestoration
import StateRestorationTesting
import Synchronization
import Testing

/// What was saved while locked and can't be read is named by whoever looks at the unlock, and stays on the disk (R5.2).
@MainActor @Suite struct UnreadablePendingTests {
  /// What becomes of it before the unlock.
  enum Fate: CaseIterable, Sendable {
    case damaged, gone
  }

  /// What the program that runs has done before the device was locked, or locked when it was launched.
  enum Program: CaseIterable, Sendable {
    case restored, savedOnly, locked
  }

  private static let archives = "/device/archives"

  private func hierarchy() -> Screen { Screen("root", children: [Screen("a"), Screen("b")]) }

  private func bench() async throws -> Bench {
    let bench = try await Bench(.device)
    try await bench.preserve(Screen("root", text: "stored", children: [Screen("a", text: "stored"), Screen("b")]))
    return bench
  }

  /// Has another program save an edit while locked, in a file that is damaged or taken away then.
  ///
  /// - Returns: The bytes that are left of it.
  private func saveUnreadable(_ fate: Fate, _ bench: Bench) async throws -> [UInt8]? {
    let disk = try #require(bench.device?.memory)
    let before = Set(disk.names(atPath: Self.archives))
    let root = hierarchy()
    let other = bench.launch()
    _ = try await other.restore(into: root)
    root["a"]?.text = "other program"
    #expect(try await other.preserve(root).receipt?.kind == .pendingChange)
    // Another one knows of it, so that it is missed when it is gone.
    let last = bench.launch()
    let again = hierarchy()
    _ = try await last.restore(into: again)
    again["b"]?.text = "last program"
    #expect(try await last.preserve(again).receipt?.kind == .pendingChange)
    let name = try #require(
      disk.names(atPath: Self.archives).filter { $0.hasSuffix(".pending") && !before.contains($0) }.min())
    let path = "\(Self.archives)/\(name)"
    guard fate == .damaged else {
      disk.remove(atPath: path)
      return nil
    }
    let bytes = try #require(disk.content(atPath: path)).map { $0 ^ 1 }
    disk.plant(bytes, atPath: path)
    return bytes
  }

  private func problem(_ texts: [String]) -> String? { texts.first { $0.contains("saved while locked") } }

  @Test(arguments: Program.allCases, Fate.allCases)
  func `it is named at the unlock of a program that runs as at a launch, and stays on the disk`(
    program: Program, fate: Fate
  ) async throws {
    let bench = try await bench()
    let coordinator = bench.launch()
    let root = hierarchy()
    if program == .restored { _ = try await coordinator.restore(into: root) }
    try await bench.lock()
    if program == .locked { _ = try await coordinator.restore(into: root) }
    let bytes = try await saveUnreadable(fate, bench)
    root.text = "this program"
    #expect(
      try await coordinator.preserve(root).receipt?.kind == (program == .restored ? .pendingWhole : .pendingChange))
    try await bench.unlock()
    let problems = try bench.place.openPending().problems
    #expect(problems.count == 1)
    await coordinator.protectedDataDidBecomeAvailable()

    let told =
      program == .locked
      ? bench.delegate.lateReports.last?.remarks.map(\.description)
      : bench.delegate.outcomes.last?.receipt?.findings.map(\.description)
    let named = problems.map { "something that was saved while locked could not be read: \($0)" }
    #expect(try #require(told).filter { $0.contains("could not be read") } == named)
    _ = try await coordinator.preserve(root)
    if let bytes { #expect(bench.contents.values.contains(bytes)) }
    // Said once: what a later save meets is the same.
    root.text = "later"
    #expect(try await coordinator.preserve(root).receipt?.findings == [])
  }

  @Test func `it stays also when what was saved after it was typed over what restoring died at`() async throws {
    let bench = try await bench()
    try await bench.die(at: ["root", "b"])
    try await bench.lock()
    let bytes = try await saveUnreadable(.damaged, bench)
    try await bench.unlock()
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    #expect(bench.contents.values.contains { $0 == bytes })
    root.text = "later"
    _ = try await coordinator.preserve(root)
    #expect(bench.contents.values.contains { $0 == bytes })
  }

  @Test(arguments: [false, true])
  func `when nothing of it can be read at all, that is named`(hasRestored: Bool) async throws {
    let bench = Bench()
    try await bench.preserve(hierarchy())
    let coordinator = bench.launch()
    let root = hierarchy()
    if hasRestored { _ = try await coordinator.restore(into: root) }
    try await bench.lock()
    root.text = "this program"
    _ = try await coordinator.preserve(root)
    bench.store.state.withLock { $0.failures = ["openPending": .corrupt] }
    try await bench.unlock(coordinator)
    let receipt = try #require(bench.delegate.outcomes.last?.receipt)
    #expect(receipt.kind == .whole)
    #expect(receipt.findings.contains { $0.description.contains("saved while locked could not be read") })
    #expect(bench.store.state.withLock { $0.allPending.count } == 1)
  }

  @Test func `a save that fails and is tried again names it once`() async throws {
    let bench = Bench()
    try await bench.preserve(hierarchy())
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    try await bench.lock()
    root.text = "this program"
    _ = try await coordinator.preserve(root)
    bench.store.state.withLock { $0.failures = ["openPending": .corrupt, "publish": .io] }
    try await bench.unlock(coordinator)
    #expect(bench.delegate.errors.count == 1)
    bench.store.state.withLock { $0.failures["publish"] = nil }
    #expect(try await coordinator.preserve(root).receipt?.findings.count == 1)
  }
}
