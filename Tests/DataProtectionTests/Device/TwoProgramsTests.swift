import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

/// Two programs that have one device open.
@Suite struct TwoProgramsTests {
  let world = TestWorld()
  let slot = ArchiveSlot(application: "a")

  @Test func `after one changes the passcode, the other goes on saving`() async throws {
    let one = try await world.open()
    try await one.setPasscode(ProtectedDevice.Passcode("old"))
    let two = try await world.open()
    try await two.unlock(passcode: ProtectedDevice.Passcode("old"))
    let (first, second) = (try one.archives(for: slot), try two.archives(for: slot))
    try second.publish(Data("before".utf8))
    second.close()
    try await one.changePasscode(from: ProtectedDevice.Passcode("old"), to: ProtectedDevice.Passcode("new"))
    // The ledger now knows a revision of the keybag that the other program hasn't seen: no rollback, only news.
    try first.publish(Data("one".utf8))
    first.close()
    #expect(try second.openNewest().readAll() == Data("one".utf8))
    try second.publish(Data("two".utf8))
    second.close()
    #expect(try first.openNewest().readAll() == Data("two".utf8))
    try two.files().create("x", contents: Data([1]), protection: .completeUnlessOpen).close()
    #expect(try one.files().read("x") == Data([1]))
  }

  @Test func `a passcode that another program has just made the right one is checked`() async throws {
    let one = try await world.open()
    try await one.setPasscode(ProtectedDevice.Passcode("old"))
    let two = try await world.open()
    #expect(await code { try await two.unlock(passcode: ProtectedDevice.Passcode("new")) } == .wrongPasscode)
    try await one.changePasscode(from: ProtectedDevice.Passcode("old"), to: ProtectedDevice.Passcode("new"))
    try await two.unlock(passcode: ProtectedDevice.Passcode("new"))
    #expect(two.isProtectedDataAvailable)
  }

  @Test func `while another program changes the keys, all but an opening is busy`() async throws {
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("right"))
    let directory = try world.memory.openDirectory(atPath: TestWorld.path)
    let lock = try world.memory.openFile("lock", in: directory, .write)
    try #require(try world.memory.tryLock(lock, .exclusive))
    #expect(await code { _ = try await world.open() } == nil)
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("right")) } == .busy)
    #expect(
      await code {
        try await device.changePasscode(from: ProtectedDevice.Passcode("right"), to: ProtectedDevice.Passcode("new"))
      } == .busy)
    #expect(await code { try await device.eraseAllContent() } == .busy)
    #expect(await code { try await world.erase() } == .busy)
    try world.memory.unlock(lock)
    try await device.unlock(passcode: ProtectedDevice.Passcode("right"))
  }

  @Test(arguments: [false, true])
  func `what was opened before an erase serves and takes nothing any more`(isOwn: Bool) async throws {
    let two = try await world.open()
    let other = try await world.open()
    let device = isOwn ? two : other
    let store = try two.archives(for: slot)
    let base = try store.publish(Data("one".utf8)).generation
    try store.append(Data("frame".utf8), to: base)
    let opened = try store.openNewest()
    let files = try two.files(in: "drafts")
    let handle = try files.create("x", contents: Data([1]))
    try await device.eraseAllContent()
    // Neither what was read before, nor an append that no one would find again, nor a save in a place without a name.
    #expect(await code { _ = try store.openNewest() } == .otherDevice)
    #expect(await code { try store.append(Data("lost".utf8), to: base) } == .otherDevice)
    #expect(await code { try store.publish(Data("two".utf8)) } == .otherDevice)
    #expect(await code { try store.publishPending(Data()) } == .otherDevice)
    #expect(await code { _ = try store.openPending() } == .otherDevice)
    #expect(await code { try store.deleteAll() } == .otherDevice)
    #expect(await code { _ = try files.read("x") } == .otherDevice)
    #expect(await code { try files.create("y") } == .otherDevice)
    #expect(await code { _ = try files.list() } == .otherDevice)
    if isOwn {
      #expect(await code { _ = try opened.readAll() } == .locked)
      #expect(await code { _ = try handle.readAll() } == .locked)
    }
    // The device that was erased goes on, from nothing.
    #expect(await code { _ = try device.archives(for: slot).openNewest() } == .notFound)
    #expect(try device.files(in: "drafts").list().isEmpty)
    try device.archives(for: slot).publish(Data("new".utf8))
    #expect(try await world.open().archives(for: slot).openNewest().readAll() == Data("new".utf8))
  }

  @Test func `an append between any two steps of another program's erase is not acknowledged and lost`() async throws {
    for step in 1... {
      let world = TestWorld()
      let two = try await world.open()
      let faulty = FaultyFileSystem(world.memory)
      let one = try await world.open(through: faulty)
      let store = try two.archives(for: slot)
      let base = try store.publish(Data("one".utf8)).generation
      try store.append(Data("frame".utf8), to: base)
      let start = faulty.callCount
      let isOver = SharedFlag()
      faulty.onCall { number, _ in
        guard number == start + step else { return }
        _ = try? store.append(Data("between".utf8), to: base)
        isOver.set()
      }
      try await one.eraseAllContent()
      faulty.onCall(nil)
      #expect((try? store.append(Data("after".utf8), to: base)) == nil, "step \(step)")
      if !isOver.isSet { return }
    }
  }

  @Test func `an erase while another thread saves ends in an empty device`() async throws {
    let device = try await world.open()
    let archives = try device.archives(for: slot)
    try archives.publish(Data("one".utf8))
    let isOver = SharedFlag()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while !isOver.isSet {
          _ = try? device.archives(for: slot).publish(Data("again".utf8))
          _ = try? device.files().write(Data("again".utf8), to: "x")
          await Task.yield()
        }
      }
      group.addTask {
        for _ in 0..<20 {
          let outcome = await code { try await device.eraseAllContent() }
          #expect(outcome == nil || outcome == .busy)
        }
        isOver.set()
      }
    }
    try await device.eraseAllContent()
    #expect(try device.files().list().isEmpty)
    #expect(await code { _ = try device.archives(for: slot).openNewest() } == .notFound)
    try device.archives(for: slot).publish(Data("two".utf8))
    #expect(try await world.open().archives(for: slot).openNewest().readAll() == Data("two".utf8))
  }
}
