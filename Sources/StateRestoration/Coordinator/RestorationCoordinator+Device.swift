public import DataProtection

extension RestorationCoordinator {
  /// Creates a coordinator for the scene of a program on a protected device.
  ///
  /// Throws when the device can't give the scene's slot: the directory is unreachable or keys are missing.
  public convenience init(
    device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration = .init(), session: SceneSession.ID = .main
  ) throws(ProtectionError) {
    let slot = ArchiveSlot(application: configuration.application, scene: session.rawValue)
    let store = DeviceStore(store: try device.archives(for: slot, protection: configuration.protection))
    self.init(store: store, delegate: delegate, configuration: configuration, session: session)
    observeUnlock(of: device)
  }

  /// Follows the device's unlocks for as long as the coordinator lives.
  func observeUnlock(of device: ProtectedDevice) {
    let notifications = device.protectedDataNotifications
    unlockObservation = Task { [weak self] in
      for await notification in notifications where notification == .protectedDataDidBecomeAvailable {
        await self?.protectedDataDidBecomeAvailable()
      }
    }
  }
}
