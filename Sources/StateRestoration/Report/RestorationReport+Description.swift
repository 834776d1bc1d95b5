extension RestorationReport: CustomStringConvertible {
  /// The report as a readable tree: a summary, then one line per node with a mark, then remarks.
  ///
  /// `✓` came back, `✗` did not, `!` came back and something about it is not as it should be.
  public var description: String {
    var lines = [summary]
    for node in nodes { lines.append(line(for: node)) }
    for remark in remarks { lines.append("• \(remark)") }
    return lines.joined(separator: "\n")
  }

  /// The first line of the description: outcome, numbers, time.
  package var summary: String {
    var text = "Restoration: \(outcome)"
    if reason != .normal { text += " (\(reason))" }
    if let source {
      text += ", generation \(source.generation), \(ReportText.bytes(source.byteCount))"
      if source.changes > 0 { text += " and \(ReportText.count(source.changes, "change"))" }
    }
    if !nodes.isEmpty { text += ", \(restoredCount) of \(ReportText.count(nodes.count, "node"))" }
    return text + ", \(ReportText.duration(duration))"
  }

  private func line(for node: NodeReport) -> String {
    let depth = max(node.path.components.count - 1, 0)
    let name = node.path.components.last.map(\.description) ?? "·"
    let indent = String(repeating: "  ", count: depth)
    switch node.result {
    case .restored(let origin):
      let mark = node.remarks.contains { $0.isWarning } ? "!" : "✓"
      let details = ["\(origin)", ReportText.bytes(node.byteCount)] + node.remarks.map(\.description)
      return "\(indent)\(mark) \(name)  \(details.joined(separator: ", "))"
    case .notRestored(let reason):
      return "\(indent)✗ \(name)  \(reason)"
    }
  }
}
