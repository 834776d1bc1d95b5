import DataProtection
import FoundationShim
import RestorationArchive
import StateRestoration

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
    var details = node.identityDetails(node.modelText(redacted: redactsModels)) + node.own.details
    if attributes.priority != .normal { details.append("\(attributes.priority) priority") }
    if let role = attributes.role { details.append("role \(role)") }
    if let protection = node.protection { details.append("class \(protection)") }
    let name = style.name(node.path.last?.rawValue ?? "·")
    var lines = [
      "\(indent)\(name)  \(style.detail(details.joined(separator: ", ")))"
        + Self.notes(node.flagTexts + node.own.flagTexts, style)
    ]
    for record in node.further {
      let text = "+ record: " + record.details.joined(separator: ", ")
      lines.append("\(indent)  \(style.detail(text))\(Self.notes(record.flagTexts, style))")
    }
    for reference in node.references {
      lines.append("\(indent)  \(style.detail("\(reference.key) → \(reference.path)"))")
    }
    for problem in node.records.compactMap(\.problem) {
      lines.append("\(indent)  \(style.bad("\(problem.code): \(problem.message)"))")
    }
    return lines
  }

  /// Flags behind a line.
  static func notes(_ flags: [String], _ style: InspectStyle) -> String {
    flags.isEmpty ? "" : " " + style.notice("[\(flags.joined(separator: ", "))]")
  }

  private func json(for node: Node, redactsModels: Bool) -> JSONValue {
    let attributes = node.facts.attributes
    var members = node.own.json
    members["path"] = Self.json(node.path)
    members["id"] = .integer(Int64(node.facts.id.rawValue))
    members["class"] = .optional(attributes.classTag?.description)
    members["priority"] = .string("\(attributes.priority)")
    members["model"] = .optional(node.modelText(redacted: redactsModels))
    members["presence"] = .optional(node.presence)
    members["role"] = .optional(attributes.role?.rawValue)
    members["protection"] = .optional(node.protection.map { "\($0)" })
    members["flags"] = .array((node.flagTexts + node.own.flagTexts).map { .string($0) })
    members["savedAt"] = .optional(attributes.savedAt.map { readable($0) })
    members["keys"] = .array(node.own.values.map { .string($0.key) })
    members["records"] = .array(node.further.map { .object($0.json) })
    members["references"] = .array(
      node.references.map { .object(["key": .string($0.key), "path": Self.json($0.path)]) })
    return .object(members)
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

extension InspectedArchive.Node {
  /// Whether the row has an object, or waits for one that it fits; `nil` for a row of the framework's own.
  var presence: String? {
    let flags = facts.attributes.flags
    return flags.contains(.reserved) ? nil : flags.contains(.absent) ? "absent" : "present"
  }

  /// What the flags say of the row besides its presence.
  var flagTexts: [String] {
    let names: [(RestorationArchive.NodeFlags, String)] = [
      (.view, "view"), (.shared, "shared"), (.byHand, "encoded by a reference"), (.way, "way"),
      (.carriedOver, "carried over"),
      (.closed, "closed after a crash"), (.reserved, "reserved"), (.hole, "locked"),
    ]
    return names.filter { facts.attributes.flags.contains($0.0) }.map(\.1)
  }

  /// The identifier of the model, or its size alone.
  func modelText(redacted: Bool) -> String? {
    facts.attributes.model.map { redacted ? "of \($0.rawValue.utf8.count) bytes" : $0.rawValue }
  }

  /// Whose state it is: presence, class and model.
  func identityDetails(_ model: String?) -> [String] {
    let tag = facts.attributes.classTag
    let kind = facts.attributes.flags.contains(.namedByType) ? "type" : "class"
    return [presence, tag.map { "\(kind) \($0)" }, model.map { "model \($0)" }].compactMap(\.self)
  }

  /// Whose state it is, in one text.
  func identityText(redacted: Bool = false) -> String {
    identityDetails(modelText(redacted: redacted)).joined(separator: ", ")
  }
}

extension InspectedArchive.Record {
  /// The number of the save that wrote it; 0 when there is no record.
  private var save: UInt32 { isStored ? facts.attributes.save : 0 }

  /// Version, size, and which save wrote it.
  var details: [String] {
    ["v\(facts.attributes.version)", readable(bytes: facts.byteCount)] + (save == 0 ? [] : ["save \(save)"])
  }

  /// What the flags say of the record.
  var flagTexts: [String] {
    let names: [(RestorationArchive.NodeFlags, String)] = [
      (.first, "first"), (.quarantined, "quarantined"), (.shed, "shed"),
    ]
    return isStored ? names.filter { facts.attributes.flags.contains($0.0) }.map(\.1) : []
  }

  /// The facts that every record has.
  var json: [String: JSONValue] {
    [
      "version": .integer(Int64(facts.attributes.version.rawValue)), "bytes": .count(facts.byteCount),
      "save": .integer(Int64(save)), "flags": .array(flagTexts.map { .string($0) }),
      "problem": .optional(problem.map { "\($0.code): \($0.message)" }),
    ]
  }
}
