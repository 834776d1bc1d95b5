import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import TestTraits
import Testing

/// An opening costs few calls, waits for nobody and changes nothing.
@Suite(.tags(.threads)) struct DeviceOpeningTests {
  @Test func `nothing is made in another user's home, as with sudo, and the error says what to do`() async throws {
    let memory = MemoryFileSystem(user: 0)
    for path in ["/home", "/home/ada"] { memory.plant(FileStatus.Kind.directory, atPath: path) }
    memory.setOwner(0, atPath: "/home")
    memory.setOwner(1000, atPath: "/home/ada")
    let environment = DeviceEnvironment(fileSystem: memory, scrypt: .test) { $0 == "HOME" ? "/home/ada" : nil }
    do throws(ProtectionError) {
      _ = try await ProtectedDevice.open(at: .applicationState("com.example.notes"), environment: environment)
      Issue.record("it opened")
    } catch {
      #expect(error.code == .unsafeLocation)
      #expect(error.message.contains("/home/ada") && error.message.contains("Run it as that user"))
    }
    #expect(memory.names(atPath: "/home/ada").isEmpty)
    // A directory that the caller names is the caller's business, and so is root's own home.
    _ = try await ProtectedDevice.open(at: .directory("/home/ada/state"), environment: environment)
    memory.setOwner(0, atPath: "/home/ada")
    _ = try await ProtectedDevice.open(at: .applicationState("com.example.notes"), environment: environment)
  }

  let world = TestWorld()

  /// The calls of one more opening.
  private func callsOfOpening(_ world: TestWorld) async throws -> [FileSystemError.Operation] {
    let before = world.memory.callCount
    let device = try await world.open()
    return withExtendedLifetime(device) { world.memory.calls.dropFirst(before).map(\.operation) }
  }

  @Test(arguments: [false, true])
  func `an opening takes one lock, syncs nothing, and makes few calls`(hasPasscode: Bool) async throws {
    var world = world
    world.options.custody = DaemonCustody()
    do {
      let device = try await world.open()
      if hasPasscode { try await device.setPasscode(ProtectedDevice.Passcode("1234")) }
    }
    let calls = try await callsOfOpening(world)
    // The shared lock that says who has the device open; it is refused only while a first passcode is being set.
    #expect(calls.count { $0 == .lock } == 1)
    #expect(Set(calls).isDisjoint(with: [.write, .synchronize, .synchronizeData, .rename, .unlink, .makeDirectory]))
    // Closing doesn't count here; four descriptors are closed.
    #expect(calls.count == Self.callCount, "\(calls)")
  }

  /// Directory 3, its lock 1, device key 3, list 1, effaceable file 3, keybag 2.
  private static let callCount = 13

  @Test func `nobody waits for a process that holds the lock, unless something is to be put in order`() async throws {
    let device = try await world.open()
    let directory = try world.memory.openDirectory(atPath: TestWorld.path)
    let lock = try world.memory.openFile("lock", in: directory, .write)
    #expect(try world.memory.tryLock(lock, .exclusive))
    let other = try await world.open()
    #expect(other.isProtectedDataAvailable)
    #expect(world.memory.waited == .zero)
    // A keybag of a change that was cut short.
    let keybag = try #require(world.memory.content(atPath: world.only("keybag-")))
    world.memory.plant(keybag, atPath: TestWorld.path + "/keybag-0000000000000009")
    #expect(await code { _ = try await world.open() } == .busy)
    try world.memory.unlock(lock)
    #expect(try await world.open().isProtectedDataAvailable)
    #expect(!world.names.contains("keybag-0000000000000009"))
    withExtendedLifetime(device) {}
  }

  @Test(arguments: [false, true], [false, true])
  func `a device on a read-only mount opens, and nothing is written`(hasPasscode: Bool, hasLock: Bool) async throws {
    do {
      let device = try await world.open()
      _ = try device.files(in: "drafts").create("x", contents: Data([1]))
      if hasPasscode {
        try await device.setPasscode(ProtectedDevice.Passcode("1234"))
        #expect(
          await code { try await world.open().unlock(passcode: ProtectedDevice.Passcode("wrong")) } == .wrongPasscode)
      }
    }
    world.bootClock.restart()
    if !hasLock { world.memory.remove(atPath: TestWorld.path + "/lock") }
    let (names, contents) = (world.names, world.memory.allContents)
    let device = try await world.open(through: ReadOnlyFileSystem(base: world.memory))
    #expect(device.hasPasscode == hasPasscode)
    #expect(device.isProtectedDataAvailable == !hasPasscode)
    #expect(try device.placesOfFiles().count == 1)
    if hasPasscode {
      // What can't be counted isn't checked.
      let error = await #expect(throws: ProtectionError.self) {
        try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
      }
      #expect(error?.message.contains("read-only") == true)
    }
    #expect(world.names == names)
    #expect(world.memory.allContents == contents)
  }

  @Test(arguments: [false, true])
  func `a device on a read-only mount opens also after a change that was cut short`(hasLock: Bool) async throws {
    do { try await world.open().archives(for: ArchiveSlot(application: "a")).publish(Data("text".utf8)) }
    let keybag = try #require(world.memory.content(atPath: world.only("keybag-")))
    world.memory.plant(keybag, atPath: TestWorld.path + "/keybag-0000000000000009")
    if !hasLock { world.memory.remove(atPath: TestWorld.path + "/lock") }
    let names = world.names
    let device = try await world.open(through: ReadOnlyFileSystem(base: world.memory))
    let found = try device.archives(for: ArchiveSlot(application: "a")).openNewest()
    #expect(try found.readAll() == Data("text".utf8))
    #expect(world.names == names)
  }

  @Test func `the mark that leaves the archives out of backups survives a power cut`() async throws {
    try await world.open().archives(for: ArchiveSlot(application: "a")).publish(Data("text".utf8))
    let disk = world.memory.afterPowerCut(.dropAll)
    let mark = try #require(disk.content(atPath: TestWorld.path + "/archives/CACHEDIR.TAG"))
    #expect(String(decoding: mark, as: UTF8.self).hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
  }
}
