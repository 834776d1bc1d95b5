internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

/// The list of scenes as it is on disk: a whole one, and changes of it that runs have saved while locked.
struct SceneList: Sendable {
  /// The sessions; in a change those that a run has changed.
  var sessions: [SceneSession] = []
  /// The sessions that a run has discarded while locked; nothing in a whole list.
  var discarded: Set<SceneSession.ID> = []

  /// What is on disk, joined.
  struct Stored: Sendable {
    /// The list, with all changes.
    var list: SceneList
    /// The changes in it; the next whole list takes their place.
    var merged: [StoredPending]
    /// Whether the newest list that was ever written is in it; if not, what is missing in it may never have been discarded.
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

  /// So often in a row another process may come between.
  ///
  /// Each time it has written its own change, which takes as long. Of 5 600 changes by eight processes that did nothing
  /// else, three needed more than twelve attempts.
  private static let attemptLimit = 100

  /// Reads the list and its changes, as they are at one moment.
  ///
  /// Throws what may be different next time: the device is locked, the disk failed, others write all the time. What can
  /// never be read counts as empty.
  static func read(_ store: any PreservationStore) throws(ProtectionError) -> Stored {
    for _ in 0..<attemptLimit {
      let seen = try store.stamp()
      let stored = try look(store)
      // Between the list and its changes another process may have joined the two.
      if try store.stamp() == seen { return stored }
    }
    throw busy
  }

  private static func look(_ store: any PreservationStore) throws(ProtectionError) -> Stored {
    var list: SceneList
    var isNewest = false
    do {
      let state = try store.openNewest()
      list = try SceneList(state)
      isNewest = state.standing == .current
    } catch let error as ProtectionError where error.code.saysTryAgain {
      throw error
    } catch {
      // Nothing was saved, or it can never be read: its file stays beside the next one.
      list = SceneList()
    }
    let pending = try store.openPending().readable
    for pending in pending { try? list.merge(pending) }
    return Stored(list: list, merged: pending, isNewest: isNewest)
  }

  /// Writes a list that a run makes of what is on disk.
  ///
  /// When another process has written one since the look, nothing is written, and the list is made again, of that one: so
  /// every list holds what the one before it held, and who finds a scene missing in it knows that it was discarded.
  ///
  /// - Returns: What became of the write, and the list that it wrote.
  static func publish(
    to store: any PreservationStore, context: RestorationContext, _ body: (Stored) -> SceneList
  ) throws -> (receipt: StoreReceipt, list: SceneList) {
    for _ in 0..<attemptLimit {
      let seen = try store.stamp()
      let stored = try look(store)
      let list = body(stored)
      do {
        let archive = try list.archived(context)
        return (try store.publish(archive, consuming: stored.merged, unlessChangedSince: seen), list)
      } catch let error as ProtectionError where error.code == .superseded {
        continue
      }
    }
    throw busy
  }

  private static var busy: ProtectionError {
    ProtectionError(.busy, "Other processes change the list of scenes all the time; try again when they are done.")
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
  /// Puts what was sealed beside a list over this one.
  private mutating func merge(_ pending: StoredPending) throws { merge(try SceneList(pending.content)) }

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
