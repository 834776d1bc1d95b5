import FaultyFileSystem
import FileSystem
import Foundation
import Testing

@testable import DataProtection

/// Who has a device open is seen by whoever sets the first passcode.
@Suite struct DeviceSessionTests {
  @Test(arguments: [false, true])
  func `a refused first passcode leaves every session in place`(isReal: Bool) async throws {
    let root = NSTemporaryDirectory() + "sessions-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    let memory = MemoryFileSystem()
    func open() async throws(ProtectionError) -> ProtectedDevice {
      try await ProtectedDevice.open(
        at: .directory(isReal ? root : TestWorld.path),
        environment: DeviceEnvironment(
          fileSystem: isReal ? LinuxFileSystem() : memory, scrypt: .test, variables: { _ in nil }))
    }
    let first = try await open()
    var second: ProtectedDevice? = try await open()
    #expect(await code { try await first.setPasscode(ProtectedDevice.Passcode("1")) } == .busy)
    #expect(await code { try await first.setPasscode(ProtectedDevice.Passcode("1")) } == .busy)
    // The first one was refused twice, and is still seen by the second.
    #expect(await code { try await second?.setPasscode(ProtectedDevice.Passcode("2")) } == .busy)
    second = nil
    try await first.setPasscode(ProtectedDevice.Passcode("1"))
    #expect(try await open().hasPasscode)
  }

  /// The second session asks at every step of the first one's asking.
  @Test func `of two sessions that ask at the same time neither gets the device alone`() async throws {
    var call = 1
    var isOver = false
    while !isOver {
      let world = TestWorld()
      let faulty = FaultyFileSystem(world.memory)
      let first = try await world.open(through: faulty)
      let second = try await world.open()
      let start = faulty.callCount
      let outcomes = Log<Bool>()
      let moment = start + call
      faulty.onCall { number, _ in
        guard number == moment else { return }
        outcomes.append((try? second.directory.withoutOthers { () throws(ProtectionError) in }) != nil)
      }
      let outcome = await code { try await first.setPasscode(ProtectedDevice.Passcode("1")) }
      isOver = outcomes.all.isEmpty
      #expect(outcome == .busy && !outcomes.all.contains(true), "call \(call)")
      call += 1
    }
    #expect(call > 3)
  }
}
