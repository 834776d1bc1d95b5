import Foundation

/// Writes the figures of `Docs/Performance.md` and its picture, and those of the article about the coder.
enum Page {
  /// What a metric should reach, beside others in the same run.
  private struct Target {
    var metric: String
    var title: String
    var text: String
    /// Nil for a figure without a target.
    var isMet: (@Sendable (Result) -> Bool)?
  }

  private static let targets = [
    Target(metric: "encode", title: "Encode one object", text: "12 times as fast as JSON") { atLeast($0, 12, "json") },
    Target(metric: "decode", title: "Decode one object", text: "7.5 times as fast as JSON") {
      atLeast($0, 7.5, "json")
    },
    Target(metric: "size", title: "Bytes per object", text: "half of JSON's") { atLeast($0, 2, "json") },
    Target(
      metric: "preserveAll", title: "Save everything, durably", text: "8 times as fast as JSON, faster than SQLite"
    ) {
      atLeast($0, 8, "json") && atLeast($0, 1, "sqlite")
    },
    Target(metric: "preserveOne", title: "Save one change, durably", text: "1.3 times a raw append with its sync") {
      atLeast($0, 1 / 1.3, "raw")
    },
    Target(metric: "preserveNone", title: "Save without a change", text: "no call of the file system") {
      $0.value < 1e3
    },
    Target(metric: "captureOne", title: "Main actor, per save of one change", text: "20 µs") { $0.value <= 20e3 },
    Target(metric: "restoreAll", title: "Restore everything", text: "3.8 times as fast as decoding JSON") {
      atLeast($0, 3.8, "json")
    },
    Target(metric: "restoreOneCold", title: "Read one object after a start", text: "1.6 times SQLite's time") {
      atLeast($0, 1 / 1.6, "sqlite")
    },
    Target(metric: "launch", title: "Launch: open the device and restore", text: "faster than a file of JSON") {
      atLeast($0, 1, "json")
    },
    Target(metric: "askAll", title: "Ask for changes that can't be noticed, main actor", text: "turns of 4 ms") {
      ($0.details?[askingTurn] ?? .infinity) <= 4.5
    },
    Target(metric: "unlock", title: "Check a passcode", text: "slow on purpose", isMet: nil),
  ]

  /// The name of the figure for the longest turn of the main actor.
  static let askingTurn = "longest turn, ms"

  /// Whether the targets are met that were measured, in one line.
  static func verdict(_ report: Report) -> String {
    var (met, missed): (Int, [String]) = (0, [])
    for target in targets {
      guard let isMet = target.isMet, let result = largest(target.metric, in: report) else { continue }
      if isMet(result) { met += 1 } else { missed.append("\(target.metric) (\(target.text))") }
    }
    if met + missed.count == 0 { return "No target was measured." }
    let summary = "\(met) of \(met + missed.count) targets met"
    return missed.isEmpty ? summary + "." : summary + "; missed: \(missed.joined(separator: ", "))."
  }

  private static let marks = ("<!-- figures: restore-bench --page -->", "<!-- end of the figures -->")

  private static func atLeast(_ result: Result, _ ratio: Double, _ baseline: String) -> Bool {
    (result.ratio(baseline) ?? 0) >= ratio
  }

  /// Replaces the figures in `Performance.md` of a folder, draws `performance.svg` beside it, and replaces the figures in the
  /// coder's article.
  ///
  /// A page of which something was not measured stays as it is.
  static func write(_ report: Report, to folder: String) throws {
    let folder = URL(fileURLWithPath: folder)
    if targets.allSatisfy({ largest($0.metric, in: report) != nil }) {
      try replaceFigures(in: folder.appendingPathComponent("Performance.md"), by: lines(report))
      let picture = folder.appendingPathComponent("performance.svg")
      try Plot.svg(report).write(to: picture, atomically: true, encoding: .utf8)
    }
    if let lines = coderLines(report) {
      let article = "../Sources/RestorationArchive/RestorationArchive.docc/CodingValues.md"
      try replaceFigures(in: folder.appendingPathComponent(article), by: lines)
    }
  }

  private static func replaceFigures(in page: URL, by lines: [String]) throws {
    let text = try String(contentsOf: page, encoding: .utf8)
    guard let start = text.range(of: marks.0), let end = text.range(of: marks.1), start.upperBound <= end.lowerBound
    else {
      throw Options.Problem(description: "\(page.path) has no place for the figures")
    }
    let figures = "\n" + lines.joined(separator: "\n") + "\n"
    let new = text.replacingCharacters(in: start.upperBound..<end.lowerBound, with: figures)
    try new.write(to: page, atomically: true, encoding: .utf8)
  }

  /// The coder beside Foundation's, as ratios; nil when one of the rows was not measured.
  private static func coderLines(_ report: Report) -> [String]? {
    let rows = [
      ("Time to encode 10 000 objects", "encode", "typical", 10_000),
      ("Time to decode 10 000 objects", "decode", "typical", 10_000),
      ("Time to encode one object", "encodeSmall", "typical", 1),
      ("Time to decode one object", "decodeSmall", "typical", 1),
      ("Time to encode a tree", "encode", Tree.name, 1_000), ("Time to decode a tree", "decode", Tree.name, 1_000),
      ("Bytes of 10 000 objects", "size", "typical", 10_000),
    ]
    var lines = ["| | JSON | binary property list |", "|---|---|---|"]
    for (title, metric, workload, count) in rows {
      let result = report.results.first { $0.metric == metric && $0.workload == workload && $0.nodes == count }
      guard let result, let json = result.ratio("json"), let plist = result.ratio("plist") else { return nil }
      lines.append("| \(title) | \(Table.format(json))× | \(Table.format(plist))× |")
    }
    return lines + ["", facts(report)]
  }

  /// Where a run was measured, in one sentence.
  private static func facts(_ report: Report) -> String {
    let facts = ["processor", "processors", "system", "build", "clock"].compactMap { name in
      report.environment[name].map { "\(name): \($0)" }
    }
    return "Measured on: " + facts.joined(separator: "; ") + "."
  }

  private static func lines(_ report: Report) -> [String] {
    var lines = ["| | Objects | Ours | Against | Target | |", "|---|---|---|---|---|---|"]
    for target in targets {
      guard let result = largest(target.metric, in: report) else { continue }
      let others = [("json", "JSON"), ("sqlite", "SQLite"), ("raw", "raw")].compactMap { key, name in
        result.ratio(key).map { "\(name) \(Table.format($0))×" }
      }
      let ours = Table.quantity(result.value, result.unit).replacingOccurrences(of: "/node", with: "")
      lines.append(
        "| \(target.title) | \(result.nodes) | \(ours) | \(others.joined(separator: ", ")) | \(target.text) | "
          + "\(target.isMet.map { $0(result) ? "met" : "missed" } ?? "") |")
    }
    return lines + ["", facts(report)]
  }

  /// The result with most objects, of the typical workload and without a passcode.
  static func largest(_ metric: String, in report: Report) -> Result? {
    report.results.filter { $0.metric == metric && ($0.workload == nil || $0.workload == "typical") && $0.value > 0 }
      .max { $0.nodes < $1.nodes }
  }
}
