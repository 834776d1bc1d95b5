import DataProtection
import FoundationEssentials
import RestorationArchive

extension InspectedArchive {
  /// The nodes as an indented tree, with the facts about each.
  ///
  /// - Parameters:
  ///   - redactsModels: Whether identifiers of model objects, which come from the user's data, are left out.
  ///   - style: How the text looks.
  /// - Returns: What to print.
  package func tree(redactsModels: Bool = false, _ style: InspectStyle) -> InspectOutput {
    InspectOutput(
      lines: heading(style) + nodes.flatMap { lines(for: $0, redactsModels: redactsModels, style) },
      json: .object([
        "context": contextJSON, "generation": .string("\(generation)"), "standing": .string(standingName),
        "droppedBytes": .count(droppedBytes),
        "nodes": .array(nodes.map { json(for: $0, redactsModels: redactsModels) }),
      ]),
      code: nodes.contains { $0.problem != nil } ? .damaged : standingCode)
  }

  private func heading(_ style: InspectStyle) -> [String] {
    var parts = [
      "generation \(generation)", "\(nodes.count) nodes", "program \(context.applicationVersion)",
      "schema \(context.schemaVersion)",
    ]
    if let tag = context.versionTag { parts.append("interface \(tag)") }
    if !context.systemVersion.isEmpty { parts.append(context.systemVersion) }
    parts += ["\(context.interfaceIdiom)", "saved \(readable(context.timeSaved))"]
    let note: String? =
      switch standing {
      case .current: nil
      case .olderGeneration(because: let reason):
        "The newest generation can't be used\(reason.map { " (\($0))" } ?? ""): this is the one before it."
      case .rollbackUnverifiable: "Nothing vouches that this is the newest generation: the ledger is gone."
      }
    var notes = note.map { [style.bad($0)] } ?? []
    if droppedBytes > 0 {
      notes.append(
        style.bad("\(readable(bytes: droppedBytes)) behind the last change are no change: changes may be missing."))
    }
    return [style.detail(parts.joined(separator: ", "))] + notes
  }

  private func lines(for node: Node, redactsModels: Bool, _ style: InspectStyle) -> [String] {
    let indent = String(repeating: "  ", count: min(node.depth, 40))
    let attributes = node.facts.attributes
    var details: [String] = []
    if let tag = attributes.classTag { details.append("class \(tag)") }
    details += ["v\(attributes.version)", readable(bytes: node.facts.byteCount)]
    if attributes.priority != .normal { details.append("\(attributes.priority) priority") }
    if let model = attributes.model { details.append("model \(redactsModels ? Self.redacted(model) : model.rawValue)") }
    if let role = attributes.role { details.append("role \(role)") }
    let flags = Self.text(attributes.flags)
    let notes = flags.isEmpty ? "" : " " + style.notice("[\(flags)]")
    var lines = [
      "\(indent)\(style.name(node.path.last?.rawValue ?? "·"))  \(style.detail(details.joined(separator: ", ")))\(notes)"
    ]
    for reference in node.references {
      lines.append("\(indent)  \(style.detail("\(reference.key) → \(reference.path)"))")
    }
    if let problem = node.problem { lines.append("\(indent)  \(style.bad("\(problem.code): \(problem.message)"))") }
    return lines
  }

  private static func redacted(_ model: ModelIdentifier) -> String { "of \(model.rawValue.utf8.count) bytes" }

  private static func flags(_ flags: RestorationArchive.NodeFlags) -> [String] {
    let names: [(RestorationArchive.NodeFlags, String)] = [
      (.view, "view"), (.shared, "shared"), (.carriedOver, "carried over"), (.quarantined, "quarantined after a crash"),
      (.shed, "shed"), (.reserved, "reserved"),
    ]
    return names.filter { flags.contains($0.0) }.map(\.1)
  }

  static func text(_ flags: RestorationArchive.NodeFlags) -> String { self.flags(flags).joined(separator: ", ") }

  private func json(for node: Node, redactsModels: Bool) -> JSONValue {
    let attributes = node.facts.attributes
    return .object([
      "path": Self.json(node.path), "id": .integer(Int64(node.facts.id.rawValue)),
      "class": .optional(attributes.classTag?.description), "version": .integer(Int64(attributes.version.rawValue)),
      "bytes": .count(node.facts.byteCount), "priority": .string("\(attributes.priority)"),
      "model": .optional(attributes.model.map { redactsModels ? Self.redacted($0) : $0.rawValue }),
      "role": .optional(attributes.role?.rawValue),
      "flags": .array(Self.flags(attributes.flags).map { .string($0) }),
      "savedAt": .optional(attributes.savedAt.map { readable($0) }),
      "keys": .array(node.values.map { .string($0.key) }),
      "references": .array(
        node.references.map { .object(["key": .string($0.key), "path": Self.json($0.path)]) }),
      "problem": .optional(node.problem.map { "\($0.code): \($0.message)" }),
    ])
  }

  static func json(_ path: RestorationPath) -> JSONValue { .array(path.components.map { .string($0.rawValue) }) }

  private var standingName: String {
    switch standing {
    case .current: "current"
    case .olderGeneration: "olderGeneration"
    case .rollbackUnverifiable: "rollbackUnverifiable"
    }
  }

  private var contextJSON: JSONValue {
    .object([
      "applicationVersion": .string(context.applicationVersion.description),
      "schemaVersion": .integer(Int64(context.schemaVersion.rawValue)), "systemVersion": .string(context.systemVersion),
      "timeSaved": .string(readable(context.timeSaved)),
      "interfaceIdiom": .string("\(context.interfaceIdiom)"), "versionTag": .optional(context.versionTag?.description),
    ])
  }
}
