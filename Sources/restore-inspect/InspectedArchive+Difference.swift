import RestorationArchive

extension InspectedArchive {
  /// The changes since an older generation, by path and key.
  package func difference(
    since older: InspectedArchive, reveals: Bool, _ style: InspectStyle
  ) -> InspectOutput {
    let difference = ArchiveDifference(from: older, to: self, reveals: reveals)
    var lines = difference.context.map { Self.line($0, indent: "", style) }
    for node in difference.nodes {
      let name = node.row.sharesPath ? "\(node.path) (\(node.row.identityText()))" : "\(node.path)"
      switch node.kind {
      case .added: lines.append(style.good("+ \(name)"))
      case .removed: lines.append(style.bad("- \(name)"))
      case .moved: lines.append(style.notice("> \(name), from \(node.origin ?? [])"))
      case .changed: lines.append(style.notice("~ \(name)"))
      }
      lines += node.changes.map { Self.line($0, indent: "    ", style) }
    }
    return InspectOutput(
      lines: lines.isEmpty ? [style.detail("no difference")] : lines,
      json: .object([
        "context": .array(difference.context.map(Self.json)),
        "nodes": .array(
          difference.nodes.map { node in
            .object([
              "path": Self.json(node.path), "change": .string(node.kind.rawValue),
              "from": node.origin.map(Self.json) ?? .null,
              "class": .optional(node.row.facts.attributes.classTag?.description),
              "model": .optional(node.row.modelText(redacted: false)), "presence": .optional(node.row.presence),
              "values": .array(node.changes.map(Self.json)),
            ])
          }),
      ]),
      code: difference.isEmpty ? .success : .different)
  }

  private static func line(_ change: ArchiveDifference.Change, indent: String, _ style: InspectStyle) -> String {
    // The same form and size before and after says nothing by itself.
    let facts = change.before == change.after ? "\(change.after), changed" : "\(change.before) → \(change.after)"
    return "\(indent)\(style.name(change.what)): \(style.detail(facts))"
  }

  private static func json(_ change: ArchiveDifference.Change) -> JSONValue {
    .object(["what": .string(change.what), "before": .string(change.before), "after": .string(change.after)])
  }

  /// Values by key; of two with one key the first.
  static func fields(_ values: [InspectedValue.Field]) -> [String: InspectedValue] {
    Dictionary(values.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}
