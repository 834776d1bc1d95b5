/// One line of the results.
struct Result: Codable, Sendable {
  /// The metric's name.
  var metric: String
  /// The number of nodes.
  var nodes: Int
  /// The kind of state, or nothing for metrics without one.
  var workload: String?
  /// What the value counts.
  var unit: String
  /// Ours.
  var value: Double
  /// The same work done otherwise, in the same unit.
  var baselines: [String: Double]
  /// Allocations per unit of ours, where counted.
  var allocations: Double?
  /// Bytes per unit of ours, where it makes some.
  var bytes: Double?
  /// Anything else that was measured, by name.
  var details: [String: Double]?

  /// What identifies it between two runs.
  var key: String { "\(metric) \(workload ?? "-") \(nodes)" }

  /// How many times slower (or bigger) than ours a baseline is.
  func ratio(_ baseline: String) -> Double? {
    baselines[baseline].map { value == 0 ? .infinity : $0 / value }
  }
}

/// Everything that a run measured.
struct Report: Codable, Sendable {
  /// Where and how it ran.
  var environment: [String: String]
  /// The measurements.
  var results: [Result]
}
