/// All scenes of a program, as its life cycle restores, preserves and deletes them.
@MainActor final class SceneEngine: ApplicationEngine {
  private let scenes: SceneSessions
  private let makeRoot: @MainActor (RestoredWindow) -> (any RestorableController)?
  /// Told when a launch has restored the scenes, or why it has not.
  private let didLaunch: @MainActor (RestorationError?) -> Void
  /// Brings back what an unlock has left to do, for whoever makes the roots; nil to have it done here.
  private let comeBack: (@MainActor () async -> Void)?
  private var isSuspended = false
  /// Whether an unlock was missed while suspended.
  private var hasMissedUnlock = false
  private(set) var lastReport: RestorationReport?
  private var guarded: [RestorationCoordinator] = []
  private var isGuarding = false
  /// Whether the windows that were open are known.
  private var isListRead = false
  var extent: Lifecycle.LaunchOptions.Extent {
    get { scenes.extent }
    set { scenes.extent = newValue }
  }

  init(
    _ scenes: SceneSessions, didLaunch: @escaping @MainActor (RestorationError?) -> Void = { _ in },
    comeBack: (@MainActor () async -> Void)? = nil,
    makeRoot: @escaping @MainActor (RestoredWindow) -> (any RestorableController)?
  ) {
    self.scenes = scenes
    self.makeRoot = makeRoot
    self.didLaunch = didLaunch
    self.comeBack = comeBack
  }

  var roots: [any RestorableController] { scenes.openCoordinators.compactMap(\.root) }

  /// Those of the windows, and the one of the whole program.
  private var coordinators: [RestorationCoordinator] {
    [scenes.program].compactMap(\.self) + scenes.openCoordinators
  }

  var configuration: RestorationConfiguration { scenes.configuration }

  var snapshots: SnapshotKeeper? {
    get { scenes.snapshots }
    set { scenes.snapshots = newValue }
  }

  /// Windows are made when the list says which there were.
  func restoreState(into root: (any RestorableController)?) async throws(RestorationError) -> RestorationReport? {
    do throws(RestorationError) {
      let report = try await restoreScenes()
      didLaunch(nil)
      return report
    } catch {
      didLaunch(error)
      throw error
    }
  }

  private func restoreScenes() async throws(RestorationError) -> RestorationReport {
    scenes.beginRun()
    isListRead = false
    await restoreProgram()
    try await scenes.load()
    isListRead = true
    let reports = try await scenes.restoreOpenScenes { session in
      let root = makeRoot(session)
      if isGuarding, root != nil, let coordinator = try? scenes.coordinator(for: session.id) {
        coordinator.beginGuard()
        guarded.append(coordinator)
      }
      return root
    }
    // The frontmost is restored first.
    let failure = scenes.listFailure
    var report = reports.first?.report ?? RestorationReport(outcome: failure?.code.outcome ?? .nothingPreserved)
    if let failure { report.remarks.append(.failure(failure.ofListOfScenes)) }
    lastReport = report
    return report
  }

  /// First, as windows are made as the program's settings say.
  private func restoreProgram() async {
    guard let program = scenes.program, let root = program.root else { return }
    if isGuarding {
      program.beginGuard()
      guarded.append(program)
    }
    program.extent = scenes.extent
    do throws(RestorationError) {
      _ = try await program.restore(into: root)
      await program.endTurn()
    } catch {
      configuration.log.log(.warning, "the state of the whole program did not come back: \(error)")
    }
  }

  func finishLateRestoration() async -> RestorationReport? {
    if let comeBack {
      await comeBack()
      lastReport = scenes.openCoordinators.first?.lastReport ?? lastReport
      return lastReport
    }
    for coordinator in coordinators { await coordinator.finishLateRestoration() }
    if !isListRead, (try? await scenes.load()) != nil {
      isListRead = true
      // Those that were opened meanwhile have their state.
      let known = Set(scenes.openCoordinators.filter { $0.root != nil }.map(\.window))
      _ = try? await scenes.restoreOpenScenes { known.contains($0.id) ? nil : makeRoot($0) }
    }
    lastReport = scenes.openCoordinators.first?.lastReport ?? lastReport
    return lastReport
  }

  func freeMemory() {
    for coordinator in coordinators { coordinator.freeMemory() }
  }

  func declineRestoring(into root: (any RestorableController)?) async {
    scenes.beginRun()
    didLaunch(nil)
    for coordinator in coordinators { await coordinator.declineRestoring(into: nil) }
  }

  func preserveState(of root: (any RestorableController)?) async throws(RestorationError) -> PreservationOutcome? {
    let outcomes = try await scenes.preserveAll().map(\.outcome)
    return outcomes.first { if case .preserved = $0 { true } else { false } } ?? outcomes.first ?? .unchanged(nil)
  }

  func beginGuard() { isGuarding = true }

  func endGuard() async {
    isGuarding = false
    for coordinator in guarded { await coordinator.endGuard() }
    guarded = []
  }

  func announceEnd() {
    scenes.program?.announceEnd()
    scenes.announceEnd()
  }

  func didEnd() { scenes.noteEnd() }

  /// Tries every scene, and throws the first failure.
  func deleteState() async throws(RestorationError) {
    var failure: RestorationError?
    do throws(RestorationError) {
      try await scenes.load()
    } catch {
      failure = RestorationError(
        .discardFailed,
        "The list of scenes can't be read, so only the scenes of this run were deleted; read it later, and discard the others.",
        cause: error.cause)
    }
    if failure == nil, scenes.isListIncomplete {
      failure = RestorationError(
        .discardFailed,
        "A list of scenes was lost, so only the scenes that are known now were deleted; erase the device to delete the others.",
        cause: scenes.listFailure)
    }
    for session in scenes.sessions {
      do throws(RestorationError) {
        try await scenes.discard(session.id)
      } catch {
        failure = failure ?? error
      }
    }
    do throws(RestorationError) {
      try await scenes.program?.discardForGood()
      try await scenes.discardOtherPrograms()
    } catch {
      failure = failure ?? error
    }
    if let failure { throw failure }
  }

  func protectedDataDidBecomeAvailable() {
    guard let comeBack else { return }
    if isSuspended { hasMissedUnlock = true } else { Task { await comeBack() } }
  }

  func suspend() {
    isSuspended = true
    for coordinator in coordinators { coordinator.suspend() }
  }

  func wake() {
    isSuspended = false
    if hasMissedUnlock, let comeBack { Task { await comeBack() } }
    hasMissedUnlock = false
    for coordinator in coordinators { coordinator.wake() }
  }
}
