internal import RestorationArchive

extension Lineage {
  /// A place whose object leaves, and what that was.
  struct Vacancy {
    let path: RestorationPath
    let parent: NodeID?
    let identifier: RestorationIdentifier
    let attributes: RestorationArchive.Attributes
  }

  /// The places that become free in a capture; none while nothing is kept.
  func vacancies(of batch: CaptureBatch) throws(ArchiveError) -> [Vacancy] {
    guard let kept = try writer.child(of: nil, identifier: ReservedNode.kept), try !writer.children(of: kept).isEmpty
    else { return [] }
    let leaving = Set(batch.removals.compactMap(node) + batch.removedNodes)
    var vacancies: [Vacancy] = []
    for id in leaving {
      guard let stored = try writer.node(id), stored.parent.map({ !leaving.contains($0) }) ?? true else { continue }
      vacancies.append(
        .init(
          path: path(of: id), parent: stored.parent, identifier: stored.identifier, attributes: stored.attributes))
    }
    return vacancies
  }

  /// Puts what had made room for another class or model back where that has left; the newest of each place.
  mutating func fill(_ vacancies: [Vacancy]) throws(ArchiveError) {
    guard !vacancies.isEmpty, let kept = try writer.child(of: nil, identifier: ReservedNode.kept) else { return }
    var all: [RestorationIdentifier: [NodeID]] = [:]
    for id in try writer.children(of: kept) {
      guard let node = try writer.node(id) else { continue }
      all[KeptName(node.identifier).path, default: []].append(id)
    }
    for vacancy in vacancies {
      guard let candidates = all[KeptName(vacancy.path).path], try isFree(vacancy) else { continue }
      for id in candidates.reversed() {
        guard let node = try writer.node(id), vacancy.attributes.isOther(than: node) else { continue }
        try relocate(id, under: vacancy.parent, as: vacancy.identifier)
        break
      }
    }
  }

  private func isFree(_ vacancy: Vacancy) throws(ArchiveError) -> Bool {
    if let parent = vacancy.parent, try writer.node(parent) == nil { return false }
    return try writer.child(of: vacancy.parent, identifier: vacancy.identifier) == nil
  }
}
