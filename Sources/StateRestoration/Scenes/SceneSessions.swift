internal import FoundationShim
internal import Observation

/// The list behind ``RestoredWindows``: which scenes (windows) there are, most recent first, and a coordinator with an
/// archive for each.
///
/// A closed scene keeps its state for a while (``recentlyClosed``); a discarded one leaves nothing. What is opened, closed and
/// discarded at the same time waits for each other, in the order of the calls.
/// Several processes may share the list, each with scenes of its own: each change joins those that the others have
/// changed since. A scene that another process has discarded goes, unless its coordinator is in use here.
///
/// While the device is locked the list can't be read, but scenes that are opened, closed and discarded then are saved, sealed beside
/// it, and joined when it is read the next time.
///
/// ``sessions`` and ``frontmost`` can be observed.
@Observable @MainActor package final class SceneSessions {
  /// All sessions that are known, most recently active first.
  ///
  /// What other processes of the program do with theirs is seen whenever the list is read or written.
  package private(set) var sessions: [RestoredWindow] = []
  /// The program's facts and limits, for every scene.
  package let configuration: RestorationConfiguration
  /// How much the launch brings back of each scene.
  @ObservationIgnored var extent = Lifecycle.LaunchOptions.Extent.restore {
    didSet {
      closed = []
      for coordinator in coordinators.values { coordinator.extent = extent }
    }
  }
  /// The program's snapshot, which may show any of the scenes, and goes with each.
  @ObservationIgnored var snapshots: SnapshotKeeper? {
    didSet {
      for coordinator in coordinators.values { coordinator.snapshots = snapshots }
      program?.snapshots = snapshots
    }
  }
  /// The state of the whole program, which is one beside all scenes; nil when every scene has its own.
  @ObservationIgnored var program: RestorationCoordinator? {
    didSet { program?.snapshots = snapshots }
  }
  /// Whether the program is asked for a root in this moment.
  @ObservationIgnored var isAsking = false
  /// The names under which other processes may keep theirs.
  @ObservationIgnored var otherPrograms: [RestoredWindow.ID] = []
  /// The scenes that were closed since the launch: what they had then comes back whole.
  @ObservationIgnored private var closed: Set<RestoredWindow.ID> = []
  /// The restoration classes, blueprints and shared objects of all scenes.
  package let registry: RestorationRegistry

  @ObservationIgnored private let makeCoordinator:
    @MainActor (RestoredWindow.ID) throws(ProtectionError) -> RestorationCoordinator
  /// Takes the archives of scenes before their coordinators are made; nil where the store blocks nobody.
  @ObservationIgnored private let places: ScenePlaces?
  @ObservationIgnored private let worker: PreservationWorker<any PreservationStore>
  @ObservationIgnored private var coordinators: [RestoredWindow.ID: RestorationCoordinator] = [:]
  @ObservationIgnored private let operations = ExclusiveOperations()
  /// Whether the program ends: a scene that is closed from now on is open at the next launch.
  @ObservationIgnored private(set) var isEnding = false
  /// Why a list that this run has looked at could not be read; nil when all could.
  @ObservationIgnored private(set) var listFailure: ProtectionError?
  /// Whether there may be scenes that no list names, because one was lost in this run or before.
  @ObservationIgnored private(set) var isListIncomplete = false
  @ObservationIgnored private var known = KnownScenes() {
    // Who observes is told of changes alone, not of every look at the list.
    didSet { if sessions != known.sessions { sessions = known.sessions } }
  }

  /// Creates the list of a program's scenes on a device; every scene's coordinator gets the delegate and the registry.
  ///
  /// The delegate is held weakly. Throws when the device can't give the slot of the list.
  package convenience init(
    device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration = .init(), registry: RestorationRegistry = RestorationRegistry()
  ) throws(ProtectionError) {
    self.init(
      list: try device.listOfScenes(of: configuration), on: device, delegate: delegate, configuration: configuration,
      registry: registry)
  }

  /// Creates the list whose store is there; the archives of scenes are taken away from the main actor.
  convenience init(
    list: ArchiveStore, on device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration, registry: RestorationRegistry
  ) {
    let places = ScenePlaces(device, configuration)
    self.init(list: list, configuration: configuration, registry: registry, places: places) {
      [weak delegate] id throws(ProtectionError) in
      try RestorationCoordinator(
        taken: try places.take(id), of: device, delegate: delegate, configuration: configuration, window: id,
        registry: registry)
    }
  }

  /// Creates the list on any stores; for tests of the engine.
  init(
    list: any PreservationStore, configuration: RestorationConfiguration,
    registry: RestorationRegistry = RestorationRegistry(), places: ScenePlaces? = nil,
    makeCoordinator: @escaping @MainActor (RestoredWindow.ID) throws(ProtectionError) -> RestorationCoordinator
  ) {
    self.configuration = configuration
    self.registry = registry
    self.makeCoordinator = makeCoordinator
    self.places = places
    worker = PreservationWorker(label: "state-restoration.scenes", state: list)
  }

  /// The session that was active last and is open; nil when no scene is open.
  package var frontmost: RestoredWindow? { sessions.first { $0.isOpen } }

  /// The scenes that were closed last, the very last first, with the titles that they had: ``open(_:role:)`` opens them again.
  ///
  /// There are at most ``RestorationConfiguration/recentlyClosedLimit``, and none that was closed longer ago than
  /// ``RestorationConfiguration/recentlyClosedAge``. The state of others is deleted with the next close or launch.
  package var recentlyClosed: [RestoredWindow] {
    // Who observes this observes the sessions.
    guard sessions.contains(where: { !$0.isOpen }) else { return [] }
    return Array(known.closed.prefix(max(configuration.recentlyClosedLimit, 0)).prefix { !isTooOld($0) })
  }

  /// Reads which sessions there are; call it once at launch, and again after an unlock if it threw.
  ///
  /// Sessions that were opened before this call stay in the list. It throws when the list can't be read now: the device is
  /// locked, the disk failed, or other processes write it all the time. Nothing is written then.
  ///
  /// A list that can never be read, because it is damaged, gone or from another device, gives the one before it, or none.
  /// The log says so, and so does the report of a launch that found it. The next change of the list writes a new one.
  /// Call it again at any time to see what other processes have changed.
  @discardableResult
  package func load() async throws(RestorationError) -> [RestoredWindow] {
    try await operations.run(.loading) { () async throws(RestorationError) in
      try await look()
      return sessions
    }
  }

  /// Joins the list on disk.
  private func look() async throws(RestorationError) {
    let stored: SceneList.Stored
    do {
      stored = try await worker.run { store throws(any Error) in try SceneList.read(store) }
    } catch {
      throw RestorationError(
        .preservationFailed, "The list of scenes could not be read; it stays as it is on disk.", cause: error)
    }
    note(stored)
    known.join(stored.list.sessions, keepsMissing: stored.failure != nil, held: Set(coordinators.keys))
  }

  /// Opens a scene: a known session again, or a new one; it becomes the most recent.
  ///
  /// A known session keeps its role when none is named, also when the list has not been read yet. If the list can't be
  /// written, this throws and the scene is known as open here; opening it again or closing it sets that right. If another
  /// process has the scene, this throws and nothing has changed; the cause is a `ProtectionError` with the code `inUse` that
  /// says which process.
  ///
  /// - Parameters:
  ///   - id: Which session; any name that the program likes.
  ///   - role: What kind of scene it is; empty to leave that as it is.
  /// - Returns: The scene's coordinator, to restore and preserve its hierarchy.
  package func open(_ id: RestoredWindow.ID, role: String = "") async throws(RestorationError) -> RestorationCoordinator
  {
    try await operations.run(.saving) { () async throws(RestorationError) in
      let coordinator = try await preparedCoordinator(for: id)
      noteOpening(of: id, role: role)
      try await save()
      return coordinator
    }
  }

  /// The coordinator of a session, as ``coordinator(for:)``, without waiting for the disk on the main actor.
  func preparedCoordinator(for id: RestoredWindow.ID) async throws(RestorationError) -> RestorationCoordinator {
    if coordinators[id] == nil { await places?.prepare(id) }
    return try coordinator(for: id)
  }

  /// A coordinator for a moment, without waiting for the disk on the main actor.
  private func makePreparedCoordinator(_ id: RestoredWindow.ID) async throws(ProtectionError) -> RestorationCoordinator
  {
    await places?.prepare(id)
    return try makeCoordinator(id)
  }

  private func noteOpening(of id: RestoredWindow.ID, role: String) {
    let now = known.nextActivation(configuration.now())
    let isKnown = known.change(id) { session in
      session.closedAt = nil
      session.lastActive = now
      if !role.isEmpty { session.role = role }
    }
    if !isKnown { known.add(RestoredWindow(id: id, role: role, lastActive: now)) }
  }

  /// Opens the first of the numbered scenes that nobody has: “main”, “main 2” and so on.
  ///
  /// The scene of a process that has ended comes back to the one that asks next. Those that nobody asks for are kept as long as
  /// closed ones are, from the moment at which somebody finds them.
  func openFirstFree(role: String) async throws(RestorationError) -> (id: RestoredWindow.ID, RestorationCoordinator) {
    try await operations.run(.saving) { () async throws(RestorationError) in
      // While the device is locked the archives say who has them, and the list is joined later.
      if (try? await look()) != nil { await noteEnded() }
      var number = 1
      while true {
        let id: RestoredWindow.ID = number == 1 ? .main : "\(RestoredWindow.ID.main) \(number)"
        do throws(RestorationError) {
          let coordinator = try await preparedCoordinator(for: id)
          noteOpening(of: id, role: role)
          // Only now: the state that this process asks for is given however old it is.
          await forgetSurplus()
          do throws(RestorationError) { try await save() } catch {
            // A disk that fails is no reason not to start, here as with one scene.
            configuration.log.log(.warning, "the list of instances could not be saved: \(error)")
          }
          return (id, coordinator)
        } catch  where error.code == .inUse {
          number += 1
        }
      }
    }
  }

  /// Notes that open scenes which nobody has are closed: the process that had one was killed.
  private func noteEnded() async {
    for session in sessions where session.isOpen && coordinators[session.id] == nil {
      guard let coordinator = try? await makePreparedCoordinator(session.id) else { continue }
      await coordinator.letGo()
      let now = known.nextClosing(configuration.now())
      known.change(session.id) { $0.closedAt = now }
    }
  }

  /// The coordinator of a session; made at first use, so that scenes in the back are restored on demand.
  ///
  /// Its ``RestorationCoordinator/extent`` is that of the launch. A scene that was closed since then comes back whole.
  package func coordinator(for id: RestoredWindow.ID) throws(RestorationError) -> RestorationCoordinator {
    if let coordinator = coordinators[id] { return coordinator }
    do {
      let coordinator = try makeCoordinator(id)
      coordinator.extent = closed.contains(id) ? .restore : extent
      coordinator.snapshots = snapshots
      coordinators[id] = coordinator
      return coordinator
    } catch {
      let owner = error.processIdentifier.map { "process \($0)" } ?? "somebody else"
      let message =
        error.code == .inUse
        ? "The scene “\(id)” is in use by \(owner): have that one show it, or open another scene."
        : "The scene “\(id)” has no place on the device."
      throw RestorationError(error.code == .inUse ? .inUse : .preservationFailed, message, cause: error)
    }
  }

  /// Notes that a scene came to the front.
  package func activate(_ id: RestoredWindow.ID) async throws(RestorationError) {
    try await operations.run(.saving) { () async throws(RestorationError) in
      let now = known.nextActivation(configuration.now())
      if known.change(id, { $0.lastActive = now }) { try await save() }
    }
  }

  /// Closes a scene; its state stays for as long as the scene is one of the ``recentlyClosed``.
  ///
  /// What is closed after ``announceEnd()`` is open at the next launch.
  ///
  /// Changes are preserved first, so let the hierarchy go only afterwards; if that fails, this throws and the scene stays open.
  /// If only the list can't be written, this throws and the scene is closed here; the next list that is written says so. A
  /// scene that another process has can't be closed: this throws as ``open(_:role:)`` does.
  ///
  /// - Parameters:
  ///   - id: Which session.
  ///   - title: What the user calls it, for ``recentlyClosed``; empty to leave that as it is.
  package func close(_ id: RestoredWindow.ID, title: String = "") async throws(RestorationError) {
    try await operations.run(.saving) { () async throws(RestorationError) in
      guard sessions.contains(where: { $0.id == id }) else { return }
      // Another process may have it: only that one closes it.
      if coordinators[id] == nil { _ = try await preparedCoordinator(for: id) }
      if let coordinator = coordinators[id] {
        if coordinator.root != nil, coordinator.standing != .discarded { _ = try await coordinator.preserve() }
        noteClosing(of: coordinator)
        await coordinator.letGo()
      }
      try await noteClosing(of: id, title: title)
    }
  }

  /// A coordinator has preserved for the last time.
  private func noteClosing(of coordinator: RestorationCoordinator) {
    coordinator.preservesAutomatically = .never
    coordinators[coordinator.window] = nil
    if coordinator.standing != .new { closed.insert(coordinator.window) }
  }

  private func noteClosing(of id: RestoredWindow.ID, title: String) async throws(RestorationError) {
    let now = known.nextClosing(configuration.now())
    known.change(id) { session in
      if !isEnding, session.isOpen { session.closedAt = now }
      if !title.isEmpty { session.title = title }
    }
    await forgetSurplus()
    try await save()
  }

  /// Deletes the states that other processes of the program kept beside the scenes; one that a process has stays.
  func discardOtherPrograms() async throws(RestorationError) {
    for id in otherPrograms {
      guard let coordinator = try? await makePreparedCoordinator(id) else { continue }
      try await coordinator.discardForGood()
      await coordinator.letGo()
    }
  }

  // MARK: - Recently closed

  private func isTooOld(_ session: RestoredWindow) -> Bool {
    guard let age = configuration.recentlyClosedAge, let closedAt = session.closedAt else { return false }
    return configuration.now().timeIntervalSince(closedAt) > age / .seconds(1)
  }

  /// The closed scenes that are kept no longer: all but the last ones, and those that are too old.
  private var surplus: [RestoredWindow] {
    let closed = known.closed.filter { coordinators[$0.id] == nil }
    let kept = closed.prefix(max(configuration.recentlyClosedLimit, 0)).prefix { !isTooOld($0) }
    return Array(closed.dropFirst(kept.count))
  }

  /// Deletes the closed scenes that are kept no longer, so that there are never more than a few, whatever is closed.
  ///
  /// One that another process has, or whose state can't be deleted now, stays for the next time.
  private func forgetSurplus() async {
    // Another process may have opened one of them since; while the list can't be read nothing is deleted.
    guard !surplus.isEmpty, (try? await look()) != nil else { return }
    for session in surplus {
      do {
        let coordinator = try await makePreparedCoordinator(session.id)
        try await coordinator.discardForGood()
        await coordinator.letGo()
        known.discard(session.id)
        closed.remove(session.id)
      } catch {
        if (error as? ProtectionError)?.code == .inUse { continue }
        configuration.log.log(.warning, "the closed scene “\(session.id)” could not be deleted: \(error)")
      }
    }
  }

  /// Deletes the closed scenes that have become too old.
  private func forgetOld() async {
    guard !surplus.isEmpty else { return }
    await operations.run(.saving) {
      await forgetSurplus()
      do throws(RestorationError) { try await save() } catch {
        configuration.log.log(.warning, "closed scenes were deleted, and the list still has them: \(error)")
      }
    }
  }

  /// Discards a scene and deletes everything that was preserved for it, older generations included.
  ///
  /// The program's snapshot goes, too, as it may show the scene. A coordinator of the scene that the program still holds saves
  /// nothing any more. If this throws because the state can't be deleted, the scene stays known, and is saved as before; otherwise
  /// its state is gone.
  package func discard(_ id: RestoredWindow.ID) async throws(RestorationError) {
    try await operations.run(.discarding) { () async throws(RestorationError) in
      let coordinator = try await preparedCoordinator(for: id)
      try await coordinator.discardForGood()
      coordinators[id] = nil
      known.discard(id)
      var failure: RestorationError?
      do throws(RestorationError) { try await save() } catch { failure = error }
      try await coordinator.deleteSnapshot()
      if let failure { throw failure }
    }
  }

  /// Restores the scenes that were open, the frontmost first; the closure gives each one its root, or nil to skip it.
  ///
  /// A scene that can't be restored keeps none of the others from it.
  ///
  /// - Returns: The reports by session, in the order of restoring.
  /// - Throws: ``RestorationError``, the first one, when all scenes were tried; the reports of the others are in their
  ///   coordinators' ``RestorationCoordinator/lastReport``.
  @discardableResult
  package func restoreOpenScenes(
    into root: (RestoredWindow) -> (any RestorableController)?
  ) async throws(RestorationError) -> [(window: RestoredWindow, report: RestorationReport)] {
    var reports: [(window: RestoredWindow, report: RestorationReport)] = []
    var failure: RestorationError?
    for former in sessions where former.isOpen {
      if coordinators[former.id] == nil { await places?.prepare(former.id) }
      defer { places?.forget(former.id) }
      // It may have been closed or discarded while another one was restored.
      guard let session = sessions.first(where: { $0.id == former.id }), session.isOpen, let root = root(session)
      else { continue }
      do throws(RestorationError) {
        let coordinator = try coordinator(for: session.id)
        reports.append((session, try await coordinator.restore(into: root)))
        // What follows on a locked device is an edit.
        await coordinator.endTurn()
      } catch {
        failure = failure ?? error
      }
    }
    await forgetOld()
    if let failure { throw failure }
    return reports
  }

  /// Preserves the state of the whole program and every scene that was restored or saved in this run; one that fails keeps
  /// none of the others from it.
  ///
  /// For the moment before the program quits or is suspended.
  ///
  /// - Returns: The outcomes by session, the most recent first.
  /// - Throws: ``RestorationError``, the first one, when all scenes were tried.
  @discardableResult
  package func preserveAll() async throws(RestorationError) -> [(window: RestoredWindow, outcome: PreservationOutcome)]
  {
    var outcomes: [(window: RestoredWindow, outcome: PreservationOutcome)] = []
    var failure: RestorationError?
    do throws(RestorationError) { _ = try await program?.preserve() } catch { failure = error }
    for session in sessions {
      guard let coordinator = coordinators[session.id], coordinator.root != nil else { continue }
      do throws(RestorationError) {
        outcomes.append((session, try await coordinator.preserve()))
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return outcomes
  }

  // MARK: - Synchronous calls

  /// Reads which sessions there are; see ``load()``.
  func loadNow() throws(RestorationError) {
    try requireFree()
    try Synchronous.run { () async throws(RestorationError) in _ = try await self.load() }
  }

  /// Opens a scene; see ``open(_:role:)``.
  func openNow(_ id: RestoredWindow.ID, role: String) throws(RestorationError) -> RestorationCoordinator {
    try requireFree()
    return try Synchronous.run { () async throws(RestorationError) in try await self.open(id, role: role) }
  }

  /// Notes that a scene came to the front; see ``activate(_:)``.
  func activateNow(_ id: RestoredWindow.ID) throws(RestorationError) {
    try requireFree()
    try Synchronous.run { () async throws(RestorationError) in try await self.activate(id) }
  }

  /// Closes a scene; see ``close(_:title:)``.
  func closeNow(_ id: RestoredWindow.ID, title: String) throws(RestorationError) {
    try requireFree()
    guard sessions.contains(where: { $0.id == id }) else { return }
    let coordinator = try coordinator(for: id)
    try coordinator.requireFree(.saving)
    if let root = coordinator.root, coordinator.standing != .discarded { _ = try coordinator.preserveNow(root) }
    noteClosing(of: coordinator)
    coordinator.letGoNow()
    try Synchronous.run { () async throws(RestorationError) in try await self.noteClosing(of: id, title: title) }
  }

  /// Discards a scene; see ``discard(_:)``.
  func discardNow(_ id: RestoredWindow.ID) throws(RestorationError) {
    try requireFree()
    try coordinator(for: id).requireFree(.discarding)
    try Synchronous.run { () async throws(RestorationError) in try await self.discard(id) }
  }

  /// Throws unless a synchronous call may begin: an operation that goes on later would be waited for in vain.
  func requireFree() throws(RestorationError) {
    guard operations.current == nil, !Synchronous.isOn, !isAsking else {
      throw RestorationError(
        .restorationInProgress,
        "A synchronous call came in the middle of another one, of an asynchronous one or of a hook; wait for that.")
    }
  }

  /// Does something at once if nothing is read or written; else calls back when that is over.
  func whenFree(_ body: () -> Void, orLater later: @escaping () -> Void) {
    if operations.current == nil { return body() }
    operations.begin(.loading) { [operations] in
      operations.end()
      later()
    }
  }

  // MARK: - The end

  /// The program ends in order: scenes that are closed from now on are open at the next launch.
  ///
  /// ``RestorableApplication`` calls it when its life cycle terminates. Call it where the program decides to quit, if a toolkit
  /// closes the windows before that. A restoration that is still extended has not crashed.
  package func announceEnd() {
    isEnding = true
    for coordinator in openCoordinators { coordinator.announceEnd() }
  }

  /// The program was launched, once more perhaps in one process.
  func beginRun() { isEnding = false }

  /// The program does not run any more, however it has ended.
  func noteEnd() { isEnding = true }

  /// The coordinators in use.
  var openCoordinators: [RestorationCoordinator] { sessions.compactMap { coordinators[$0.id] } }

  // MARK: - The list on disk

  /// Writes the list: the one on disk by then, with this run's changes.
  ///
  /// While the device is locked, what this run has changed is sealed beside the list, and joined when that is read.
  private func save() async throws(RestorationError) {
    do throws(RestorationError) {
      try await saveWhole()
    } catch {
      guard (error.cause as? ProtectionError)?.code == .locked else { throw error }
      try await saveChange()
    }
  }

  private func saveWhole() async throws(RestorationError) {
    let (context, protection) = (configuration.context, configuration.protection)
    let (known, held) = (known, Set(coordinators.keys))
    let written = try await write { store in
      try SceneList.publish(to: store, protection: protection, context: context) { stored in
        var joined = known
        joined.join(stored.list.sessions, keepsMissing: stored.failure != nil, held: held)
        return joined.sessions
      }
    }
    note(written)
    self.known.settle()
    self.known.join(written.list.sessions, keepsMissing: false, held: Set(coordinators.keys))
  }

  /// Seals what this run has changed beside the list; it stays this run's own until it is in a list that this run writes.
  private func saveChange() async throws(RestorationError) {
    let change = known.unwritten
    let context = configuration.context
    try await write { store in
      try SceneList.exclusively(store) {
        (try store.publishPending(try change.archived(context), isBeside: false).durability, ())
      }
    }
  }

  /// Tells of a list that can't be read.
  private func note(_ stored: SceneList.Stored) {
    isListIncomplete = stored.list.isIncomplete
    guard let failure = stored.failure else { return }
    if listFailure == nil { configuration.log.log(.warning, failure.ofListOfScenes) }
    listFailure = failure
  }

  /// Writes on the worker; returns what was written.
  private func write<Written: Sendable>(
    _ body: @Sendable (any PreservationStore) throws -> (durability: Durability, written: Written)
  ) async throws(RestorationError) -> Written {
    let snapshots = snapshots
    do {
      return try await worker.run { store throws(any Error) in
        // The next launch brings other windows, or in another order.
        snapshots?.stateWillChange()
        let (durability, written) = try body(store)
        guard durability == .durable else {
          throw ProtectionError(.durabilityUnknown, "The list of scenes may be the older one after a power cut.")
        }
        return written
      }
    } catch {
      throw RestorationError(
        .preservationFailed, "The list of scenes could not be saved; the older list is still there.", cause: error)
    }
  }
}

/// Takes the archives of scenes away from the main actor, for the coordinators that are made next.
@MainActor final class ScenePlaces {
  private let device: ProtectedDevice
  private let configuration: RestorationConfiguration
  private var taken: [RestoredWindow.ID: Result<TakenScene, ProtectionError>] = [:]

  init(_ device: ProtectedDevice, _ configuration: RestorationConfiguration) {
    (self.device, self.configuration) = (device, configuration)
  }

  /// Takes the archive of a scene.
  func prepare(_ id: RestoredWindow.ID) async {
    do throws(ProtectionError) {
      taken[id] = .success(try await RestorationCoordinator.take(id, of: device, configuration))
    } catch {
      taken[id] = .failure(error)
    }
  }

  /// What was taken, or is now.
  func take(_ id: RestoredWindow.ID) throws(ProtectionError) -> TakenScene {
    if let taken = taken.removeValue(forKey: id) { return try taken.get() }
    return try device.take(id, of: configuration)
  }

  /// Lets go what nobody has asked for.
  func forget(_ id: RestoredWindow.ID) { taken[id] = nil }
}

extension ProtectionError {
  /// The error of a list of scenes in a log or a report.
  var ofListOfScenes: String {
    "the newest list of scenes was lost, and some scenes may be missing; erase the device to delete those: \(self)"
  }
}
