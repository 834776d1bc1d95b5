import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

/// Everything that can be done to the files of keys from outside.
@Suite struct KeybagTests {
  let world = TestWorld()

  /// A device with a passcode and a file of every class.
  func setUp() async throws {
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    let files = try device.files()
    for protection in ProtectionClass.allCases {
      try files.create("\(protection)", contents: Data("\(protection)".utf8), protection: protection)
    }
  }

  func outcome(of tampering: (MemoryFileSystem) throws -> Void) async throws -> ProtectionError.Code? {
    let copy = TestWorld(memory: world.memory.afterProcessDeath(), bootClock: world.bootClock)
    try tampering(copy.memory)
    let names = copy.names
    let outcome = await code {
      let device = try await copy.open()
      try await device.unlock(passcode: ProtectedDevice.Passcode("right"))
    }
    if outcome != nil { #expect(copy.names == names, "A refused device must be left as it is.") }
    return outcome
  }

  @Test(arguments: ["keybag-", "effaceable-"])
  func `every flipped bit is found, and no attempt is counted`(_ prefix: String) async throws {
    try await setUp()
    let path = try world.only(prefix)
    let bytes = try #require(world.memory.content(atPath: path))
    let deviceKey = try #require(world.memory.content(atPath: TestWorld.path + "/device.key"))
    let keybag = try #require(world.memory.content(atPath: world.only("keybag-")))
    let effaceable = try #require(world.memory.content(atPath: world.only("effaceable-")))
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      // A version is a claim that is believed: an older program must not touch a newer one's keys.
      let expected: ProtectionError.Code = (8..<10).contains(bit / 8) ? .unsupportedVersion : .corrupt
      let found = await code {
        let isKeybag = prefix == "keybag-"
        _ = try KeybagInspection.open(
          keybag: isKeybag ? changed : keybag, effaceable: isKeybag ? effaceable : changed, deviceKey: deviceKey)
      }
      #expect(found == expected, "bit \(bit)")
      // The whole way, for one bit of each byte.
      guard bit % 8 == bit / 8 % 8 else { continue }
      #expect(try await outcome { $0.plant(changed, atPath: path) } == expected, "bit \(bit)")
    }
    #expect(try await world.opens("right"))
  }

  @Test(arguments: ["keybag-", "effaceable-"])
  func `every truncation and an added byte is found`(_ prefix: String) async throws {
    try await setUp()
    let path = try world.only(prefix)
    let bytes = try #require(world.memory.content(atPath: path))
    for count in 0..<bytes.count {
      #expect(try await outcome { $0.plant(Array(bytes[..<count]), atPath: path) } == .corrupt, "\(count) bytes")
    }
    #expect(try await outcome { $0.plant(bytes + [0], atPath: path) } == .corrupt)
    #expect(try await outcome { $0.plant([UInt8](repeating: 1, count: 100_000), atPath: path) } == .corrupt)
  }

  @Test(arguments: ["keybag-", "effaceable-", "device.key"])
  func `keys that are gone are missed, and nothing is made in their place`(_ prefix: String) async throws {
    try await setUp()
    let path = try world.only(prefix)
    #expect(try await outcome { $0.remove(atPath: path) } == .keysMissing)
    let kept = try #require(world.memory.content(atPath: path))
    world.memory.remove(atPath: path)
    #expect(await code { _ = try await world.open() } == .keysMissing)
    world.memory.plant(kept, atPath: path)
    #expect(try await world.opens("right"))
  }

  @Test func `with the keybag and everything else of the device gone, sealed files are still missed`() async throws {
    try await setUp()
    for name in world.names where name != "files" { world.memory.remove(atPath: TestWorld.path + "/" + name) }
    #expect(await code { _ = try await world.open() } == .keysMissing)
    #expect(!world.names.contains { $0.hasPrefix("device.key") || $0.hasPrefix("effaceable-") })
    try await world.erase()
    let device = try await world.open()
    #expect(!device.hasPasscode)
    #expect(try device.files().list().isEmpty)
  }

  @Test(arguments: ["keybag-", "effaceable-", "device.key"], [FileStatus.Kind.symbolicLink, .other, .directory])
  func `anything but a file in place of keys is refused`(_ prefix: String, _ kind: FileStatus.Kind) async throws {
    try await setUp()
    let path = try world.only(prefix)
    let outcome = try await outcome { memory in
      memory.remove(atPath: path)
      memory.plant(kind, atPath: path)
    }
    #expect(outcome == .corrupt)
  }

  @Test(arguments: ["effaceable-", "device.key"])
  func `keys with second names are read, and foreign files in their place refused`(_ prefix: String) async throws {
    try await setUp()
    let path = try world.only(prefix)
    #expect(try await outcome { $0.plantLink(from: path, toPath: TestWorld.path + "/second name") } == nil)
    #expect(try await outcome { $0.setOwner(4711, atPath: path) } != nil)
  }

