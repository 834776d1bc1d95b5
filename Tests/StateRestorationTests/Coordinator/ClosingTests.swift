import DataProtection
import Dispatch
import StateRestorationTesting
import Testing

@testable import StateRestoration

/// One coordinator after another has a scene, and the main actor waits for none of them.
@MainActor @Suite struct ClosingTests {
  private let delegate = YesDelegate()

  private func device() async throws -> ProtectedDevice { try await SimulatedDevice().startProcess().device }

  @Test func `close saves the last change and lets the scene go`() async throws {
    let device = try await device()
    let root = Screen("root")
    let first = try RestorationCoordinator(device: device, delegate: delegate)
    _ = try await first.restore(into: root)
    root.text = "last"
    try await first.close()
    root.text = "after"
    _ = try? await first.preserve(root)
    let again = Screen("root")
    let second = try RestorationCoordinator(device: device, delegate: delegate)
    _ = try await second.restore(into: again)
    #expect(again.text == "last")
    try await second.close()
    withExtendedLifetime(first) {}
  }

  @Test func `a scene that a coordinator has is refused at once`() async throws {
    let device = try await device()
    let first = try RestorationCoordinator(device: device, delegate: delegate)
    let begun = ContinuousClock.now
    #expect(throws: RestorationError.self) { try RestorationCoordinator(device: device, delegate: delegate) }
    // It waited for a second.
    #expect(begun.duration(to: .now) < .milliseconds(900))
    withExtendedLifetime(first) {}
  }

  @Test func `a scene of a coordinator that was dropped in the middle of a save is free for the next one`() async throws
  {
    let device = try await device()
    let root = Screen("root", text: "saved")
    var first: RestorationCoordinator? = try RestorationCoordinator(device: device, delegate: delegate)
    _ = try await first?.restore(into: root)
    _ = try await first?.preserve(root)
    // The last save doesn't end before the next coordinator was made.
    let isMade = DispatchSemaphore(value: 0)
    first?.worker.post { _ in isMade.wait() }
    weak let gone = first
    first = nil
    #expect(gone == nil)
    let second = try RestorationCoordinator(device: device, delegate: delegate)
    isMade.signal()
    let again = Screen("root")
    #expect(try await second.restore(into: again).outcome == .restored)
    #expect(again.text == "saved")
  }
}
