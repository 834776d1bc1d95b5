import FoundationEssentials

extension RestorationArchive {
  /// A readable account of an archive: its context, its tree, and the states.
  ///
  /// Redacted by default: identifiers, keys, kinds and sizes are shown, values are not.
  package struct Dump: Sendable {
    private let reader: Reader
    private let revealsValues: Bool

    /// Prepares an account.
    ///
    /// - Parameters:
    ///   - reader: The archive.
    ///   - revealsValues: Whether the states' values are shown. They are the user's: ask before doing so.
    package init(_ reader: Reader, revealsValues: Bool = false) {
      self.reader = reader
      self.revealsValues = revealsValues
    }

    /// Indented lines: a node's identifier, number, class tag, version and size, then its values.
    package func text() throws(ArchiveError) -> String {
      let context = try reader.context
      var lines = [
        "application \(context.applicationVersion)  schema \(context.schemaVersion)  system \(context.systemVersion)",
        "saved \(context.timeSaved.readable())  idiom \(context.interfaceIdiom)  version tag \(context.versionTag?.rawValue ?? "none")",
        "\(reader.nodeCount) nodes, \(reader.liveBytes) bytes of state",
      ]
      try visit { (node, depth, values) throws(ArchiveError) in
        let indent = String(repeating: "  ", count: depth)
        lines.append(indent + Self.headline(node))
        for field in values {
          let value = revealsValues ? JSONText.of(field.value) : field.value.redactedDescription
          lines.append("\(indent)  . \(field.key): \(value)")
        }
      }
      return lines.joined(separator: "\n") + "\n"
    }

    /// One JSON object: the context, then the nodes in order, each with its path.
    package func json() throws(ArchiveError) -> String {
      let context = try reader.context
      var nodes: [String] = []
      try visit { (node, _, values) throws(ArchiveError) in
        let path = try reader.path(of: node.id).components.map { JSONText.quoted($0.rawValue) }
        var fields = [
          "\"id\":\(node.id.rawValue)", "\"path\":[\(path.joined(separator: ","))]",
          "\"version\":\(node.attributes.version)", "\"priority\":\"\(node.attributes.priority)\"",
          "\"bytes\":\(node.byteCount)",
        ]
        if let tag = node.attributes.classTag { fields.append("\"class\":\(JSONText.quoted(tag.rawValue))") }
        if let model = node.attributes.model, revealsValues {
          fields.append("\"model\":\(JSONText.quoted(model.rawValue))")
        }
        let state = values.map { field in
          JSONText.quoted(field.key) + ":"
            + (revealsValues ? JSONText.of(field.value) : JSONText.quoted(field.value.redactedDescription))
        }
        fields.append("\"state\":{\(state.joined(separator: ","))}")
        nodes.append("{\(fields.joined(separator: ","))}")
      }
      let head = [
        "\"applicationVersion\":\(JSONText.quoted(context.applicationVersion.rawValue))",
        "\"schemaVersion\":\(context.schemaVersion)",
        "\"systemVersion\":\(JSONText.quoted(context.systemVersion))",
        "\"timeSaved\":\(JSONText.quoted("\(context.timeSaved.readable())"))",
        "\"interfaceIdiom\":\(JSONText.quoted(context.interfaceIdiom.rawValue))",
        "\"versionTag\":\(context.versionTag.map { JSONText.quoted($0.rawValue) } ?? "null")",
        "\"nodes\":[\(nodes.joined(separator: ","))]",
      ]
      return "{\(head.joined(separator: ","))}\n"
    }

    private static func headline(_ node: Node) -> String {
      var words = ["\(node.identifier)", "\(node.id)"]
      if let tag = node.attributes.classTag { words.append("class \(tag)") }
      words.append("version \(node.attributes.version)")
      if node.attributes.priority != .normal { words.append("priority \(node.attributes.priority)") }
      for (flag, word) in NodeFlags.words where node.attributes.flags.contains(flag) { words.append(word) }
      words.append("\(node.byteCount) bytes")
      return words.joined(separator: "  ")
    }

    /// Visits the nodes in order; damage that makes circles or shares children throws.
    private func visit(
      _ body: (Node, Int, [StoredValue.Field]) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
      var pending = try reader.roots.reversed().map { (id: $0, parent: NodeID?.none, depth: 0) }
      var count = 0
      while let next = pending.popLast() {
        guard let node = try reader.node(next.id), node.parent == next.parent, count < reader.nodeCount else {
          throw ArchiveError(.corrupt, "node \(next.id) is missing, or listed below another parent than its own")
        }
        count += 1
        try body(node, next.depth, try reader.record(of: next.id).storedValues())
        for child in try reader.children(of: next.id).reversed() {
          pending.append((child, next.id, next.depth + 1))
        }
        guard pending.count + count <= reader.nodeCount else {
          throw ArchiveError(.corrupt, "there are more nodes than the archive tells of")
        }
      }
    }
  }
}

extension RestorationArchive.NodeFlags {
  /// What marks are called.
  static let words: [(RestorationArchive.NodeFlags, String)] = [
    (.view, "view"), (.shared, "shared"), (.carriedOver, "carried over"), (.leftOut, "left out"), (.shed, "shed"),
    (.reserved, "reserved"),
  ]
}

/// Writes stored values as JSON.
private enum JSONText {
  static func of(_ value: RestorationArchive.StoredValue) -> String {
    switch value {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .integer(let text): return text
    case .number(let value): return value.isFinite ? "\(value)" : quoted("\(value)")
    case .string(let text): return quoted(text)
    case .data(let data): return quoted(data.base64EncodedString())
    case .date(let date): return quoted(date.readable())
    case .uuid(let text): return quoted(text)
    case .object(let fields):
      return "{" + fields.map { "\(quoted($0.key)):\(of($0.value))" }.joined(separator: ",") + "}"
    case .array(let elements): return "[" + elements.map(of).joined(separator: ",") + "]"
    }
  }

  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      default:
        if scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) {
          let hex = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