  @Test func `a key in a keybag of another revision or device is refused`() async throws {
    try await setUp()
    let old = try #require(world.memory.content(atPath: world.only("keybag-")))
    let oldEffaceable = try #require(world.memory.content(atPath: world.only("effaceable-")))
    do {
      let device = try await world.open()
      try await device.changePasscode(from: ProtectedDevice.Passcode("right"), to: ProtectedDevice.Passcode("new"))
    }
    let (keybag, effaceable) = (try world.only("keybag-"), try world.only("effaceable-"))
    // The old keybag under the new name, with the new and with the old effaceable file.
    #expect(try await outcome { $0.plant(old, atPath: keybag) } == .corrupt)
    #expect(try await outcome { $0.plant(oldEffaceable, atPath: effaceable) } == .corrupt)
    #expect(
      try await outcome { memory in
        memory.plant(old, atPath: keybag)
        memory.plant(oldEffaceable, atPath: effaceable)
      } == .corrupt)
  }

  @Test func `halves of two keybags don't make one`() async throws {
    try await setUp()
    let one = try #require(world.memory.content(atPath: world.only("keybag-")))
    let other = TestWorld()
    let device = try await other.open()
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    let two = try #require(other.memory.content(atPath: other.only("keybag-")))
    try #require(one.count == two.count)
    let path = try world.only("keybag-")
    for cut in stride(from: 1, to: one.count, by: 7) {
      #expect(try await outcome { $0.plant(Array(one[..<cut] + two[cut...]), atPath: path) } == .corrupt, "\(cut)")
    }
    #expect(try await outcome { $0.plant(two, atPath: path) } == .corrupt)
  }

  @Test func `a foreign device key is another device, not damage`() async throws {
    try await setUp()
    let path = TestWorld.path + "/device.key"
    #expect(
      try await outcome { $0.plant([UInt8](repeating: 7, count: 32), atPath: path) } == .otherDevice)
    #expect(try await outcome { $0.plant([UInt8](repeating: 7, count: 31), atPath: path) } == .corrupt)
  }

  @Test func `production refuses a keybag with the keys of a test`() async throws {
    _ = try await world.open()
    let environment = DeviceEnvironment(
      fileSystem: world.memory, clock: world.clock, bootClock: world.bootClock, scrypt: .production)
    #expect(
      await code {
        _ = try await ProtectedDevice.open(at: .directory(TestWorld.path), environment: environment)
      } == .corrupt)
  }

  @Test func `after an erase nothing sealed before can be read, and the device is as new`() async throws {
    let device = try await world.open()
    let files = try device.files()
    try files.create("x", contents: Data("abc".utf8), protection: ProtectionClass.none)
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    let handle = try files.open("x")
    try await device.eraseAllContent()
    #expect(await code { _ = try handle.readAll() } == .locked)
    #expect(!device.hasPasscode)
    #expect(device.isProtectedDataAvailable)
    #expect(try device.files().list().isEmpty)
    try device.files().create("y", contents: Data([1]))
    #expect(try await world.open().files().read("y") == Data([1]))
  }

  @Test func `revisions rise over an erase, so that old keys put back never count`() async throws {
    try await setUp()
    let old = try ["keybag-", "effaceable-"].map { prefix in
      let path = try world.only(prefix)
      return (path, try #require(world.memory.content(atPath: path)))
    }
    for erases in [world.erase, { try await world.open().eraseAllContent() }] as [() async throws -> Void] {
      try await erases()
      _ = try await world.open()
      #expect(try world.only("keybag-").suffix(16) > old[0].0.suffix(16))
      for (path, content) in old { world.memory.plant(content, atPath: path) }
      let device = try await world.open()
      #expect(!device.hasPasscode)
      #expect(try world.only("effaceable-") != old[1].0)
      // What was put back is overwritten, not only unlinked.
      #expect(!world.memory.allContents.contains { $0.count == 120 && Array($0[56..<88]) == Array(old[1].1[56..<88]) })
    }
  }

  @Test func `keys from before a change of passcode open nothing, also before the next save`() async throws {
    let slot = ArchiveSlot(application: "a")
    var old: [(String, [UInt8])] = []
    do {
      let device = try await world.open()
      try await device.setPasscode(ProtectedDevice.Passcode("one"))
      try device.archives(for: slot).publish(Data("typed".utf8))
      old = try ["keybag-", "effaceable-"].map { prefix in
        let path = try world.only(prefix)
        return (path, try #require(world.memory.content(atPath: path)))
      }
      try await device.changePasscode(from: ProtectedDevice.Passcode("one"), to: ProtectedDevice.Passcode("two"))
    }
    for prefix in ["keybag-", "effaceable-"] { world.memory.remove(atPath: try world.only(prefix)) }
    for (path, content) in old { world.memory.plant(content, atPath: path) }
    let device = try await world.open()
    try await device.unlock(passcode: ProtectedDevice.Passcode("one"))
    #expect(await code { _ = try device.archives(for: slot).openNewest() } == .rolledBack)
  }

  @Test func `names that use the revisions up count for nothing, and go for good with an erase`() async throws {
    try await setUp()
    let names = [
      "keybag-ffffffffffffffff", "effaceable-ffffffffffffffff",
      "keybag-fffffffffffffffe", "effaceable-fffffffffffffffe",
    ]
    func plant() {
      for name in names { world.memory.plant([1, 2, 3], atPath: TestWorld.path + "/" + name) }
    }
    plant()
    #expect(try await world.opens("right"))
    // They may be keys that are damaged, of which somebody has a good copy, until others take their place.
    #expect(Set(world.names).isSuperset(of: names))
    let device = try await world.open()
    try await device.changePasscode(from: ProtectedDevice.Passcode("right"), to: ProtectedDevice.Passcode("next"))
    #expect(Set(world.names).isDisjoint(with: names))
    #expect(try await world.opens("next"))
    plant()
    try await world.erase()
    #expect(try await world.open().isProtectedDataAvailable)
    #expect(try world.only("effaceable-").hasSuffix("0005"))
    // If one came back, its revision would be above that of the new keys.
    let later = TestWorld(memory: world.memory.afterPowerCut(.dropAll))
    #expect(try await later.open().isProtectedDataAvailable)
  }

  @Test func `planted names push no revision up`() async throws {
    try await setUp()
    let before = try world.only("keybag-")
    for name in ["effaceable-3fffffffffffffff", "keybag-3ffffffffffffffe"] {
      world.memory.plant([1, 2, 3], atPath: TestWorld.path + "/" + name)
    }
    let device = try await world.open()
    try await device.changePasscode(from: ProtectedDevice.Passcode("right"), to: ProtectedDevice.Passcode("next"))
    try await device.changePasscode(from: ProtectedDevice.Passcode("next"), to: ProtectedDevice.Passcode("last"))
    let after = try world.only("keybag-")
    let revisions = [before, after].compactMap { UInt64($0.suffix(16), radix: 16) }
    #expect(revisions.count == 2 && revisions[1] == revisions[0] + 2)
    #expect(try await world.opens("last"))
  }

  @Test func `old effaceable bytes are overwritten`() async throws {
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("one"))
    let old = try #require(world.memory.content(atPath: world.only("effaceable-")))
    try await device.changePasscode(from: ProtectedDevice.Passcode("one"), to: ProtectedDevice.Passcode("two"))
    let key = Array(old[56..<88])
    #expect(!world.memory.allContents.contains { $0.count >= 88 && Array($0[56..<88]) == key })
    let journal = world.memory.calls.map { "\($0.operation) \($0.name ?? "")" }
    #expect(journal.contains { $0.hasPrefix("write") })
  }

  @Test func `the first passcode makes new class keys, and everything is sealed anew under them`() async throws {
    let device = try await world.open()
    let files = try device.files()
    for protection in ProtectionClass.allCases {
      try files.create("\(protection)", contents: Data("\(protection)".utf8), protection: protection)
    }
    let archive = try device.archives(for: ArchiveSlot(application: "a"))
    let base = try archive.publish(Data("base".utf8)).generation
    try archive.append(Data("frame".utf8), to: base)
    // An old copy of all keys, from when there was no passcode.
    let old = world.memory.afterProcessDeath()
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    for protection in ProtectionClass.allCases {
      #expect(try files.read("\(protection)") == Data("\(protection)".utf8))
    }
    let again = try device.archives(for: ArchiveSlot(application: "a")).openNewest()
    #expect(try again.readAll() == Data("base".utf8))
    #expect(again.frames == [Data("frame".utf8)])
    // Two revisions: one with the retired keys, and one without.
    #expect(try world.only("keybag-").hasSuffix("3"))

    // With the old keys put back, only what needs no passcode opens.
    for name in world.names where name.hasPrefix("keybag-") || name.hasPrefix("effaceable-") {
      world.memory.remove(atPath: TestWorld.path + "/" + name)
    }
    for name in old.names(atPath: TestWorld.path) where name.hasPrefix("keybag-") || name.hasPrefix("effaceable-") {
      let path = TestWorld.path + "/" + name
      world.memory.plant(try #require(old.content(atPath: path)), atPath: path)
    }
    // The ledgers have seen a later keybag: they betray the old one.
    do {
      let attacker = try await world.open()
      for protection in ProtectionClass.allCases {
        #expect(await code { _ = try attacker.files().read("\(protection)") } == .rolledBack)
      }
    }
    // Without the ledgers and the list nothing betrays it, but it opens only what never needed a passcode.
    let root = TestWorld.path + "/files"
    let place = try #require(world.memory.names(atPath: root).first)
    world.memory.remove(atPath: "\(root)/\(place)/slots")
    for slot in world.memory.names(atPath: "\(root)/\(place)/archives") {
      world.memory.remove(atPath: "\(root)/\(place)/archives/\(slot)/ledger")
    }
    let attacker = try await world.open()
    for protection in ProtectionClass.allCases {
      let outcome = await code { _ = try attacker.files().read("\(protection)") }
      #expect(outcome == (protection == .none ? nil : .otherDevice), "\(protection)")
    }
  }
}
