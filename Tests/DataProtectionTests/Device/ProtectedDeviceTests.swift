import DataProtection
import FaultyFileSystem
import FileSystem
import TestTraits
import Testing

@Suite(.tags(.threads)) struct ProtectedDeviceTests {
  let world = TestWorld()

  @Test func `a new device is unlocked and has no passcode`() async throws {
    let device = try await world.open()
    #expect(device.isProtectedDataAvailable)
    #expect(device.lockState == .unlocked)
    #expect(!device.hasPasscode)
    #expect(world.names == ["device.key", "effaceable-0000000000000001", "keybag-0000000000000001", "lock"])
    for name in world.names {
      #expect(world.memory.status(atPath: TestWorld.path + "/" + name)?.mode == 0o600)
    }
    #expect(world.memory.status(atPath: TestWorld.path)?.mode == 0o700)
  }

  @Test func `without a passcode nothing locks and any passcode unlocks`() async throws {
    let device = try await world.open()
    let log = Log<ProtectedDevice.Notification>()
    let observation = device.observeProtectedData { log.append($0) }
    device.lock()
    #expect(device.lockState == .unlocked)
    device.reboot()
    #expect(device.isProtectedDataAvailable)
    try await device.unlock(passcode: ProtectedDevice.Passcode("anything"))
    #expect(log.all.isEmpty)
    observation.cancel()
  }

  @Test func `a passcode survives a new process, which starts locked`() async throws {
    try await world.open().setPasscode(ProtectedDevice.Passcode("1234"))
    let device = try await world.open()
    #expect(device.hasPasscode)
    #expect(!device.isProtectedDataAvailable)
    #expect(device.lockState == .locked)
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("4321")) } == .wrongPasscode)
    #expect(!device.isProtectedDataAvailable)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(device.isProtectedDataAvailable)
    #expect(device.lockState == .unlocked)
  }

  @Test func `after a change only the new passcode opens, and after removing it none is asked for`() async throws {
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("old"))
    try await device.changePasscode(from: ProtectedDevice.Passcode("old"), to: ProtectedDevice.Passcode("new"))
    #expect(try await !world.opens("old"))
    #expect(try await world.opens("new"))
    try await device.removePasscode(ProtectedDevice.Passcode("new"))
    #expect(!device.hasPasscode)
    #expect(try await world.open().isProtectedDataAvailable)
  }

  @Test func `passcodes are set once and changed only where there is one`() async throws {
    let device = try await world.open()
    #expect(
      await code {
        try await device.changePasscode(from: ProtectedDevice.Passcode("a"), to: ProtectedDevice.Passcode("b"))
      }
        == .passcodeNotSet)
    #expect(await code { try await device.removePasscode(ProtectedDevice.Passcode("a")) } == .passcodeNotSet)
    try await device.setPasscode(ProtectedDevice.Passcode("a"))
    #expect(await code { try await device.setPasscode(ProtectedDevice.Passcode("b")) } == .passcodeAlreadySet)
    #expect(await code { _ = try ProtectedDevice.Passcode("") } == .invalidArgument)
    #expect(await code { _ = try ProtectedDevice.Passcode(String(repeating: "x", count: 1025)) } == .invalidArgument)
  }

  @Test func `removing the passcode of a locked device unlocks it`() async throws {
    try await world.open().setPasscode(ProtectedDevice.Passcode("1234"))
    let device = try await world.open()
    let log = Log<ProtectedDevice.Notification>()
    let observation = device.observeProtectedData { log.append($0) }
    try await device.removePasscode(ProtectedDevice.Passcode("1234"))
    #expect(device.isProtectedDataAvailable)
    #expect(log.all == [.protectedDataDidBecomeAvailable])
    _ = observation
  }

  @Test func `another program that has the device open keeps the first passcode from being set`() async throws {
    let device = try await world.open()
    let other = try await world.open()
    #expect(await code { try await device.setPasscode(ProtectedDevice.Passcode("1234")) } == .busy)
    withExtendedLifetime(other) {}
  }

  @Test func `a passcode changed by another program counts at the next unlock`() async throws {
    let first = try await world.open()
    try await first.setPasscode(ProtectedDevice.Passcode("one"))
    let second = try await world.open()
    try await first.changePasscode(from: ProtectedDevice.Passcode("one"), to: ProtectedDevice.Passcode("two"))
    #expect(await code { try await second.unlock(passcode: ProtectedDevice.Passcode("one")) } == .wrongPasscode)
    try await second.unlock(passcode: ProtectedDevice.Passcode("two"))
    #expect(second.isProtectedDataAvailable)
  }

  @Test func `directories that can't be trusted are refused`() async throws {
    _ = try await world.open()
    world.memory.setMode(0o750, atPath: TestWorld.path)
    #expect(await code { _ = try await world.open() } == .unsafeLocation)
    world.memory.setMode(0o700, atPath: TestWorld.path)
    world.memory.setOwner(4711, atPath: TestWorld.path)
    #expect(await code { _ = try await world.open() } == .unsafeLocation)
    // Root may enter everybody's directory, and still takes none for its own.
    let root = TestWorld(memory: MemoryFileSystem(user: 0))
    _ = try await root.open()
    root.memory.setOwner(4711, atPath: TestWorld.path)
    #expect(await code { _ = try await root.open() } == .unsafeLocation)
    var features = MemoryFileSystem.Features()
    features.volumeKind = .network
    var remote = TestWorld(memory: MemoryFileSystem(features: features))
    #expect(await code { _ = try await remote.open() } == .unsafeLocation)
    remote.options.allowsNetworkVolumes = true
    #expect(try await remote.open().isProtectedDataAvailable)
  }

  @Test func `the location follows the platform's rules`() throws {
    let location = ProtectedDevice.Location.applicationState("com.example.notes")
    #expect(try location.path { ["XDG_STATE_HOME": "/x"][$0] } == "/x/com.example.notes")
    #expect(try location.path { ["HOME": "/home/u"][$0] } == "/home/u/.local/state/com.example.notes")
    #expect(
      try location.path { ["HOME": "/home/u", "XDG_STATE_HOME": "relative"][$0] }
        == "/home/u/.local/state/com.example.notes")
    for hostile in ["", ".", "..", "a/b", "a\0b"] {
      #expect(throws: ProtectionError.self) {
        try ProtectedDevice.Location.applicationState(hostile).path { _ in "/x" }
      }
    }
    #expect(throws: ProtectionError.self) { try ProtectedDevice.Location.directory("relative").path { _ in nil } }
  }
}
