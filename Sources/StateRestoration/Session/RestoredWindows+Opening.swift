internal import DataProtection

extension RestorationSession {
  /// Opens a device and brings back the windows that were open, for a program with a life cycle of its own; keep the windows.
  ///
  /// Like ``open(at:root:registry:configuration:instances:answering:)``, with a root for each window. While the device is locked no window
  /// comes; ``RestoredWindows/unlock(passcode:)`` brings them.
  ///
  /// - Parameters:
  ///   - location: Where the state is kept.
  ///   - makeRoot: Makes the top of a window's hierarchy, as it is before anything is restored.
  ///   - scope: The values of the program that belong to no window, for the closure that makes windows: they are there before
  ///     the first one is made. Nil for a program that has none, or asks for them by ``RestoredWindows/openScope()``.
  ///   - registry: The classes of objects that don't exist at launch, of all windows.
  ///   - configuration: What the framework has to know of the program.
  ///   - instances: Whether the user may start the program again while it runs. With `.one` the second process gets the
  ///     error ``RestorationError/Code/inUse``, with the number of the first one's process.
  ///   - signals: The signals that are answered until ``RestoredWindows/end()``; those left out do what they did.
  /// - Throws: ``RestorationError``, also the one that keeps the list of windows, or every window, from being read.
  public static func open<Root: RestorableController>(
    at location: ProtectedDevice.Location, windows makeRoot: @escaping @MainActor (RestoredWindow) -> Root,
    scope: RestorationScope? = nil, registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init(),
    instances: Instances = .one, answering signals: Set<Lifecycle.Signal> = Set(Lifecycle.Signal.allCases)
  ) async throws(RestorationError) -> RestoredWindows<Root> {
    do {
      let windows = try await RestoredWindows.open(
        on: try await ProtectedDevice.open(at: location), scope: scope, configuration: configuration,
        registry: registry, instances: instances, makeRoot: makeRoot)
      windows.signals.begin(signals, in: configuration.mainLoop)
      return windows
    } catch {
      throw RestorationError(opening: error)
    }
  }

  /// Opens a device and brings back the windows that were open at once, on the calling main thread: each has its state when
  /// this returns.
  ///
  /// Like ``open(at:windows:scope:registry:configuration:instances:answering:)``, with the same outcomes and errors, for a program that
  /// begins synchronously. It turns no loop and runs nothing else of the main actor, wherever it is called on that.
  ///
  /// ```swift
  /// let windows = try RestorationSession.openNow(
  ///   at: .applicationState("com.example.pages"), windows: { Page($0.id) }, configuration: .init(mainLoop: .gLib))
  /// if windows.roots.isEmpty { try windows.openNewNow() }
  /// ```
  ///
  /// - Parameters:
  ///   - location: Where the state is kept.
  ///   - makeRoot: Makes the top of a window's hierarchy, as it is before anything is restored.
  ///   - scope: The values of the program that belong to no window, for the closure that makes windows: they are there before
  ///     the first one is made. Nil for a program that has none, or asks for them by ``RestoredWindows/openScope()``.
  ///   - registry: The classes of objects that don't exist at launch, of all windows.
  ///   - configuration: What the framework has to know of the program, its ``RestorationMainLoop`` above all.
  ///   - instances: Whether the user may start the program again while it runs.
  ///   - signals: The signals that are answered until ``RestoredWindows/endNow()``; those left out do what they did.
  public static func openNow<Root: RestorableController>(
    at location: ProtectedDevice.Location, windows makeRoot: @escaping @MainActor (RestoredWindow) -> Root,
    scope: RestorationScope? = nil, registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init(),
    instances: Instances = .one, answering signals: Set<Lifecycle.Signal> = Set(Lifecycle.Signal.allCases)
  ) throws(RestorationError) -> RestoredWindows<Root> {
    do {
      let windows = try openNow(
        on: try ProtectedDevice.openNow(at: location), windows: makeRoot, scope: scope, registry: registry,
        configuration: configuration, instances: instances)
      windows.signals.begin(signals, in: configuration.mainLoop)
      return windows
    } catch {
      throw RestorationError(opening: error)
    }
  }

