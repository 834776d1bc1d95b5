import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import TestTraits
import Testing

/// An erase makes everything anew from the device key that is there then.
@Suite(.tags(.threads)) struct DeviceErasingTests {
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

  @Test func `a key that can't be destroyed spares no other`() async throws {
    var faults = 0
    for call in 1...80 {
      let trial = TestWorld()
      _ = try await trial.open()
      let real = try trial.only("effaceable-")
      // An older one, which is destroyed first.
      let old = TestWorld.path + "/effaceable-0000000000000000"
      trial.memory.plant(try #require(trial.memory.content(atPath: real)), atPath: old)
      let disk = FaultyFileSystem(trial.memory)
      disk.fail(call: call, .error(.inputOutput))
      let error = await code {
        try await ProtectedDevice.eraseAllContent(
          at: .directory(TestWorld.path), environment: trial.environment(disk))
      }
      guard disk.hits == [.write] else { continue }
      #expect(error != nil)
      let whole = [real, old].filter { trial.memory.content(atPath: $0)?.contains { $0 != 0 } == true }
      #expect(whole.count <= 1, "call \(call): \(whole)")
      faults += 1
    }
    #expect(faults >= 2)
  }

  @Test func `a device whose key was cut short can be erased and made anew`() async throws {
    _ = try await world.open()
    world.memory.plant([UInt8](repeating: 7, count: 31), atPath: path)
    #expect(await code { _ = try await world.open() } == .corrupt)
    try await world.erase()
    #expect(try await world.open().isProtectedDataAvailable)
  }

  // MARK: In the way

  private static let names = ["effaceable-", "keybag-", "device.key", "lock", "slots", "archives", "files"]

  @Test(arguments: names, [FileStatus.Kind.directory, .symbolicLink, .other])
  func `a device is erased whatever stands in place of its files`(_ name: String, _ kind: FileStatus.Kind) async throws
  {
    do {
      let device = try await world.open()
      try device.archives(for: ArchiveSlot(application: "a")).publish(Data("old".utf8))
      try device.files().create("x").close()
    }
    let path = try world.only(name)
    world.memory.remove(atPath: path)
    world.memory.plant(kind, atPath: path)
    if kind == .directory { world.memory.plant([1], atPath: path + "/inside") }
    try await world.erase()
    let device = try await world.open()
    #expect(try errorCode { try device.archives(for: ArchiveSlot(application: "a")).openNewest() } == .notFound)
    try device.files().create("y").close()
    #expect(try await world.open().files().list().map(\.name) == ["y"])
  }

  @Test func `a device whose files have second names can be erased, and the keys go under both`() async throws {
    _ = try await world.open()
    world.memory.plant(.directory, atPath: "/backup")
    for name in ["effaceable-", "keybag-", "device.key"] {
      world.memory.plantLink(from: try world.only(name), toPath: "/backup/" + name)
    }
    _ = try await world.open()
    try await world.erase()
    #expect(world.memory.content(atPath: "/backup/effaceable-") == [UInt8](repeating: 0, count: 120))
    #expect(try await world.open().isProtectedDataAvailable)
  }

  @Test func `a file of somebody's that is called like a key is left alone`() async throws {
    _ = try await world.open()
    world.memory.plant(Array("a letter".utf8), atPath: "/state/letter")
    world.memory.plantLink(from: "/state/letter", toPath: TestWorld.path + "/effaceable-0000000000000000")
    try await world.open().eraseAllContent()
    #expect(world.memory.content(atPath: "/state/letter") == Array("a letter".utf8))
    #expect(world.names.count { $0.hasPrefix("effaceable-") } == 1)
  }

  /// An entry that can't be destroyed.
  @Test(arguments: [FileStatus.Kind.directory, .symbolicLink, .other, .regular], [0, 1000])
  func `an entry called like a key spares no real one`(_ kind: FileStatus.Kind, _ revision: Int) async throws {
    let odd = TestWorld.path + "/effaceable-" + String(repeating: "0", count: 15 - (revision > 0 ? 3 : 0))
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("old"))
    let key = try #require(world.memory.content(atPath: world.only("effaceable-")))[56..<88]
    let plant = { (path: String) in
      if kind == .regular {
        // Nobody may write it.
        world.memory.plant([1], atPath: path, mode: 0o000)
      } else {
        world.memory.plant(kind, atPath: path)
      }
    }
    if revision == 0 {
      plant(odd + "0")
      try await device.changePasscode(from: ProtectedDevice.Passcode("old"), to: ProtectedDevice.Passcode("new"))
    } else {
      plant(odd + "1000")
      try? await device.eraseAllContent()
    }
    #expect(!world.memory.allContents.contains { $0.count == 120 && $0[56..<88] == key })
    if revision == 0 { #expect(try await world.opens("new")) }
  }

  @Test func `a file of any length called like a key costs nothing`() async throws {
    _ = try await world.open()
    let name = TestWorld.path + "/effaceable-0000000000000000"
    world.memory.plant([UInt8](repeating: 7, count: 1 << 20), atPath: name)
    world.memory.plantLink(from: name, toPath: "/state/second")
    world.memory.remove(atPath: name)
    // One name, but still looked at by the test: through a descriptor.
    let root = try world.memory.openDirectory(atPath: "/state")
    let file = try world.memory.openFile("second", in: root, [])
    world.memory.plantLink(from: "/state/second", toPath: name)
    world.memory.remove(atPath: "/state/second")
    _ = try await world.open()
    #expect(!world.names.contains("effaceable-0000000000000000"))
    let bytes = try world.memory.readBytes(file, count: 1 << 20)
    #expect(bytes.count { $0 == 0 } == 120)
  }
}
