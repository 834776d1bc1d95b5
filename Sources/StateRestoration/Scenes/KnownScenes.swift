/// The scenes as one run knows them, to be joined with the list on disk, which other processes write too.
///
/// What this run has changed since it last wrote the list is its own; about everything else the list on disk says more.
struct KnownScenes: Sendable {
  /// All sessions that this run knows, most recently active first.
  private(set) var sessions: [SceneSession] = []
  /// What this run has changed or discarded, and no list that it wrote says yet: to be sealed beside a list that can't be
  /// read.
  private(set) var unwritten = SceneList()

  /// Changes a session; false when this run doesn't know it.
  @discardableResult
  mutating func change(_ id: SceneSession.ID, _ body: (inout SceneSession) -> Void) -> Bool {
    guard var session = sessions.first(where: { $0.id == id }) else { return false }
    body(&session)
    add(session)
    return true
  }

  /// Puts in a session that this run has opened or changed.
  mutating func add(_ session: SceneSession) {
    note(SceneList(sessions: [session]), over: sessions)
  }

  /// Removes a session, whether this run knows it or not.
  mutating func discard(_ id: SceneSession.ID) {
    note(SceneList(discarded: [id]), over: sessions)
  }

  /// Forgets the changes that are on disk now; later changes stay this run's own.
  mutating func settle(_ written: KnownScenes) {
    unwritten.sessions.removeAll(where: written.unwritten.sessions.contains)
    unwritten.discarded.subtract(written.unwritten.discarded)
  }

  /// Joins the list on disk, which this run takes over where it has changed nothing itself.
  ///
  /// A session that this run has changed or discarded is as this run has it. Of the others, those in the list are taken as
  /// they are there, new ones too; one that is not in it was discarded by another process, and goes.
  ///
  /// - Parameters:
  ///   - list: The list on disk.
  ///   - keepsMissing: Whether nothing was discarded that is not in the list: there is none, or it is an older one.
  ///   - held: Sessions whose coordinators are in use: they stay.
  mutating func join(_ list: [SceneSession], keepsMissing: Bool, held: Set<SceneSession.ID>) {
    let listed = Set(list.map(\.id))
    let staying = held.union(unwritten.sessions.map(\.id))
    let missing = sessions.filter { !listed.contains($0.id) && (keepsMissing || staying.contains($0.id)) }
    note(SceneList(), over: list + missing)
  }

  /// Makes a change this run's own, and puts everything that is over a list.
  private mutating func note(_ change: SceneList, over list: [SceneSession]) {
    unwritten.merge(change)
    var joined = SceneList(sessions: list)
    joined.merge(unwritten)
    sessions = joined.sessions.sorted { ($0.lastActive, $1.id) > ($1.lastActive, $0.id) }
  }
}
