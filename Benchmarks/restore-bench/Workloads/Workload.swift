/// A kind of state to preserve, made deterministically.
protocol Workload: Sendable {
  /// What a node of it holds.
  associatedtype State: Codable & Equatable & Sendable
  /// The name in the results.
  static var name: String { get }
  /// The next node's state.
  static func make(_ random: inout SplitMix) -> State
}

/// A preserved node: its state with an identifier, a class tag and a version.
struct Node<State: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
  var identifier: String
  var classTag: String
  var version: UInt32
  var state: State
}

extension Workload {
  /// Nodes with states, always the same.
  static func nodes(_ count: Int) -> [Node<State>] {
    var random = SplitMix(seed: 20_261_121)
    return (0..<count).map { index in
      Node(
        identifier: "\(random.text(5 + random.below(14)))-\(index)", classTag: "controller.\(random.below(8))",
        version: UInt32(1 + random.below(3)), state: make(&random))
    }
  }
}
