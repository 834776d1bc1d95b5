import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Synchronization
import Testing

@testable import DataProtection

/// The device's own directory goes away under a running program.
@Suite struct RemovedDeviceTests {
  let world = TestWorld()
  let slot = ArchiveSlot(application: "a", scene: "main")

  enum Removal: CaseIterable {
    case removed, moved, exchanged
  }

  private func perform(_ removal: Removal) {
    switch removal {
    case .removed: world.memory.remove(atPath: TestWorld.path)
    case .moved: world.memory.move(fromPath: TestWorld.path, toPath: "/moved")
    case .exchanged:
      world.memory.move(fromPath: TestWorld.path, toPath: "/moved")
      world.memory.plant(.directory, atPath: TestWorld.path)
    }
  }

  private func saved() async throws -> Data { try await world.open().archives(for: slot).openNewest().readAll() }

  @Test(arguments: Removal.allCases)
  func `a device whose directory is removed is made again with new keys, and the save says so`(
    _ removal: Removal
  ) async throws {
    let device = try await world.open()
    let store = try device.archives(for: slot)
    let newest = try store.publish(Data("before".utf8)).generation
    let opened = try store.openNewest()
    let files = try device.files(in: "drafts")
    try files.create("x", contents: Data([1])).close()
    let (old, key) = (store.identity, try device.currentKey())
    perform(removal)
    #expect(try store.append(Data("change".utf8), to: newest) == nil)
    let receipt = try store.publish(Data("after".utf8))
    #expect(receipt.durability == .durable && receipt.isRemade)
    #expect(store.identity != old)
    #expect(try device.currentKey() != key)
    // What was open before stays readable, so that the program can go on from it.
    #expect(try opened.readAll() == Data("before".utf8))
    let next = try store.publish(Data("next".utf8))
    #expect(next.durability == .durable && !next.isRemade)
    #expect(try store.append(Data("change".utf8), to: next.generation)?.durability == .durable)
    // The files are gone, and nobody takes that for an empty directory who had them open.
    #expect(await code { _ = try files.read("x") } == .otherDevice)
    #expect(try device.files(in: "drafts").list().isEmpty)
    store.close()
    #expect(try await saved() == Data("next".utf8))
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    #expect(try await world.opens("1234"))
  }

  @Test func `a store whose device nobody else keeps makes it again like any other`() async throws {
    let store = try await world.open().archives(for: slot)
    try store.publish(Data("before".utf8))
    perform(.removed)
    let receipt = try store.publish(Data("after".utf8))
    #expect(receipt.durability == .durable && receipt.isRemade)
    store.close()
    #expect(try await saved() == Data("after".utf8))
  }

  /// Has something happen at one call of a save after another, each on a device of its own: the save after it is found.
  ///
  /// - Parameter body: Gets the number of the call, counted from the save's begin, and what saves; says whether the save was
  ///   over before that call.
  /// - Returns: The number of the call before which the save was over.
  private func trySave(
    _ body: (RemovedDeviceTests, FaultyFileSystem, _ call: Int, _ save: () -> Void) -> Bool
  ) async throws -> Int {
    var call = 1
    while true {
      let trial = RemovedDeviceTests()
      let disk = FaultyFileSystem(trial.world.memory)
      let device = try await trial.world.open(through: disk)
      let store = try device.archives(for: trial.slot)
      try store.publish(Data("before".utf8))
      let isOver = body(trial, disk, call) { _ = try? store.publish(Data("during".utf8)) }
      #expect(try store.publish(Data("after".utf8)).durability == .durable, "call \(call)")
      store.close()
      #expect(try await trial.saved() == Data("after".utf8), "call \(call)")
      if isOver { return call }
      call += 1
    }
  }

  @Test func `at whichever call of a save the directory goes away, the next save is found`() async throws {
    let calls = try await trySave { trial, disk, call, save in
      let moment = disk.callCount + call
      disk.onCall { number, _ in if number == moment { trial.perform(.removed) } }
      save()
      let isOver = disk.callCount < moment
      if isOver { trial.perform(.removed) }
      disk.onCall(nil)
      return isOver
    }
    #expect(calls > 5)
  }

