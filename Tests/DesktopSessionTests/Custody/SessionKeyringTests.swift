import DesktopSession
import Foundation
import StateRestoration
import Testing

/// The kernel's own keyring.
@Suite(.serialized) struct SessionKeyringTests {
  let directory: String

  init() throws {
    directory = try Machine.scratch()
    try #require(SessionKeyring.isAvailable, "this machine's kernel refuses keyrings to this process")
  }

  private static let passcode = "correct horse"

  private static func open(_ directory: String, timeLimit: Duration = .seconds(60)) async throws -> ProtectedDevice {
    var options = ProtectedDevice.Options()
    options.gracePeriod = .zero
    options.custody = SessionKeyring(.userSession, timeLimit: timeLimit)
    return try await ProtectedDevice.open(at: .directory(directory + "/device"), options: options)
  }

  @Test func `a program that is started again is unlocked, until the device is locked`() async throws {
    let device = try await Self.open(directory)
    try await device.setPasscode(ProtectedDevice.Passcode(Self.passcode))
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let device = try await Self.open(directory)
      #expect(device.hasPasscode && device.lockState == .unlocked)
    }
    device.lock()
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      let device = try await Self.open(directory)
      #expect(device.lockState == .locked)
    }
    // Nor are they there without a custody.
    try await device.unlock(passcode: ProtectedDevice.Passcode(Self.passcode))
    let plain = try await ProtectedDevice.open(at: .directory(directory + "/device"))
    #expect(plain.lockState == .locked)
    #expect(try await Self.open(directory).lockState == .unlocked)
    device.reboot()
    #expect(try await Self.open(directory).lockState == .locked)
  }

  @Test func `keys expire`() async throws {
    let device = try await Self.open(directory, timeLimit: .seconds(4))
    try await device.setPasscode(ProtectedDevice.Passcode(Self.passcode))
    #expect(try await Self.open(directory).lockState == .unlocked)
    try await Machine.wait(for: "the end of four seconds") { try await Self.open(directory).lockState == .locked }
    #expect(device.lockState == .unlocked, "a process that has the keys keeps them")
  }
}
