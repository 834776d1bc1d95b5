/// The objects of one capture in whose places another class's or model's state goes aside, with all that is below it.
struct Strangers: Sendable {
  /// An object of another class or model than the state in its place.
  struct Stranger: Sendable {
    var key: CaptureBatch.Key
    /// The objects below it that have not got what is stored in their places either.
    var below: Set<CaptureBatch.Key>
  }

  /// In the order in which they were found.
  private(set) var all: [Stranger] = []
  private var positions: [CaptureBatch.Key: Int] = [:]
  private var members: Set<CaptureBatch.Key> = []

  /// Whether what is stored in an object's place goes aside: it is one of them, or below one.
  func contains(_ key: CaptureBatch.Key) -> Bool { members.contains(key) }

  /// The one with a key; nil when it is none of them.
  subscript(_ key: CaptureBatch.Key) -> Stranger? { positions[key].map { all[$0] } }

  /// One more, with objects below it.
  mutating func append(_ key: CaptureBatch.Key, below: Set<CaptureBatch.Key>) {
    positions[key] = positions[key] ?? all.count
    all.append(Stranger(key: key, below: below))
    members.insert(key)
    members.formUnion(below)
  }

  /// An object that has turned up below one of them.
  mutating func join(_ key: CaptureBatch.Key, below stranger: CaptureBatch.Key) {
    guard let position = positions[stranger] else { return }
    all[position].below.insert(key)
    members.insert(key)
  }
}