  /// Brings back the windows of a device that is open already, at once.
  package static func openNow<Root: RestorableController>(
    on device: ProtectedDevice, windows makeRoot: @escaping @MainActor (RestoredWindow) -> Root,
    scope: RestorationScope? = nil, registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init(),
    instances: Instances = .one
  ) throws -> RestoredWindows<Root> {
    try Synchronous.run {
      try await RestoredWindows.open(
        on: device, scope: scope, configuration: configuration, registry: registry, instances: instances,
        makeRoot: makeRoot)
    }
  }
}

extension RestoredWindows {
  /// Preserves everything for the last time, and lets the state go, so that another session may have it; all windows are open
  /// at the next launch.
  ///
  /// For windows that were opened, not run. If it throws, they stay as they are.
  public func end() async throws(RestorationError) {
    if hasEnded { return }
    try await preserve()
    announceEnd()
    await letGo()
  }
}

// MARK: - Synchronous calls

/// Calls that block until they are over, for programs whose main thread belongs to a loop that isn't Swift's.
///
/// They throw ``RestorationError/Code/restorationInProgress`` in the middle of an asynchronous call that opens, restores or
/// closes, and in hooks of the hierarchies. A save in progress is waited for.
extension RestoredWindows {
  /// Opens a window, or brings an open one to the front; see ``open(_:role:)``.
  @discardableResult
  public func openNow(_ id: RestoredWindow.ID, role: String = "") throws(RestorationError) -> Root {
    let coordinator = try scenes.openNow(id, role: role)
    if let root = self[id] {
      try coordinator.requireFree(.saving)
      return root
    }
    let root = try beginOpened(id, role: role)
    try coordinator.restoreNow(into: root)
    return root
  }

  /// Opens a new window; see ``openNew(role:)``.
  @discardableResult
  public func openNewNow(role: String = "") throws(RestorationError) -> Root {
    try openNow(Self.newName(), role: role)
  }

  /// Opens a window that was closed; see ``reopen(_:)``.
  @discardableResult
  public func reopenNow(_ id: RestoredWindow.ID? = nil) throws(RestorationError) -> Root? {
    // Another process may have opened it.
    if device.isProtectedDataAvailable { try scenes.loadNow() }
    guard let session = recentlyClosed.first(where: { id == nil || $0.id == id }) else { return nil }
    return try openNow(session.id)
  }

  /// Notes that a window came to the front; see ``activate(_:)``.
  public func activateNow(_ id: RestoredWindow.ID) throws(RestorationError) { try scenes.activateNow(id) }

  /// Preserves a window and closes it; see ``close(_:title:)``.
  public func closeNow(_ id: RestoredWindow.ID, title: String = "") throws(RestorationError) {
    defer { forgetClosed() }
    try scenes.closeNow(id, title: title)
  }

  /// Forgets a window and deletes what was preserved for it; see ``discard(_:)``.
  public func discardNow(_ id: RestoredWindow.ID) throws(RestorationError) {
    defer { forgetClosed() }
    try scenes.discardNow(id)
  }

  /// Preserves all windows and the values of the program, and returns when they are on disk; see ``preserve()``.
  @discardableResult
  public func preserveNow() throws(RestorationError) -> [(window: RestoredWindow, outcome: PreservationOutcome)] {
    var failure: RestorationError?
    do throws(RestorationError) { try preserveProgramNow() } catch { failure = error }
    var outcomes: [(window: RestoredWindow, outcome: PreservationOutcome)] = []
    for window in known {
      guard let root = self[window.id], let coordinator = coordinator(of: window.id) else { continue }
      do throws(RestorationError) {
        outcomes.append((window, try coordinator.preserveNow(root)))
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return outcomes
  }

  /// Unlocks the device, and every window has its state when this returns; see ``unlock(passcode:)``.
  ///
  /// A passcode takes about half a second to check.
  @discardableResult
  public func unlockNow(passcode text: String) throws(RestorationError) -> [RestoredWindow.ID: RestorationReport] {
    try device.unlockForStateNow(passcode: text)
    try finishUnlockNow()
    return reports
  }

  /// Preserves everything for the last time, and lets the state go; see ``end()``.
  ///
  /// If it throws, the windows stay as they are.
  public func endNow() throws(RestorationError) {
    if hasEnded { return }
    try preserveNow()
    announceEnd()
    letGoNow()
  }
}
