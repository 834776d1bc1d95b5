internal import FoundationShim

/// The scenes as one run knows them, to be joined with the list on disk, which other processes write too.
///
/// What this run has changed since it last wrote the list is its own; about everything else the list on disk says more.
struct KnownScenes: Sendable {
  /// All sessions that this run knows, most recently active first.
  private(set) var sessions: [RestoredWindow] = []
  /// The sessions that this run has changed or discarded, and that no list which it wrote says yet.
  private var changes: Set<RestoredWindow.ID> = []

  /// What this run has changed or discarded: to be sealed beside a list that can't be read.
  var unwritten: SceneList {
    let changed = sessions.filter { changes.contains($0.id) }
    return SceneList(sessions: changed, discarded: changes.subtracting(changed.map(\.id)))
  }

  /// The closed sessions, the one that was closed last first.
  var closed: [RestoredWindow] {
    sessions.filter { !$0.isOpen }.sorted { left, right in
      (left.closedAt ?? .distantPast, right.id) > (right.closedAt ?? .distantPast, left.id)
    }
  }

  /// The moment for a session that becomes the most recent one: later than those of all others, whatever the clock says.
  func nextActivation(_ now: Date) -> Date { Self.moment(now, after: sessions.first?.lastActive) }

  /// The moment for a session that is closed: later than those of all others, whatever the clock says.
  func nextClosing(_ now: Date) -> Date { Self.moment(now, after: sessions.compactMap(\.closedAt).max()) }

  private static func moment(_ now: Date, after latest: Date?) -> Date {
    guard let latest, latest >= now else { return now }
    return Date(timeIntervalSinceReferenceDate: latest.timeIntervalSinceReferenceDate.nextUp)
  }

  /// Changes a session; false when this run doesn't know it.
  @discardableResult
  mutating func change(_ id: RestoredWindow.ID, _ body: (inout RestoredWindow) -> Void) -> Bool {
    guard let index = sessions.firstIndex(where: { $0.id == id }) else { return false }
    body(&sessions[index])
    changes.insert(id)
    sort()
    return true
  }

  /// Adds a session that this run has opened and did not know.
  mutating func add(_ session: RestoredWindow) {
    sessions.append(session)
    changes.insert(session.id)
    sort()
  }

  /// Removes a session, whether this run knows it or not.
  mutating func discard(_ id: RestoredWindow.ID) {
    sessions.removeAll { $0.id == id }
    changes.insert(id)
  }

  /// Forgets the changes, which are on disk now.
  mutating func settle() { changes = [] }

  /// Joins the list on disk, which this run takes over where it has changed nothing itself.
  ///
  /// A session that this run has changed or discarded is as this run has it. Of the others, those in the list are taken as
  /// they are there, new ones too; one that is not in it was discarded by another process, and goes.
  ///
  /// - Parameters:
  ///   - list: The list on disk.
  ///   - keepsMissing: Whether a session that is not in the list may not have been discarded: the list may be an older one.
  ///   - held: Sessions whose coordinators are in use: they stay.
  mutating func join(_ list: [RestoredWindow], keepsMissing: Bool, held: Set<RestoredWindow.ID>) {
    let stored = Dictionary(list.map { ($0.id, $0) }) { _, last in last }
    var joined = sessions.compactMap { session -> RestoredWindow? in
      guard changes.contains(session.id) else {
        return stored[session.id] ?? (keepsMissing || held.contains(session.id) ? session : nil)
      }
      var session = session
      session.takeNames(from: list)
      return session
    }
    let known = Set(sessions.map(\.id))
    joined += list.filter { !known.contains($0.id) && !changes.contains($0.id) }
    sessions = joined
    sort()
  }

  private mutating func sort() {
    sessions.sort { ($0.lastActive, $1.id) > ($1.lastActive, $0.id) }
  }
}
