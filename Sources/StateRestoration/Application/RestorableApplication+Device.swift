extension RestorableApplication {
  /// Joins a coordinator, its device and a life cycle.
  ///
  /// The snapshot is kept in a slot of its own, next to the coordinator's archive and under its protection class.
  /// - Throws: What keeps the device from giving the snapshot's slot.
  public convenience init(
    device: ProtectedDevice, coordinator: RestorationCoordinator, lifecycle: Lifecycle = Lifecycle(),
    delegate: any RestorableApplicationDelegate
  ) throws(RestorationError) {
    self.init(
      engine: coordinator, device: device,
      snapshots: try device.snapshots(of: coordinator.configuration, scene: coordinator.window), lifecycle: lifecycle,
      delegate: delegate)
  }

  /// Joins a coordinator, its device and a life cycle, without waiting for the disk on the main actor.
  static func make(
    device: ProtectedDevice, coordinator: RestorationCoordinator, delegate: any RestorableApplicationDelegate
  ) async throws(ProtectionError) -> RestorableApplication {
    let (configuration, scene) = (coordinator.configuration, coordinator.window)
    let snapshots = try await device.away { (device) throws(ProtectionError) in
      try device.snapshotStore(of: configuration, scene: scene)
    }
    return RestorableApplication(
      engine: coordinator, device: device, snapshots: snapshots, lifecycle: Lifecycle(), delegate: delegate)
  }
}

extension RestorableApplication {
  /// Joins the windows of a program, its device and a life cycle.
  ///
  /// Launching restores the windows that were open; leaving and ending preserve all of them. The snapshot is one for the
  /// program.
  /// - Throws: What keeps the device from giving the snapshot's slot.
  public convenience init<Root: RestorableController>(
    device: ProtectedDevice, windows: RestoredWindows<Root>, lifecycle: Lifecycle = Lifecycle(),
    delegate: any RestorableApplicationDelegate
  ) throws(RestorationError) {
    try self.init(device: device, scenes: windows.makeEngine(), lifecycle: lifecycle, delegate: delegate)
  }

  /// Joins scenes, their device and a life cycle.
  convenience init(
    device: ProtectedDevice, scenes engine: SceneEngine, lifecycle: Lifecycle = Lifecycle(),
    delegate: any RestorableApplicationDelegate
  ) throws(RestorationError) {
    self.init(
      engine: engine, device: device, snapshots: try device.snapshots(of: engine.configuration, scene: nil),
      lifecycle: lifecycle, delegate: delegate)
  }

  /// Joins windows, their device and a life cycle, without waiting for the disk on the main actor.
  static func make<Root: RestorableController>(
    device: ProtectedDevice, windows: RestoredWindows<Root>, delegate: any RestorableApplicationDelegate
  ) async throws(ProtectionError) -> RestorableApplication {
    let engine = windows.makeEngine()
    let configuration = engine.configuration
    let snapshots = try await device.away { (device) throws(ProtectionError) in
      try device.snapshotStore(of: configuration, scene: nil)
    }
    return RestorableApplication(
      engine: engine, device: device, snapshots: snapshots, lifecycle: Lifecycle(), delegate: delegate)
  }
}

extension ProtectedDevice {
  /// The slot of a snapshot, for a program that makes the parts itself.
  fileprivate func snapshots(
    of configuration: RestorationConfiguration, scene: RestoredWindow.ID?
  ) throws(RestorationError) -> DeviceSnapshotStore {
    do throws(ProtectionError) {
      return try snapshotStore(of: configuration, scene: scene)
    } catch {
      throw RestorationError(error)
    }
  }
}

extension RestorationCoordinator: ApplicationEngine {
  package var roots: [any RestorableController] { [] }

  package func restoreState(into root: (any RestorableController)?) async throws(RestorationError) -> RestorationReport?
  {
    guard let root else { return nil }
    return try await restore(into: root)
  }

  package func declineRestoring(into root: (any RestorableController)?) async {
    await operations.run(.restoring) {
      // State that was restored meanwhile is in use.
      guard lastReport == nil, standing != .discarded else { return }
      if let root { self.root = root }
      prepared = nil
      await beginAnew(retiring: nil)
    }
    if standing == .live { armAutomaticPreservation() }
  }

  package func preserveState(of root: (any RestorableController)?) async throws(RestorationError)
    -> PreservationOutcome?
  {
    guard let root else { return nil }
    return try await preserve(root)
  }

  package func freeMemory() {
    // Nobody can be in the middle of reading it.
    if operations.current == nil { restored?.releaseState() }
    worker.post { $0.freeMemory() }
  }

  package func beginGuard() { extendStateRestoration() }

  package func endGuard() async {
    completeStateRestoration()
    // After the removal of the mark, which was handed over last.
    await worker.run { _ in }
    await endTurn()
  }

  package func deleteState() async throws(RestorationError) { try await discardForGood() }
}

extension ProtectedDevice: ApplicationDevice {
  package func observeAvailability(_ body: @escaping @Sendable (Bool) -> Void) -> any Sendable {
    observeProtectedData { body($0 == .protectedDataDidBecomeAvailable) }
  }
}
