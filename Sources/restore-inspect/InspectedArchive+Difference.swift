import RestorationArchive

extension InspectedArchive {
  /// What changed since an older generation, by path and key.
  package func difference(
    since older: InspectedArchive, reveals: Bool, _ style: InspectStyle
  ) -> InspectOutput {
    let before = Dictionary(older.nodes.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    let after = Dictionary(nodes.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    var lines: [String] = []
    var changes: [JSONValue] = []
    // In the order of the newer tree, then what is gone in the order of the older one.
    for node in nodes {
      guard let old = before[node.path] else {
        lines.append(style.good("+ \(node.path)"))
        changes.append(.object(["path": Self.json(node.path), "change": .string("added")]))
        continue
      }
      let details = Self.changes(from: old, to: node, reveals: reveals)
      if details.isEmpty { continue }
      lines.append(style.notice("~ \(node.path)"))
      lines += details.map { "    \(style.name($0.what)): \(style.detail("\($0.before) → \($0.after)"))" }
      changes.append(
        .object([
          "path": Self.json(node.path), "change": .string("changed"),
          "values": .array(
            details.map {
              .object(["what": .string($0.what), "before": .string($0.before), "after": .string($0.after)])
            }),
        ]))
    }
    for node in older.nodes where after[node.path] == nil {
      lines.append(style.bad("- \(node.path)"))
      changes.append(.object(["path": Self.json(node.path), "change": .string("removed")]))
    }
    return InspectOutput(
      lines: lines.isEmpty ? [style.detail("no difference")] : lines, json: .object(["changes": .array(changes)]),
      code: changes.isEmpty ? .success : .different)
  }

  private static func changes(
    from old: Node, to new: Node, reveals: Bool
  ) -> [(what: String, before: String, after: String)] {
    var changes: [(what: String, before: String, after: String)] = []
    func note(_ what: String, _ before: String, _ after: String) {
      if before != after { changes.append((what, before, after)) }
    }
    let (a, b) = (old.facts.attributes, new.facts.attributes)
    note("class", a.classTag?.description ?? "none", b.classTag?.description ?? "none")
    note("version", "\(a.version)", "\(b.version)")
    note("priority", "\(a.priority)", "\(b.priority)")
    note("model", a.model?.rawValue ?? "none", b.model?.rawValue ?? "none")
    note("flags", flags(a.flags).joined(separator: ", "), flags(b.flags).joined(separator: ", "))
    note("problem", old.problem?.code.description ?? "none", new.problem?.code.description ?? "none")
    let before = Dictionary(old.values.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    let after = Dictionary(new.values.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    for key in Set(before.keys).union(after.keys).sorted() where before[key] != after[key] {
      let texts = [before[key], after[key]].map { value in
        value.map { reveals ? $0.revealed : $0.redacted } ?? "nothing"
      }
      changes.append((key, texts[0], texts[1]))
    }
    return changes
  }
}
