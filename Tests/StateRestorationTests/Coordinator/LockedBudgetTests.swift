import StateRestoration
import StateRestorationTesting
import Testing

/// What the user touched while locked and no archive has room for: it is there as long as the run lives (R3.6, R5.2).
@MainActor struct LockedBudgetTests {
  private static let low = String(repeating: "l", count: 9_000)
  private static let high = String(repeating: "h", count: 16_000)

  /// A locked bench with a budget for one of two screens, of which one matters little.
  private func locked(_ kind: StoreKind) async throws -> Bench {
    let bench = try await Bench(kind)
    bench.configuration.archiveByteBudget = 20_000
    try await bench.preserve(hierarchy(low: "stored", high: "stored"))
    try await bench.lock()
    return bench
  }

  private func hierarchy(low: String = "", high: String = "") -> Screen {
    let screen = Screen("low", text: low)
    screen.restoration.priority = .low
    return Screen("root", children: [screen, Screen("high", text: high)])
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `what there was no room for while locked is joined in the same run, and stored when there is room`(
    on kind: StoreKind, isSaved: Bool
  ) async throws {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let first = hierarchy()
    _ = try await coordinator.restore(into: first)
    first["low"]?.text = Self.low
    first["high"]?.text = Self.high
    if isSaved { #expect(try await coordinator.preserve(first).leftOut == [["root", "low"]]) }
    let second = hierarchy()
    #expect(try await coordinator.restore(into: second).outcome == .locked)
    try await bench.unlock(coordinator)
    #expect(second["low"]?.text == Self.low && second["high"]?.text == Self.high)

    #expect(try await coordinator.preserve(second).leftOut == [["root", "low"]])
    second["high"]?.text = "short"
    #expect(try await coordinator.preserve(second).leftOut == [])
    try await bench.kill()
    try await bench.unlock()
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["low"]?.text == Self.low && again["high"]?.text == "short")
  }

  @Test(arguments: StoreKind.allCases)
  func `what there was no room for while locked stays with its object`(
    on kind: StoreKind
  ) async throws {
    let bench = try await locked(kind)
    // The delegate makes every other screen anew, as a restoration class does, though each exists.
    bench.delegate.make = { path, _ in Screen(path.last) }
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    let old = try #require(root["low"])
    old.text = Self.low
    root["high"]?.text = Self.high
    #expect(try await coordinator.preserve(root).leftOut == [["root", "low"]])
    try await bench.unlock(coordinator)
    #expect(root["low"] === old)
    #expect(root["low"]?.text == Self.low && root["high"]?.text == Self.high)
  }

  @Test(arguments: StoreKind.allCases)
  func `an unlock that restores nothing takes nothing that is over the budget for written`(
    on kind: StoreKind
  ) async throws {
    let bench = try await locked(kind)
    let coordinator = bench.launch()
    let root = hierarchy()
    _ = try await coordinator.restore(into: root)
    root["low"]?.text = Self.low
    root["high"]?.text = Self.high
    #expect(try await coordinator.preserve(root).leftOut == [["root", "low"]])
    root["high"]?.text = "short"
    // The device is still locked: the report says so, and the run goes on as before.
    #expect(try await coordinator.restore(into: root).outcome == .locked)
    #expect(try await coordinator.preserve(root).receipt?.kind == .pendingChange)
    try await bench.kill()
    try await bench.unlock()
    let again = hierarchy()
    _ = try await bench.launch().restore(into: again)
    #expect(again["low"]?.text == Self.low && again["high"]?.text == "short")
  }
}
