import FoundationEssentials
import RestorationArchive
import StateRestorationTesting
import Testing

@testable import StateRestoration

/// A screen that the program does not have any more is given up: no launch warns of it, and its state goes with the next save.
@MainActor @Suite struct RetiredClassTests {
  private let bench = Bench()
  private let log = MemoryLog()

  private func preserveOldProgram() async throws {
    let attachment = Screen("attachment", text: "old", tag: "attachment", children: [Panel("zoom", value: 3)])
    try await bench.preserve(Screen("root", children: [Screen("kept", text: "kept"), attachment, PlainOld("plain")]))
    bench.configuration.log = log.log
  }

  @Test func `a retired class is no warning, and its state goes with the next save`() async throws {
    try await preserveOldProgram()
    let root = Screen("root", children: [Screen("kept")])
    let coordinator = bench.launch { $0.retire("attachment", "PlainOld") }
    let report = try await coordinator.restore(into: root)
    #expect(report[["root", "attachment"]]?.notRestoredReason == .classRetired("attachment"))
    #expect(report[["root", "plain"]]?.notRestoredReason == .classRetired("PlainOld"))
    #expect(log.warnings.isEmpty)
    root["kept"]?.text = "edited"
    _ = try await coordinator.preserve(root)
    let again = try await bench.launch().restore(into: Screen("root", children: [Screen("kept")]))
    #expect(again.nodes.map(\.path) == [["root"], ["root", "kept"]])
  }

  @Test func `without retiring it is kept, and each launch says so`() async throws {
    try await preserveOldProgram()
    for _ in 0..<2 {
      let root = Screen("root", children: [Screen("kept")])
      let coordinator = bench.launch()
      let report = try await coordinator.restore(into: root)
      #expect(report[["root", "attachment"]]?.notRestoredReason == .unknownClass("attachment"))
      #expect(log.takeWarnings().contains { $0.contains("“attachment” is not registered") })
      root["kept"]?.text += "!"
      _ = try await coordinator.preserve(root)
    }
  }

  @Test func `state of a retired class that waits for an object goes too`() async throws {
    let child = Screen("child", text: "of one", tag: "attachment")
    child.restoration.model = "one"
    let root = Screen("root", children: [child])
    let coordinator = bench.launch { $0.register(Screen.self, as: "attachment") }
    _ = try await coordinator.restore(into: root)
    _ = try await coordinator.preserve(root)
    child.restoration.model = "two"
    child.text = "of two"
    _ = try await coordinator.preserve(root)
    let next = bench.launch { $0.retire("attachment") }
    let empty = Screen("root")
    _ = try await next.restore(into: empty)
    empty.text = "edited"
    _ = try await next.preserve(empty)
    #expect(try await bench.launch().restore(into: Screen("root")).nodes.map(\.path) == [["root"]])
  }

  @Test func `a class is registered or retired, not both`() async {
    await #expect(processExitsWith: .failure) { @MainActor in
      let registry = RestorationRegistry()
      registry.register(Screen.self, as: "screen")
      registry.retire("screen")
    }
    await #expect(processExitsWith: .failure) { @MainActor in
      let registry = RestorationRegistry()
      registry.retire("screen")
      registry.register(Screen.self, as: "screen")
    }
  }
}

/// A class without a tag that a later program does not have.
private final class PlainOld: RestorableController, StatefulObject {
  let restoration: RestorationIdentity
  var restorableState = 1

  init(_ identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier) }
}
