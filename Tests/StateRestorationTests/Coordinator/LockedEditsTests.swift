import FoundationEssentials
import Observation
import RestorationArchive
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// What was edited while locked outlives fallbacks, crashes and further locks, and takes no place but its own.
@MainActor @Suite(.tags(.threads)) struct LockedEditsTests {
  let bench = Bench()

  @Test(arguments: [false, true], [false, true])
  func `a save after the fallback is not overwritten by an older edit`(inRun: Bool, isDamaged: Bool) async throws {
    try await bench.preserve(twoScreens("1"))
    var (c, root) = (bench.launch(), twoScreens())
    _ = try await c.restore(into: root)
    root["a"]?.text = "2"
    try bench.requireWhole()
    _ = try await c.preserve(root)
    try await bench.kill()
    if !isDamaged { for _ in 0..<2 { try await bench.die(at: ["root", "b"]) } }
    root = twoScreens()
    c = try await bench.launchLocked(root) { root["a"]?.text = "locked" }
    if isDamaged { bench.store.state.withLock { $0.generations[$0.generations.count - 1].failsReading = true } }
    if inRun {
      try await bench.unlock(c)
    } else {
      try await bench.kill()
      try await bench.unlock()
      (c, root) = (bench.launch(), twoScreens())
      _ = try await c.restore(into: root)
    }
    #expect(root["a"]?.text == "locked")
    root["a"]?.text = "newest"
    #expect(try await c.preserve(root).receipt?.durability == .durable)
    try await bench.kill()
    let last = twoScreens()
    _ = try await bench.launch().restore(into: last)
    #expect(last["a"]?.text == "newest")
  }

  @Test func `what was saved while locked outlives another hierarchy on a device that is locked again`() async throws {
    try await bench.preserve(twoScreens("1"))
    let first = twoScreens()
    let c = try await bench.launchLocked(first) { first["a"]?.text = "locked" }
    try await bench.unlock(c)
    #expect([first["a"]?.text, first["b"]?.text] == ["locked", "1"])
    let second = twoScreens()
    try await bench.launchLocked(second, c) { second["b"]?.text = "locked again" }
    try await bench.unlock()
    try await bench.kill()
    let last = twoScreens()
    _ = try await bench.launch().restore(into: last)
    #expect([last["a"]?.text, last["b"]?.text] == ["locked", "locked again"])
  }

  @Test func `the version tag that the delegate compares is that of the stored state`() async throws {
    bench.configuration.interfaceVersion = "1"
    try await bench.preserve(twoScreens("of 1"))
    (bench.configuration.interfaceVersion, bench.configuration.applicationVersion) = ("2", "2.0")
    let root = twoScreens()
    let c = try await bench.launchLocked(root) { root["a"]?.text = "typed" }
    try await bench.unlock(c)
    #expect(bench.delegate.askedContext?.versionTag == "1")
    #expect(bench.delegate.lateReports.last?.reason == .afterUpdate)
  }

  @Test func `a receipt after the unlock does not say that it waits for the unlock`() async throws {
    try await bench.preserve(twoScreens("1"))
    try await bench.lock()
    let (root, c) = (twoScreens(), bench.launch())
    _ = try await c.preserve(root)
    root["a"]?.text = "locked"
    _ = try await c.preserve(root)
    try await bench.unlock(c)
    root["a"]?.text = "unlocked"
    #expect(try await c.preserve(root).receipt?.kind != .pendingChange)
  }

  @Test func `an edit made while locked that crashes restoring is left out at the next launch`() async throws {
    try await bench.preserve(Screen("root", children: [Panel("a", value: 1)]))
    let a = Panel("a")
    let locked = Screen("root", children: [a])
    try await bench.launchLocked(locked) { a.value = 2 }
    try await bench.kill()
    try await bench.unlock()
    let journal = Journal()
    try await bench.die(
      restoring: Screen("root", children: [Panel("a", journal: journal)]), at: "decode a", of: journal)
    let again = Panel("a")
    _ = try await bench.launch().restore(into: Screen("root", children: [again]))
    #expect(again.value != 2)
  }
}
