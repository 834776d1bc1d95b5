internal import DataProtection
internal import RestorationArchive

/// What a marker calls the nodes of a loaded state, so that the next launch finds them.
///
/// A node that the disk has is called by its number. What was saved while locked, and is merged in memory alone, may get other
/// numbers in the next launch, whose program may know other classes: it is called by the place on the disk that it comes from.
struct NodeNames: Sendable {
  private var names: [NodeID: UInt32] = [:]
  private var nodes: [UInt32: NodeID] = [:]

  /// The name of a node.
  func name(of node: UInt32) -> UInt32 { names.isEmpty ? node : names[NodeID(rawValue: node)] ?? node }

  /// The node of a name.
  func node(named name: UInt32) -> NodeID { nodes[name] ?? NodeID(rawValue: name) }

  /// Names a node that comes from a generation that was saved while locked.
  mutating func add(_ node: NodeID, from source: NodeID, of generation: Generation) {
    // Two of them have one name once in 2^32.
    var hash: UInt32 = 2_166_136_261
    for part in [generation.rawValue, UInt64(source.rawValue)] {
      for shift in stride(from: 0, to: 64, by: 8) {
        hash = (hash ^ UInt32(truncatingIfNeeded: part >> shift & 0xff)) &* 16_777_619
      }
    }
    add(node, as: hash)
  }

  /// Names a node that the disk has under another number.
  mutating func add(_ node: NodeID, formerly former: NodeID) { add(node, as: former.rawValue) }

  private mutating func add(_ node: NodeID, as name: UInt32) {
    // The highest number stands for none.
    guard name != .max else { return }
    nodes[name] = node
    if names[node] == nil { names[node] = name }
  }
}
