internal import FoundationShim

/// The list of scenes as it is on disk: a whole one, and changes of it that runs have saved while locked.
struct SceneList: Sendable {
  /// The sessions; in a change those that a run has changed.
  var sessions: [RestoredWindow] = []
  /// The sessions that a run has discarded while locked; nothing in a whole list.
  var discarded: Set<RestoredWindow.ID> = []
  /// Whether a list before it was lost: there may be scenes that nobody can name any more.
  var isIncomplete = false

  /// The lists on disk, joined.
  struct Stored: Sendable {
    /// The list, with all changes.
    var list: SceneList
    /// The changes in it; the next whole list takes their place.
    var merged: [PendingArchive]
    /// Why some of what was written could not be read; nil when all was.
    ///
    /// Scenes that are missing then may never have been discarded.
    var failure: ProtectionError?
  }

  private static let node: RestorationIdentifier = "$scenes"

  /// Puts a later change over this list.
  mutating func merge(_ change: SceneList) {
    var changed = change.sessions
    for index in changed.indices { changed[index].takeNames(from: sessions) }
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
  /// Throws transient errors: the device is locked, the disk failed. A list that can never be read is told as a failure.
  static func read(_ store: any PreservationStore) throws -> Stored {
    try exclusively(store) { try look(store) }
  }

  private static func look(_ store: any PreservationStore) throws(ProtectionError) -> Stored {
    var stored = Stored(list: SceneList(), merged: [])
    do {
      let state = try store.open(.newest)
      stored.list = try SceneList(state)
      stored.failure = state.standing.failure
    } catch let error as ProtectionError where error.code.isTransient {
      throw error
    } catch let error as ProtectionError where error.code == .notFound {
      // Nothing was saved, or the last scene was discarded.
    } catch {
      stored.failure = error as? ProtectionError ?? .damagedList(error)
      // One that opens well and is damaged inside is found only when it is read.
      stored.list = (try? SceneList(store.open(.predecessor))) ?? SceneList()
    }
    let pending = try store.openPending()
    stored.merged = pending.archives
    stored.failure = stored.failure ?? pending.problems.values.first
    for pending in pending.archives {
      do { try stored.list.merge(pending) } catch { stored.failure = .damagedList(error) }
    }
    if stored.failure != nil { stored.list.isIncomplete = true }
    return stored
  }

  /// Writes a list that a run makes of the one on disk.
  ///
  /// Nobody writes between the look and the write: so every list holds what the one before it held, and who finds a scene
  /// missing in it knows that it was discarded.
  ///
  /// An empty list is none: nothing on disk names the scenes that there were.
  ///
  /// - Returns: Whether the write is known to survive a power cut, and the list that it wrote.
  static func publish(
    to store: any PreservationStore, protection: ProtectionClass, context: RestorationArchive.Context,
    _ body: (Stored) -> [RestoredWindow]
  ) throws -> (durability: Durability, written: Stored) {
    try exclusively(store) {
      var stored = try look(store)
      stored.list.sessions = body(stored)
      if stored.list.sessions.isEmpty, !stored.list.isIncomplete {
        try store.deleteAll()
        return (.durable, stored)
      }
      let succession = ArchiveSuccession(consuming: stored.merged.map(\.generation))
      let list = PublishedPart(
        part: .first, protection: protection, content: .new(try stored.list.archived(context)))
      return (try store.publish([list], succession, droppingWeakerThan: nil).durability, stored)
    }
  }

  /// The list as an archive.
  func archived(_ context: RestorationArchive.Context) throws -> Data {
    var writer = RestorationArchive.Writer(context: context)
    let node = try writer.insert(Self.node, attributes: .init(priority: .required, flags: .reserved))
    var entries: [RestorationArchive.Entry] = [.init(key: "sessions", value: sessions)]
    if isIncomplete { entries.append(.init(key: "isIncomplete", value: true)) }
    if !discarded.isEmpty { entries.append(.init(key: "discarded", value: discarded)) }
    try writer.setRecord(of: node, entries: entries, attributes: .init(priority: .required, flags: .reserved))
    return try writer.makeArchive()
  }
}

extension SceneList {
  /// Puts the changes sealed beside a list over this one.
  private mutating func merge(_ pending: PendingArchive) throws { merge(try SceneList(pending.content)) }

  private init(_ state: StoredState) throws {
    guard let content = state.parts.first?.content else {
      self.init()
      return
    }
    try self.init(try content.read(0..<content.byteCount), changes: content.frames)
  }

  private init(_ archive: Data, changes: [Data] = []) throws {
    let reader = try RestorationArchive.Reader(base: .init(archive), deltas: changes)
    guard let node = try reader.node(at: [Self.node]) else { return }
    let record = try reader.record(of: node.id)
    sessions = try record.decode([RestoredWindow].self, forKey: "sessions")
    discarded = try record.decodeIfPresent(Set<RestoredWindow.ID>.self, forKey: "discarded") ?? []
    isIncomplete = try record.decodeIfPresent(Bool.self, forKey: "isIncomplete") ?? false
  }
}

extension ArchiveStanding {
  /// Why a list may not be the last one that was written; nil when it is.
  fileprivate var failure: ProtectionError? {
    switch self {
    case .current: nil
    case .olderGeneration(let code):
      ProtectionError(code ?? .corrupt, "The newest list can't be read; the one before stands in.")
    case .rollbackUnverifiable:
      ProtectionError(.corrupt, "The ledger was lost, and nobody can tell whether the list is the newest.")
    }
  }
}

extension ProtectionError {
  fileprivate static func damagedList(_ cause: any Error) -> ProtectionError {
    ProtectionError(.corrupt, "The list is damaged inside.", cause: cause)
  }
}
