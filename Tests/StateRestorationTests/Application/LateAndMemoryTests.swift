import ApplicationLifecycle
import DataProtection
import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// A program made of the parts: a late restoration that it awaits, and memory that the framework gives back.
@MainActor @Suite(.tags(.threads)) struct LateAndMemoryTests {
  @MainActor final class Group: RestorationParent {
    let restoration: RestorationIdentity = "root"
    var restorationChildren: [any RestorableController]

    init(_ children: any RestorableController...) { restorationChildren = children }
  }

  @MainActor final class Program: RestorableApplicationDelegate, RestorationCoordinatorDelegate {
    let page = StoredValue("page", "")
    let late = StoredValue("late", "")
    let root: Group

    init() { root = Group(page, late) }

    var rootController: (any RestorableController)? { root }
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

    func launch(
      on device: ProtectedDevice, _ configuration: RestorationConfiguration = .init()
    ) async throws -> (RestorableApplication, RestorationCoordinator) {
      let coordinator = try RestorationCoordinator(device: device, delegate: self, configuration: configuration)
      let application = try RestorableApplication(device: device, coordinator: coordinator, delegate: self)
      try await application.launch()
      return (application, coordinator)
    }
  }

  @Test func `a late restoration can be awaited, by the coordinator or the application`() async throws {
    for asksApplication in [true, false] {
      let simulated = try await SimulatedDevice(passcode: "1234")
      let first = Program()
      let (application, coordinator) = try await first.launch(on: simulated.startProcess().device)
      first.page.value = "secret"
      _ = try await application.preserve()
      withExtendedLifetime(coordinator) {}
      simulated.reboot()
      let device = try await simulated.startProcess().device
      let second = Program()
      let (late, parts) = try await second.launch(on: device)
      #expect(late.report?.outcome == .locked)
      #expect(await late.finishLateRestoration()?.outcome == .locked, "nothing to wait for while it is locked")
      try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
      let report = asksApplication ? await late.finishLateRestoration() : await parts.finishLateRestoration()
      #expect(report?.outcome == .restored && late.report?.outcome == .restored)
      #expect(second.page.value == "secret")
    }
  }

  @Test func `windows that a locked launch could not know come back when they are awaited`() async throws {
    typealias Windows = ScenesOfAnApplicationTests.Program
    let simulated = try await SimulatedDevice(passcode: "1234")
    let first = try Windows(try await simulated.startProcess().device)
    try await first.application.launch()
    try await first.open("a", text: "one")
    try await first.application.lifecycle.terminate()
    simulated.reboot()
    let device = try await simulated.startProcess().device
    let second = try Windows(device)
    try await second.application.launch()
    #expect(second.maker.windows["a"] == nil)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(await second.application.finishLateRestoration()?.outcome == .restored)
    #expect(second.text("a") == "one")
  }

  /// What the coordinator holds of states, in bytes: those that it read, and the archive that it writes.
  private func held(_ coordinator: RestorationCoordinator) async -> (restored: Int, archive: Int) {
    let archive = await coordinator.worker.run { $0.table.writer.heldByteCount }
    return (coordinator.restored?.plan.heldByteCount ?? 0, archive)
  }

  @Test(arguments: [ProtectionClass.complete, .completeUntilFirstUserAuthentication], [false, true])
  func `a memory warning and the background free the states that were read`(
    protection: ProtectionClass, isWarned: Bool
  ) async throws {
    var configuration = RestorationConfiguration()
    configuration.protection = protection
    let simulated = try await SimulatedDevice(passcode: "1234")
    let first = Program()
    let big = String(repeating: "x", count: 500_000)
    let (application, former) = try await first.launch(on: simulated.startProcess().device, configuration)
    (first.page.value, first.late.value) = (big, "later")
    _ = try await application.preserve()
    withExtendedLifetime(former) {}
    simulated.reboot()
    let device = try await simulated.startProcess().device
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    let second = Program()
    second.root.restorationChildren = [second.page]
    let (again, coordinator) = try await second.launch(on: device, configuration)
    #expect(second.page.value == big)
    let before = await held(coordinator)
    #expect(before.restored > 500_000 && before.archive > 500_000)
    if isWarned { again.lifecycle.receiveMemoryWarning() } else { try await again.lifecycle.enterBackground() }
    let after = await held(coordinator)
    #expect(after.restored < 100, "what objects have is not held once more")
    // While its keys come and go the archive has to be in memory: a change after a lock could not be saved.
    #expect(protection == .complete ? after.archive > 500_000 : after.archive < 100_000)

    // Nothing is lost by it: a late object gets its state, a save has everything.
    if !isWarned { try await again.lifecycle.enterForeground() }
    second.root.restorationChildren.append(second.late)
    _ = coordinator.restore(second.late, at: ["root", "late"])
    second.page.value = "small"
    _ = try await coordinator.preserve(second.root)
    simulated.reboot()
    let next = try await simulated.startProcess().device
    try await next.unlock(passcode: ProtectedDevice.Passcode("1234"))
    let third = Program()
    let (_, last) = try await third.launch(on: next, configuration)
    #expect(third.page.value == "small" && third.late.value == "later")
    withExtendedLifetime(last) {}
  }
}
