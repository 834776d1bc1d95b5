import Foundation

/// Draws the results: for each metric the baselines as bars, in times of ours, on a logarithmic axis.
enum Plot {
  private static let left = 230.0
  private static let width = 560.0
  private static let colours = [
    "json": "#c0504d", "plist": "#9b5fb0", "sqlite": "#2e75b6", "floor": "#7f7f7f", "raw": "#7f7f7f",
  ]

  /// The picture as SVG.
  static func svg(_ report: Report) -> String {
    var rows: [(label: String, bars: [(name: String, ratio: Double)])] = []
    let biggest = report.results.map(\.nodes).max() ?? 0
    for result in report.results {
      let isSpecial = result.metric == "launch" || (result.workload.map { $0 != "typical" } ?? false)
      let isShown = isSpecial || result.nodes == 1 || result.nodes == biggest
      guard isShown, result.value > 0 else { continue }
      let bars = result.baselines.keys.sorted().compactMap { name in
        result.ratio(name).flatMap { $0.isFinite && $0 > 0 ? (name: name, ratio: $0) : nil }
      }
      guard !bars.isEmpty else { continue }
      let kind = result.workload == nil || result.workload == "typical" ? "" : " (\(result.workload ?? ""))"
      let size = result.metric == "launch" ? " of \(result.nodes)" : ""
      rows.append(("\(result.metric)\(size)\(kind): \(Table.quantity(result.value, result.unit))", bars))
    }
    let highest = max(10, rows.flatMap(\.bars).map(\.ratio).max() ?? 10)
    let decades = ceil(log10(highest))
    func x(_ ratio: Double) -> Double { left + width * (log10(max(ratio, 0.1)) + 1) / (decades + 1) }
    var body = ""
    var y = 70.0
    for row in rows {
      let height = Double(row.bars.count) * 14
      body += text(row.label, x: left - 8, y: y + height / 2 + 4, anchor: "end", size: 12)
      for bar in row.bars {
        let end = x(bar.ratio)
        let start = x(1)
        body += """
          <rect x="\(min(start, end))" y="\(y)" width="\(abs(end - start))" height="11" fill="\(colour(bar.name))"/>

          """
        body += text(
          "\(bar.name) \(Table.format(bar.ratio))×", x: max(start, end) + 4, y: y + 9, anchor: "start", size: 10)
        y += 14
      }
      y += 10
    }
    var grid = ""
    for decade in -1...Int(decades) {
      let place = x(pow(10, Double(decade)))
      let stroke = decade == 0 ? "#000000" : "#dddddd"
      grid += "<line x1=\"\(place)\" y1=\"56\" x2=\"\(place)\" y2=\"\(y)\" stroke=\"\(stroke)\"/>\n"
      grid += text("\(Table.format(pow(10, Double(decade))))×", x: place, y: 50, anchor: "middle", size: 11)
    }
    let title = text("Times of ours that others take (right of the black line: ours is better)", x: 20, y: 24, size: 15)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(left + width + 140)" height="\(y + 20)" font-family="sans-serif">
      <rect width="100%" height="100%" fill="#ffffff"/>
      \(title)\(grid)\(body)</svg>

      """
  }

  private static func colour(_ name: String) -> String {
    colours.first { name.hasPrefix($0.key) }?.value ?? "#4f9d69"
  }

  private static func text(
    _ text: String, x: Double, y: Double, anchor: String = "start", size: Int
  ) -> String {
    let escaped = text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    return "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor)\" font-size=\"\(size)\">\(escaped)</text>\n"
  }
}
