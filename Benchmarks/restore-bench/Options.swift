import Foundation

/// What the command line asks for.
struct Options: Sendable {
  /// The sizes to measure.
  var nodes = [100, 1_000, 10_000]
  /// The metrics to measure; all when empty.
  var only: Set<String> = []
  /// Fewer rounds and sizes.
  var isQuick = false
  /// JSON instead of a table.
  var printsJSON = false
  /// Where to write the picture.
  var plot: String?
  /// Where to write the results.
  var save: String?
  /// The results to compare with.
  var compare: String?
  /// The directory for the metrics that write to a disk.
  var directory: String?

  static let usage = """
    usage: restore-bench [--nodes 100,1000,10000] [--only NAME,…] [--quick] [--format table|json]
                         [--plot FILE.svg] [--save FILE] [--compare FILE] [--directory DIR]
    metrics: \(Bench.metricNames.joined(separator: ", "))
    """

  /// Reads the arguments; nil with a word about what is wrong when they make no sense.
  static func parse(_ arguments: [String]) -> (options: Options?, problem: String) {
    var options = Options()
    var rest = arguments[...]
    var hasNodes = false
    while let argument = rest.popFirst() {
      if argument == "--quick" {
        options.isQuick = true
        continue
      }
      if argument == "--help" { return (nil, "") }
      guard let value = rest.popFirst() else { return (nil, "\(argument) needs a value") }
      switch argument {
      case "--nodes":
        let numbers = value.split(separator: ",").map { Int($0) }
        guard !numbers.isEmpty, numbers.allSatisfy({ $0 ?? 0 > 0 }) else {
          return (nil, "no numbers of nodes: \(value)")
        }
        options.nodes = numbers.compactMap { $0 }
        hasNodes = true
      case "--only":
        options.only = Set(value.split(separator: ",").map(String.init))
        if let unknown = options.only.first(where: { !Bench.metricNames.contains($0) }) {
          return (nil, "there is no metric \(unknown)")
        }
      case "--format":
        guard ["table", "json"].contains(value) else { return (nil, "there is no format \(value)") }
        options.printsJSON = value == "json"
      case "--plot": options.plot = value
      case "--save": options.save = value
      case "--compare": options.compare = value
      case "--directory": options.directory = value
      default: return (nil, "there is no option \(argument)")
      }
    }
    if options.isQuick, !hasNodes { options.nodes = [100, 1_000] }
    return (options, "")
  }
}
