/// A hierarchy that is restored, and preserved whenever it changes, for as long as the session is kept.
///
/// ```swift
/// let draft = StoredValue("draft", "")
/// try await RestorationSession.run(at: .applicationState("com.example.draft"), root: draft) { session in
///   print(session.report)
/// }
/// ```
///
/// A session opens the device, makes a coordinator and says yes for you. It is made of public parts: a program that outgrows
/// it makes its own ``RestorationCoordinator`` and ``RestorableApplication``, and finds the same state.
@MainActor public final class RestorationSession {
  /// The device that holds the state; it can be given a passcode, locked and unlocked.
  public let device: ProtectedDevice

  /// The coordinator that restores and preserves.
  public let coordinator: RestorationCoordinator

  /// The top of the hierarchy.
  package let root: any RestorableController

  /// The report with the reasons: of the launch, and after an unlock of that.
  public var report: RestorationReport { coordinator.lastReport ?? RestorationReport(outcome: .unavailable) }

  /// So soon after a change the next one is saved.
  static let interval = Duration.milliseconds(250)

  /// The application of a program that is run, by `run`; nil in a session that was opened.
  ///
  /// For its life cycle, background tasks, handles of protected files, and the snapshot.
  public internal(set) var application: RestorableApplication?

  /// Called when a signal ends the program, after the last save: the place to give a terminal back.
  ///
  /// Of a session that was opened; see the `answering` parameter of ``open(at:root:registry:configuration:instances:answering:)``. A program
  /// that is run has ``RestorationSessionDelegate/sessionDidEnd(by:)``.
  public var willEnd: (@MainActor (Lifecycle.Signal) -> Void)? {
    get { signals.willEnd }
    set { signals.willEnd = newValue }
  }

  /// Called when Ctrl-Z stops the program, after the save: the place to give a terminal back.
  ///
  /// Of a session that was opened. The process stops when this returns. A stop by SIGSTOP is told to nobody.
  /// Of several that are open in a process, the one that was opened first is told. A program that is run has
  /// ``RestorationSessionDelegate``'s `didEnterBackground`.
  public var willStop: (@MainActor () -> Void)? {
    get { signals.willStop }
    set { signals.willStop = newValue }
  }

  /// Called when the program goes on after a stop: the place to take the terminal again, and to draw.
  ///
  /// Of a session that was opened. In a turn after SIGCONT, which `fg` sends, also where ``willStop`` was not called.
  public var didResume: (@MainActor () -> Void)? {
    get { signals.didResume }
    set { signals.didResume = newValue }
  }

  /// Called on the main thread when the device begins to lock and when it is unlocked, whoever does it.
  ///
  /// In a turn after that; after an unlock the hierarchy has its state by then. It is the place to take away what the user must not see, and to
  /// show it again; see <doc:InAProgramThatOwnsItsMainThread>. A program that is run has a delegate for this.
  public var protectedDataDidChange: (@MainActor (ProtectedDevice.Notification) -> Void)? {
    get { coordinator.unlock.notify }
    set { coordinator.unlock.notify = newValue }
  }

  let delegate: SessionDelegate
  var isOpen = true
  /// The list of states, and which of them this process has; nil for a program that runs once.
  private var instance: (scenes: SceneSessions, id: RestoredWindow.ID)?
  private let signals = SignalAnswer()

  /// Makes a session of a device that is open; nothing is restored yet.
  static func make(
    _ device: ProtectedDevice, root: any RestorableController, registry: RestorationRegistry,
    configuration: RestorationConfiguration, delegate program: (any RestorationSessionDelegate)? = nil
  ) async throws(ProtectionError) -> RestorationSession {
    let delegate = SessionDelegate(program)
    let coordinator = try await RestorationCoordinator.make(
      on: device, delegate: program ?? delegate, configuration: configuration, registry: registry)
    return RestorationSession(device, root: root, delegate: delegate, coordinator: coordinator)
  }

  /// Makes a session of a coordinator that asks the session's delegate.
  init(
    _ device: ProtectedDevice, root: any RestorableController, delegate: SessionDelegate,
    coordinator: RestorationCoordinator
  ) {
    self.device = device
    self.root = root
    self.delegate = delegate
    self.coordinator = coordinator
    delegate.rootController = root
    coordinator.preservesAutomatically = .onChange(coalescedOver: Self.interval)
    ExitGuard.add(self)
  }

  /// Preserves now, and returns when the state is on disk.
  ///
  /// Changes are preserved without it; call it where the program has to know that they are.
  @discardableResult
  public func preserve() async throws(RestorationError) -> PreservationOutcome { try await coordinator.preserve(root) }

  /// Unlocks the device and restores what waited for that.
  ///
  /// A program that wipes passcodes from its memory gives a `ProtectedDevice.Passcode` to the ``device`` instead.
  ///
  /// - Returns: The report of that restoration; that of the launch if nothing was locked.
  /// - Throws: ``RestorationError/Code/wrongPasscode``, or what keeps the device from being unlocked.
  @discardableResult
  public func unlock(passcode text: String) async throws(RestorationError) -> RestorationReport {
    try await device.unlockForState(passcode: text)
    await coordinator.finishLateRestoration()
    return report
  }

  /// Preserves for the last time, and lets the state go, so that another session may have it.
  ///
  /// If it throws, the session stays open.
  public func close() async throws(RestorationError) {
    guard isOpen else { return }
    if let instance {
      try await instance.scenes.close(instance.id)
      return end()
    }
    _ = try await preserve()
    await letGo()
  }

  /// Lets the state go.
  func letGo() async {
    end()
    await coordinator.letGo()
  }

  /// Nothing is preserved by itself any more, and signals do what they did.
  private func end() {
    isOpen = false
    coordinator.preservesAutomatically = .never
    signals.end()
  }
}

