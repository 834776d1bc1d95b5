package import RestorationArchive

extension InspectedArchive {
  /// One node's values; their types and sizes, unless they are to be revealed.
  package func show(_ path: RestorationPath, reveals: Bool, _ style: InspectStyle) throws(InspectFailure)
    -> InspectOutput
  {
    guard let node = node(at: path) else {
      throw InspectFailure(.notFound, "There is no node at \(InspectStyle.safe("\(path)")); see restore-inspect tree.")
    }
    var output = node.show(reveals: reveals, style)
    output.code = output.code.combined(with: standingCode)
    return output
  }

  /// The nodes by size with everything below them, largest first.
  package func sizes(_ style: InspectStyle) -> InspectOutput {
    var below: [RestorationPath: Int] = [:]
    for node in nodes {
      for end in 1...max(1, node.path.components.count) {
        below[RestorationPath(Array(node.path.components.prefix(end))), default: 0] += node.facts.byteCount
      }
    }
    let total = nodes.reduce(0) { $0 + $1.facts.byteCount }
    let ordered = nodes.sorted { ($1.facts.byteCount, $0.facts.id) < ($0.facts.byteCount, $1.facts.id) }
    let lines = ordered.map { node in
      let share = total == 0 ? 0 : node.facts.byteCount * 100 / total
      let whole = below[node.path] ?? 0
      let subtree = whole == node.facts.byteCount ? "" : ", \(readable(bytes: whole)) with what is below"
      return "\(style.detail("\(readable(bytes: node.facts.byteCount)) (\(share) %)"))  "
        + "\(style.name("\(node.path)"))\(style.detail(subtree))"
    }
    return InspectOutput(
      lines: [style.detail("\(readable(bytes: total)) in \(nodes.count) nodes")] + lines,
      json: .object([
        "bytes": .count(total),
        "nodes": .array(
          ordered.map { node in
            .object([
              "path": Self.json(node.path), "bytes": .count(node.facts.byteCount),
              "bytesWithChildren": .count(below[node.path] ?? 0),
            ])
          }),
      ]), code: standingCode)
  }
}

extension InspectedArchive.Node {
  /// The values; their types and sizes, unless they are to be revealed.
  func show(reveals: Bool, _ style: InspectStyle) -> InspectOutput {
    var lines = values.map { field in
      "\(style.name(field.key)): \(style.detail(reveals ? field.value.revealed : field.value.redacted))"
    }
    if let problem { lines.append(style.bad("\(problem.code): \(problem.message)")) }
    if lines.isEmpty { lines = [style.detail("no values")] }
    return InspectOutput(
      lines: lines,
      json: .object([
        "path": InspectedArchive.json(path),
        "values": .object(InspectedArchive.fields(values).mapValues { $0.json(reveals: reveals) }),
        "problem": .optional(problem.map { "\($0.code): \($0.message)" }),
      ]),
      code: problem == nil ? .success : .damaged)
  }
}
