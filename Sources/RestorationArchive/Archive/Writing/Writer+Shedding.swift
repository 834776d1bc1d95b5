extension RestorationArchive.Writer {
  /// Leaves out state until the archive is within its budget: the lowest priority first, of those the biggest.
  ///
  /// What is left out keeps its place in the tree and says so. State of priority `required` is kept and reported.
  ///
  /// - Returns: The lowest rank of what the candidates have left.
  mutating func shed(among candidates: [Int]) throws(ArchiveError) -> SheddingRank {
    let ordered = candidates.compactMap { index in slots[index].rank.map { (index: index, rank: $0) } }
      .sorted { $0.rank < $1.rank }
    var lowest = SheddingRank.highest
    for (index, rank) in ordered {
      guard liveBytes > limits.bytesPerArchive else { return min(lowest, rank) }
      let isLeftOut = rank.priority != .required
      let id = NodeID(rawValue: rank.id)
      sheddings.append(
        RestorationArchive.Shedding(
          path: try path(of: id), node: id, priority: rank.priority, byteCount: rank.byteCount, budget: .archive,
          isLeftOut: isLeftOut))
      guard isLeftOut else {
        lowest = min(lowest, rank)
        continue
      }
      liveBytes -= rank.byteCount
      change(index) {
        $0.payload = .none
        $0.attributes.flags.insert(.shed)
        $0.isChanged = true
      }
    }
    return lowest
  }

  /// Leaves out of what changed since the last archive or delta what an archive would leave out.
  ///
  /// Throws `limitExceeded` when it might leave out something else as well: only an archive looks at every node.
  mutating func shedChanged() throws(ArchiveError) {
    let excess = liveBytes - limits.bytesPerArchive
    guard excess > 0, !dirty.isEmpty else { return }
    let floor = written.lowestRank
    let below = dirty.compactMap { slots[$0].rank }.filter { rank in floor.map { rank < $0 } ?? false }
    guard floor?.priority == .required || below.reduce(0, { $0 + $1.byteCount }) >= excess else {
      throw ArchiveError(
        .limitExceeded, "the archive is over its budget; make an archive, which leaves out what matters least")
    }
    _ = try shed(among: dirty)
  }
}
