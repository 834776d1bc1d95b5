import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

/// A first launch where nothing can be written: the device opens, and is made as soon as there is room.
@Suite struct UnmadeDeviceTests {
  let world = TestWorld()
  let slot = ArchiveSlot(application: "a")
  private static let writes: Set<FileSystemError.Operation> = [
    .makeDirectory, .write, .synchronize, .synchronizeData, .rename, .allocate,
  ]

  /// Whether a next launch finds what was saved.
  private func saved() async throws -> Data { try await world.open().archives(for: slot).openNewest().readAll() }

  /// Nothing of the device is there, or only its directory.
  @Test(arguments: [false, true])
  func `on a full disk a device opens, is empty, and is made with the first save that has room`(
    hasDirectory: Bool
  ) async throws {
    if hasDirectory {
      world.memory.plant(.directory, atPath: "/state")
      world.memory.plant(.directory, atPath: TestWorld.path)
    }
    let disk = FaultyFileSystem(world.memory)
    disk.fail(from: 1, Self.writes, .error(.noSpace))
    let device = try await world.open(through: disk)
    #expect(!device.isMade && !device.hasPasscode && device.isProtectedDataAvailable && device.lockState == .unlocked)
    let archives = try device.archives(for: slot)
    for _ in 0..<2 {
      #expect(try errorCode { try archives.openNewest() } == .notFound)
      #expect(try archives.generations().isEmpty && archives.openPending().archives.isEmpty)
      let error = #expect(throws: ProtectionError.self) { try archives.publish(Data("early".utf8)) }
      #expect(error?.isScarceRoom == true && error?.message.contains("disk is full") == true)
      #expect(await code { _ = try device.files(in: "drafts") } == .io)
      #expect(await code { try await device.setPasscode(ProtectedDevice.Passcode("1234")) } == .io)
    }
    #expect(try device.inspectArchives() == nil && device.placesOfFiles().isEmpty)
    #expect(hasDirectory || world.memory.status(atPath: TestWorld.path) == nil)
    disk.heal()
    #expect(try archives.publish(Data("first".utf8)).durability == .durable)
    #expect(device.isMade)
    #expect(try archives.openNewest().readAll() == Data("first".utf8))
    archives.close()
    #expect(try await saved() == Data("first".utf8))
    #expect(try device.files(in: "drafts").list().isEmpty)
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    #expect(try await world.opens("1234"))
  }

  /// The disk fills up before each call of the opening in turn.
  @Test func `wherever in a first launch the disk fills up, it opens, and a save with room is found`() async throws {
    var call = 1
    while true {
      let trial = UnmadeDeviceTests()
      let disk = FaultyFileSystem(trial.world.memory)
      disk.fail(from: call, Self.writes, .error(.noSpace))
      let device = try await trial.world.open(through: disk)
      let archives = try device.archives(for: trial.slot)
      _ = try? archives.publish(Data("early".utf8))
      let isOver = device.isMade
      disk.heal()
      #expect(try archives.publish(Data("saved".utf8)).durability == .durable, "call \(call)")
      archives.close()
      #expect(try await trial.saved() == Data("saved".utf8), "call \(call)")
      if isOver { break }
      call += 1
    }
    #expect(call > 10)
  }

  @Test func `a read-only directory without a device opens, and a save says why it fails`() async throws {
    world.memory.plant(.directory, atPath: "/state")
    world.memory.plant(.directory, atPath: TestWorld.path)
    let before = world.memory.revision
    let device = try await world.open(through: ReadOnlyFileSystem(base: world.memory))
    let archives = try device.archives(for: slot)
    #expect(try errorCode { try archives.openNewest() } == .notFound)
    let error = #expect(throws: ProtectionError.self) { try archives.publish(Data()) }
    #expect(error?.errno == 30 && error?.message.contains("read-only") == true)
    #expect(world.memory.revision == before)
  }

  /// Something is there that can't be read without its keys: nothing is empty then.
  @Test(arguments: ["keybag-", "slots"])
  func `a full disk doesn't make an empty device of one whose keys are gone`(_ rest: String) async throws {
    do {
      let device = try await world.open()
      try device.archives(for: slot).publish(Data("saved".utf8))
    }
    for name in world.names where !name.hasPrefix(rest) && name != "lock" {
      world.memory.remove(atPath: TestWorld.path + "/" + name)
    }
    let disk = FaultyFileSystem(world.memory)
    disk.fail(from: 1, Self.writes, .error(.noSpace))
    #expect(await code { _ = try await world.open(through: disk) } == .keysMissing)
    let names = Self.writes.union([.openFile])
    disk.fail(from: 1, names, .error(.noSpace))
    #expect(await code { _ = try await world.open(through: disk) } == .io)
    // Nor where there is no lock, and no room for one.
    world.memory.remove(atPath: TestWorld.path + "/lock")
    disk.heal()
    disk.fail(from: 1, Self.writes, .error(.noSpace))
    #expect(await code { _ = try await world.open(through: disk) } == .io)
  }

  @Test func `nothing of a device that is not made yet is made before its keys`() async throws {
    world.memory.plant(.directory, atPath: "/state")
    world.memory.plant(.directory, atPath: TestWorld.path)
    let disk = FaultyFileSystem(world.memory)
    disk.fail(from: 1, Self.writes, .error(.noSpace))
    let device = try await world.open(through: disk)
    disk.heal()
    let archives = try device.archives(for: slot)
    #expect(try errorCode { try archives.openNewest() } == .notFound)
    #expect(!world.names.contains("archives"))
    try archives.publish(Data("text".utf8))
    archives.close()
    #expect(try await saved() == Data("text".utf8))
  }

  @Test func `a device that another program has made meanwhile is the one that is used`() async throws {
    let disk = FaultyFileSystem(world.memory)
    disk.fail(from: 1, Self.writes, .error(.noSpace))
    let device = try await world.open(through: disk)
    let archives = try device.archives(for: slot)
    #expect(try errorCode { try archives.publish(Data("early".utf8)) } == .io)
    try await world.open().archives(for: slot).publish(Data("other".utf8))
    disk.heal()
    try archives.publish(Data("later".utf8))
    #expect(try archives.openPredecessor().readAll() == Data("other".utf8))
    archives.close()
    #expect(try await saved() == Data("later".utf8))
  }
}
