import DataProtection
import FoundationEssentials
import Testing

/// Everything as a user's program has it: real files, real clocks, the production cost of a passcode.
@Suite(.serialized) struct ProductionCostTests {
  @Test func `a device on real files with the production cost does what it says`() async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/protected-device-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let location = ProtectedDevice.Location.directory(folder + "/deep/device")
    var options = ProtectedDevice.Options()
    options.gracePeriod = .zero
    do {
      let device = try await ProtectedDevice.open(at: location, options: options)
      let files = try device.files(in: "notes")
      for protection in ProtectionClass.allCases {
        try files.create("\(protection)", contents: Data("\(protection)".utf8), protection: protection)
      }
      try await device.setPasscode(ProtectedDevice.Passcode("first"))
      for protection in ProtectionClass.allCases {
        #expect(try files.read("\(protection)") == Data("\(protection)".utf8))
      }
      device.lock()
      #expect(await code { _ = try files.read("complete") } == .locked)
      #expect(try files.read("completeUntilFirstUserAuthentication").count == 36)
    }
    let device = try await ProtectedDevice.open(at: location, options: options)
    #expect(device.lockState == .locked)
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("wrong")) } == .wrongPasscode)
    // The cost must be there: a check that takes less than a tenth of a second is not scrypt with N = 2^17.
    let time = try await ContinuousClock().measure {
      try await device.unlock(passcode: ProtectedDevice.Passcode("first"))
    }
    #expect(time > .milliseconds(100))
    try await device.changePasscode(from: ProtectedDevice.Passcode("first"), to: ProtectedDevice.Passcode("second"))
    device.reboot()
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("first")) } == .wrongPasscode)
    try await device.unlock(passcode: ProtectedDevice.Passcode("second"))
    #expect(try device.files(in: "notes").read("complete") == Data("complete".utf8))
    try await device.eraseAllContent()
    #expect(try device.files(in: "notes").list().isEmpty)
    let modes = try FileManager.default.subpathsOfDirectory(atPath: folder + "/deep/device").map { path in
      try FileManager.default.attributesOfItem(atPath: "\(folder)/deep/device/\(path)")[.posixPermissions] as? Int
    }
    #expect(modes.allSatisfy { $0 == 0o600 || $0 == 0o700 }, "\(modes)")
  }
}
