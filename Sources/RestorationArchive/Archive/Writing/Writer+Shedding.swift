extension RestorationArchive.Writer {
  /// A state that is left out.
  private struct Omission {
    var index: Int
    var rank: SheddingRank
    var state: [UInt8]
  }

  /// By how much all states, those that are left out included, are over the budget.
  private var excess: Int {
    slotsOfLeftOut.reduce(liveBytes - limits.bytesPerArchive) { $0 + leftOutBytes(of: $1) }
  }

  /// The slots of the nodes whose states are left out, in an order that is the same in every process.
  var slotsOfLeftOut: [Int] { leftOut.isEmpty ? [] : leftOut.sorted().compactMap { slotOfNode[$0] } }

  private func leftOutBytes(of index: Int) -> Int {
    leftOut.contains(slots[index].id) ? slots[index].payload.count : 0
  }

  /// Takes a node's state away when that is left out.
  func removeLeftOutState(of slot: inout Slot) {
    guard leftOut.contains(slot.id) else { return }
    slot.payload = .none
    slot.attributes.flags.insert(.shed)
  }

  /// Decides what an archive leaves out, of everything there is.
  ///
  /// - Returns: A rank that nothing is below which is not left out; nil when nobody looked, as all of it fits.
  mutating func shedAll() throws(ArchiveError) -> SheddingRank? {
    guard excess > 0 else {
      includeAll()
      return nil
    }
    return try shed(among: loadAll(below: ArchiveHeader.rootID).compactMap { slotOfNode[$0] }, below: .highest)
  }

  /// Decides what a delta leaves out: of the changes since the last archive or delta, and of the states left out then, those that
  /// an archive would.
  ///
  /// Throws `limitExceeded` when something else might have to go as well: only an archive looks at every node.
  mutating func shedChanged() throws(ArchiveError) {
    guard !dirty.isEmpty else { return }
    guard excess > 0 else { return includeAll() }
    let others = slotsOfLeftOut.filter { !slots[$0].isDirty }
    _ = try shed(among: others + dirty, below: written.lowestRank)
  }

  /// Leaves nothing out, whatever the budget.
  mutating func includeAll() {
    for index in slotsOfLeftOut { writeAgain(index) }
    sheddings = []
  }

  /// Leaves out state until the archive is within its budget, the lowest priority first, of those the biggest; all else is
  /// included again.
  ///
  /// A state that is left out stays here; a note in its place says so.
  /// State of priority `required` is never left out. When it throws, nothing has changed.
  ///
  /// - Parameters:
  ///   - candidates: The states that may go, with all those that are left out now.
  ///   - limit: The lowest rank of all others; nil when it is not known.
  /// - Returns: The lowest rank of what the candidates have left.
  private mutating func shed(
    among candidates: [Int], below limit: SheddingRank?
  ) throws(ArchiveError) -> SheddingRank {
    var excess = excess
    let ordered = candidates.compactMap { index in slots[index].rank.map { (index: index, rank: $0) } }
      .sorted { $0.rank < $1.rank }
    var omissions: [Omission] = []
    var lowest = SheddingRank.highest
    for (index, rank) in ordered {
      guard excess > 0, rank.priority != .required, let limit, rank < limit else {
        lowest = rank
        break
      }
      excess -= rank.byteCount
      omissions.append(try omission(of: index, rank))
    }
    guard excess <= 0 || limit?.priority == .required else {
      throw ArchiveError(
        .limitExceeded, "the archive is over its budget; make an archive, which leaves out what matters least")
    }
    let required = excess > 0 ? ordered.filter { $0.rank.priority == .required } : []
    try report(omissions, required.map(\.rank))
    leaveOut(omissions)
    return lowest
  }

  private func omission(of index: Int, _ rank: SheddingRank) throws(ArchiveError) -> Omission {
    var state: [UInt8] = []
    if case .bytes(let bytes) = slots[index].payload {
      state = bytes
    } else {
      // The archive that it was read from does not stay for ever.
      try slots[index].payload.withBytes(base: baseBytes, reader: reader) { state = $0.array }
    }
    return Omission(index: index, rank: rank, state: state)
  }

  /// Tells of states that are left out from now on, or were before and nobody was told, and of those kept over the budget.
  private mutating func report(_ omissions: [Omission], _ kept: [SheddingRank]) throws(ArchiveError) {
    let untold = Set(sheddings.map(\.node.rawValue))
    var sheddings: [RestorationArchive.Shedding] = []
    let new = omissions.filter { !leftOut.contains($0.rank.id) || untold.contains($0.rank.id) }
    for (rank, isLeftOut) in new.map({ ($0.rank, true) }) + kept.map({ ($0, false) }) {
      let id = NodeID(rawValue: rank.id)
      sheddings.append(
        RestorationArchive.Shedding(
          path: try path(of: id), node: id, priority: rank.priority, byteCount: rank.byteCount, budget: .archive,
          isLeftOut: isLeftOut))
    }
    self.sheddings = sheddings
  }

  private mutating func leaveOut(_ omissions: [Omission]) {
    let chosen = Set(omissions.lazy.map(\.index))
    for index in slotsOfLeftOut where !chosen.contains(index) { writeAgain(index) }
    for omission in omissions where leftOut.insert(omission.rank.id).inserted {
      liveBytes -= omission.state.count
      change(omission.index) {
        $0.payload = .bytes(omission.state)
        $0.isChanged = true
      }
    }
  }

  private mutating func writeAgain(_ index: Int) {
    include(index)
    change(index) { $0.isChanged = true }
  }

  /// Has a state no longer left out; whoever calls this marks the slot as changed.
  mutating func include(_ index: Int) {
    guard !leftOut.isEmpty else { return }
    liveBytes += leftOutBytes(of: index)
    leftOut.remove(slots[index].id)
  }
}
