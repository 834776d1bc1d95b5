import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import DataProtection
@testable import StateRestoration

/// The first passcode seals all files anew while a run knows those that were there.
@MainActor @Suite(.tags(.threads)) struct RenewedKeysTests {
  @Test(arguments: ["list", "editor"])
  func `a save of one part succeeds after the first passcode was set`(edited: RestorationIdentifier) async throws {
    let bench = try await Bench(.device)
    let device = try #require(bench.process?.device)
    try await device.removePasscode(ProtectedDevice.Passcode("1234"))
    bench.configuration.protection = .completeUntilFirstUserAuthentication
    let coordinator = bench.launch()
    let root = PartedBench.window(list: "list", note: "note")
    _ = try await coordinator.preserve(root)
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    root[edited]?.text = String(repeating: "edited ", count: 20_000)
    _ = try await coordinator.preserve(root)
    root[edited]?.text = "edited"
    #expect(try await coordinator.preserve(root).receipt?.durability == .durable)
    try await bench.kill()
    let again = PartedBench.window()
    let next = bench.launch()
    _ = try await next.restore(into: again)
    try await bench.unlock(next)
    #expect(again[edited]?.text == "edited")
  }
}
