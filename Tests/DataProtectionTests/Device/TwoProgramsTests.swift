import DataProtection
import FoundationEssentials
import Testing

/// Two programs that have one device open.
@Suite struct TwoProgramsTests {
  let world = TestWorld()
  let slot = ArchiveSlot(application: "a")

  @Test func `after one changes the passcode, the other goes on saving`() async throws {
    let one = try await world.open()
    try await one.setPasscode(Passcode("old"))
    let two = try await world.open()
    try await two.unlock(passcode: Passcode("old"))
    let (first, second) = (try one.archives(for: slot), try two.archives(for: slot))
    try second.publish(Data("before".utf8))
    try await one.changePasscode(from: Passcode("old"), to: Passcode("new"))
    // The ledger now knows a revision of the keybag that the other program hasn't seen: no rollback, only news.
    try first.publish(Data("one".utf8))
    #expect(try second.openNewest().readAll() == Data("one".utf8))
    try second.publish(Data("two".utf8))
    #expect(try first.openNewest().readAll() == Data("two".utf8))
    try two.files().create("x", contents: Data([1]), protection: .completeUnlessOpen).close()
    #expect(try one.files().read("x") == Data([1]))
  }

  @Test func `a passcode that another program has just made the right one is checked`() async throws {
    let one = try await world.open()
    try await one.setPasscode(Passcode("old"))
    let two = try await world.open()
    #expect(await code { try await two.unlock(passcode: Passcode("new")) } == .wrongPasscode)
    try await one.changePasscode(from: Passcode("old"), to: Passcode("new"))
    try await two.unlock(passcode: Passcode("new"))
    #expect(two.isProtectedDataAvailable)
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
