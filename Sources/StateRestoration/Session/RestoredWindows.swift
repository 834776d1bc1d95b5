public import Observation

/// The windows of a program: those that were open come back, and each is preserved whenever it changes.
///
/// ```swift
/// try await RestorationSession.run(at: location, windows: { Page($0.id.rawValue) }) { windows in
///   if windows.roots.isEmpty { try await windows.open("first") }
///   await runMainLoop(windows)
/// }
/// ```
///
/// `RestorationSession.run` makes it. It is made of public parts: a program that outgrows it makes its own
/// ``SceneSessions`` and ``RestorableApplication``, and finds the same state. The roots and their order can be observed.
@Observable @MainActor public final class RestoredWindows<Root: RestorableController> {
  /// The device that holds the state; it can be given a passcode, locked and unlocked.
  @ObservationIgnored public let device: ProtectedDevice

  /// The list of windows, with a coordinator for each.
  @ObservationIgnored public let scenes: SceneSessions

  /// A window in use; another coordinator of its scene would need another root.
  private struct Window {
    let root: Root
    let coordinator: RestorationCoordinator
  }

  private var windows: [SceneSession.ID: Window] = [:]
  @ObservationIgnored let delegate = SessionDelegate()
  @ObservationIgnored let programScopes = ProgramScopes()
  @ObservationIgnored private let makeRoot: @MainActor (SceneSession) -> Root
  @ObservationIgnored private var isListRead = false
  /// Why the last window that did not come back did not.
  @ObservationIgnored private var refusal: RestorationError?
  @ObservationIgnored private var comeback: Task<RestorationError?, Never>?

  init(
    _ device: ProtectedDevice, registry: RestorationRegistry, configuration: RestorationConfiguration,
    makeRoot: @escaping @MainActor (SceneSession) -> Root
  ) throws(ProtectionError) {
    self.device = device
    self.makeRoot = makeRoot
    scenes = try SceneSessions(device: device, delegate: delegate, configuration: configuration, registry: registry)
    delegate.makeRoot = { [weak self] in self?.beginWindow($0) }
    delegate.onEnd = { [programScopes] in programScopes.saveNow() }
    delegate.onUnlock = { [weak self] in Task { await self?.comeBack() } }
    ExitGuard.add(self)
  }

  /// The roots of the open windows, the frontmost first.
  public var roots: [Root] { scenes.sessions.compactMap { self[$0.id] } }

  /// The root of an open window; nil if there is none of this name.
  public subscript(id: SceneSession.ID) -> Root? {
    guard let window = windows[id], scenes.sessions.contains(where: { $0.id == id && $0.isOpen }) else { return nil }
    // A coordinator that was closed elsewhere has let its archive go.
    return window.coordinator.standing == .discarded ? nil : window.root
  }

  /// The reports of the open windows, with the reasons: of the launch, and after an unlock of that.
  public var reports: [SceneSession.ID: RestorationReport] { windows.compactMapValues(\.coordinator.lastReport) }

  /// Opens a window, new or closed before, with the state that it had; or brings an open one to the front.
  ///
  /// While the device is locked the window is empty, and gets its state at the unlock. If it throws, there is no window.
  ///
  /// - Parameters:
  ///   - id: Which window; any name that the program likes.
  ///   - role: What kind of window it is; empty to leave that as it is.
  /// - Returns: The root.
  @discardableResult
  public func open(_ id: SceneSession.ID, role: String = "") async throws(RestorationError) -> Root {
    let coordinator = try await scenes.open(id, role: role)
    if let root = self[id] {
      // A launch or an unlock may be restoring it.
      await coordinator.endOperations()
      return root
    }
    forgetClosed()
    let session = scenes.sessions.first { $0.id == id } ?? SceneSession(id: id, role: role)
    guard let root = beginWindow(session) else {
      throw RestorationError(.deviceNotOpened, "The window “\(id)” was closed while it was opened; open it again.")
    }
    try await coordinator.restore(into: root)
    // What follows on a locked device is an edit.
    await coordinator.endTurn()
    return root
  }

