import DataProtection
import FaultyFileSystem
import FoundationEssentials
import Testing

/// An erase makes everything anew from the device key that is there then.
@Suite struct DeviceErasingTests {
  let world = TestWorld()
  let path = TestWorld.path + "/device.key"

  @Test(arguments: ["missing", "changed", "cut short", "the same"])
  func `what is saved after an erase is found by the next process`(key: String) async throws {
    let device = try await world.open()
    try device.archives(for: ArchiveSlot(application: "a")).publish(Data("old".utf8))
    switch key {
    case "missing": world.memory.remove(atPath: path)
    case "changed": world.memory.plant([UInt8](repeating: 7, count: 32), atPath: path)
    case "cut short": world.memory.plant([UInt8](repeating: 7, count: 31), atPath: path)
    default: break
    }
    try await device.eraseAllContent()
    try device.archives(for: ArchiveSlot(application: "a")).publish(Data("new".utf8))
    try device.files(in: "drafts").create("x", contents: Data("text".utf8)).close()

    let next = try await world.open()
    let archives = try next.archives(for: ArchiveSlot(application: "a"))
    #expect(try archives.openNewest().readAll() == Data("new".utf8))
    #expect(try next.files(in: "drafts").read("x") == Data("text".utf8))
  }

  @Test func `a device whose key was cut short can be erased and made anew`() async throws {
    _ = try await world.open()
    world.memory.plant([UInt8](repeating: 7, count: 31), atPath: path)
    #expect(await code { _ = try await world.open() } == .corrupt)
    try await world.erase()
    #expect(try await world.open().isProtectedDataAvailable)
  }
}
