/// The children of one node in their order; those that leave are taken out together, when the order is next needed.
///
/// So a list of very many can lose many, one after the other, without being searched for each.
struct Siblings: Sendable {
  private var members: [UInt32]
  private var departed: Set<UInt32> = []

  /// Takes a list as it is.
  init(_ members: [UInt32]) { self.members = members }

  /// The children in order.
  var ordered: [UInt32] { departed.isEmpty ? members : members.filter { !departed.contains($0) } }

  /// Takes out a child, which must be there.
  mutating func remove(_ id: UInt32) { departed.insert(id) }

  /// Adds a child at a place; nil, or a place past the end, is the last.
  mutating func insert(_ id: UInt32, at index: Int?) {
    // Who comes back must not be taken for one that has left, nor those be counted that have.
    if index != nil || departed.contains(id) { settle() }
    members.insert(id, at: min(max(index ?? members.count, 0), members.count))
  }

  /// Forgets those that have left.
  mutating func settle() {
    members = ordered
    departed = []
  }
}