// MARK: - Opening

extension RestorationSession {
  /// Opens a device and restores a hierarchy, for a program with a life cycle of its own; keep the session.
  ///
  /// Changes are preserved from then on, soon after each. A program that blocks its main thread gives the configuration its
  /// ``RestorationMainLoop``. SIGTERM and the other signals end the program after a save; Ctrl-Z stops it after one. If the main thread
  /// takes no turn for five seconds, or the signal comes again, the program ends without that save.
  ///
  /// - Parameters:
  ///   - location: Where the state is kept.
  ///   - root: The top of the hierarchy, as it is at launch.
  ///   - registry: The classes of objects that don't exist at launch.
  ///   - configuration: What the framework has to know of the program.
  ///   - instances: Whether the user may start the program again while it runs: with `.several` each process has a state of its own.
  ///   - signals: The signals that are answered until the session is closed; those left out do what they did.
  public static func open(
    at location: ProtectedDevice.Location, root: any RestorableController,
    registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init(), instances: Instances = .one,
    answering signals: Set<Lifecycle.Signal> = Set(Lifecycle.Signal.allCases)
  ) async throws(RestorationError) -> RestorationSession {
    do {
      let device = try await ProtectedDevice.open(at: location)
      let session = try await open(
        on: device, root: root, registry: registry, configuration: configuration, instances: instances)
      session.signals.begin(signals, in: configuration.mainLoop)
      return session
    } catch {
      throw RestorationError(opening: error)
    }
  }

  /// Restores a hierarchy from a device that is open already.
  package static func open(
    on device: ProtectedDevice, root: any RestorableController, registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init(), instances: Instances = .one
  ) async throws -> RestorationSession {
    let session: RestorationSession
    if instances == .several {
      let delegate = SessionDelegate(nil)
      let (scenes, id, coordinator) = try await takeInstance(
        on: device, asking: delegate, registry: registry, configuration: configuration)
      session = RestorationSession(device, root: root, delegate: delegate, coordinator: coordinator)
      session.instance = (scenes, id)
    } else {
      session = try await make(device, root: root, registry: registry, configuration: configuration)
    }
    try await session.coordinator.restore(into: root)
    await session.coordinator.endTurn()
    return session
  }

  /// Opens a device and restores a hierarchy at once, on the calling main thread: the hierarchy has its state when this returns.
  ///
  /// Like ``open(at:root:registry:configuration:instances:answering:)``, with the same outcomes and errors, for a program that begins
  /// synchronously: in `main.swift`, before a main loop or in one of its callbacks. It turns no loop and runs nothing else of the
  /// main actor, wherever it is called on that. It takes some milliseconds, for which the thread reads from the disk.
  ///
  /// ```swift
  /// let draft = StoredValue("draft", "")
  /// let session = try RestorationSession.openNow(at: .applicationState("com.example.draft"), root: draft)
  /// ```
  ///
  /// - Parameters:
  ///   - location: Where the state is kept.
  ///   - root: The top of the hierarchy, as it is at launch.
  ///   - registry: The classes of objects that don't exist at launch.
  ///   - configuration: What the framework has to know of the program, its ``RestorationMainLoop`` above all.
  ///   - instances: Whether the user may start the program again while it runs: with `.several` each process has a state of its own.
  ///   - signals: The signals that are answered until the session is closed; those left out do what they did.
  public static func openNow(
    at location: ProtectedDevice.Location, root: any RestorableController,
    registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init(), instances: Instances = .one,
    answering signals: Set<Lifecycle.Signal> = Set(Lifecycle.Signal.allCases)
  ) throws(RestorationError) -> RestorationSession {
    do {
      let device = try ProtectedDevice.openNow(at: location)
      let session = try openNow(
        on: device, root: root, registry: registry, configuration: configuration, instances: instances)
      session.signals.begin(signals, in: configuration.mainLoop)
      return session
    } catch {
      throw RestorationError(opening: error)
    }
  }

  /// Restores a hierarchy at once, from a device that is open already.
  package static func openNow(
    on device: ProtectedDevice, root: any RestorableController, registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init(), instances: Instances = .one
  ) throws -> RestorationSession {
    try Synchronous.run {
      try await open(on: device, root: root, registry: registry, configuration: configuration, instances: instances)
    }
  }
}

// MARK: - Synchronous calls

/// Calls that block until they are over, for programs whose main thread belongs to a loop that isn't Swift's.
///
/// They throw ``RestorationError/Code/restorationInProgress`` in the middle of an asynchronous restoration of the session, and in
/// hooks of the hierarchy. A save in progress is waited for.
extension RestorationSession {
  /// Preserves now, and returns when the state is on disk; see ``preserve()``.
  @discardableResult
  public func preserveNow() throws(RestorationError) -> PreservationOutcome { try coordinator.preserveNow(root) }

  /// Unlocks the device and restores what waited for that, before it returns; see ``unlock(passcode:)``.
  ///
  /// A passcode takes about half a second to check.
  @discardableResult
  public func unlockNow(passcode text: String) throws(RestorationError) -> RestorationReport {
    try device.unlockForStateNow(passcode: text)
    do throws(RestorationError) {
      try coordinator.finishLateRestorationNow()
    } catch {
      // Somebody else restores, and is told of the unlock.
    }
    return report
  }

  /// Preserves for the last time, and lets the state go; see ``close()``.
  ///
  /// If it throws, the session stays open.
  public func closeNow() throws(RestorationError) {
    guard isOpen else { return }
    if let instance {
      try instance.scenes.closeNow(instance.id, title: "")
      return end()
    }
    try preserveNow()
    end()
    coordinator.letGoNow()
  }
}
