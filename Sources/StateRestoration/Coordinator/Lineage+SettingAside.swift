internal import DataProtection
internal import RestorationArchive

extension Lineage {
  /// What a whole generation would replace without continuing it.
  struct Replacing: Sendable {
    /// Whether the newest state on disk is not the one that is continued.
    var isOther: Bool
    /// The set-aside state that is continued instead, which needs its place no more once it is saved.
    var reclaimed: UInt64?

    /// Nothing: the newest state is continued, or there is none.
    static let nothing = Replacing(isOther: false)
    /// A state that was not restored.
    static let refused = Replacing(isOther: true)
  }

  private var shelf: SetAsideShelf {
    SetAsideShelf(store: store, limits: limits, schemaVersion: schemaVersion)
  }

  /// Sets aside what the next whole generation would replace; when this throws, nothing may be replaced.
  func setAsideReplaced() throws(ProtectionError) -> [PreservationFinding] {
    guard replacing.isOther else { return [] }
    let placed = try shelf.putNewest(sparing: replacing.reclaimed)
    return (placed.state.map { [.setAside($0)] } ?? []) + placed.removed.map { .setAsideRemoved($0) }
  }

  /// Settles what was replaced, after a whole generation is durable.
  mutating func didReplace() {
    // If it can't be removed it stays where it is, and is offered once more.
    if let reclaimed = replacing.reclaimed { _ = try? shelf.remove(reclaimed) }
    replacing = .nothing
  }
}
