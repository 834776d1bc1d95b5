internal import RestorationArchive

extension RestorationReport: CustomStringConvertible {
  /// The report as a readable tree: a summary, then one line per node with a mark, then remarks.
  ///
  /// `✓` came back, `✗` did not, `!` came back and there is something to know.
  public var description: String {
    var lines = [summary]
    for node in nodes { lines.append(line(for: node)) }
    for remark in remarks { lines.append("• \(remark)") }
    return lines.joined(separator: "\n")
  }

  /// The first line of the description: outcome, numbers, time.
  public var summary: String {
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
      let mark = node.findings.isEmpty ? "✓" : "!"
      let details = ["\(origin)", ReportText.bytes(node.byteCount)] + node.findings.map(\.description)
      return "\(indent)\(mark) \(name)  \(details.joined(separator: ", "))"
    case .notRestored(let reason):
      return "\(indent)✗ \(name)  \(reason)"
    }
  }
}

extension RestorationReport.Remark: CustomStringConvertible {
  /// What was noticed, in plain words.
  public var description: String {
    switch self {
    case .tailDropped(let bytes): "the last \(ReportText.bytes(bytes)) of the journal were not whole and are not used"
    case .olderGeneration(let text): "an older generation stands in: \(text)"
    case .rollbackUnverifiable: "the ledger was lost; nobody can tell whether this state is the newest"
    case .mergedPendingChanges(let nodes):
      "\(ReportText.count(nodes, "node")) changed while locked \(nodes == 1 ? "was" : "were") joined"
    case .markerIgnored(let text): "the marker of the last attempt was not used: \(text)"
    case .interruptedBefore(let attempts): "restoring this state ended badly before (\(attempts)×)"
    case .applicationStateFailed(let text): "the app-level state could not be decoded: \(text)"
    case .noDelegate: "there is no delegate to say yes; the coordinator holds it weakly: keep it"
    case .applicationStateTouched: "the state of the whole program was changed while locked; the newer one is kept"
    case .extensionTimedOut: "asynchronous restoring took too long; later answers are ignored"
    case .setAside(let states): "set aside: \(states.map(\.description).joined(separator: "; "))"
    case .failure(let text): text
    }
  }
}
