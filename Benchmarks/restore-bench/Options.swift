import Foundation

/// What the command line asks for.
struct Options: Sendable {
  /// The sizes to measure.
  var nodes = [100, 1_000, 10_000]
  /// The metrics to measure; all when empty.
  var only: Set<String> = []
  /// Fewer rounds and sizes.
  var isQuick = false
  /// Only what shows how costs grow with the nodes, at every size.
  var isLinear = false
  /// JSON instead of a table.
  var printsJSON = false
  /// The folder of the page that gets the figures and the picture.
  var page: String?
  /// Where to write the results.
  var save: String?
  /// The results to compare with.
  var compare: String?
  /// The directory for the metrics that write to a disk.
  var directory: String?

  static let usage = """
    usage: restore-bench [--nodes 100,1000,10000] [--only NAME,…] [--quick] [--linear] [--format table|json]
                         [--page FOLDER] [--save FILE] [--compare FILE] [--directory DIR]
    metrics: \(Bench.metricNames.joined(separator: ", "))
    """

  /// The mistake in the arguments, in one line.
  struct Problem: Error, CustomStringConvertible {
    /// The line.
    var description: String
  }

  /// Reads the arguments; nil when help was asked for.
  ///
  /// Files to be read or written are looked at now, not after minutes of measuring.
  static func parse(_ arguments: [String]) throws(Problem) -> Options? {
    var options = Options()
    var rest = arguments[...]
    var hasNodes = false
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" { return nil }
      if argument == "--quick" || argument == "--linear" {
        if argument == "--quick" { options.isQuick = true } else { options.isLinear = true }
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      let name = parts.first ?? argument
      guard names.contains(name) else { throw Problem(description: "there is no option \(argument); see --help") }
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.isEmpty, !value.hasPrefix("--") else {
        throw Problem(description: "\(name) needs a value; see --help")
      }
      try options.set(name, value)
      hasNodes = hasNodes || name == "--nodes"
    }
    if options.isLinear {
      if !hasNodes { options.nodes = options.isQuick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000] }
      if options.only.isEmpty { options.only = Effort.linearMetrics }
    } else if options.isQuick, !hasNodes {
      options.nodes = [100, 1_000]
    }
    return options
  }

  private static let names: Set = ["--nodes", "--only", "--format", "--page", "--save", "--compare", "--directory"]

  private mutating func set(_ name: String, _ value: String) throws(Problem) {
    switch name {
    case "--nodes":
      let numbers = value.split(separator: ",", omittingEmptySubsequences: false).compactMap { Int($0) }
      guard numbers.count == value.split(separator: ",", omittingEmptySubsequences: false).count,
        numbers.allSatisfy({ 1...1_000_000 ~= $0 })
      else { throw Problem(description: "--nodes wants numbers from 1 to 1000000, not \(value)") }
      nodes = numbers
    case "--only":
      only = Set(value.split(separator: ",").map(String.init))
      if let unknown = only.sorted().first(where: { !Bench.metricNames.contains($0) }) ?? (only.isEmpty ? value : nil) {
        throw Problem(description: "there is no metric \(unknown); see --help")
      }
    case "--format":
      guard ["table", "json"].contains(value) else {
        throw Problem(description: "--format is table or json, not \(value)")
      }
      printsJSON = value == "json"
    case "--page":
      guard FileManager.default.isWritableFile(atPath: value + "/Performance.md") else {
        throw Problem(description: "--page: \(value)/Performance.md is missing or read-only")
      }
      page = value
    case "--save": save = try Self.writable(value)
    case "--compare":
      guard FileManager.default.isReadableFile(atPath: value) else {
        throw Problem(description: "--compare: \(value) cannot be read")
      }
      compare = value
    default:
      var isFolder: ObjCBool = false
      guard unsafe FileManager.default.fileExists(atPath: value, isDirectory: &isFolder), isFolder.boolValue else {
        throw Problem(description: "--directory: \(value) is no directory")
      }
      directory = value
    }
  }

  private static func writable(_ path: String) throws(Problem) -> String {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard FileManager.default.isWritableFile(atPath: folder) else {
      throw Problem(description: "\(path) cannot be written: \(folder) is missing or read-only")
    }
    return path
  }
}
