/// How much is measured of a number of nodes, so that a million of them end in minutes too.
struct Effort: Sendable {
  /// Fewer rounds.
  var isQuick: Bool
  /// Only what shows how the cost grows with the nodes: no journal near compaction, one way of capturing.
  var isLinear: Bool

  /// The rounds of a metric whose passes go over all nodes.
  func rounds(_ nodes: Int) -> Int {
    let usual = isQuick ? 3 : 9
    return nodes <= 20_000 ? usual : max(1, usual * 20_000 / nodes)
  }

  /// Whether JSON and SQLite are measured beside ours.
  func hasPeers(_ nodes: Int) -> Bool { nodes <= 100_000 }

  /// The metrics whose cost may grow with the nodes.
  static let linearMetrics: Set = [
    "captureAll", "captureOne", "preserveOne", "preserveNone", "preserveAll", "restoreAll", "restoreOneCold",
  ]
}
