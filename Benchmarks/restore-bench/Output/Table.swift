import Foundation

/// Prints results as a table for people.
enum Table {
  /// The lines of the table.
  static func lines(_ report: Report) -> [String] {
    var lines = ["metric          workload                nodes           ours   against (times ours)"]
    for result in report.results {
      let ratios = result.baselines.keys.sorted().map { name in
        "\(Legend.name(name)) \(format(result.ratio(name) ?? .nan))×"
      }
      var line = pad(result.metric, 16) + pad(result.workload ?? "", 22) + pad(left: "\(result.nodes)", 7) + " "
      line += pad(left: quantity(result.value, result.unit), 15) + "   " + ratios.joined(separator: "  ")
      if let allocations = result.allocations, result.unit == "ns/node" {
        line += "  (\(format(allocations)) allocations)"
      }
      lines.append(line)
      for (name, value) in (result.details ?? [:]).sorted(by: { $0.key < $1.key }) {
        lines.append(pad("", 63) + "\(name): \(format(value))")
      }
    }
    return lines
  }

  /// A number with three significant digits.
  static func format(_ value: Double) -> String {
    switch abs(value) {
    case 1_000...: String(Int(value.rounded()))
    case 100...: String(format: "%.0f", value)
    case 10...: String(format: "%.1f", value)
    default: String(format: "%.2f", value)
    }
  }

  /// A value with its unit, in micro- or milliseconds where they read better.
  static func quantity(_ value: Double, _ unit: String) -> String {
    guard unit.hasPrefix("ns") else { return "\(format(value)) \(unit)" }
    let rest = unit.dropFirst(2)
    if value >= 1e6 { return "\(format(value / 1e6)) ms\(rest)" }
    if value >= 1e3 { return "\(format(value / 1e3)) µs\(rest)" }
    return "\(format(value)) ns\(rest)"
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func pad(left text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

/// Compares two runs by their ratios, which don't depend on the machine's mood.
enum Comparison {
  /// One line for each result that both have.
  static func lines(_ now: Report, with before: Report) -> [String] {
    let old = Dictionary(before.results.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    return now.results.flatMap { result -> [String] in
      guard let earlier = old[result.key] else { return [] }
      return result.baselines.keys.sorted().compactMap { name in
        guard let new = result.ratio(name), let was = earlier.ratio(name), was.isFinite, new.isFinite else {
          return nil
        }
        let change = String(format: "%+.0f", (new / was - 1) * 100)
        return "\(result.key): \(name) \(Table.format(was))× → \(Table.format(new))× (\(change) %)"
      }
    }
  }
}
