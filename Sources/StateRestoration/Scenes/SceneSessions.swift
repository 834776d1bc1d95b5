public import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

/// The scenes (windows) of a program: which there are, most recent first, and a coordinator with an archive for each.
///
/// Scenes are opened, closed and discarded independently. A closed scene keeps its state; a discarded one leaves nothing.
@MainActor public final class SceneSessions {
  /// All sessions that are known, most recently active first.
  public private(set) var sessions: [SceneSession] = []
  /// The program's facts and limits, for every scene.
  public let configuration: RestorationConfiguration

  private let makeCoordinator: @MainActor (SceneSession.ID) throws(ProtectionError) -> RestorationCoordinator
  private let worker: PreservationWorker<any PreservationStore>
  private var coordinators: [SceneSession.ID: RestorationCoordinator] = [:]
  private var isLoaded = false

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
    let stored: [SceneSession]
    do {
      stored = try await worker.run { store in Self.read(store) }.get()
    } catch {
      throw RestorationError(
        .preservationFailed, "The list of scenes could not be read; it stays as it is on disk.", cause: error)
    }
    let known = Set(sessions.map(\.id))
    sessions += stored.filter { !known.contains($0.id) }
    sort()
    isLoaded = true
    return sessions
  }

  /// Opens a scene: a known session again, or a new one; it becomes the most recent.
  ///
  /// - Returns: The scene's coordinator, to restore and preserve its hierarchy.
  public func open(_ id: SceneSession.ID, role: String = "") async throws(RestorationError) -> RestorationCoordinator {
    if let index = sessions.firstIndex(where: { $0.id == id }) {
      sessions[index].isOpen = true
      sessions[index].lastActive = configuration.now()
    } else {
      sessions.append(SceneSession(id: id, role: role, lastActive: configuration.now()))
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
    try await save()
  }

  /// Restores the scenes that were open, the frontmost first; the closure gives each one its root, or nil to skip it.
  ///
  /// - Returns: The reports by session, in the order of restoring.
  public func restoreOpenScenes(
    into root: (SceneSession) -> (any RestorableController)?
  ) async throws(RestorationError) -> [(session: SceneSession, report: RestorationReport)] {
    var reports: [(session: SceneSession, report: RestorationReport)] = []
    for session in sessions where session.isOpen {
      guard let root = root(session) else { continue }
      reports.append((session, try await coordinator(for: session.id).restore(into: root)))
    }
    return reports
  }

  private func sort() {
    sessions.sort { ($0.lastActive, $1.id.rawValue) > ($1.lastActive, $0.id.rawValue) }
  }

  // MARK: - The list on disk

  private nonisolated static let node: RestorationIdentifier = "$scenes"

  private nonisolated static func read(_ store: any PreservationStore) -> Result<[SceneSession], any Error> {
    Result {
      do {
        let state = try store.openNewest()
        let reader = try RestorationArchive.Reader(
          base: .init(try state.read(0..<state.byteCount)), deltas: state.frames)
        guard let node = try reader.node(at: [node]) else { return [] }
        return try reader.record(of: node.id).decode([SceneSession].self, forKey: "sessions")
      } catch let error as ProtectionError where error.code.saysTryAgain {
        throw error
      } catch {
        // Nothing was saved, or it can never be read: the list counts as empty, and its file stays beside the next one.
        return []
      }
    }
  }

  /// Writes the list; what was never read is read first, so that no session is lost.
  private func save() async throws(RestorationError) {
    if !isLoaded { try await load() }
    let sessions = sessions
    let context = configuration.context
    let result: Result<Void, any Error> = await worker.run { store in
      Result {
        var writer = RestorationArchive.Writer(context: context)
        let node = try writer.insert(Self.node, attributes: .init(priority: .required, flags: .reserved))
        try writer.setRecord(
          of: node, entries: [.init(key: "sessions", value: sessions)],
          attributes: .init(priority: .required, flags: .reserved))
        guard try store.publish(try writer.makeArchive(), consuming: []).durability == .durable else {
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
