import Foundation

/// Draws what users feel: for each of a few metrics the time or size of ours beside that of others.
enum Plot {
  /// One group of bars.
  struct Group {
    /// The task, as a user would say it.
    var title: String
    /// The unit of all its bars.
    var unit: String
    /// A name and a value each; ours is the first.
    var bars: [(name: String, value: Double)]
  }

  private static let width = 760.0
  private static let left = 150.0
  private static let right = 130.0
  private static let colours = ["ours": "#1f77b4", "JSON": "#c7c7c7", "SQLite": "#a0a0a0"]

  /// The groups of a report, in the order of the page; those that were not measured are left out.
  static func groups(_ report: Report) -> [Group] {
    let metrics = [
      ("preserveAll", "Save %@ objects"), ("preserveOne", "Save one change among %@ objects"),
      ("restoreAll", "Restore %@ objects"), ("restoreOneCold", "Read one object of %@ after a start"),
      ("launch", "Launch a program with %@ objects"), ("size", "Bytes per object on disk"),
    ]
    let names = [("json", "JSON"), ("sqlite", "SQLite")]
    return metrics.compactMap { metric, title in
      guard let result = Page.largest(metric, in: report) else { return nil }
      var bars = [(name: "ours", value: result.value)]
      for (key, name) in names {
        if let value = result.baselines[key] { bars.append((name: name, value: value)) }
      }
      let number = result.nodes.formatted(.number.grouping(.automatic).locale(Locale(identifier: "fr")))
      return Group(
        title: title.replacingOccurrences(of: "%@", with: number), unit: result.unit, bars: bars)
    }
  }

  /// The picture as SVG: each group has a scale of its own, from nothing to its longest bar.
  static func svg(_ report: Report) -> String {
    var body = ""
    var y = 64.0
    for group in groups(report) {
      body += text(group.title, x: 20, y: y, size: 15, weight: "bold")
      y += 10
      let longest = group.bars.map(\.value).max() ?? 1
      for bar in group.bars {
        let length = max(2, (width - left - right) * bar.value / longest)
        body += text(bar.name, x: left - 10, y: y + 14, anchor: "end", size: 13)
        body += """
          <rect x="\(left)" y="\(y)" width="\(Table.format(length))" height="18" fill="\(colours[bar.name] ?? "#888888")"/>

          """
        var label = Table.quantity(bar.value, group.unit).replacingOccurrences(of: "/node", with: "")
        if bar.name != "ours", let ours = group.bars.first?.value {
          label += "  (\(Table.format(bar.value / ours))×)"
        }
        body += text(label, x: left + length + 8, y: y + 14, size: 13)
        y += 22
      }
      y += 26
    }
    let title = text("How long it takes: shorter is better", x: 20, y: 30, size: 18, weight: "bold")
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(width))" height="\(Int(y))" viewBox="0 0 \(Int(width)) \(Int(y))" font-family="Helvetica, Arial, sans-serif" fill="#222222">
      <rect width="100%" height="100%" fill="#ffffff"/>
      \(title)\(body)</svg>

      """
  }

  private static func text(
    _ text: String, x: Double, y: Double, anchor: String = "start", size: Int, weight: String = "normal"
  ) -> String {
    let escaped = text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    return """
      <text x="\(Table.format(x))" y="\(Table.format(y))" text-anchor="\(anchor)" font-size="\(size)" font-weight="\(weight)">\(escaped)</text>

      """
  }
}
