/// The children of one node in their order; those that come before another, and those that leave, are put in and taken out
/// together, when the order is next needed.
///
/// So a list of very many can lose many, or have many replaced, one after the other, without being searched for each.
struct Siblings: Sendable {
  private var members: [UInt32]
  private var departed: Set<UInt32> = []
  /// The predecessors, by their successors.
  private var precursors: [UInt32: UInt32] = [:]
  private var arrived: Set<UInt32> = []

  /// Takes a list as it is.
  init(_ members: [UInt32]) { self.members = members }

  /// The children in order.
  var ordered: [UInt32] {
    if departed.isEmpty, precursors.isEmpty { return members }
    var ordered: [UInt32] = []
    ordered.reserveCapacity(members.count + precursors.count)
    for member in members {
      if let precursor = precursors[member], !departed.contains(precursor) { ordered.append(precursor) }
      if !departed.contains(member) { ordered.append(member) }
    }
    return ordered
  }

  /// Takes out a child, which must be there.
  mutating func remove(_ id: UInt32) { departed.insert(id) }

  /// Adds a child at a place; nil, or a place past the end, is the last.
  mutating func insert(_ id: UInt32, at index: Int?) {
    // A node that comes back must not be taken for one that has left, nor those be counted that have.
    if index != nil || departed.contains(id) { settle() }
    members.insert(id, at: min(max(index ?? members.count, 0), members.count))
  }

  /// Adds a child before another, which must be there.
  mutating func insert(_ id: UInt32, before other: UInt32) {
    if departed.contains(id) || precursors[other] != nil || arrived.contains(other) { settle() }
    precursors[other] = id
    arrived.insert(id)
  }

  /// Puts in those that have come, and forgets those that have left.
  mutating func settle() {
    members = ordered
    departed = []
    precursors = [:]
    arrived = []
  }
}
