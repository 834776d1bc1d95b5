/// When a node's state goes, should the archive outgrow its budget: the lowest rank is left out first.
struct SheddingRank: Comparable, Sendable {
  /// The node's priority.
  var priority: RestorationArchive.Priority
  /// The bytes of its state; of equal priorities the biggest goes first.
  var byteCount: Int
  /// The node's number, so that no two ranks are equal.
  var id: UInt32

  /// The rank that nothing is above: that of a node without any state.
  static let highest = SheddingRank(priority: .required, byteCount: 0, id: .max)

  static func < (left: Self, right: Self) -> Bool {
    (left.priority, -left.byteCount, left.id) < (right.priority, -right.byteCount, right.id)
  }
}

extension RestorationArchive.Writer.Slot {
  /// The rank of the node's state; nil when it has none, or what it has was left out before it was read.
  var rank: SheddingRank? {
    guard !isRemoved, payload.count > 0, !attributes.flags.contains(.shed) else { return nil }
    return SheddingRank(priority: attributes.priority, byteCount: payload.count, id: id)
  }
}
