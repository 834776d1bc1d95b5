extension RestorationSession {
  /// Runs a program whose state comes back: restores before the body, preserves every change, and saves at the end.
  ///
  /// The end is saved whether the body returns or throws, the process is asked to end by a signal, or calls `exit`. After
  /// `kill -9` at most the changes of a quarter of a second are missing, and of plain properties those of two seconds; see
  /// ``RestorationConfiguration/askingInterval``.
  ///
  /// Its errors have no one type, because the body may throw anything. Everything else is a ``RestorationError``: the device can't be
  /// opened, another process has the state, the launch is cut short, or the last save fails.
  ///
  /// - Parameters:
  ///   - location: Where the state is kept.
  ///   - options: How the device is opened: who keeps its key, how soon it locks.
  ///   - root: The top of the hierarchy, as it is at launch.
  ///   - registry: The classes of objects that don't exist at launch.
  ///   - configuration: What the framework has to know of the program.
  ///   - delegate: What the program does beside its hierarchy: consent, state of its own, callbacks, snapshots, its end.
  ///   - instances: Whether the user may start the program again while it runs. With `.one` the second process gets the
  ///     error ``RestorationError/Code/inUse``, with the number of the first one's process.
  ///   - signals: The signals that are answered: Ctrl-C, `kill` and a closed terminal end the program after a save, Ctrl-Z
  ///     stops it after one. Those left out do what they did. A second run in a process leaves them to the first.
  ///   - body: The program.
  public static func run<Result>(
    at location: ProtectedDevice.Location, options: ProtectedDevice.Options = ProtectedDevice.Options(),
    root: any RestorableController,
    registry: RestorationRegistry = RestorationRegistry(), configuration: RestorationConfiguration = .init(),
    delegate: (any RestorationSessionDelegate)? = nil, instances: Instances = .one,
    answering signals: Set<Lifecycle.Signal> = Set(Lifecycle.Signal.allCases),
    _ body: @MainActor (RestorationSession) async throws -> Result
  ) async throws -> Result {
    let device = try await open(location, options)
    if instances == .several {
      return try await runInstance(
        on: device, root: root, registry: registry, configuration: configuration, delegate: delegate,
        answering: signals, body)
    }
    return try await run(
      on: device, root: root, registry: registry, configuration: configuration, delegate: delegate, answering: signals,
      body)
  }

  private static func open(
    _ location: ProtectedDevice.Location, _ options: ProtectedDevice.Options
  ) async throws(RestorationError) -> ProtectedDevice {
    do throws(ProtectionError) {
      return try await ProtectedDevice.open(at: location, options: options)
    } catch {
      throw RestorationError(opening: error)
    }
  }

  /// Runs a program on a device that is open.
  package static func run<Result>(
    on device: ProtectedDevice, root: any RestorableController, registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init(), delegate: (any RestorationSessionDelegate)? = nil,
    answering signals: Set<Lifecycle.Signal> = [], _ body: @MainActor (RestorationSession) async throws -> Result
  ) async throws -> Result {
    let session: RestorationSession
    let application: RestorableApplication
    do {
      session = try await RestorationSession.make(
        device, root: root, registry: registry, configuration: configuration, delegate: delegate)
      application = try await RestorableApplication.make(
        device: device, coordinator: session.coordinator, delegate: session.delegate)
    } catch {
      throw RestorationError(opening: error)
    }
    session.application = application
    return try await drive(application, answering: signals, telling: session.delegate) {
      try await body(session)
    } lettingGo: {
      await session.letGo()
    }
  }

  /// Runs a program with several windows: those that were open come back, and each is preserved whenever it changes.
  ///
  /// Like ``run(at:options:root:registry:configuration:delegate:instances:answering:_:)``, with a root for each window. While
  /// the device is
  /// locked no window comes; ``RestoredWindows/unlock(passcode:)`` brings them. It also throws what keeps the list of windows, or
  /// every window, from being read: the disk fails.
  ///
  /// - Parameters:
  ///   - location: Where the state is kept.
  ///   - options: How the device is opened: who keeps its key, how soon it locks.
  ///   - makeRoot: Makes the top of a window's hierarchy, as it is before anything is restored.
  ///   - scope: The values of the program that belong to no window, for the closure that makes windows: they are there before
  ///     the first one is made. Nil for a program that has none, or asks for them by ``RestoredWindows/openScope()``.
  ///   - registry: The classes of objects that don't exist at launch, of all windows.
  ///   - configuration: What the framework has to know of the program.
  ///   - delegate: What the program does beside its windows.
  ///   - instances: Whether the user may start the program again while it runs. With `.one` the second process gets the
  ///     error `inUse`, with the number of the first one's process; with `.several` it gets the windows that nobody has.
  ///   - signals: The signals that are answered.
  ///   - body: The program.
  public static func run<Root: RestorableController, Result>(
    at location: ProtectedDevice.Location, options: ProtectedDevice.Options = ProtectedDevice.Options(),
    windows makeRoot: @escaping @MainActor (RestoredWindow) -> Root, scope: RestorationScope? = nil,
    registry: RestorationRegistry = RestorationRegistry(), configuration: RestorationConfiguration = .init(),
    delegate: (any RestorationSessionDelegate)? = nil, instances: Instances = .one,
    answering signals: Set<Lifecycle.Signal> = Set(Lifecycle.Signal.allCases),
    _ body: @MainActor (RestoredWindows<Root>) async throws -> Result
  ) async throws -> Result {
    return try await run(
      on: try await open(location, options), windows: makeRoot, scope: scope, registry: registry,
      configuration: configuration, delegate: delegate, instances: instances, answering: signals, body)
  }

  /// Runs a program with several windows on a device that is open.
  package static func run<Root: RestorableController, Result>(
    on device: ProtectedDevice, windows makeRoot: @escaping @MainActor (RestoredWindow) -> Root,
    scope: RestorationScope? = nil, registry: RestorationRegistry = RestorationRegistry(),
    configuration: RestorationConfiguration = .init(), delegate program: (any RestorationSessionDelegate)? = nil,
    instances: Instances = .one,
    answering signals: Set<Lifecycle.Signal> = [], _ body: @MainActor (RestoredWindows<Root>) async throws -> Result
  ) async throws -> Result {
    let delegate = SessionDelegate(program)
    defer { withExtendedLifetime(delegate) {} }
    let windows: RestoredWindows<Root>
    let application: RestorableApplication
    do {
      windows = try await RestoredWindows.make(
        device: device, delegate: delegate, program: program, scope: scope, isLaunched: true,
        configuration: configuration, registry: registry, instances: instances, makeRoot: makeRoot)
      application = try await RestorableApplication.make(device: device, windows: windows, delegate: delegate)
    } catch {
      throw RestorationError(opening: error)
    }
    windows.application = application
    return try await drive(application, answering: signals, telling: delegate) {
      try await windows.takeLaunch()
      return try await body(windows)
    } lettingGo: {
      await windows.letGo()
    }
  }

  /// Launches an application, runs a body, ends the application, and lets the state go however the body ended.
  static func drive<Result>(
    _ application: RestorableApplication, answering signals: Set<Lifecycle.Signal>,
    telling delegate: SessionDelegate, _ body: @MainActor () async throws -> Result,
    lettingGo letGo: @MainActor () async -> Void
  ) async throws -> Result {
    defer { delegate.end(by: nil) }
    do throws(Lifecycle.RequestError) {
      try await application.launch()
    } catch {
      throw RestorationError(opening: error)
    }
    if !signals.isEmpty { application.answerSignalsIfFree(signals) { delegate.end(by: $0) } }
    defer { application.stopAnsweringSignals() }
    let result: Result
    do {
      result = try await body()
    } catch {
      try? await application.lifecycle.terminate()
      await application.finishForceQuit()
      await letGo()
      throw error
    }
    await application.finishForceQuit()
    do throws(Lifecycle.RequestError) {
      try await application.lifecycle.terminate()
    } catch {
      await application.finishForceQuit()
      throw RestorationError(opening: error)
    }
    await letGo()
    if case .failure(let error) = application.lastPreservation { throw error }
    return result
  }
}
