internal import FoundationEssentials

/// The list of scenes as it is on disk: a whole one, and changes of it that runs have saved while locked.
struct SceneList: Sendable {
  /// The sessions; in a change those that a run has changed.
  var sessions: [SceneSession] = []
  /// The sessions that a run has discarded while locked; nothing in a whole list.
  var discarded: Set<SceneSession.ID> = []

  /// The lists on disk, joined.
  struct Stored: Sendable {
    /// The list, with all changes.
    var list: SceneList
    /// The changes in it; the next whole list takes their place.
    var merged: [PendingArchive]
    /// Whether the newest list that was ever written is in it; if not, missing scenes may never have been discarded.
    var isNewest: Bool
  }

  private static let node: RestorationIdentifier = "$scenes"

  /// Puts a later change over this list.
  mutating func merge(_ change: SceneList) {
    var changed = change.sessions
    for index in changed.indices { changed[index].takeRole(from: sessions) }
    let replaced = change.discarded.union(changed.map(\.id))
    sessions.removeAll { replaced.contains($0.id) }
    sessions += changed
  }

  /// So long another process may take for one change of its own.
  private static let patience = Duration.seconds(5)

  /// Has the list for one look or one change; other processes wait for it so long.
  ///
  /// Throws `busy` when they go on with it for longer.
  static func exclusively<R>(
    _ store: any PreservationStore, _ body: () throws -> R
  ) throws -> R {
    do throws(ProtectionError) {
      try store.take(waiting: patience)
    } catch  where error.code == .inUse {
      throw ProtectionError(
        .busy, "Other processes change the list of scenes all the time; try again when they are done.", cause: error)
    }
    defer { store.close() }
    return try body()
  }

  /// Reads the list and its changes.
  ///
  /// Throws transient errors: the device is locked, the disk failed. A list that can never be read counts as empty.
  static func read(_ store: any PreservationStore) throws -> Stored {
    try exclusively(store) { try look(store) }
  }

  private static func look(_ store: any PreservationStore) throws(ProtectionError) -> Stored {
    var list: SceneList
    var isNewest = false
    do {
      let state = try store.open(.newest)
      list = try SceneList(state)
      isNewest = state.standing == .current
    } catch let error as ProtectionError where error.code.isTransient {
      throw error
    } catch {
      // Nothing was saved, or it can never be read: its file stays beside the next one.
      list = SceneList()
    }
    let pending = try store.openPending().archives
    for pending in pending { try? list.merge(pending) }
    return Stored(list: list, merged: pending, isNewest: isNewest)
  }

  /// Writes a list that a run makes of the one on disk.
  ///
  /// Nobody writes between the look and the write: so every list holds what the one before it held, and who finds a scene
  /// missing in it knows that it was discarded.
  ///
  /// - Returns: What became of the write, and the list that it wrote.
  static func publish(
    to store: any PreservationStore, context: RestorationContext, _ body: (Stored) -> SceneList
  ) throws -> (receipt: PublishReceipt, list: SceneList) {
    try exclusively(store) {
      let stored = try look(store)
      let list = body(stored)
      return (
        try store.publish(try list.archived(context), ArchiveSuccession(consuming: stored.merged.map(\.generation))),
        list
      )
    }
  }

  /// The list as an archive.
  func archived(_ context: RestorationContext) throws -> Data {
    var writer = RestorationArchive.Writer(context: context)
    let node = try writer.insert(Self.node, attributes: .init(priority: .required, flags: .reserved))
    var entries: [RestorationArchive.Entry] = [.init(key: "sessions", value: sessions)]
    if !discarded.isEmpty { entries.append(.init(key: "discarded", value: discarded)) }
    try writer.setRecord(of: node, entries: entries, attributes: .init(priority: .required, flags: .reserved))
    return try writer.makeArchive()
  }
}

extension SceneList {
  /// Puts the changes sealed beside a list over this one.
  private mutating func merge(_ pending: PendingArchive) throws { merge(try SceneList(pending.content)) }

  private init(_ state: StoredState) throws {
    try self.init(try state.read(0..<state.byteCount), changes: state.frames)
  }

  private init(_ archive: Data, changes: [Data] = []) throws {
    let reader = try RestorationArchive.Reader(base: .init(archive), deltas: changes)
    guard let node = try reader.node(at: [Self.node]) else { return }
    let record = try reader.record(of: node.id)
    sessions = try record.decode([SceneSession].self, forKey: "sessions")
    discarded = try record.decodeIfPresent(Set<SceneSession.ID>.self, forKey: "discarded") ?? []
  }
}
