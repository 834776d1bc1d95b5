import Foundation

/// Runs what was asked for.
struct Bench {
  /// The names of all metrics, in the order of the table.
  static let metricNames = [
    "encode", "decode", "size", "encodeSmall", "decodeSmall", "restoreOneCold", "restoreOneOpen", "preserveOne",
    "preserveNone", "preserveAll", "restoreAll", "captureAll", "captureOne", "seal", "open", "openChunk",
    "durableWrite", "journalAppend", "unlock",
  ]

  /// What the command line asks for.
  var options: Options
  /// Tells what is being measured.
  var progress: (String) -> Void

  /// Whether a metric was asked for.
  func wants(_ metric: String) -> Bool {
    options.only.isEmpty || options.only.contains(metric)
  }

  /// Measures everything that was asked for.
  func run() async throws -> [Result] {
    var results: [Result] = []
    let rounds = options.isQuick ? 5 : 15
    let coding = CodingMetrics(measurement: Measurement(clock: .processor, rounds: rounds), wants: wants)
    progress("one small state")
    results += try coding.small()
    for count in options.nodes {
      progress("coding \(count) typical nodes")
      results += try coding.run(Typical.self, count: count)
    }
    if !options.isQuick {
      let count = min(options.nodes.max() ?? 100, 500)
      progress("coding the other workloads")
      results += try coding.run(Deep.self, count: count)
      results += try coding.run(Wide.self, count: count)
      results += try coding.run(Texts.self, count: count)
    }
    return results
  }
}
