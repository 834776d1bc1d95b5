internal import DataProtection

/// Scopes of a program beside its windows, each with an archive of its own.
@MainActor final class ProgramScopes {
  private var coordinators: [String: (scope: RestorationScope, coordinator: RestorationCoordinator)] = [:]

  /// Opens a scope, or gives the one that is open; its values are there when this returns.
  func open(
    _ name: String, on device: ProtectedDevice, _ configuration: RestorationConfiguration, _ delegate: SessionDelegate
  ) async throws(RestorationError) -> RestorationScope {
    if let open = coordinators[name] {
      await open.coordinator.endOperations()
      return open.scope
    }
    let scope = RestorationScope(RestorationIdentifier(name))
    let coordinator: RestorationCoordinator
    do throws(ProtectionError) {
      coordinator = try RestorationCoordinator(
        device: device, delegate: delegate, configuration: configuration, session: SceneSession.ID("scope \(name)"))
    } catch {
      throw RestorationError(.deviceNotOpened, "The scope “\(name)” can't be opened.", cause: error)
    }
    coordinators[name] = (scope, coordinator)
    coordinator.preservesAutomatically = .onChange(coalescedOver: RestorationSession.interval)
    do throws(RestorationError) {
      try await coordinator.restore(into: scope)
    } catch {
      coordinators[name] = nil
      throw error
    }
    await coordinator.endTurn()
    return scope
  }

  /// Saves what is not saved yet, while the main actor stands still: the program ends.
  func saveNow() { for open in coordinators.values { open.coordinator.preserveBeforeExit(open.scope) } }

  /// Returns when every scope has what an unlock gives it.
  func finishUnlock() async { for open in coordinators.values { await open.coordinator.finishLateRestoration() } }

  /// Saves, and lets the archives go.
  func close() async {
    saveNow()
    for open in coordinators.values {
      open.coordinator.preservesAutomatically = .never
      await open.coordinator.letGo()
    }
    coordinators = [:]
  }
}

extension RestoredWindows {
  /// The values of the program that belong to no window: what was opened last, say, or how a list is sorted everywhere.
  ///
  /// They have an archive of their own, and are preserved as windows are: at each change, and when the program ends. While the
  /// device is locked the scope is empty, and gets its values at the unlock. Closing windows leaves it alone.
  ///
  /// - Parameter name: The name of the scope; the same one gives the same scope.
  /// - Throws: ``RestorationError/Code/deviceNotOpened``, with `inUse` as its cause while another process has it.
  public func openScope(_ name: String = "program") async throws(RestorationError) -> RestorationScope {
    try await programScopes.open(name, on: device, scenes.configuration, delegate)
  }
}
