package import DataProtection
import Foundation
import RestorationArchive

/// One HTML page for a bug report: what there is, the trees with their sizes as areas, the generations side by side.
///
/// It holds everything that it shows: nothing is loaded from elsewhere, and there is no script in it. Values are redacted, and
/// so are identifiers of model objects, unless they are revealed.
package struct InspectPage: Sendable {
  private let reveals: Bool
  private var body = ""

  /// An empty page.
  package init(reveals: Bool) { self.reveals = reveals }

  /// Text as it may stand anywhere in a page: nothing in it is markup, moves a cursor or turns a line.
  static func text(_ text: String) -> String {
    var escaped = ""
    for character in InspectStyle.safe(text).unicodeScalars {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }

  private static func element(_ tag: String, _ content: String, class style: String? = nil) -> String {
    "<\(tag)\(style.map { " class=\"\($0)\"" } ?? "")>\(text(content))</\(tag)>"
  }

  private static func row(_ cells: [String], _ tag: String = "td") -> String {
    "<tr>" + cells.map { element(tag, $0) }.joined() + "</tr>\n"
  }

  // MARK: Parts

  /// Adds the table of what there is; of the path only the last name, as the others may be the user's.
  package mutating func add(_ listing: DeviceListing) {
    body += Self.element("h1", "State of \(URL(filePath: listing.path).lastPathComponent)") + "\n"
    let passcode = listing.hasPasscode ? "The device has a passcode." : "The device has no passcode."
    let values = reveals ? "Values are shown." : "Values and model identifiers are redacted."
    body += Self.element("p", "\(passcode) \(values)") + "\n"
    body += "<table>\n" + Self.row(DeviceListing.columns + [""], "th")
    for archive in listing.slots {
      let notes = DeviceListing.notes(archive) + (archive.summary.problem.map { ["\($0)"] } ?? [])
      body += Self.row(DeviceListing.cells(archive) + [notes.joined(separator: ", ")])
    }
    body += "</table>\n"
    for files in listing.files {
      let name = files.name.map { "“\($0)”" } ?? files.place
      body += Self.element("p", "Protected files \(name): \(files.count), \(readable(bytes: files.byteCount)).") + "\n"
    }
    for problem in listing.problems {
      body += Self.element("p", "\(problem.what): \(problem.error.message)", class: "bad") + "\n"
    }
  }

  /// Adds a line, or one below the heading of a slot.
  package mutating func addNote(_ note: String, on slot: ArchiveSlot? = nil) {
    if let slot { addHeading(slot) }
    body += Self.element("p", note, class: "bad") + "\n"
  }

  /// Adds lines of text that can be folded away.
  package mutating func add(_ heading: String, _ lines: [String]) {
    body += "<details><summary>\(Self.text(heading))</summary>\n"
    body += "<pre>\(lines.map(Self.text).joined(separator: "\n"))</pre></details>\n"
  }

  private mutating func addHeading(_ slot: ArchiveSlot) {
    let names = [slot.application, slot.shownScene, slot.slot].filter { !$0.isEmpty }
    body += Self.element("h2", names.joined(separator: " / ")) + "\n"
  }

  /// Adds an archive: its rows, each generation in a column of its own, and the sizes as areas.
  ///
  /// - Parameters:
  ///   - newest: The newest generation, or the one that stands in for it.
  ///   - others: The others, each with what it is.
  ///   - slot: What it is called.
  package mutating func add(
    _ newest: InspectedArchive, _ others: [(name: String, archive: InspectedArchive)], of slot: ArchiveSlot
  ) {
    addHeading(slot)
    let standsIn = newest.standing == .current ? "newest" : "in place of the newest"
    // The one that stands in is not shown beside itself.
    let columns = [(name: standsIn, archive: newest)] + others.filter { $0.archive.generation != newest.generation }
    addSizes(newest)
    addGenerations(columns)
    addValues(newest)
  }

  private mutating func addGenerations(_ columns: [(name: String, archive: InspectedArchive)]) {
    let newest = columns[0].archive
    body += "<h3>Generations</h3>\n<table class=\"generations\">\n<tr><th></th>"
    for (name, archive) in columns {
      let context = archive.context
      let facts = [
        "generation \(archive.generation), \(name)", "saved \(readable(context.timeSaved))",
        (context.applicationVersion == "" ? "" : "program \(context.applicationVersion), ")
          + "schema \(context.schemaVersion)",
        "\(archive.nodes.count) nodes, \(readable(bytes: archive.nodes.reduce(0) { $0 + $1.byteCount }))",
      ]
      body += "<th>" + facts.map(Self.text).joined(separator: "<br/>") + "</th>"
    }
    body += "</tr>\n"
    let differences = columns.dropFirst().map { ArchiveDifference(from: $0.archive, to: newest, reveals: reveals) }
    var changes = differences.map { difference in
      Dictionary(
        difference.nodes.filter { $0.kind == .changed || $0.kind == .moved }.map { ($0.path, [$0]) },
        uniquingKeysWith: +)
    }
    for (index, node) in newest.nodes.enumerated() {
      body += "<tr><td style=\"padding-left:\(8 + 14 * min(node.depth, 24))px\">"
      body += Self.element("b", node.path.last?.rawValue ?? "·")
      let identity = node.identityText(redacted: !reveals)
      body += identity.isEmpty ? "</td>" : " " + Self.element("small", identity) + "</td>"
      body += cell(node, [])
      for (column, difference) in differences.enumerated() {
        guard let origin = difference.origins[index] else {
          body += "<td class=\"new\">–</td>"
          continue
        }
        let found = changes[column][node.path]?.isEmpty == false ? changes[column][node.path]?.removeFirst() : nil
        let notes = (found?.origin.map { ["at \($0)"] } ?? []) + (found?.changes.map(\.what) ?? [])
        body += cell(columns[column + 1].archive.nodes[origin], notes)
      }
      body += "</tr>\n"
    }
    for (column, difference) in differences.enumerated() {
      let taken = Set(difference.origins.compactMap(\.self))
      for (index, node) in columns[column + 1].archive.nodes.enumerated() where !taken.contains(index) {
        body += "<tr><td>" + Self.element("b", "\(node.path)") + "</td><td class=\"new\">–</td>"
        for other in differences.indices { body += other == column ? cell(node, ["gone"]) : "<td></td>" }
        body += "</tr>\n"
      }
    }
    body += "</table>\n"
  }

  /// What a generation says of a row; notes are what is different in the newest one.
  private func cell(_ node: InspectedArchive.Node, _ notes: [String]) -> String {
    var facts = [readable(bytes: node.byteCount), "v\(node.facts.attributes.version)"]
    if node.records.count > 1 { facts.append("\(node.records.count) records") }
    facts += node.flagTexts + node.own.flagTexts
    var text = Self.text(facts.joined(separator: ", "))
    if !notes.isEmpty { text += "<br/>" + Self.element("small", "≠ " + notes.joined(separator: ", ")) }
    if let problem = node.problem { text += "<br/>" + Self.element("small", "\(problem.code)", class: "bad") }
    return "<td\(notes.isEmpty ? "" : " class=\"changed\"")>\(text)</td>"
  }

  private mutating func addValues(_ archive: InspectedArchive) {
    body += "<details><summary>\(reveals ? "Values" : "Values, by type and size")</summary>\n"
    for node in archive.nodes {
      let shown = InspectedArchive.show(
        [node], at: node.path, redactsModels: !reveals, reveals: reveals, InspectStyle(hasColours: false))
      body += Self.element("b", "\(node.path)") + "\n<pre>\(shown.lines.map(Self.text).joined(separator: "\n"))</pre>\n"
    }
    body += "</details>\n"
  }

  // MARK: Sizes

  private mutating func addSizes(_ archive: InspectedArchive) {
    let map = SizeMap(archive)
    guard !map.areas.isEmpty else { return }
    body += "<h3>Sizes</h3>\n"
    body += "<svg viewBox=\"0 0 \(Int(SizeMap.width)) \(Int(SizeMap.height))\" role=\"img\" aria-label=\"Sizes\">\n"
    for area in map.areas {
      let (x, y, width, height) = (area.x.short, area.y.short, area.width.short, area.height.short)
      let title = "\(area.path): \(readable(bytes: area.byteCount))\(area.isOwn ? "" : " with what is below")"
      body += "<g><title>\(Self.text(title))</title>"
      body += "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\" class=\"d\(area.depth % 6)\"/>"
      let name = Self.text(area.label)
      if !name.isEmpty { body += "<text x=\"\((area.x + 4).short)\" y=\"\((area.y + 12).short)\">\(name)</text>" }
      body += "</g>\n"
    }
    body += "</svg>\n"
  }

  // MARK: The page

  /// The whole page.
  package var text: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8"/>
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
    <title>restore-inspect</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    \(body)</body>
    </html>

    """
  }

  private static let style = """
    :root { color-scheme: light dark; }
    body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }
    h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; } h3 { font-size: 1em; }
    table { border-collapse: collapse; } th, td { border: 1px solid #8884; padding: 2px 8px; text-align: left; }
    th { font-weight: 600; vertical-align: top; } td { vertical-align: top; } small { opacity: .75; }
    .changed { background: #fa03; } .new { background: #0a03; } .bad { color: #c33; }
    svg { width: 100%; height: auto; border: 1px solid #8884; } svg text { font: 11px system-ui, sans-serif; fill: #000; }
    rect { stroke: #fff; } pre { overflow: auto; margin: .2em 0 1em 1em; } summary { cursor: pointer; font-weight: 600; }
    .d0 { fill: #9db8d8; } .d1 { fill: #b7cfae; } .d2 { fill: #e4cf9d; } .d3 { fill: #d8b0b0; } .d4 { fill: #c5b4d9; }
    .d5 { fill: #aed0cf; }
    """
}

extension Double {
  /// One digit behind the point, as an attribute has it.
  fileprivate var short: String { "\(Int(self)).\(Int(self * 10) % 10)" }
}
