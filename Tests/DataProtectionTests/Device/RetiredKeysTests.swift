import FaultyFileSystem
import FileSystem
import Foundation
import TestTraits
import Testing

@testable import DataProtection

/// Keys from before the first passcode stay exactly as long as something needs them.
@Suite(.tags(.threads)) struct RetiredKeysTests {
  let world = TestWorld()
  let slot = ArchiveSlot(application: "a")

  func hasRetiredKeys(_ device: ProtectedDevice) throws -> Bool {
    let bytes = try #require(world.memory.content(atPath: world.only("keybag-")))
    return try KeybagCodec.parse(bytes).keybag.hasRetiredKeys
  }

  @Test func `what waits to be merged keeps the keys through every change, until it is merged`() async throws {
    let device = try await world.open()
    let archives = try device.archives(for: slot)
    try archives.publish(Data("base".utf8))
    try archives.publishPending(Data("pending".utf8))
    try await device.setPasscode(ProtectedDevice.Passcode("one"))
    #expect(try hasRetiredKeys(device))
    try await device.changePasscode(from: ProtectedDevice.Passcode("one"), to: ProtectedDevice.Passcode("two"))
    #expect(try hasRetiredKeys(device))
    try await device.unlock(passcode: ProtectedDevice.Passcode("two"))
    #expect(try hasRetiredKeys(device))
    let pending = try #require(archives.openPending().archives.first)
    #expect(pending.content == Data("pending".utf8))
    // Twice: the generation before the newest was sealed under the old keys, too.
    try archives.publish(Data("next".utf8), ArchiveSuccession(consuming: [pending.generation]))
    try await device.unlock(passcode: ProtectedDevice.Passcode("two"))
    #expect(try !hasRetiredKeys(device))
    #expect(try archives.openNewest().readAll() == Data("next".utf8))
  }

  @Test(arguments: [true, false])
  func `the first passcode seals the newest generation anew with its changes, also under its writer's hands`(
    isOpen: Bool
  ) async throws {
    let device = try await world.open()
    let archives = try device.archives(for: slot)
    let base = try archives.publish(Data("base".utf8)).generation
    for number in 0..<2 { try archives.append(Data("frame \(number)".utf8), to: base) }
    if !isOpen { archives.close() }
    try await device.setPasscode(ProtectedDevice.Passcode("one"))
    #expect(try !hasRetiredKeys(device))
    let opened = try archives.openNewest()
    #expect(try opened.readAll() == Data("base".utf8))
    #expect(opened.frames == [Data("frame 0".utf8), Data("frame 1".utf8)] && opened.standing == .current)
    // The writer's next change would go under the old key.
    #expect(try archives.append(Data("frame 2".utf8), to: base) == nil)
    #expect(try archives.publish(Data("next".utf8)).durability == .durable)
  }

  @Test func `what is set aside is sealed anew, too`() async throws {
    let device = try await world.open()
    let archives = try device.archives(for: slot)
    let refused = try archives.publish(Data("refused".utf8)).generation
    try archives.publish(Data("newest".utf8), ArchiveSuccession(retiring: [refused]))
    try await device.setPasscode(ProtectedDevice.Passcode("one"))
    #expect(try !hasRetiredKeys(device))
    let aside = try #require(archives.setAsideRecords().first)
    #expect(try archives.openSetAside(Generation(rawValue: aside.generation)).readAll() == Data("refused".utf8))
    #expect(try archives.openNewest().readAll() == Data("newest".utf8))
  }

  @Test func `setting and removing passcodes never makes a keybag that can't be opened`() async throws {
    do {
      let device = try await world.open()
      try device.archives(for: slot).publishPending(Data("pending".utf8))
      var refused: ProtectionError.Code?
      for _ in 0..<6 where refused == nil {
        refused = await code { try await device.setPasscode(ProtectedDevice.Passcode("one")) }
        if refused == nil { try await device.removePasscode(ProtectedDevice.Passcode("one")) }
        #expect(await code { _ = try await world.open() } == nil)
      }
      #expect(refused == .busy)
      #expect(!device.hasPasscode)
    }
    let again = try await world.open()
    let archives = try again.archives(for: slot)
    let pending = try archives.openPending().archives.map(\.generation)
    try archives.publish(Data("merged".utf8), ArchiveSuccession(consuming: pending))
    try await again.unlock(passcode: ProtectedDevice.Passcode("any"))
    #expect(try !hasRetiredKeys(again))
  }

  @Test(arguments: [0, 20, 100])
  func `a damaged newest generation keeps the key of the one that stands in for it`(_ offset: Int) async throws {
    do {
      let archives = try await world.open().archives(for: slot)
      try archives.publish(Data("one".utf8))
      try archives.publish(Data("two".utf8))
    }
    let root = TestWorld.path + "/archives"
    let name = try #require(world.memory.names(atPath: root).first { SlotName($0) != nil })
    let path = "\(root)/\(name)/g-2"
    var bytes = try #require(world.memory.content(atPath: path))
    bytes[offset] ^= 0x55
    world.memory.plant(bytes, atPath: path)

    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    let archives = try device.archives(for: slot)
    let opened = try archives.openNewest()
    #expect(try opened.readAll() == Data("one".utf8))
    guard case .olderGeneration = opened.standing else {
      Issue.record("an older generation passes for \(opened.standing)")
      return
    }
    // The next whole saves put things in order.
    try archives.publish(Data("three".utf8))
    try archives.publish(Data("four".utf8))
    try await device.unlock(passcode: ProtectedDevice.Passcode("right"))
    #expect(try !hasRetiredKeys(device))
    #expect(try archives.openNewest().standing == .current)
  }

  @Test func `what nobody could vouch for is no surer after a first passcode`() async throws {
    let device = try await world.open()
    let archives = try device.archives(for: slot)
    try archives.publish(Data("one".utf8))
    archives.close()
    let root = TestWorld.path + "/archives"
    let name = try #require(world.memory.names(atPath: root).first { SlotName($0) != nil })
    world.memory.remove(atPath: "\(root)/\(name)/ledger")
    #expect(try archives.openNewest().standing == .rollbackUnverifiable)
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    let after = try archives.openNewest()
    #expect(after.standing == .rollbackUnverifiable)
    #expect(try after.readAll() == Data("one".utf8))
    #expect(try hasRetiredKeys(device))
  }
}
