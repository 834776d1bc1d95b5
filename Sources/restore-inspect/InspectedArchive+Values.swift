package import RestorationArchive

extension InspectedArchive {
  /// The values of the rows of a path; their types and sizes, unless they are to be revealed.
  package func show(_ path: RestorationPath, reveals: Bool, _ style: InspectStyle) throws(InspectFailure)
    -> InspectOutput
  {
    let rows = nodes.filter { $0.path == path }
    guard !rows.isEmpty else {
      throw InspectFailure(.notFound, "There is no node at \(InspectStyle.safe("\(path)")); see restore-inspect tree.")
    }
    var output = Self.show(rows, at: path, reveals: reveals, style)
    output.code = output.code.combined(with: standingCode)
    return output
  }

  /// The values of rows; their types and sizes, unless they are to be revealed.
  ///
  /// - Parameters:
  ///   - rows: Rows of one path.
  ///   - path: That path.
  ///   - reveals: Whether values are shown, and model identifiers.
  ///   - style: How the text looks.
  /// - Returns: What to print: of several records each with a heading of its own.
  static func show(
    _ rows: [Node], at path: RestorationPath, redactsModels: Bool = false, reveals: Bool, _ style: InspectStyle
  ) -> InspectOutput {
    let count = rows.reduce(0) { $0 + $1.records.count }
    var lines: [String] = []
    var records: [JSONValue] = []
    for row in rows {
      let model = row.modelText(redacted: redactsModels)
      for record in row.records {
        let shown = record.lines(reveals: reveals, style)
        if count > 1 {
          let heading = (rows.count > 1 ? row.identityDetails(model) : []) + record.details
          lines.append(style.name(heading.joined(separator: ", ")) + Self.notes(record.flagTexts, style))
        }
        lines += count > 1 ? shown.map { "  " + $0 } : shown
        var members = record.json
        members["class"] = .optional(row.facts.attributes.classTag?.description)
        members["model"] = .optional(model)
        members["presence"] = .optional(row.presence)
        members["values"] = .object(fields(record.values).mapValues { $0.json(reveals: reveals) })
        records.append(.object(members))
      }
    }
    return InspectOutput(
      lines: lines, json: .object(["path": json(path), "records": .array(records)]),
      code: rows.allSatisfy { $0.problem == nil } ? .success : .damaged)
  }

  /// The rows by size with everything below them, largest first.
  package func sizes(redactsModels: Bool = false, _ style: InspectStyle) -> InspectOutput {
    var below = nodes.map(\.byteCount)
    // Parents come before their children.
    for index in nodes.indices.reversed() {
      if let parent = nodes[index].parent { below[parent] += below[index] }
    }
    let total = nodes.reduce(0) { $0 + $1.byteCount }
    let ordered = nodes.indices.sorted {
      (nodes[$1].byteCount, nodes[$0].facts.id) < (nodes[$0].byteCount, nodes[$1].facts.id)
    }
    let lines = ordered.map { index in
      let node = nodes[index]
      let share = total == 0 ? 0 : node.byteCount * 100 / total
      let subtree = below[index] == node.byteCount ? "" : ", \(readable(bytes: below[index])) with what is below"
      let name = node.sharesPath ? " (\(node.identityText(redacted: redactsModels)))" : ""
      return "\(style.detail("\(readable(bytes: node.byteCount)) (\(share) %)"))  "
        + "\(style.name("\(node.path)"))\(style.detail(name + subtree))"
    }
    return InspectOutput(
      lines: [style.detail("\(readable(bytes: total)) in \(nodes.count) nodes")] + lines,
      json: .object([
        "bytes": .count(total),
        "nodes": .array(
          ordered.map { index in
            .object([
              "path": Self.json(nodes[index].path), "bytes": .count(nodes[index].byteCount),
              "bytesWithChildren": .count(below[index]),
            ])
          }),
      ]), code: standingCode)
  }
}

extension InspectedArchive.Record {
  /// The values, a line each; their types and sizes, unless they are to be revealed.
  fileprivate func lines(reveals: Bool, _ style: InspectStyle) -> [String] {
    var lines = values.map { field in
      "\(style.name(field.key)): \(style.detail(reveals ? field.value.revealed : field.value.redacted))"
    }
    if let problem { lines.append(style.bad("\(problem.code): \(problem.message)")) }
    return lines.isEmpty ? [style.detail("no values")] : lines
  }
}
