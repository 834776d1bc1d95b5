import ApplicationLifecycle
import Foundation
import Testing

/// The tables of `Docs/Lifecycle.md`, read from the page itself.
enum LifecycleTables {
  /// The rows of the table after `<!-- table: NAME -->`, cells trimmed, header first.
  static func rows(_ name: String) throws -> [[String]] {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Docs/Lifecycle.md").standardized
    let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
    let mark = try #require(lines.firstIndex(of: "<!-- table: \(name) -->"), "no table \(name)")
    let table = lines[(mark + 1)...].prefix { $0.hasPrefix("|") }
    return table.enumerated().filter { $0.offset != 1 }.map { _, line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// Every legal transition of the page with its steps.
  static func transitions() throws -> [LifecycleTransition: [LifecycleStep]] {
    var legal: [LifecycleTransition: [LifecycleStep]] = [:]
    for row in try rows("transitions").dropFirst() where row[2] != "–" {
      let transition = LifecycleTransition(
        from: try state(row[0]), to: try state(row[1]),
        manner: try #require(LifecycleTransition.Manner(rawValue: row[2])))
      legal[transition] = try row[3].components(separatedBy: ", ").map { name in
        try #require(LifecycleStep.all.first { $0.description == name }, "no step \(name)")
      }
    }
    return legal
  }

  /// Every pair of states that the page has a row for.
  static func pairs() throws -> Set<[Lifecycle.State]> {
    Set(try rows("transitions").dropFirst().map { [try state($0[0]), try state($0[1])] })
  }

  /// The route of a request in a state as the page has it; `nil` when it is refused.
  static func routes(_ table: String) throws -> [LifecycleRequest: [Lifecycle.State: [LifecycleTransition]?]] {
    let rows = try rows(table)
    let states = try rows[0].dropFirst().map(state)
    var routes: [LifecycleRequest: [Lifecycle.State: [LifecycleTransition]?]] = [:]
    for row in rows.dropFirst() {
      let request = try #require(LifecycleRequest(rawValue: row[0]))
      for (cell, start) in zip(row.dropFirst(), states) {
        routes[request, default: [:]][start] = .some(try route(cell, from: start))
      }
    }
    return routes
  }

  private static func route(_ cell: String, from start: Lifecycle.State) throws -> [LifecycleTransition]? {
    if cell == "–" { return nil }
    if cell == "stays" { return [] }
    var from = start
    return try cell.components(separatedBy: ", ").map { text in
      let words = text.split(separator: " ").map(String.init)
      let to = try state(words[0])
      let manner: LifecycleTransition.Manner =
        words.count == 1
        ? .usual : try #require(LifecycleTransition.Manner(rawValue: String(words[1].dropFirst().dropLast())))
      defer { from = to }
      return LifecycleTransition(from: from, to: to, manner: manner)
    }
  }

  private static func state(_ name: String) throws -> Lifecycle.State {
    try #require(Lifecycle.State(rawValue: name), "no state \(name)")
  }
}
