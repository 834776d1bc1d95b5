import FoundationEssentials
import StateRestoration
import StateRestorationTesting
import Testing

/// Several states of one object wait until it leaves, or the program settles the conflict.
@MainActor @Suite struct ConflictTests {
  /// A stored text, and one that was typed beside it while the device was locked.
  private func typedWhileLocked(_ kind: StoreKind, size: Int) async throws -> (Bench, stored: String, typed: String) {
    let bench = try await Bench(kind)
    let (stored, typed) = (String(repeating: "s", count: size), String(repeating: "t", count: size + 1))
    try await bench.preserve(Screen("root", children: [Screen("page", text: stored)]))
    let root = Screen("root", children: [Screen("page")])
    try await bench.launchLocked(root) { root["page"]?.text = typed }
    try await bench.kill()
    try await bench.unlock()
    return (bench, stored, typed)
  }

  @Test(arguments: StoreKind.allCases, [10, 5000, 300_000])
  func `the older state of a conflict can be read and goes when it is settled`(
    on kind: StoreKind, size: Int
  ) async throws {
    let (bench, stored, typed) = try await typedWhileLocked(kind, size: size)
    let root = Screen("root", children: [Screen("page")])
    let coordinator = bench.launch()
    let page = try #require(root["page"])
    let report = try await coordinator.restore(into: root)
    #expect(report[["root", "page"]]?.remarks == [.superseded(1)])
    #expect(page.text == typed)
    var read: [String] = []
    let isSettled = coordinator.settleConflict(of: page, withStates: { read = $0.map(\.text) })
    #expect(isSettled && read == [stored])
    let isSettledAgain = try coordinator.settleConflict(of: page)
    #expect(!isSettledAgain)
    _ = try await coordinator.preserve(root)
    let next = Screen("root", children: [Screen("page")])
    let nextReport = try await bench.launch().restore(into: next)
    #expect(nextReport[["root", "page"]]?.remarks == [])
    #expect(next["page"]?.text == typed)
  }

  @Test(arguments: StoreKind.allCases)
  func `a conflict that nobody settles is there at the next launch`(on kind: StoreKind) async throws {
    let (bench, _, typed) = try await typedWhileLocked(kind, size: 100)
    for _ in 0..<3 {
      let root = Screen("root", children: [Screen("page")])
      let coordinator = bench.launch()
      #expect(try await coordinator.restore(into: root)[["root", "page"]]?.remarks == [.superseded(1)])
      #expect(root["page"]?.text == typed)
      root.text += "."
      _ = try await coordinator.preserve(root)
    }
  }

  @Test func `a body that throws settles nothing`() async throws {
    let (bench, _, _) = try await typedWhileLocked(.memory, size: 100)
    let root = Screen("root", children: [Screen("page")])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let page = try #require(root["page"])
    #expect(throws: CancellationError.self) {
      try coordinator.settleConflict(of: page) { _ in throw CancellationError() }
    }
    let isSettled = try coordinator.settleConflict(of: page)
    #expect(isSettled)
  }
}
