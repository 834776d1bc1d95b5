import DataProtection
import StateRestoration
import StateRestorationTesting
import TestTraits
import Testing

/// What is typed while the device is locked does not replace a page that knows how to join it.
@MainActor @Suite(.tags(.threads)) struct MergingTests {
  final class Page: RestorableController, MergingObject {
    let restoration: RestorationIdentity = "page"
    var restorableState = ""
    let merges: Bool
    init(merges: Bool = true) { self.merges = merges }

    func merged(stored: String, pending: String) -> String { merges ? stored + "\n" + pending : pending }
  }

  @Test(arguments: [true, false]) func `one line typed while locked is joined to the stored page`(_ merges: Bool)
    async throws
  {
    let device = try await SimulatedDevice(passcode: "1234")
    let first = Page()
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: first)
    first.restorableState = "a whole page"
    try await session.close()
    device.reboot()

    let page = Page(merges: merges)
    let locked = try await RestorationSession.open(on: try await device.startProcess().device, root: page)
    try await Task.sleep(for: .milliseconds(50))
    page.restorableState = "one line"
    try await locked.preserve()
    let report = try await locked.unlock(passcode: "1234")
    #expect(report[["page"]]?.remarks == [.joined] && report.notRestored.isEmpty)
    let expected = merges ? "a whole page\none line" : "one line"
    #expect(page.restorableState == expected)
    // Nobody could have announced what the unlock has joined.
    #expect(try await locked.preserve().receipt?.findings.isEmpty != false)
    try await locked.close()
    device.reboot()

    let process = try await device.startProcess()
    try await device.unlock()
    let again = Page()
    _ = try await RestorationSession.open(on: process.device, root: again)
    #expect(again.restorableState == expected)
  }

  @Test func `lines of two runs that died while locked are joined once, by the launch after the unlock`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let first = Page()
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: first)
    first.restorableState = "a whole page"
    try await session.close()

    for line in ["one line", "another"] {
      device.reboot()
      let process = try await device.startProcess()
      let page = Page()
      let locked = try await RestorationSession.open(on: process.device, root: page)
      try await Task.sleep(for: .milliseconds(50))
      page.restorableState = line
      try await locked.preserve()
      process.fileSystem.die()
    }

    // The first launch dies before it saves anything.
    for saves in [false, true, true] {
      device.reboot()
      let process = try await device.startProcess()
      try await device.unlock()
      let page = Page()
      let session = try await RestorationSession.open(on: process.device, root: page)
      #expect(page.restorableState == "a whole page\none line\nanother")
      if saves { try await session.close() } else { process.fileSystem.die() }
    }
  }

  @Test func `a line of a run that died while locked replaces a page that does not join it`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let first = Page(merges: false)
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: first)
    first.restorableState = "a whole page"
    try await session.close()
    device.reboot()

    let process = try await device.startProcess()
    let page = Page(merges: false)
    let locked = try await RestorationSession.open(on: process.device, root: page)
    try await Task.sleep(for: .milliseconds(50))
    page.restorableState = "one line"
    try await locked.preserve()
    process.fileSystem.die()
    device.reboot()

    let last = try await device.startProcess()
    try await device.unlock()
    let again = Page(merges: false)
    _ = try await RestorationSession.open(on: last.device, root: again)
    #expect(again.restorableState == "one line")
  }

  /// A screen that can be read while locked, with two secrets that can't: a view, and a model that is shared.
  private final class Desk: RestorableController, RestorationViewOwner {
    let restoration: RestorationIdentity = "desk"
    let page: PageView
    let journal = SharedJournal()
    let registry = RestorationRegistry()
    var restorationViews: [any RestorableView] { [page] }
    var texts: [String] { [page.restorableState, journal.restorableState] }

    init(_ protection: ProtectionClass?) {
      page = PageView(protection)
      registry.share(journal, as: "journal")
    }

    func type(_ text: String) { (page.restorableState, journal.restorableState) = (text, text) }
  }

  private final class PageView: RestorableView, MergingObject {
    let restoration: RestorationIdentity
    var restorableState = ""

    init(_ protection: ProtectionClass?) { restoration = RestorationIdentity("page", protection: protection) }

    func merged(stored: String, pending: String) -> String { stored + "+" + pending }
  }

  private final class SharedJournal: MergingObject {
    var restorableState = ""

    func merged(stored: String, pending: String) -> String { stored + "+" + pending }
  }

  @Test(arguments: [nil, .complete] as [ProtectionClass?], [false, true])
  func `a view and a shared object join what was typed while locked`(
    _ protection: ProtectionClass?, atNextLaunch: Bool
  ) async throws {
    // The article's way: the window comes back while locked, the page with the unlock.
    var configuration = RestorationConfiguration()
    if protection != nil { configuration.protection = .none }
    let device = try await SimulatedDevice(passcode: "1234")
    func open(_ desk: Desk) async throws -> (RestorationSession, SimulatedProcess) {
      let process = try await device.startProcess()
      let session = try await RestorationSession.open(
        on: process.device, root: desk, registry: desk.registry, configuration: configuration)
      return (session, process)
    }
    let first = Desk(protection)
    let (session, _) = try await open(first)
    first.type("stored")
    try await session.close()
    device.reboot()

    var desk = Desk(protection)
    let (locked, process) = try await open(desk)
    try await Task.sleep(for: .milliseconds(50))
    desk.type("typed")
    try await locked.preserve()
    if atNextLaunch {
      process.fileSystem.die()
      device.reboot()
      desk = Desk(protection)
      let next = try await device.startProcess()
      try await device.unlock()
      _ = try await RestorationSession.open(
        on: next.device, root: desk, registry: desk.registry, configuration: configuration)
    } else {
      let report = try await locked.unlock(passcode: "1234")
      #expect(report[["desk", "page"]]?.remarks == [.joined])
    }
    #expect(desk.page.restorableState == "stored+typed")
    // The shared object is as readable as the configuration says.
    #expect(desk.journal.restorableState == (protection == nil ? "stored+typed" : "typed"))
  }
}