  /// The disk fails or fills up at each call of the save that makes the device again.
  @Test(arguments: [FileSystemError.Code.noSpace, .inputOutput])
  func `a device that can't be made again at once is made with a later save`(
    _ fault: FileSystemError.Code
  ) async throws {
    let calls = try await trySave { trial, disk, call, save in
      trial.perform(.removed)
      disk.fail(call: disk.callCount + call, .error(fault))
      save()
      let isOver = disk.hits.isEmpty
      disk.heal()
      return isOver
    }
    #expect(calls > 20)
  }

  private func copyTree(_ path: String, to newPath: String) {
    guard world.memory.status(atPath: path)?.kind == .directory else {
      return world.memory.plant(world.memory.content(atPath: path) ?? [], atPath: newPath)
    }
    world.memory.plant(.directory, atPath: newPath)
    for name in world.memory.names(atPath: path) { copyTree("\(path)/\(name)", to: "\(newPath)/\(name)") }
  }

  @Test func `a directory that comes back whole is gone on with`() async throws {
    let device = try await world.open()
    let store = try device.archives(for: slot)
    try store.publish(Data("before".utf8))
    perform(.moved)
    copyTree("/moved", to: TestWorld.path)
    let receipt = try store.publish(Data("after".utf8))
    #expect(receipt.durability == .durable && receipt.isRemade)
    #expect(try store.openPredecessor().readAll() == Data("before".utf8))
    store.close()
    #expect(try await saved() == Data("after".utf8))
  }

  /// Its class keys would be there while it is unlocked, but what protects them on the disk only the passcode makes.
  @Test(arguments: [false, true])
  func `with a passcode nothing is saved without it, until the device is erased or opened anew`(
    isLocked: Bool
  ) async throws {
    var world = world
    world.options.gracePeriod = .zero
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    let store = try device.archives(for: slot)
    try store.publish(Data("before".utf8))
    if isLocked { device.lock() }
    perform(.removed)
    for _ in 0..<2 {
      #expect(try errorCode { try store.publish(Data("after".utf8)) } == .keysMissing)
      #expect(try errorCode { try store.publishPending(Data("after".utf8)) } == .keysMissing)
    }
    #expect(world.memory.status(atPath: TestWorld.path) == nil)
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("1234")) } == .keysMissing)
    // A next launch makes a new device.
    #expect(try await !world.open().hasPasscode)
    // So does an erase of this one.
    try await device.eraseAllContent()
    #expect(!device.hasPasscode && device.isProtectedDataAvailable)
    try await device.setPasscode(ProtectedDevice.Passcode("5678"))
    let anew = try device.archives(for: slot)
    try anew.publish(Data("anew".utf8))
    anew.close()
    #expect(try await world.opens("5678"))
  }

  @Test func `another device with a passcode that stands in its place is not written to`() async throws {
    let device = try await world.open()
    let store = try device.archives(for: slot)
    try store.publish(Data("before".utf8))
    perform(.moved)
    try await world.open().setPasscode(ProtectedDevice.Passcode("1234"))
    let before = world.memory.revision
    #expect(try errorCode { try store.publish(Data("after".utf8)) } == .otherDevice)
    #expect(world.memory.revision == before)
  }

  @Test func `a provider's key stays, and the device is made again under it`() async throws {
    var world = world
    world.options.keyProvider = MemoryKeyProvider()
    let device = try await world.open()
    let store = try device.archives(for: slot)
    try store.publish(Data("before".utf8))
    perform(.removed)
    #expect(try store.publish(Data("after".utf8)).isRemade)
    store.close()
    #expect(try await world.open().archives(for: slot).openNewest().readAll() == Data("after".utf8))
    #expect(!world.names.contains("device.key"))
  }
}

extension ProtectedDevice {
  /// A name that the device's key gives.
  fileprivate func currentKey() throws -> [UInt8] { try ring.authenticationCode(.name, over: []) }
}

/// A device key that is on no disk.
private final class MemoryKeyProvider: ProtectedDevice.KeyProvider {
  private let key = Mutex<[UInt8]?>(nil)

  func loadKey() throws(ProtectionError) -> ProtectedDevice.Key? {
    try key.withLock { $0 }.map { (key) throws(ProtectionError) in try ProtectedDevice.Key(copying: key.span) }
  }

  func makeKey() throws(ProtectionError) -> ProtectedDevice.Key {
    key.withLock { $0 = (1...32).map { $0 } }
    return try loadKey()!
  }
}
