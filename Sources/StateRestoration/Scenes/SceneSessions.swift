public import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

/// The scenes (windows) of a program: which there are, most recent first, and a coordinator with an archive for each.
///
/// Scenes are opened, closed and discarded independently. A closed scene keeps its state; a discarded one leaves nothing.
/// While the device is locked the list can't be read, but what is opened, closed and discarded then is saved, sealed beside
/// it, and joined when it is read the next time.
@MainActor public final class SceneSessions {
  /// All sessions that are known, most recently active first.
  public private(set) var sessions: [SceneSession] = []
  /// The program's facts and limits, for every scene.
  public let configuration: RestorationConfiguration

  private let makeCoordinator: @MainActor (SceneSession.ID) throws(ProtectionError) -> RestorationCoordinator
  private let worker: PreservationWorker<any PreservationStore>
  private var coordinators: [SceneSession.ID: RestorationCoordinator] = [:]
  private var isLoaded = false
  /// Changes that were saved while locked and are in the list by now; the next whole list takes their place.
  private var merged: [StoredPending] = []
  /// What this run has discarded and may not be in a whole list yet.
  private var discarded: Set<SceneSession.ID> = []

  /// Creates the list of a program's scenes on a device; every scene's coordinator gets the delegate.
  ///
  /// Throws when the device can't give the slot of the list.
  public convenience init(
    device: ProtectedDevice, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration = .init()
  ) throws(ProtectionError) {
    let slot = ArchiveSlot(application: configuration.application, scene: "", slot: "scenes")
    let list = DeviceStore(store: try device.archives(for: slot, protection: configuration.protection))
    self.init(list: list, configuration: configuration) { [weak delegate] id throws(ProtectionError) in
      try RestorationCoordinator(device: device, delegate: delegate, configuration: configuration, session: id)
    }
  }

  /// Creates the list on any stores; for tests of the engine.
  package init(
    list: any PreservationStore, configuration: RestorationConfiguration,
    makeCoordinator: @escaping @MainActor (SceneSession.ID) throws(ProtectionError) -> RestorationCoordinator
  ) {
    self.configuration = configuration
    self.makeCoordinator = makeCoordinator
    worker = PreservationWorker(label: "state-restoration.scenes", state: list)
  }

  /// The session that was active last and is open; nil when no scene is open.
  public var frontmost: SceneSession? { sessions.first { $0.isOpen } }

  /// Reads which sessions there are; call it once at launch, and again after an unlock if it threw.
  ///
  /// Sessions that were opened before this call stay in the list. It throws when the list can't be read now: the device is
  /// locked, or the disk failed. Nothing is written then. A list that can never be read, because it is damaged or was sealed
  /// on another device, counts as empty; it stays on disk, and the next change of the list writes a new one beside it.
  @discardableResult
  public func load() async throws(RestorationError) -> [SceneSession] {
    let stored: SceneList.Stored
    do throws(ProtectionError) {
      stored = try await worker.run { store throws(ProtectionError) in try SceneList.read(store) }
    } catch {
      throw RestorationError(
        .preservationFailed, "The list of scenes could not be read; it stays as it is on disk.", cause: error)
    }
    for index in sessions.indices { sessions[index].takeRole(from: stored.list.sessions) }
    let known = Set(sessions.map(\.id))
    sessions += stored.list.sessions.filter { !known.contains($0.id) && !discarded.contains($0.id) }
    sort()
    merged = stored.merged
    isLoaded = true
    return sessions
  }

  /// Opens a scene: a known session again, or a new one; it becomes the most recent.
  ///
  /// A known session keeps its role when none is named, also when the list has not been read yet.
  ///
  /// - Parameters:
  ///   - id: Which session; any name that the program likes.
  ///   - role: What kind of scene it is; empty to leave that as it is.
  /// - Returns: The scene's coordinator, to restore and preserve its hierarchy.
  public func open(_ id: SceneSession.ID, role: String = "") async throws(RestorationError) -> RestorationCoordinator {
    if let index = sessions.firstIndex(where: { $0.id == id }) {
      sessions[index].isOpen = true
      if !role.isEmpty { sessions[index].role = role }
      sessions[index].lastActive = configuration.now()
    } else {
      sessions.append(SceneSession(id: id, role: role, lastActive: configuration.now()))
      discarded.remove(id)
    }
    sort()
    let coordinator = try coordinator(for: id)
    try await save()
    return coordinator
  }

