internal import DataProtection

extension RestorationSession {
  /// How many processes of a program may run at a time.
  public enum Instances: Sendable, Hashable {
    /// One: while it runs, another one gets the error ``RestorationError/Code/inUse`` with the number of the first process.
    case one
    /// As many as the user starts, each with a state of its own.
    ///
    /// Of a program with one root, a process gets the first state that nobody has: the state of one that has ended comes back
    /// to the next one that starts. Of a program with windows, it gets those that were open and that nobody has. What nobody
    /// asks for is kept as long as windows that were closed.
    case several
  }
}

extension RestorationSession {
  /// What the list of windows calls the states of a program with one root that runs several times.
  private static let role = "instance"

  /// Takes the first state that no other process has.
  static func takeInstance(
    on device: ProtectedDevice, asking delegate: any RestorationCoordinatorDelegate, registry: RestorationRegistry,
    configuration: RestorationConfiguration
  ) async throws(RestorationError) -> (SceneSessions, RestoredWindow.ID, RestorationCoordinator) {
    let list: ArchiveStore
    do throws(ProtectionError) {
      list = try await device.away { (device) throws(ProtectionError) in try device.listOfScenes(of: configuration) }
    } catch {
      throw RestorationError(opening: error)
    }
    let scenes = SceneSessions(
      list: list, on: device, delegate: delegate, configuration: configuration, registry: registry)
    let (id, coordinator) = try await scenes.openFirstFree(role: role)
    return (scenes, id, coordinator)
  }

  /// Runs one of several processes of a program with one root: with the first state that nobody has.
  package static func runInstance<Result>(
    on device: ProtectedDevice, root: any RestorableController, registry: RestorationRegistry,
    configuration: RestorationConfiguration, delegate program: (any RestorationSessionDelegate)? = nil,
    answering signals: Set<Lifecycle.Signal> = [],
    _ body: @MainActor (RestorationSession) async throws -> Result
  ) async throws -> Result {
    let delegate = SessionDelegate(program)
    let (scenes, id, coordinator) = try await takeInstance(
      on: device, asking: program ?? delegate, registry: registry, configuration: configuration)
    let session = RestorationSession(device, root: root, delegate: delegate, coordinator: coordinator)
    let application: RestorableApplication
    do throws(ProtectionError) {
      application = try await RestorableApplication.make(
        device: device, coordinator: coordinator, delegate: delegate)
    } catch {
      throw RestorationError(opening: error)
    }
    session.application = application
    return try await drive(application, answering: signals, telling: delegate) {
      try await body(session)
    } lettingGo: {
      await session.letGo()
      // Its state is kept as long as a closed window is; who finds it closes it, if this can't be written.
      try? await scenes.close(id)
    }
  }
}

extension ProtectedDevice {
  /// What the one process of a program has for as long as it runs; `inUse` if another one has it.
  func claim(of configuration: RestorationConfiguration) throws(ProtectionError) -> ArchiveStore? {
    let slot = ArchiveSlot(application: configuration.application, scene: "", slot: "instance")
    let store = try archives(for: slot, protection: configuration.protection)
    do throws(ProtectionError) {
      try store.take(waiting: .zero)
    } catch  where error.code != .inUse && error.code != .unsafeLocation {
      // As of a window: a damaged disk is no reason not to start.
      return nil
    }
    return store
  }
}
