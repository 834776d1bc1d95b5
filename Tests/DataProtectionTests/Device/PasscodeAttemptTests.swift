import FaultyFileSystem
import FileSystem
import Sealing
import SimulatedTime
import TestTraits
import Testing

@testable import DataProtection

@Suite(.tags(.threads)) struct PasscodeAttemptTests {
  let world = TestWorld()

  func setUp() async throws -> ProtectedDevice {
    try await world.open().setPasscode(ProtectedDevice.Passcode("right"))
    return try await world.open()
  }

  /// Tries so many different wrong passcodes, waiting each delay out.
  func tryWrong(_ range: ClosedRange<Int>, on device: ProtectedDevice) async throws {
    for number in range {
      world.bootClock.advance(by: try await device.remainingPasscodeDelay())
      #expect(
        await code { try await device.unlock(passcode: ProtectedDevice.Passcode("wrong \(number)")) } == .wrongPasscode)
    }
  }

  @Test func `a text that is no passcode is a wrong one, and does not count`() async throws {
    let device = try await world.open()
    #expect(await code { try await device.unlock(passcode: "") } == .invalidArgument)
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    for _ in 0..<20 {
      #expect(await code { try await device.unlock(passcode: "") } == .wrongPasscode)
      #expect(await code { try await device.unlock(passcode: String(repeating: "x", count: 1025)) } == .wrongPasscode)
    }
    #expect(try await device.remainingPasscodeDelay() == .zero)
    try await device.unlock(passcode: "right")
  }

  @Test func `the same wrong passcode counts once`() async throws {
    let device = try await setUp()
    for _ in 0..<20 {
      #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("wrong")) } == .wrongPasscode)
    }
    #expect(try await device.remainingPasscodeDelay() == .zero)
    try await device.unlock(passcode: ProtectedDevice.Passcode("right"))
  }

  @Test(arguments: [
    (4, 0), (5, 60), (6, 300), (7, 900), (8, 900), (9, 3600), (10, 3600), (11, 3600),
  ])
  func `so many wrong passcodes delay the next by so many seconds`(count: Int, seconds: Int) async throws {
    let device = try await setUp()
    try await tryWrong(1...count, on: device)
    #expect(try await device.remainingPasscodeDelay() == .seconds(seconds))
    guard seconds > 0 else { return }
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("right")) } == .passcodeDelayed)
    world.bootClock.advance(by: .seconds(seconds) - .nanoseconds(1))
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("right")) } == .passcodeDelayed)
    world.bootClock.advance(by: .nanoseconds(1))
    try await device.unlock(passcode: ProtectedDevice.Passcode("right"))
    #expect(try await device.remainingPasscodeDelay() == .zero)
  }

  @Test func `a new process goes on counting, and a new start of the machine begins the delay anew`() async throws {
    let device = try await setUp()
    try await tryWrong(1...5, on: device)
    world.bootClock.advance(by: .seconds(50))
    let second = try await world.open()
    #expect(try await second.remainingPasscodeDelay() == .seconds(10))
    world.bootClock.restart()
    let third = try await world.open()
    #expect(try await third.remainingPasscodeDelay() == .seconds(60))
    world.bootClock.advance(by: .seconds(59))
    #expect(try await third.remainingPasscodeDelay() == .seconds(1))
  }

  @Test(arguments: ["deleted", "damaged", "a link", "a directory", "too long"])
  func `a record that isn't there or isn't ours means the longest delay`(_ tampering: String) async throws {
    _ = try await setUp()
    let path = TestWorld.path + "/attempts"
    var bytes = try #require(world.memory.content(atPath: path))
    world.memory.remove(atPath: path)
    switch tampering {
    case "damaged":
      bytes[30] ^= 1
      world.memory.plant(bytes, atPath: path)
    case "a link": world.memory.plant(.symbolicLink, atPath: path)
    case "a directory": world.memory.plant(.directory, atPath: path)
    case "too long": world.memory.plant([UInt8](repeating: 0, count: 5000), atPath: path)
    default: break
    }
    let device = try await world.open()
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("right")) } == .passcodeDelayed)
    #expect(try await device.remainingPasscodeDelay() == .seconds(3600))
    // It runs out once, and doesn't begin anew with every opening.
    world.bootClock.advance(by: .seconds(3600))
    try await world.open().unlock(passcode: ProtectedDevice.Passcode("right"))
  }

  @Test func `the attempt is on disk before the passcode is checked`() async throws {
    let device = try await setUp()
    try await tryWrong(1...4, on: device)
    let probe = FaultyFileSystemProbe(world)
    let other = try await world.open(through: probe.fileSystem)
    // The power goes at each call in turn; once the record is replaced, the fifth attempt counts for ever.
    let before = world.memory.callCount
    _ = await code { try await other.unlock(passcode: ProtectedDevice.Passcode("wrong 5")) }
    let calls = world.memory.callCount - before
    #expect(calls > 5)
    let after = world.memory.afterPowerCut(.dropAll)
    let next = try await TestWorld(memory: after, bootClock: world.bootClock).open()
    #expect(try await next.remainingPasscodeDelay() == .seconds(60))
  }

  @Test(arguments: [(Int64.max, Int64.max), (.max, 0), (.min, 0), (-1, 0), (0, -1), (0, 1_000_000_000)])
  func `an authentic record of a moment that can't be is no record`(seconds: Int64, nanoseconds: Int64) throws {
    let keybag = KeybagIdentifier(bytes: [UInt8](repeating: 5, count: 16))
    let key = try SecretKey(copying: [UInt8](repeating: 1, count: 32).span)
    var message = AttemptRecord.magic
    message.appendInteger(AttemptRecord.version)
    message += [UInt8](repeating: 0, count: 6) + keybag.bytes + [UInt8](repeating: 1, count: 24)
    message.appendInteger(seconds)
    message.appendInteger(nanoseconds)
    message.appendInteger(Int64(1))
    let code = try HMACSHA256.authenticationCode(for: message.span, key: key)
    #expect(try AttemptRecord(message + code, keybag: keybag, key: key) == nil)
  }

  @Test func `attempts that never finished delay but don't erase`() async throws {
    var world = world
    world.options.erasesAfterTenWrongPasscodes = true
    try await world.open().setPasscode(ProtectedDevice.Passcode("right"))
    for number in 0..<12 {
      let device = try await world.open()
      world.bootClock.advance(by: try await device.remainingPasscodeDelay())
      // The power goes in the middle of the check: when the record says "begun" and not yet "wrong".
      let start = world.memory.callCount
      let copy = TestWorld(memory: world.memory.afterProcessDeath(), bootClock: world.bootClock)
      let probe = try await copy.open()
      let opening = copy.memory.callCount
      _ = await code { try await probe.unlock(passcode: ProtectedDevice.Passcode("wrong \(number)")) }
      let calls = copy.memory.callCount - opening
      world.memory.cutPower(afterCall: start + calls - 6)
      _ = await code { try await device.unlock(passcode: ProtectedDevice.Passcode("wrong \(number)")) }
      world.memory = world.memory.afterPowerCut(.dropAll)
    }
    let device = try await world.open()
    #expect(device.hasPasscode)
    #expect(try await device.remainingPasscodeDelay() == .seconds(3600))
  }

  @Test(arguments: [true, false])
  func `ten wrong passcodes erase the device only where that is turned on`(isOn: Bool) async throws {
    var world = world
    world.options.erasesAfterTenWrongPasscodes = isOn
    try await world.open().setPasscode(ProtectedDevice.Passcode("right"))
    let device = try await world.open()
    try await tryWrong(1...10, on: device)
    #expect(device.hasPasscode == !isOn)
    #expect(try await world.open().hasPasscode == !isOn)
  }

  @Test func `a wrong passcode may become the right one`() async throws {
    let device = try await setUp()
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("next")) } == .wrongPasscode)
    try await device.changePasscode(from: ProtectedDevice.Passcode("right"), to: ProtectedDevice.Passcode("next"))
    try await device.unlock(passcode: ProtectedDevice.Passcode("next"))
    #expect(device.isProtectedDataAvailable)
  }

  @Test func `a delay runs out only when both clocks say so`() async throws {
    try await tryWrong(1...5, on: try await setUp())
    // A new process in a time namespace of the user's own, an hour ahead.
    world.bootClock.shiftElapsed(by: .seconds(3600))
    let shifted = try await world.open()
    #expect(await code { try await shifted.unlock(passcode: ProtectedDevice.Passcode("right")) } == .passcodeDelayed)
    #expect(try await shifted.remainingPasscodeDelay() == .seconds(60))
    // A clock on the wall that somebody sets.
    world.bootClock.shiftElapsed(by: .seconds(-3600))
    world.bootClock.shiftTimeOfDay(by: .seconds(3600))
    let set = try await world.open()
    #expect(await code { try await set.unlock(passcode: ProtectedDevice.Passcode("right")) } == .passcodeDelayed)
    world.bootClock.advance(by: .seconds(60))
    try await set.unlock(passcode: ProtectedDevice.Passcode("right"))
  }

  @Test func `a clock that was set back begins the delay anew, which then runs out`() async throws {
    try await tryWrong(1...5, on: try await setUp())
    world.bootClock.advance(by: .seconds(30))
    world.bootClock.shiftTimeOfDay(by: .seconds(-86_400))
    let device = try await world.open()
    #expect(try await device.remainingPasscodeDelay() == .seconds(60))
    world.bootClock.advance(by: .seconds(60))
    try await device.unlock(passcode: ProtectedDevice.Passcode("right"))
  }

  @Test(arguments: [FileSystemError.Code.noSpace, .readOnlyFileSystem])
  func `where no attempt can be counted no passcode is checked, and the reason is said`(
    reason: FileSystemError.Code
  ) async throws {
    _ = try await setUp()
    let faulty = FaultyFileSystem(world.memory)
    let device = try await world.open(through: faulty)
    faulty.fail(from: 1, [.write, .rename], .error(reason))
    let error = await #expect(throws: ProtectionError.self) {
      try await device.unlock(passcode: ProtectedDevice.Passcode("right"))
    }
    #expect(error?.code == .io)
    #expect(error?.errno == reason.rawValue)
    #expect(error?.message.contains(reason == .noSpace ? "The disk is full" : "The disk is read-only") == true)
    faulty.heal()
    try await device.unlock(passcode: ProtectedDevice.Passcode("right"))
  }
}
