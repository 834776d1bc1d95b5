import DataProtection
import FoundationEssentials
import StateRestorationTesting
import Testing

@testable import StateRestoration

/// A program whose next version wants another protection class for its archives (R5.1, R5.3).
@MainActor @Suite struct ClassChangeTests {
  nonisolated static let changes: [(ProtectionClass, ProtectionClass)] = ProtectionClass.allCases.flatMap { from in
    ProtectionClass.allCases.filter { $0 != from }.map { (from, $0) }
  }

  /// A device on which a state of some class is saved, as a whole and with a small change.
  private func saved(_ protection: ProtectionClass) async throws -> Bench {
    let bench = try await Bench(.device)
    bench.configuration.protection = protection
    let coordinator = bench.launch()
    let root = Screen("root", text: "whole")
    _ = try await coordinator.preserve(root)
    root.text = "changed"
    #expect(try await coordinator.preserve(root).receipt?.kind == .change)
    return bench
  }

  /// The class that the newest state is sealed under.
  private func recorded(_ bench: Bench) throws -> ProtectionClass {
    try #require(try bench.place.open(.newest).handle as? OpenedGeneration).parts[0].protection
  }

  @Test(arguments: changes)
  func `what is there is read under its class, and the next save moves it`(
    from: ProtectionClass, to: ProtectionClass
  ) async throws {
    let bench = try await saved(from)
    bench.configuration.protection = to
    let root = Screen("root")
    let coordinator = bench.launch()
    #expect(try await coordinator.restore(into: root).outcome == .restored)
    #expect(root.text == "changed")
    #expect(try recorded(bench) == from, "restoring moves nothing")
    root.text = "in the new class"
    #expect(try await coordinator.preserve(root).receipt?.kind == .whole)
    #expect(try recorded(bench) == to)
    root.text = "and on"
    #expect(try await coordinator.preserve(root).receipt?.kind == .change)
    let again = Screen("root")
    #expect(try await bench.launch().restore(into: again).remarks.isEmpty)
    #expect(again.text == "and on")
  }

  @Test(arguments: changes)
  func `a program that only saves continues what is there`(from: ProtectionClass, to: ProtectionClass) async throws {
    let bench = try await Bench(.device)
    bench.configuration.protection = from
    try await bench.preserve(Screen("root", children: [Screen("carried", text: "over")]))
    bench.configuration.protection = to
    let (coordinator, edited) = (bench.launch(), Screen("root"))
    _ = try await coordinator.preserve(edited)
    edited.text = "only saved"
    _ = try await coordinator.preserve(edited)
    #expect(try recorded(bench) == to)
    let root = Screen("root", children: [Screen("carried")])
    _ = try await bench.launch().restore(into: root)
    #expect(root["carried"]?.text == "over")
    #expect(root.text == "only saved")
  }

  @Test(arguments: changes)
  func `a lock between restoring and saving makes the save wait for the key, and loses nothing`(
    from: ProtectionClass, to: ProtectionClass
  ) async throws {
    let bench = try await saved(from)
    bench.configuration.protection = to
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    try await bench.lock()
    root.text = "while locked"
    let kind = try await coordinator.preserve(root).receipt?.kind
    #expect(kind == .whole || kind == .pendingWhole)
    try await bench.unlock(coordinator)
    root.text += ", and after"
    _ = try await coordinator.preserve(root)
    #expect(try recorded(bench) == to)
    let again = Screen("root")
    _ = try await bench.launch().restore(into: again)
    #expect(again.text == "while locked, and after")
  }

  @Test(arguments: changes, [true, false])
  func `a change of class while something is pending joins it and moves everything`(
    change: (from: ProtectionClass, to: ProtectionClass), isWhole: Bool
  ) async throws {
    let bench = try await saved(change.from)
    if isWhole {
      let root = Screen("root")
      let before = bench.launch()
      _ = try await before.restore(into: root)
      try await bench.lock()
      root.text = "typed"
      _ = try await before.preserve(root)
    } else {
      try await bench.lock()
      let root = Screen("root")
      let before = bench.launch()
      _ = try await before.restore(into: root)
      root.text = "typed"
      _ = try await before.preserve(root)
    }
    try await bench.kill()
    bench.configuration.protection = change.to
    try await bench.unlock()
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    #expect(root.text == "typed")
    root.text += " and saved"
    _ = try await coordinator.preserve(root)
    #expect(try recorded(bench) == change.to)
    let again = Screen("root")
    #expect(try await bench.launch().restore(into: again).remarks.isEmpty)
    #expect(again.text == "typed and saved")
  }

  @Test(arguments: changes)
  func `small changes on top of what was saved while locked are read under their class`(
    from: ProtectionClass, to: ProtectionClass
  ) async throws {
    let bench = try await saved(from)
    let root = Screen("root")
    let before = bench.launch()
    _ = try await before.restore(into: root)
    try await bench.lock()
    root.text = "typed"
    _ = try await before.preserve(root)
    try await bench.kill()
    try await bench.unlock()
    let middle = bench.launch()
    let screen = Screen("root")
    _ = try await middle.restore(into: screen)
    screen.text += ", changed"
    _ = try await middle.preserve(screen)
    bench.configuration.protection = to
    let again = Screen("root")
    let last = bench.launch()
    #expect(try await last.restore(into: again).remarks.isEmpty)
    #expect(again.text == "typed, changed")
    again.text += ", moved"
    _ = try await last.preserve(again)
    #expect(try recorded(bench) == to)
  }

  @Test func `what was set aside under another class can be had as well`() async throws {
    let bench = try await saved(.none)
    bench.delegate.restores = false
    let coordinator = bench.launch()
    let root = Screen("root", text: "anew")
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    bench.delegate.restores = true
    bench.configuration.protection = .complete
    let launch = bench.launch()
    let id = try #require(try await launch.setAsideStates().first).id
    let again = Screen("root")
    _ = try await launch.restore(into: again, from: .setAside(id))
    #expect(again.text == "changed")
    _ = try await launch.preserve(again)
    #expect(try recorded(bench) == .complete)
  }
}