  /// Preserves a window and closes it: the next launch does not open it, and ``open(_:role:)`` gives its state back.
  ///
  /// Let its root go afterwards. If the window can't be preserved, this throws and it stays open. If only the list of
  /// windows can't be written, this throws and the window is closed; the next list that is written says so.
  public func close(_ id: SceneSession.ID) async throws(RestorationError) {
    defer { forgetClosed() }
    try await scenes.close(id)
  }

  /// Unlocks the device, and returns when every window has its state: those that were open, and those opened while locked.
  ///
  /// An object that was edited while locked keeps its edits. A window closed while locked stays closed. A program that wipes
  /// passcodes from its memory gives a `Passcode` to the ``device`` instead; then ``roots`` changes a moment later.
  ///
  /// - Returns: The reports of all open windows.
  /// - Throws: The device's error, such as `wrongPasscode`; or the one that keeps a window from being read, with the others
  ///   there. Call it again then.
  @discardableResult
  public func unlock(passcode text: String) async throws(ProtectionError) -> [SceneSession.ID: RestorationReport] {
    try await device.unlock(passcode: text)
    if let failure = await comeBack() {
      throw failure.cause as? ProtectionError ?? ProtectionError(.io, "\(failure)", cause: failure)
    }
    return reports
  }

  // MARK: - Coming back

  /// Makes the root of a window, which is preserved once it is restored; nil if there is one, or another process has it.
  private func beginWindow(_ session: SceneSession) -> Root? {
    guard self[session.id] == nil else { return nil }
    do throws(RestorationError) {
      let coordinator = try scenes.coordinator(for: session.id)
      let root = makeRoot(session)
      windows[session.id] = Window(root: root, coordinator: coordinator)
      coordinator.preservesAutomatically = .onChange(coalescedOver: RestorationSession.interval)
      return root
    } catch {
      refusal = error
      scenes.configuration.log.log(.warning, "the window “\(session.id)” did not come back: \(error)")
      return nil
    }
  }

  /// Takes note of the launch; throws when nothing came back and an unlock would not help.
  func takeLaunch() async throws(RestorationError) {
    if let failure = delegate.failure {
      guard (failure.cause as? ProtectionError)?.code == .locked else { throw failure }
      // Unlocked meanwhile.
      if device.isProtectedDataAvailable, let failure = await comeBack() { throw failure }
    } else {
      isListRead = true
    }
    if let refusal, windows.isEmpty { throw refusal }
  }

  /// Brings back every window that was open and is not there; one call after another.
  @discardableResult
  private func comeBack() async -> RestorationError? {
    let former = comeback
    let task = Task { () -> RestorationError? in
      _ = await former?.value
      return await comeBackNow()
    }
    comeback = task
    return await task.value
  }

  private func comeBackNow() async -> RestorationError? {
    for window in windows.values { await window.coordinator.finishLateRestoration() }
    await programScopes.finishUnlock()
    guard !isListRead else { return nil }
    do throws(RestorationError) {
      try await scenes.load()
      isListRead = true
      try await scenes.restoreOpenScenes { beginWindow($0) }
      return nil
    } catch {
      scenes.configuration.log.log(.warning, "the windows did not come back: \(error)")
      return error
    }
  }

  /// Forgets the windows that are closed.
  private func forgetClosed() { windows = windows.filter { self[$0.key] != nil } }

  /// Lets the state of all windows go, so that another session may have it; they stay open in the list.
  func letGo() async {
    await programScopes.close()
    for window in windows.values {
      window.coordinator.preservesAutomatically = .never
      await window.coordinator.letGo()
    }
  }
}

extension RestoredWindows: SavedAtExit {
  func saveBeforeExit() {
    for window in windows.values { window.coordinator.preserveBeforeExit(window.root) }
    programScopes.saveNow()
  }
}
