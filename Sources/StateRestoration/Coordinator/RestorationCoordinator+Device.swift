internal import FoundationShim

extension RestorationCoordinator {
  /// Creates a coordinator for the scene of a program on a protected device.
  ///
  /// A locked device doesn't throw: restoring then reports ``RestorationOutcome/locked``. Nor does damaged state.
  ///
  /// - Parameters:
  ///   - device: Where the state is kept.
  ///   - delegate: Says whether to preserve and restore. It is held weakly: keep it yourself.
  ///   - configuration: What the coordinator has to know about the program.
  ///   - session: The scene, for a program with several windows.
  ///   - registry: The restoration classes, blueprints and shared objects; scenes may share one.
  /// - Throws: `inUse` when another process, or another coordinator of this one, has the scene; `unsafeLocation` when the
  ///   directory of the archives isn't the user's alone, is a link, or is on a network volume.
  public convenience init(
    device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration = .init(), session: SceneSession.ID = .main,
    registry: RestorationRegistry = RestorationRegistry()
  ) throws(ProtectionError) {
    let slot = ArchiveSlot(application: configuration.application, scene: session.rawValue)
    let store = try device.archives(for: slot, protection: configuration.protection)
    do throws(ProtectionError) {
      try store.take(waiting: .zero)
    } catch  where error.code == .inUse && error.processIdentifier == ProcessInfo.processInfo.processIdentifier {
      // One that has gone lets it go as soon as its last save ends: the worker waits for that, and not the main actor.
      if Self.hasWriter(of: session, configuration.application) { throw error }
    } catch  where error.code != .inUse && error.code != .unsafeLocation {
      // Restoring tells it: a damaged disk is no reason not to start.
    }
    self.init(store: store, delegate: delegate, configuration: configuration, session: session, registry: registry)
    observeUnlock(of: device)
  }

  /// Preserves for the last time, and lets the scene's archive go, so that another coordinator may have it at once.
  ///
  /// Nothing is saved from then on. If it throws, the coordinator goes on as before. One that is only dropped lets go as well,
  /// without a last save.
  public func close() async throws(RestorationError) {
    if root != nil, standing != .discarded { _ = try await preserve() }
    preservesAutomatically = .never
    await letGo()
  }

  /// Whether a coordinator that lives writes a scene.
  private static func hasWriter(of session: SceneSession.ID, _ application: String) -> Bool {
    all.contains { coordinator in
      coordinator.session == session && coordinator.configuration.application == application
        && (coordinator.store as? ArchiveStore)?.isOpen == true
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
      guard notification == .protectedDataDidBecomeAvailable else { return }
      turns.perform {
        self?.unlock.count += 1
        self?.beginFollowingUnlock()
      }
    }
  }
}
