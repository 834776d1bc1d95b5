import ApplicationLifecycle
import FaultyFileSystem
import FoundationEssentials
import Observation
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

@testable import DataProtection
@testable import StateRestoration

/// A program with several windows: one registry, one life cycle, and no change lost at the end.
@MainActor @Suite(.tags(.threads)) struct ScenesOfAnApplicationTests {
  /// A program of windows that have a text each, and a page that only the registry can make.
  @MainActor final class Program {
    let scenes: SceneSessions
    let application: RestorableApplication

    static let pages: RestorationRegistry = {
      let registry = RestorationRegistry()
      registry.register(Screen.self, as: "page") { path, _ in Screen(path.last, tag: "page") }
      registry.register(Draft.self, as: "draft", extent: .restore) { path, _ in Draft(path.last) }
      return registry
    }()

    let answers: Answers

    /// Says yes.
    final class Answers: RestorationCoordinatorDelegate {
      func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
      func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
    }

    /// A window that counts the warnings it gets.
    final class Window: NavigationController, Lifecycle.MemoryWarningResponder {
      var warnings = 0

      func didReceiveMemoryWarning() { warnings += 1 }
    }

    /// A page that comes back only when the session is restored.
    @Observable final class Draft: RestorableController, StatefulObject {
      let restoration: RestorationIdentity
      var restorableState = ""

      init(_ identifier: RestorationIdentifier?) { restoration = RestorationIdentity(identifier, class: "draft") }
    }

    /// Makes the windows.
    final class Windows: RestorableApplicationDelegate {
      var windows: [RestoredWindow.ID: Window] = [:]
      var rootController: (any RestorableController)? { nil }
      var topVisibleController: (any RestorableController)?
      var snapshot: Data?
      var shownSnapshot: Data?
      var response = Lifecycle.LaunchResponse.proceed
      var onWillTerminate: () -> Void = {}

      func willTerminate() { onWillTerminate() }

      func willFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse { response }

      func makeSnapshot() -> Data? { snapshot }

      func showSnapshot(_ snapshot: Data) { shownSnapshot = snapshot }

      func makeRoot(for session: RestoredWindow) -> (any RestorableController)? {
        let window = Window("window", root: Screen("list"))
        windows[session.id] = window
        return window
      }
    }

    let maker: Windows

    init(_ device: ProtectedDevice, log: MemoryLog = MemoryLog()) throws {
      answers = Answers()
      maker = Windows()
      var configuration = RestorationConfiguration()
      configuration.log = log.log
      scenes = try SceneSessions(
        device: device, delegate: answers, configuration: configuration, registry: Self.pages)
      let engine = SceneEngine(scenes) { [weak maker] in maker?.makeRoot(for: $0) }
      application = try RestorableApplication(device: device, scenes: engine, delegate: maker)
    }

    /// Opens a window and pushes a page with a text.
    func open(_ id: RestoredWindow.ID, text: String) async throws {
      let coordinator = try await scenes.open(id)
      let window = Window("window", root: Screen("list"))
      maker.windows[id] = window
      _ = try await coordinator.restore(into: window)
      window.push(Screen("page", text: text, tag: "page"))
    }

    func text(_ id: RestoredWindow.ID) -> String? { (maker.windows[id]?.top as? Screen)?.text }

    /// The names of the pages in a window, the lowest first.
    func pages(_ id: RestoredWindow.ID) -> [RestorationIdentifier?]? {
      maker.windows[id]?.stack.map(\.restoration.identifier)
    }
  }

  @Test func `leaving and ending save the last change of every window, and a launch restores all of them`() async throws
  {
    let device = try await SimulatedDevice()
    let first = try Program(try await device.startProcess().device)
    try await first.application.launch()
    try await first.open("left", text: "one")
    try await first.open("right", text: "two")
    try await first.application.lifecycle.terminate()
    device.reboot()

    let second = try Program(try await device.startProcess().device)
    let report = try await second.application.launch()
    #expect(report?.outcome == .restored)
    #expect(second.text("left") == "one" && second.text("right") == "two")
  }

  @Test func `a memory warning reaches every window`() async throws {
    let program = try Program(try await SimulatedDevice().startProcess().device)
    try await program.application.launch()
    for id in ["left", "right"] as [RestoredWindow.ID] { try await program.open(id, text: "text") }
    program.application.lifecycle.receiveMemoryWarning()
    #expect(program.maker.windows.mapValues(\.warnings) == ["left": 1, "right": 1])
    try await program.scenes.close("left")
    program.application.lifecycle.receiveMemoryWarning()
    #expect(program.maker.windows.mapValues(\.warnings) == ["left": 1, "right": 2])
  }

  @Test(arguments: [false, true])
  func `a snapshot is kept if the window's top controller is preserved`(isPreserved: Bool) async throws {
    let device = try await SimulatedDevice()
    let first = try Program(try await device.startProcess().device)
    try await first.application.launch()
    try await first.open("left", text: "one")
    try await first.open("right", text: "two")
    first.maker.snapshot = Data("picture".utf8)
    first.maker.topVisibleController = isPreserved ? first.maker.windows["left"]?.top : Screen("stranger")
    try await first.application.lifecycle.enterBackground()
    device.reboot()

    let second = try Program(try await device.startProcess().device)
    try await second.application.launch()
    #expect(second.maker.shownSnapshot == (isPreserved ? first.maker.snapshot : nil))
  }

  @Test func `saving all tries every scene, and throws the first failure`() async throws {
    let stores = SceneSessionsTests.Stores()
    let scenes = stores.launch()
    var windows: [RestoredWindow.ID: Screen] = [:]
    for id in ["a", "b"] as [RestoredWindow.ID] {
      let window = Screen("window", text: "first")
      windows[id] = window
      _ = try await scenes.open(id).preserve(window)
      window.text = "last"
    }
    stores.scenes["b"]?.state.withLock { $0.failures = ["append": .io, "publish": .io] }
    await #expect(throws: RestorationError.self) { try await scenes.preserveAll() }
    stores.scenes["b"]?.state.withLock { $0.failures = [:] }
    #expect(try await scenes.preserveAll().map(\.outcome.description).count == 2)
    for id in ["a", "b"] as [RestoredWindow.ID] {
      let again = Screen("window")
      _ = try await stores.launch().coordinator(for: id).restore(into: again)
      #expect(again.text == "last")
    }
    withExtendedLifetime(windows) {}
  }

  // MARK: - Windows that close because the program ends

  /// When a toolkit closes the windows of a program that ends.
  enum Closing: CaseIterable {
    case afterTheEnd, inWillTerminate, afterTheEndOfASuspendedProgram
  }

  @Test(arguments: Closing.allCases)
  func `a window that is closed after the end has begun is open at the next launch`(closing: Closing) async throws {
    let device = try await SimulatedDevice()
    let program = try Program(try await device.startProcess().device)
    try await program.application.launch()
    try await program.open("left", text: "one")
    try await program.open("right", text: "two")
    try await program.open("closed before", text: "three")
    try await program.scenes.close("closed before")
    func closeAll() async throws {
      for id in ["left", "right", "closed before"] as [RestoredWindow.ID] {
        try await program.scenes.close(id, title: "title")
      }
    }
    var closed: Task<Void, any Error>?
    switch closing {
    case .afterTheEnd:
      try await program.application.lifecycle.terminate()
      try await closeAll()
    case .inWillTerminate:
      program.maker.onWillTerminate = { closed = Task { try await closeAll() } }
      try await program.application.lifecycle.terminate()
      try await #require(closed).value
    case .afterTheEndOfASuspendedProgram:
      try await program.application.lifecycle.enterBackground()
      try #require(program.application.lifecycle.state == .suspended)
      try await program.application.lifecycle.terminate()
      try await closeAll()
    }
    device.reboot()
    let again = try Program(try await device.startProcess().device)
    try await again.application.launch()
    #expect(again.text("left") == "one" && again.text("right") == "two")
    #expect(again.scenes.frontmost?.id == "right" && again.maker.windows.count == 2)
    // In this run they can be closed.
    try await again.scenes.close("left")
    #expect(again.scenes.recentlyClosed.map(\.id) == ["left", "closed before"])
  }

  @Test func `a program that is launched again in its process closes windows as ever`() async throws {
    let program = try Program(try await SimulatedDevice().startProcess().device)
    try await program.application.launch()
    try await program.open("window", text: "one")
    try await program.application.lifecycle.terminate()
    try await program.application.launch()
    try await program.scenes.close("window")
    #expect(program.scenes.recentlyClosed.map(\.id) == ["window"])
  }

  // MARK: - A force quit

  /// A device on which a run has left two open windows.
  private func deviceWithWindows(passcode: String? = nil) async throws -> SimulatedDevice {
    let device = try await SimulatedDevice(passcode: passcode)
    let program = try Program(try await device.startProcess().device)
    try await program.application.launch()
    try await program.open("left", text: "one")
    try await program.open("right", text: "two")
    try await program.application.lifecycle.terminate()
    device.reboot()
    return device
  }

  /// The texts that the next launch brings back.
  private func texts(on device: SimulatedDevice, passcode: String? = nil) async throws -> [RestoredWindow.ID: String] {
    device.reboot()
    let process = try await device.startProcess()
    if let passcode { try await process.device.unlock(passcode: ProtectedDevice.Passcode(passcode)) }
    let program = try Program(process.device)
    try await program.application.launch()
    return program.maker.windows.keys.reduce(into: [:]) { texts, id in
      if let text = program.text(id), !text.isEmpty { texts[id] = text }
    }
  }

  @Test(arguments: [Lifecycle.LaunchResponse.proceed, .declinesRestoring])
  func `a force quit deletes every window, restored or not`(response: Lifecycle.LaunchResponse) async throws {
    let device = try await deviceWithWindows()
    let program = try Program(try await device.startProcess().device)
    program.maker.response = response
    try await program.application.launch()
    try await program.application.forceQuit()
    #expect(try await texts(on: device) == [:])
  }

  @Test func `a force quit while locked deletes the windows of this run, and says that others are left`() async throws {
    let device = try await deviceWithWindows(passcode: "1234")
    let program = try Program(try await device.startProcess().device)
    try await program.application.launch()
    try await program.open("right", text: "typed while locked")
    let error = await #expect(throws: RestorationError.self) { try await program.application.forceQuit() }
    #expect(error?.code == .discardFailed)
    #expect((error?.cause as? ProtectionError)?.code == .locked)
    #expect(try await texts(on: device, passcode: "1234") == ["left": "one"])
  }

  @Test func `what a force quit while locked has left can be discarded after the unlock`() async throws {
    let device = try await deviceWithWindows(passcode: "1234")
    let process = try await device.startProcess()
    let program = try Program(process.device)
    try await program.application.launch()
    await #expect(throws: RestorationError.self) { try await program.application.forceQuit() }
    try await process.device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    for session in try await program.scenes.load() { try await program.scenes.discard(session.id) }
    #expect(try await texts(on: device, passcode: "1234") == [:])
  }

  @Test func `a force quit tries every window, and throws the first failure`() async throws {
    let device = try await deviceWithWindows()
    let program = try Program(try await device.startProcess().device)
    // The frontmost window is in use elsewhere.
    let other = try await device.startProcess()
    let holder = try RestorationCoordinator(device: other.device, delegate: program.answers, window: "right")
    try await program.application.launch()
    let error = await #expect(throws: RestorationError.self) { try await program.application.forceQuit() }
    #expect(error?.code == .inUse)
    withExtendedLifetime(holder) {}
    #expect(try await texts(on: device) == ["right": "two"])
  }

  @Test func `a force quit leaves no list of windows`() async throws {
    let device = try await deviceWithWindows()
    let program = try Program(try await device.startProcess().device)
    try await program.application.launch()
    try await program.application.forceQuit()
    device.reboot()
    let again = try Program(try await device.startProcess().device)
    #expect(try await again.application.launch()?.outcome == .nothingPreserved)
    #expect(again.scenes.sessions.isEmpty && again.maker.windows.isEmpty)
    #expect(try await generations(ofTheListOn: device).isEmpty)
  }

  // MARK: - A list that can't be read

  /// How the list of windows is spoilt.
  enum Spoiling: CaseIterable {
    case newestDamaged, allDamaged, allRemoved
  }

  /// The names of the files that hold lists of windows, oldest first.
  private func generations(ofTheListOn device: SimulatedDevice) async throws -> [String] {
    let protected = try await device.startProcess().device
    let slot = ArchiveSlot(application: "main", scene: "", slot: "scenes")
    let path = "/device/archives/" + (try protected.archives(for: slot, protection: .complete).name.text)
    let names = try #require(device.memory).names(atPath: path).filter { $0.hasPrefix("g-") }.sorted()
    return names.map { path + "/" + $0 }
  }

  private func spoilList(_ spoiling: Spoiling, on device: SimulatedDevice) async throws {
    let memory = try #require(device.memory)
    let files = try await generations(ofTheListOn: device)
    try #require(files.count == 2)
    for file in spoiling == .newestDamaged ? files.suffix(1) : files[...] {
      let bytes = try #require(memory.content(atPath: file))
      if spoiling == .allRemoved { memory.remove(atPath: file) } else { memory.plant(bytes.dropLast(1), atPath: file) }
    }
  }

  @Test(arguments: Spoiling.allCases)
  func `a list of windows that can't be read is reported and logged`(spoiling: Spoiling) async throws {
    let device = try await deviceWithWindows()
    try await spoilList(spoiling, on: device)
    let log = MemoryLog()
    let program = try Program(try await device.startProcess().device, log: log)
    let report = try #require(try await program.application.launch())
    #expect(program.text("left") == (spoiling == .newestDamaged ? "one" : nil))
    switch spoiling {
    case .newestDamaged: #expect(report.outcome == .restored)
    case .allDamaged: #expect(report.outcome == .damaged)
    case .allRemoved: #expect(report.outcome == .missing)
    }
    #expect(report.description.contains("list of scenes"))
    #expect(log.lines.contains { $0.contains("list of scenes") })
  }

  @Test(arguments: Spoiling.allCases, [false, true])
  func `a force quit after a list was lost deletes the known windows, and says that others may be left`(
    spoiling: Spoiling, isLater: Bool
  ) async throws {
    let device = try await deviceWithWindows()
    try await spoilList(spoiling, on: device)
    var program = try Program(try await device.startProcess().device)
    try await program.application.launch()
    try await program.open("new", text: "three")
    if isLater {
      try await program.application.lifecycle.terminate()
      device.reboot()
      program = try Program(try await device.startProcess().device)
      #expect(try await program.application.launch()?.outcome == .restored)
    }
    let error = await #expect(throws: RestorationError.self) { try await program.application.forceQuit() }
    #expect(error?.code == .discardFailed)
    #expect(try await texts(on: device) == [:])
  }

  // MARK: - Extents

  @Test(arguments: [false, true])
  func `a launch's extent holds for windows that come at the unlock, and for those opened later`(
    isLocked: Bool
  ) async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let first = try Program(try await device.startProcess().device)
    try await first.application.launch()
    for id in ["open", "closed"] as [RestoredWindow.ID] {
      try await first.open(id, text: "page")
      first.maker.windows[id]?.push(Program.Draft("draft"))
    }
    try await first.scenes.close("closed")
    try await first.application.lifecycle.terminate()
    device.reboot()

    let process = try await device.startProcess()
    if !isLocked { try await process.device.unlock(passcode: ProtectedDevice.Passcode("1234")) }
    let second = try Program(process.device)
    try await second.application.launch(Lifecycle.LaunchOptions(extent: .launch))
    if isLocked {
      try await process.device.unlock(passcode: ProtectedDevice.Passcode("1234"))
      try await second.scenes.load()
      try await second.scenes.restoreOpenScenes { second.maker.makeRoot(for: $0) }
    }
    #expect(second.pages("open") == ["list", "page"])
    for session in second.scenes.sessions where session.id == "closed" {
      try await second.scenes.open("closed").restore(into: try #require(second.maker.makeRoot(for: session)))
    }
    #expect(second.pages("closed") == ["list", "page"])
  }

  @Test func `a window that was closed in this run comes back whole, whatever the launch asked for`() async throws {
    let program = try Program(try await SimulatedDevice().startProcess().device)
    try await program.application.launch(Lifecycle.LaunchOptions(extent: .launch))
    try await program.open("window", text: "page")
    program.maker.windows["window"]?.push(Program.Draft("draft"))
    try await program.scenes.close("window")
    let session = try #require(program.scenes.sessions.first)
    let root = try #require(program.maker.makeRoot(for: session))
    try await program.scenes.open("window").restore(into: root)
    #expect(program.pages("window") == ["list", "page", "draft"])
  }
}
