extension RestorationSession {
  /// Runs a program whose state comes back: restores before the body, preserves every change, and saves at the end.
  ///
  /// The end is saved whether the body returns or throws, the process is asked to end by a signal, or calls `exit`. After
  /// `kill -9` at most the changes of a quarter of a second are missing.
  ///
  /// Its errors have no one type, because the body may throw anything. Otherwise it throws a `ProtectionError` if the device
  /// can't be opened, a `LifecycleError` if the launch is cut short, and a ``RestorationError`` if the last save fails.
  ///
  /// - Parameters:
  ///   - location: Where the state is kept.
  ///   - options: How the device is opened: who keeps its key, how soon it locks.
  ///   - root: The top of the hierarchy, as it is at launch.
  ///   - registry: The classes of objects that don't exist at launch.
  ///   - configuration: What the framework has to know of the program.
  ///   - signals: The signals that are answered: Ctrl-C, `kill` and a closed terminal end the program after a save, Ctrl-Z
  ///     stops it after one. Those left out do what they did.
  ///   - body: The program.
  public static func run<Result>(
    at location: DeviceLocation, options: DeviceOptions = DeviceOptions(), root: any RestorableController,
    registry: RestorationRegistry = RestorationRegistry(), configuration: RestorationConfiguration = .init(),
    answering signals: Set<LifecycleSignal> = Set(LifecycleSignal.allCases),
    _ body: @MainActor (RestorationSession) async throws -> Result
  ) async throws -> Result {
    let device = try await ProtectedDevice.open(at: location, options: options)
    let session = try RestorationSession(
      device, scene: .main, root: root, registry: registry, configuration: configuration)
    let application = try RestorableApplication(
      device: device, coordinator: session.coordinator, delegate: session.delegate)
    try await application.launch()
    #if canImport(Glibc)
    let driver = signals.isEmpty ? nil : SignalDriver(signals: signals)
    driver?.start(driving: application.lifecycle)
    defer { driver?.stop() }
    #endif
    let result: Result
    do {
      result = try await body(session)
    } catch {
      try? await application.lifecycle.terminate()
      await session.letGo()
      throw error
    }
    try await application.lifecycle.terminate()
    await session.letGo()
    if case .failure(let error) = application.lastPreservation { throw error }
    return result
  }
}
