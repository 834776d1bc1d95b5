extension RestorationArchive.Writer {
  /// Leaves out state until the archive is within its budget: the lowest priority first, of those the biggest.
  ///
  /// What is left out keeps its place in the tree and says so. State of priority `required` is kept and reported.
  mutating func shed(among candidates: [Int]) throws(ArchiveError) {
    guard liveBytes > limits.bytesPerArchive else { return }
    let ordered = candidates.filter { !slots[$0].isRemoved && slots[$0].payload.count > 0 }.sorted {
      let (left, right) = (slots[$0], slots[$1])
      return (left.attributes.priority, -left.payload.count, left.id) < (
        right.attributes.priority, -right.payload.count, right.id
      )
    }
    for index in ordered where liveBytes > limits.bytesPerArchive {
      let slot = slots[index]
      let isLeftOut = slot.attributes.priority != .required
      sheddings.append(
        RestorationArchive.Shedding(
          path: try path(of: NodeID(rawValue: slot.id)), node: NodeID(rawValue: slot.id),
          priority: slot.attributes.priority, byteCount: slot.payload.count, budget: .archive, isLeftOut: isLeftOut))
      guard isLeftOut else { continue }
      liveBytes -= slot.payload.count
      change(index) {
        $0.payload = .none
        $0.attributes.flags.insert(.shed)
        $0.isChanged = true
      }
    }
  }
}
