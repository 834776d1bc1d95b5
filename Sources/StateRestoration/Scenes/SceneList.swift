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
    /// Which generation the list is; zero when there is none, nil when there is one that can't be read.
    var generation: Generation?
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

  /// Reads the list and its changes.
  ///
  /// Throws what may be different next time: the device is locked, the disk failed. What can never be read counts as empty.
  static func read(_ store: any PreservationStore) throws(ProtectionError) -> Stored {
    var list: SceneList
    var isNewest = false
    var generation: Generation?
    do {
      let state = try store.openNewest()
      list = try SceneList(state)
      isNewest = state.standing == .current
      generation = state.generation
    } catch let error as ProtectionError where error.code.saysTryAgain {
      throw error
    } catch {
      // Nothing was saved, or it can never be read: its file stays beside the next one.
      list = SceneList()
      if (error as? ProtectionError)?.code == .notFound { generation = Generation(rawValue: 0) }
    }
    let pending = try store.openPending().readable
    for pending in pending { try? list.merge(pending) }
    return Stored(list: list, merged: pending, isNewest: isNewest, generation: generation)
  }

  /// Writes a list that a run makes of what is on disk.
  ///
  /// When another process has written one between the look and the write, the list is made again, of that one.
  ///
  /// - Returns: What became of the last write, and the list that it wrote.
  static func publish(
    to store: any PreservationStore, context: RestorationContext, _ body: (Stored) -> SceneList
  ) throws -> (receipt: StoreReceipt, list: SceneList) {
    var stored = try read(store)
    var result = try publish(body(stored), consuming: stored.merged, to: store, context)
    // Bounded: so often in a row nobody comes between, unless something is wrong.
    for _ in 0..<8 {
      guard result.receipt.durability == .durable, let generation = stored.generation,
        let replaced = try? store.openPredecessor(), replaced.generation != generation,
        var other = try? SceneList(replaced)
      else { break }
      for pending in stored.merged { try? other.merge(pending) }
      stored = Stored(list: other, merged: stored.merged, isNewest: true, generation: result.receipt.generation)
      result = try publish(body(stored), consuming: [], to: store, context)
    }
    return result
  }

  private static func publish(
    _ list: SceneList, consuming merged: [StoredPending], to store: any PreservationStore, _ context: RestorationContext
  ) throws -> (receipt: StoreReceipt, list: SceneList) {
    (try store.publish(try list.archived(context), consuming: merged), list)
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