  /// The coordinator of a session; made at first use, so that scenes in the back are restored on demand.
  public func coordinator(for id: SceneSession.ID) throws(RestorationError) -> RestorationCoordinator {
    if let coordinator = coordinators[id] { return coordinator }
    do {
      let coordinator = try makeCoordinator(id)
      coordinators[id] = coordinator
      return coordinator
    } catch {
      throw RestorationError(.preservationFailed, "The scene “\(id)” has no place on the device.", cause: error)
    }
  }

  /// Notes that a scene came to the front.
  public func activate(_ id: SceneSession.ID) async throws(RestorationError) {
    guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
    sessions[index].lastActive = configuration.now()
    sort()
    try await save()
  }

  /// Closes a scene, whose hierarchy was preserved before; its state stays until it is discarded.
  public func close(_ id: SceneSession.ID) async throws(RestorationError) {
    guard let index = sessions.firstIndex(where: { $0.id == id }) else { return }
    sessions[index].isOpen = false
    coordinators[id]?.preservesAutomatically = .never
    coordinators[id] = nil
    try await save()
  }

  /// Discards a scene and deletes everything that was preserved for it, older generations included.
  ///
  /// A coordinator of the scene that the program still holds saves nothing any more.
  public func discard(_ id: SceneSession.ID) async throws(RestorationError) {
    // First no more automatic saves; and one that somebody still asks for saves nothing.
    coordinators[id]?.preservesAutomatically = .never
    try await coordinator(for: id).discardForGood()
    coordinators[id] = nil
    sessions.removeAll { $0.id == id }
    discarded.insert(id)
    try await save()
  }

  /// Restores the scenes that were open, the frontmost first; the closure gives each one its root, or nil to skip it.
  ///
  /// A scene that can't be restored keeps none of the others from it.
  ///
  /// - Returns: The reports by session, in the order of restoring.
  /// - Throws: ``RestorationError``, the first one, when all scenes were tried; what came back of the others is in their
  ///   coordinators' ``RestorationCoordinator/lastReport``.
  public func restoreOpenScenes(
    into root: (SceneSession) -> (any RestorableController)?
  ) async throws(RestorationError) -> [(session: SceneSession, report: RestorationReport)] {
    var reports: [(session: SceneSession, report: RestorationReport)] = []
    var failure: RestorationError?
    for session in sessions where session.isOpen {
      guard let root = root(session) else { continue }
      do throws(RestorationError) {
        reports.append((session, try await coordinator(for: session.id).restore(into: root)))
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return reports
  }

  private func sort() {
    sessions.sort { ($0.lastActive, $1.id) > ($1.lastActive, $0.id) }
  }

  // MARK: - The list on disk

  /// Writes the list; what is not known to be in it is read first, so that no session is lost.
  ///
  /// While the device is locked, what this run knows is sealed beside the list, and joined when that is read.
  private func save() async throws(RestorationError) {
    do throws(RestorationError) {
      if !isLoaded { try await load() }
      try await saveWhole()
    } catch {
      guard (error.cause as? ProtectionError)?.code == .locked else { throw error }
      try await saveChange()
    }
  }

  private func saveWhole() async throws(RestorationError) {
    let list = SceneList(sessions: sessions)
    let (context, merged, discarded) = (configuration.context, merged, discarded)
    try await write { store in try store.publish(try list.archived(context), consuming: merged) }
    self.merged = []
    // What was discarded while this was written is not in it.
    self.discarded.subtract(discarded)
  }

  /// Seals what this run knows beside the list, which is read again, with this in it, before it is written.
  private func saveChange() async throws(RestorationError) {
    isLoaded = false
    let change = SceneList(sessions: sessions, discarded: discarded)
    let context = configuration.context
    try await write { store in
      try store.publishPending(try change.archived(context), kind: .touchedNodes, including: [])
    }
  }

  private func write(
    _ body: @escaping @Sendable (any PreservationStore) throws -> StoreReceipt
  ) async throws(RestorationError) {
    let result: Result<Void, any Error> = await worker.run { store in
      Result {
        guard try body(store).durability == .durable else {
          throw ProtectionError(.durabilityUnknown, "The list of scenes may be the older one after a power cut.")
        }
      }
    }
    if case .failure(let error) = result {
      throw RestorationError(
        .preservationFailed, "The list of scenes could not be saved; the older list is still there.", cause: error)
    }
  }
}
