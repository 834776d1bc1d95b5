import Foundation
import StateRestoration
import Testing

@testable import two_windows

/// The windows of a program that has a lock page.
@MainActor final class LockableProgram: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
  let device: ProtectedDevice
  var pages: [SceneSession.ID: Page] = [:]
  private(set) var scenes: SceneSessions!
  private(set) var application: RestorableApplication!

  init(device: ProtectedDevice, registry: RestorationRegistry) throws {
    self.device = device
    scenes = try SceneSessions(device: device, delegate: self, registry: registry)
    application = try RestorableApplication(device: device, scenes: scenes, delegate: self)
  }

  var rootController: (any RestorableController)? { nil }

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func makeRoot(for session: SceneSession) -> (any RestorableController)? {
    let page = Page(session.id.rawValue)
    pages[session.id] = page
    return page
  }

  private(set) var shown: [String] = []
  private func show(_ page: Page) { shown.append("\(page.name): \(page.title.value), \(page.text.value)") }

  private(set) var failure: RestorationError?
  func didFailToRestore(_ error: RestorationError) { failure = error }

  // snippet: LockPage
  /// Sets the first passcode; from then on every launch begins locked.
  func choosePasscode(_ text: String) async throws {
    try await device.setPasscode(Passcode(text))
  }

  /// Takes the text of the lock page, and makes all windows that were open and are not there yet.
  func unlock(_ text: String) async throws {
    try await device.unlock(passcode: text)
    try await scenes.load()
    let reports = try await scenes.restoreOpenScenes { pages[$0.id] == nil ? makeRoot(for: $0) : nil }
    for (session, _) in reports {
      try scenes.coordinator(for: session.id).preservesAutomatically = .onChange(coalescedOver: .milliseconds(250))
      show(pages[session.id]!)
    }
  }

  /// A window that the user opened while locked restores by itself, a moment after the unlock.
  func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {
    if let page = pages[coordinator.session] { show(page) }
  }
  // snippet end
}

/// A second launch in one process, after everything of the first one is gone.
@MainActor @Suite struct LockedWindowsTests {
  private let location = DeviceLocation.directory(
    FileManager.default.temporaryDirectory.appending(path: "windows-\(UUID())").path)

  private func launch(with passcode: String? = nil) async throws -> LockableProgram {
    let program = try LockableProgram(
      device: try await ProtectedDevice.open(at: location), registry: RestorationRegistry())
    if let passcode { try await program.device.unlock(passcode: passcode) }
    try await program.application.launch()
    return program
  }

  private func open(_ name: SceneSession.ID, in program: LockableProgram) async throws -> Page {
    let coordinator = try await program.scenes.open(name)
    let page = Page(name.rawValue)
    program.pages[name] = page
    try await coordinator.restore(into: page)
    return page
  }

  /// Leaves two windows, and a passcode.
  private func prepare() async throws {
    let program = try await launch()
    for name: SceneSession.ID in ["first", "second"] {
      let page = try await open(name, in: program)
      page.text.value = "stored \(name.rawValue)"
      page.title.value = "Title"
    }
    try await program.application.lifecycle.terminate()
    try await program.choosePasscode("1234")
  }

  @Test func `an unlock brings all windows back, and keeps edits made while locked`() async throws {
    try await prepare()
    let program = try await launch()
    #expect(program.pages.isEmpty && program.failure != nil && !program.device.isProtectedDataAvailable)
    let first = try await open("first", in: program)
    try await Task.sleep(for: .milliseconds(50))
    first.text.value = "typed"
    await #expect(throws: ProtectionError.self) { try await program.unlock("wrong") }
    #expect(program.pages.count == 1)
    try await Task.sleep(for: try await program.device.remainingPasscodeDelay())
    try await program.unlock("1234")
    let deadline = ContinuousClock.now + .seconds(30)
    while program.shown.count < 2, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
    #expect(program.shown.sorted() == ["first: Title, typed", "second: Title, stored second"])
    #expect(program.pages["first"] === first)
    try await program.scenes.preserveAll()
  }

  @Test func `an unlock before the launch restores all windows in the launch`() async throws {
    try await prepare()
    let program = try await launch(with: "1234")
    #expect(program.pages.values.map(\.text.value).sorted() == ["stored first", "stored second"])
  }

  @Test func `an unlock of a running program leaves its windows alone`() async throws {
    try await prepare()
    let program = try await launch()
    try await program.unlock("1234")
    let first = try #require(program.pages["first"])
    program.device.lock(gracePeriod: .zero)
    first.text.value = "typed"
    try await program.unlock("1234")
    #expect(program.pages["first"] === first && first.text.value == "typed" && program.pages.count == 2)
  }
}
