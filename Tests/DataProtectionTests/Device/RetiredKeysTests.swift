import FaultyFileSystem
import FileSystem
import Foundation
import Testing

@testable import DataProtection

/// Keys from before the first passcode stay exactly as long as something needs them.
@Suite struct RetiredKeysTests {
  let world = TestWorld()
  let slot = ArchiveSlot(application: "a")

  func hasRetiredKeys(_ device: ProtectedDevice) throws -> Bool {
    let bytes = try #require(world.memory.content(atPath: world.only("keybag-")))
    return try KeybagCodec.parse(bytes).keybag.hasRetiredKeys
  }

  @Test func `what waits to be taken over keeps the keys through every change, until it is taken over`() async throws {
    let device = try await world.open()
    let archives = try device.archives(for: slot)
    try archives.publish(Data("base".utf8))
    try archives.publishPending(Data("pending".utf8), kind: .whole)
    try await device.setPasscode(Passcode("one"))
    #expect(try hasRetiredKeys(device))
    try await device.changePasscode(from: Passcode("one"), to: Passcode("two"))
    #expect(try hasRetiredKeys(device))
    try await device.unlock(passcode: Passcode("two"))
    #expect(try hasRetiredKeys(device))

    let again = try device.archives(for: slot)
    let pending = try #require(again.openPending().archives.first)
    #expect(pending.content == Data("pending".utf8))
    // The base was not sealed anew before the pending generation was taken over, so that it is unchanged.
    #expect(pending.isBaseUnchanged)
    try again.promotePending(pending)
    try again.append(Data("frame".utf8))
    try await device.unlock(passcode: Passcode("two"))
    #expect(try hasRetiredKeys(device))
    let promoted = try device.archives(for: slot).openNewest()
    #expect(try promoted.readAll() == Data("pending".utf8))
    #expect(try promoted.frames == [Data("frame".utf8)])
    try device.archives(for: slot).publish(Data("next".utf8))
    try await device.unlock(passcode: Passcode("two"))
    #expect(try !hasRetiredKeys(device))
    #expect(try device.archives(for: slot).openNewest().readAll() == Data("next".utf8))
  }

  @Test(arguments: [0, 2])
  func `what is saved while locked right after the first passcode fits what was sealed anew`(
    _ frames: Int
  ) async throws {
    let device = try await world.open()
    let archives = try device.archives(for: slot)
    try archives.publish(Data("base".utf8))
    for number in 0..<frames { try archives.append(Data("frame \(number)".utf8)) }
    try await device.setPasscode(Passcode("one"))
    device.lock()
    try archives.publishPending(Data("typed while locked".utf8), kind: .whole)
    try await device.unlock(passcode: Passcode("one"))
    let again = try device.archives(for: slot)
    let pending = try #require(again.openPending().archives.first)
    #expect(pending.isBaseUnchanged)
    try again.promotePending(pending)
    #expect(try device.archives(for: slot).openNewest().readAll() == Data("typed while locked".utf8))
  }

  @Test(arguments: [false, true])
  func `what another run has saved is not taken for what was read before it was sealed anew`(
    isBefore: Bool
  ) async throws {
    let device = try await world.open()
    let archives = try device.archives(for: slot)
    try archives.publish(Data("base".utf8))
    if !isBefore { try await device.setPasscode(Passcode("one")) }
    let other = try device.archives(for: slot)
    _ = try other.openNewest()
    try other.append(Data("newer".utf8))
    if isBefore { try await device.setPasscode(Passcode("one")) }
    device.lock()
    try archives.publishPending(Data("made of the base alone".utf8), kind: .whole)
    try await device.unlock(passcode: Passcode("one"))
    #expect(try device.archives(for: slot).openPending().archives.first?.isBaseUnchanged == false)
  }

  @Test func `setting and removing passcodes never makes a keybag that can't be opened`() async throws {
    do {
      let device = try await world.open()
      try device.archives(for: slot).publishPending(Data("pending".utf8), kind: .touchedNodes)
      var refused: ProtectionError.Code?
      for _ in 0..<6 where refused == nil {
        refused = await code { try await device.setPasscode(Passcode("one")) }
        if refused == nil { try await device.removePasscode(Passcode("one")) }
        #expect(await code { _ = try await world.open() } == nil)
      }
      #expect(refused == .busy)
      #expect(!device.hasPasscode)
    }
    let again = try await world.open()
    let archives = try again.archives(for: slot)
    try archives.discardPending(try #require(archives.openPending().archives.first))
    try await again.unlock(passcode: Passcode("any"))
    #expect(try !hasRetiredKeys(again))
  }

  @Test(arguments: [0, 20, 200])
  func `a damaged newest generation keeps the key of the one that stands in for it`(_ offset: Int) async throws {
    let path = TestWorld.path + "/archives"
    do {
      let device = try await world.open()
      let archives = try device.archives(for: slot)
      try archives.publish(Data("one".utf8))
      try archives.publish(Data("two".utf8))
    }
    let newest = try #require(world.memory.names(atPath: path).filter { $0.hasSuffix(".archive") }.max())
    var bytes = try #require(world.memory.content(atPath: "\(path)/\(newest)"))
    bytes[offset] ^= 0x55
    world.memory.plant(bytes, atPath: "\(path)/\(newest)")

    let device = try await world.open()
    try await device.setPasscode(Passcode("right"))
    let opened = try device.archives(for: slot).openNewest()
    #expect(try opened.readAll() == Data("one".utf8))
    guard case .olderGeneration = opened.standing else {
      Issue.record("an older generation passes for \(opened.standing)")
      return
    }
    // The next whole save puts things in order.
    try device.archives(for: slot).publish(Data("three".utf8))
    try await device.unlock(passcode: Passcode("right"))
    #expect(try !hasRetiredKeys(device))
    #expect(try device.archives(for: slot).openNewest().standing == .current)
  }

  @Test func `what nobody could vouch for is no surer under a new class or a first passcode`() async throws {
    let device = try await world.open()
    try device.archives(for: slot).publish(Data("one".utf8))
    world.memory.remove(atPath: TestWorld.path + "/archives/ledger")
    let archives = try device.archives(for: slot)
    #expect(try archives.openNewest().standing == .rollbackUnverifiable)
    try archives.setProtection(.completeUntilFirstUserAuthentication)
    #expect(try archives.openNewest().standing == .rollbackUnverifiable)
    try await device.setPasscode(Passcode("right"))
    let after = try device.archives(for: slot, protection: .completeUntilFirstUserAuthentication).openNewest()
    #expect(after.standing == .rollbackUnverifiable)
    #expect(try after.readAll() == Data("one".utf8))
  }

  @Test func `an older generation doesn't become the newest by a change of class`() async throws {
    let rig = StoreRig()
    let memory = MemoryFileSystem()
    let archives = try rig.archives(memory)
    try archives.publish(Data("one".utf8))
    try archives.publish(Data("two".utf8))
    let newest = try #require(rig.names(memory, endingWith: ".archive").max())
    memory.remove(atPath: "\(StoreRig.path)/\(newest)")
    let again = try rig.archives(memory)
    #expect(throws: ProtectionError.self) { try again.setProtection(.none) }
    #expect(try again.openNewest().standing == .olderGeneration(because: .missing))
    try again.publish(Data("three".utf8))
    try again.setProtection(.none)
    #expect(try again.openNewest().standing == .current)
  }
}
