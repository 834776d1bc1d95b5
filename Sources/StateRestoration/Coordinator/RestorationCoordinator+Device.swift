internal import FoundationShim

extension RestorationCoordinator {
  /// Creates a coordinator for the scene of a program on a protected device.
  ///
  /// A locked device doesn't throw: restoring then reports ``RestorationReport/Outcome/locked``. Nor does damaged
  /// state.
  ///
  /// It looks at the disk on the calling thread, to know whether somebody else has the scene. What is asked of the coordinator
  /// later does not; a ``RestorationSession`` does nothing of it on the main actor.
  ///
  /// - Parameters:
  ///   - device: Where the state is kept.
  ///   - delegate: Says whether to preserve and restore. It is held weakly: keep it yourself.
  ///   - configuration: What the coordinator has to know about the program.
  ///   - window: Its name, for a program with several windows.
  ///   - registry: The restoration classes, blueprints and shared objects; scenes may share one.
  /// - Throws: ``RestorationError/Code/inUse`` when another process, or another coordinator of this one, has the scene;
  ///   ``RestorationError/Code/deviceNotOpened``, with `unsafeLocation` as its cause, when the directory of the archives isn't the
  ///   user's alone, is a link, or is on a network volume.
  public convenience init(
    device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration = .init(), window: RestoredWindow.ID = .main,
    registry: RestorationRegistry = RestorationRegistry()
  ) throws(RestorationError) {
    do throws(ProtectionError) {
      try self.init(
        taken: try device.take(window, of: configuration), of: device, delegate: delegate,
        configuration: configuration, window: window, registry: registry)
    } catch {
      throw RestorationError(error)
    }
  }

  /// Creates the coordinator of a scene whose archive was taken, if it could be.
  convenience init(
    taken: TakenScene, of device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration, window: RestoredWindow.ID, registry: RestorationRegistry
  ) throws(ProtectionError) {
    if let error = taken.failure {
      if error.code == .inUse, error.processIdentifier == ProcessInfo.processInfo.processIdentifier {
        // One that has gone lets it go as soon as its last save ends: the worker waits for that, and not the main actor.
        if Self.hasWriter(of: taken.store) { throw error }
      } else if error.code == .inUse || error.code == .unsafeLocation {
        throw error
      }
      // Any other is told by restoring: a damaged disk is no reason not to start.
    }
    self.init(
      store: taken.store, delegate: delegate, configuration: configuration, window: window, registry: registry)
    observeUnlock(of: device)
  }

  /// Creates the coordinator of a scene, whose archive is taken away from the main actor.
  static func make(
    on device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration, window: RestoredWindow.ID = .main,
    registry: RestorationRegistry = RestorationRegistry()
  ) async throws(ProtectionError) -> RestorationCoordinator {
    let taken = try await take(window, of: device, configuration)
    return try RestorationCoordinator(
      taken: taken, of: device, delegate: delegate, configuration: configuration, window: window, registry: registry)
  }

  /// Takes the archive of a scene away from the main actor, for a coordinator to be made next.
  static func take(
    _ window: RestoredWindow.ID, of device: ProtectedDevice, _ configuration: RestorationConfiguration
  ) async throws(ProtectionError) -> TakenScene {
    let claim = SceneClaim()
    claims.removeAll { $0.claim == nil }
    claims.append(WeakClaim(claim: claim))
    return try await device.away { (device) throws(ProtectionError) in
      var taken = try device.take(window, of: configuration)
      if taken.failure == nil { claim.note(taken.store) }
      taken.claim = claim
      return taken
    }
  }

  private struct WeakClaim { weak let claim: SceneClaim? }

  /// Those who are about to make a coordinator.
  private static var claims: [WeakClaim] = []

  /// Preserves for the last time, and lets the scene's archive go, so that another coordinator may have it at once.
  ///
  /// Nothing is saved from then on. If it throws, the coordinator goes on as before. One that is only dropped lets go as well,
  /// without a last save.
  public func close() async throws(RestorationError) {
    if root != nil, standing != .discarded { _ = try await preserve() }
    preservesAutomatically = .never
    await letGo()
  }

  /// Whether a coordinator that lives, or is about to, writes a scene.
  private static func hasWriter(of store: ArchiveStore) -> Bool {
    claims.contains { $0.claim?.has(store) == true }
      || all.contains { coordinator in
        guard let other = coordinator.store as? ArchiveStore else { return false }
        return other.isOpen && other.isOfSameSlot(as: store)
      }
  }

  /// Lets the scene's archive go, so that another coordinator may have it.
  ///
  /// Nothing is saved from then on: a save that still waits would open it again.
  package func letGo() async {
    announceEnd()
    await operations.run(.forgetting) {
      standing = .discarded
      await worker.run { $0.store.close() }
    }
  }

  /// Lets the scene's archive go at once; see ``letGo()``.
  func letGoNow() {
    announceEnd()
    standing = .discarded
    worker.runNow { $0.store.close() }
  }

  /// Follows the device's unlocks for as long as the coordinator lives.
  func observeUnlock(of device: ProtectedDevice) {
    unlock.observation = device.observeProtectedData { [turns, weak self] notification in
      turns.perform { self?.follow(notification) }
    }
  }

  private func follow(_ notification: ProtectedDevice.Notification) {
    let tell = { @MainActor [weak self] in
      guard let self else { return }
      self.unlock.notify?(notification)
    }
    guard notification == .protectedDataDidBecomeAvailable else { return tell() }
    unlock.count += 1
    beginFollowingUnlock()
    guard unlock.notify != nil else { return }
    guard turns.isInLoop else {
      Task {
        await finishLateRestoration()
        tell()
      }
      return
    }
    // Behind what could not be done in this turn.
    operations.begin(.forgetting) { [operations, turns] in
      operations.end()
      turns.perform(tell)
    }
  }
}
