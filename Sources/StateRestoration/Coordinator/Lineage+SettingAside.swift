internal import DataProtection
internal import RestorationArchive

extension Lineage {
  /// What a whole generation would replace without continuing it.
  struct Replacing: Sendable {
    /// Whether the newest state on disk is not the one that is continued.
    var isOther: Bool
    /// The set-aside state that is continued instead, which needs its place no more once it is saved.
    var reclaimed: UInt64?
    /// What is known of the generation before the newest.
    var predecessor = SetAsideShelf.Predecessor.unknown
    /// Whether what was saved while locked is to be sorted first: this run goes on from what it has saved itself, and from
    /// nothing else of it.
    var sortsPending = false
    /// What was set aside for it already, as long as no receipt of a whole generation has said so.
    var findings: [PreservationFinding] = []

    /// Nothing: the newest state is continued, or there is none.
    static let nothing = Replacing(isOther: false)
    /// A state that was not restored.
    static let refused = Replacing(isOther: true)
    /// The same; perhaps the generation before it was refused too, after it had stood in.
    static func refused(withOlder refusesOlder: Bool) -> Replacing {
      Replacing(isOther: true, predecessor: refusesOlder ? .refused : .unknown)
    }
  }

  private var shelf: SetAsideShelf {
    SetAsideShelf(store: store, limits: limits, schemaVersion: schemaVersion)
  }

  /// Sets aside what the next whole generation would replace; when this throws, nothing may be replaced.
  mutating func setAsideReplaced() throws(ProtectionError) -> [PreservationFinding] {
    try sortPending()
    guard replacing.isOther else { return replacing.findings }
    try shelf.putNewest(predecessor: replacing.predecessor, sparing: replacing.reclaimed) { note($0) }
    return replacing.findings
  }

  /// Takes what this run has saved while locked for included, and sets aside what others have: their edits are in no object
  /// of this run, and once a newer generation is there they fit nothing any more.
  private mutating func sortPending() throws(ProtectionError) {
    guard replacing.sortsPending else { return }
    let all: AllPending
    do throws(ProtectionError) {
      all = try store.openPending()
    } catch  where !error.code.saysTryAgain {
      // What nobody can open stays where it is.
      return note([.failure(UnreadablePending.all(error))])
    }
    note(all.problems.map { .failure(UnreadablePending.one($0)) })
    for one in all.readable where !one.isOwn && !merging.contains(where: { $0.content == one.content }) {
      note(try shelf.put(one, sparing: replacing.reclaimed))
    }
    merging += all.readable
    replacing.sortsPending = false
  }

  /// Notes what was set aside, once: what fails afterwards is tried again from the beginning.
  private mutating func note(_ placed: SetAsideShelf.Placed) {
    note((placed.state.map { [.setAside($0)] } ?? []) + placed.removed.map { .setAsideRemoved($0) })
  }

  private mutating func note(_ findings: [PreservationFinding]) {
    replacing.findings += findings.filter { !replacing.findings.contains($0) }
  }

  /// Settles what was replaced, after a whole generation is durable.
  mutating func didReplace() {
    // If it can't be removed it stays where it is, and is offered once more.
    if let reclaimed = replacing.reclaimed { _ = try? shelf.remove(reclaimed) }
    replacing = .nothing
  }
}
