import ApplicationLifecycle
import DataProtection
import FoundationEssentials
import StateRestoration
import StateRestorationTesting
import TestTraits
import Testing

/// A handle of a protected file, managed by an application on a real device.
@MainActor @Suite(.tags(.threads)) struct ManagedHandleTests {
  /// A program with one value and one file.
  @MainActor final class Program: RestorableApplicationDelegate, RestorationCoordinatorDelegate {
    let value = StoredValue("value", 0)
    private(set) var failures: [ProtectionError.Code] = []

    var rootController: (any RestorableController)? { value }
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
    func didFailToReopen(_ handle: ProtectedFiles.Handle, error: ProtectionError) { failures.append(error.code) }
  }

  private func code(_ body: () throws -> Void) -> ProtectionError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? ProtectionError)?.code }
  }

  @Test func `the handle itself is closed and opened again around inactivity, a lock and a deletion`() async throws {
    let simulated = try await SimulatedDevice()
    let device = try await simulated.startProcess().device
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    let program = Program()
    let coordinator = try RestorationCoordinator(device: device, delegate: program)
    let application = try RestorableApplication(device: device, coordinator: coordinator, delegate: program)
    try await application.launch()
    let files = try device.files(in: "diary")
    let diary = try files.create("today", contents: Data("Dear".utf8), protection: .complete)
    let log = try files.create("log", contents: Data("one".utf8), protection: ProtectionClass.none)
    for handle in [diary, log] { application.manage(handle) }

    try await application.lifecycle.resignActive()
    #expect(code { _ = try diary.read(0..<4) } == .invalidHandle)
    #expect(code { try log.append(Data(" two".utf8)) } == nil, "only complete files are closed")
    try files.append(Data(" diary".utf8), to: "today")
    try await application.lifecycle.becomeActive()
    #expect(try diary.read(0..<10) == Data("Dear diary".utf8))

    device.lock(gracePeriod: .zero)
    #expect(code { _ = try diary.read(0..<4) } == .locked)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    for _ in 0..<100_000 where code({ _ = try diary.read(0..<4) }) != nil { await Task.yield() }
    try diary.append(Data(", hello".utf8))
    #expect(try files.read("today") == Data("Dear diary, hello".utf8))

    try await application.lifecycle.resignActive()
    try files.delete("today")
    try await application.lifecycle.becomeActive()
    #expect(program.failures == [.superseded])
    withExtendedLifetime(coordinator) {}
  }

  /// Launches a program; the caller keeps it and its coordinator.
  private func launch(
    on device: ProtectedDevice
  ) async throws -> (Program, RestorationCoordinator, RestorableApplication) {
    let program = Program()
    let coordinator = try RestorationCoordinator(device: device, delegate: program)
    let application = try RestorableApplication(device: device, coordinator: coordinator, delegate: program)
    try await application.launch()
    return (program, coordinator, application)
  }

  @Test func `a handle that is refused while locked opens at the unlock, and nobody is told of a failure`() async throws
  {
    let device = try await SimulatedDevice().startProcess().device
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    let (program, coordinator, application) = try await launch(on: device)
    let handle = try device.files().create("x", contents: Data("x".utf8), protection: .complete)
    application.manage(handle)
    try await application.lifecycle.resignActive()
    device.lock(gracePeriod: .zero)
    try await application.lifecycle.becomeActive()
    #expect(code { _ = try handle.read(0..<1) } != nil && program.failures.isEmpty)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    for _ in 0..<100_000 where code({ _ = try handle.read(0..<1) }) != nil { await Task.yield() }
    #expect(try handle.read(0..<1) == Data("x".utf8) && program.failures.isEmpty)
    withExtendedLifetime(coordinator) {}
  }

  @Test func `a handle that the program has closed stays closed`() async throws {
    let device = try await SimulatedDevice().startProcess().device
    let (program, coordinator, application) = try await launch(on: device)
    let handle = try device.files().create("x", contents: Data("x".utf8), protection: .complete)
    application.manage(handle)
    handle.close()
    try await application.lifecycle.resignActive()
    try await application.lifecycle.becomeActive()
    #expect(code { _ = try handle.read(0..<1) } == .invalidHandle && program.failures.isEmpty)
    withExtendedLifetime(coordinator) {}
  }
}
