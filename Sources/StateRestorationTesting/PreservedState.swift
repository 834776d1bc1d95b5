import FoundationShim
import StateRestoration

/// What a program has on disk, row by row, as far as it can be read without its types.
struct PreservedState {
  /// One record of a row.
  private struct Record {
    /// The path of the row, of the identifiers.
    let path: RestorationPath
    /// What the archive says of the row.
    let row: RestorationArchive.Node
    /// What the archive says of the record.
    let facts: RestorationArchive.Attributes
    /// The values by key.
    let values: [String: StoredContent]
    /// The class of protection of the part that it is in.
    let protection: ProtectionClass
    /// Whether it is *first*, and not the oldest of its row.
    var isFirst = false

    /// How late an object gets this record of several of a path: the first one gets it.
    private var rank: [Double] {
      [
        isAbsent ? 1 : 0, -(row.attributes.savedAt?.timeIntervalSinceReferenceDate ?? .infinity),
        facts.flags.contains(.quarantined) ? 1 : 0, isFirst ? 1 : 0, -Double(facts.save),
      ]
    }

    private var isAbsent: Bool { row.attributes.flags.contains(.absent) }

    func isGiven(before other: Record) -> Bool { rank.lexicographicallyPrecedes(other.rank) }

    /// The path, and what tells the record from others of the path.
    var name: String {
      let flags: [(RestorationArchive.NodeFlags, String)] = [(.first, "first"), (.quarantined, "quarantined")]
      let words =
        (isAbsent ? ["absent"] : []) + ["save \(facts.save)"]
        + flags.filter { facts.flags.contains($0.0) }.map(\.1)
      return "\(path) [\(words.joined(separator: ", "))]"
    }
  }

  /// What an archive calls the class of a scope's values.
  private static let scopeValue: RestorationArchive.ClassTag = "StoredValue"

  /// The records, by the paths of their rows, in the order in which an object would get them.
  private var records: [RestorationPath: [Record]] = [:]

  /// The values of the record of each path that an object would get first, by key.
  private var nodes: [RestorationPath: [String: StoredContent]] { records.compactMapValues { $0.first?.values } }

  /// Opens what a harness's program preserved.
  @MainActor init<Application>(_ harness: RestorationHarness<Application>) async throws {
    let archive = try await harness.openPreserved()
    let reader = archive.reader
    var stack: [(NodeID, RestorationPath, RestorationArchive.Node?)] = try reader.roots.map { ($0, [], nil) }
    var withoutRecord: [Record] = []
    while let (id, parent, row) = stack.popLast() {
      guard let node = try reader.node(id), !node.attributes.flags.contains(.hole) else { continue }
      let isRecord = node.attributes.flags.contains(.record)
      let path = isRecord ? parent : parent.appending(node.rowIdentifier)
      stack += try reader.children(of: id).map { ($0, path, node) }
      let stored = try reader.record(of: id)
      var values: [String: StoredContent] = [:]
      for key in stored.keys { values[key] = try stored.decode(StoredContent.self, forKey: key) }
      let record = Record(
        path: path, row: (isRecord ? row : nil) ?? node, facts: node.attributes, values: values,
        protection: archive.classes[id.part] ?? .complete)
      if node.byteCount > 0 { records[path, default: []].append(record) } else { withoutRecord.append(record) }
    }
    for record in withoutRecord where records[record.path] == nil { records[record.path] = [record] }
    for path in records.keys { records[path] = Self.ordered(records[path] ?? []) }
  }

  /// The records of one path in the order in which an object would get them.
  private static func ordered(_ records: [Record]) -> [Record] {
    var oldest: [NodeID: UInt32] = [:]
    for record in records { oldest[record.row.id] = min(oldest[record.row.id] ?? .max, record.facts.save) }
    return records.map { record in
      var record = record
      record.isFirst = record.facts.flags.contains(.first) && record.facts.save != oldest[record.row.id]
      return record
    }.sorted { $0.isGiven(before: $1) }
  }

  /// Paths of both whose values differ; restoring neither adds nor removes any.
  ///
  /// The value of a scope that nobody has changed stays where it is stored, and is not written anywhere else.
  func changes(to other: PreservedState) -> [LintFinding] {
    nodes.keys.sorted { $0.description < $1.description }.compactMap { path in
      guard let before = nodes[path], let after = other.nodes[path] else { return nil }
      if after.isEmpty, records[path]?.first?.row.attributes.classTag == Self.scopeValue { return nil }
      let keys = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
      return keys.isEmpty ? nil : .changesByRestoring(path, keys: keys.map(Self.name))
    }
  }

  /// Values that look like model data.
  var modelData: [LintFinding] {
    nodes.keys.sorted { $0.description < $1.description }.flatMap { path -> [LintFinding] in
      guard let values = nodes[path] else { return [] }
      return values.keys.sorted().compactMap { key in
        values[key]?.whyModelData.map { .looksLikeModelData(path, key: Self.name(key), why: $0) }
      }
    }
  }

  /// What rows of weaker classes say of values that stronger ones hold: an identifier, a model or a text that is one of these.
  ///
  /// Texts of less than four characters, which may be the same by chance, are left out.
  var toldSecrets: [LintFinding] {
    let all = records.values.flatMap(\.self)
    guard Set(all.map(\.protection)).count > 1 else { return [] }
    var findings: [LintFinding] = []
    for secret in all {
      let texts = Set(secret.values.values.flatMap(\.texts)).filter { $0.count >= 4 }
      guard !texts.isEmpty else { continue }
      for open in all where open.protection.isWeaker(than: secret.protection) {
        var said: [(String, String)] = [("its identifier", open.path.last?.rawValue ?? "")]
        said.append(("its model", open.row.attributes.model?.rawValue ?? ""))
        for (key, value) in open.values { said += value.texts.map { ("“\(Self.name(key))”", $0) } }
        for (what, text) in said where texts.contains(text) {
          findings.append(.tellsOfSecret(open.path, what: what, of: secret.path))
        }
      }
    }
    return Array(Set(findings)).sorted { $0.description < $1.description }
  }

  /// The records, a line each, with their keys and what kind of value each has; no values.
  ///
  /// Of several records of one path each says whether its row is absent, which save wrote it, and whether it is *first* or
  /// quarantined.
  var redacted: String {
    records.sorted { $0.key.description < $1.key.description }.flatMap { path, records in
      records.map { record in
        let kinds = record.values.sorted { $0.key < $1.key }.map { "\(Self.name($0)): \($1.kind)" }
        return "\(records.count > 1 ? record.name : "\(path)") (\(kinds.joined(separator: ", ")))"
      }
    }.joined(separator: "\n")
  }

  /// Keys of the framework's own, as a person would say them.
  private static func name(_ key: String) -> String { key == "$state" ? "restorableState" : key }
}

/// A stored value of any form, for comparing and measuring.
indirect enum StoredContent: Decodable, Hashable {
  case scalar(String)
  case text(String)
  case bytes(Int, String)
  case list([StoredContent])
  case keyed([String: StoredContent])

  /// The value in one line, the same for equal values.
  var text: String {
    switch self {
    case .scalar(let text): text
    case .text(let text): "\"\(text)\""
    case .bytes(_, let text): "Data(\(text))"
    case .list(let elements): "[\(elements.map(\.text).joined(separator: ", "))]"
    case .keyed(let values):
      "(\(values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }.joined(separator: ", ")))"
    }
  }

  /// What it is, and how large, without the value.
  var kind: String {
    switch self {
    case .scalar: "a scalar"
    case .text(let text): "a text of \(text.utf8.count) bytes"
    case .bytes(let count, _): "\(count) bytes"
    case .list(let elements): "\(elements.count) elements"
    case .keyed(let values): "\(values.count) keys"
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      var values: [String: StoredContent] = [:]
      for key in container.allKeys { values[key.stringValue] = try container.decode(StoredContent.self, forKey: key) }
      self = .keyed(values)
    } else if var container = try? decoder.unkeyedContainer() {
      var values: [StoredContent] = []
      while !container.isAtEnd {
        values.append(try container.decodeNil() ? .scalar("null") : try container.decode(StoredContent.self))
      }
      self = .list(values)
    } else {
      let container = try decoder.singleValueContainer()
      if let value = try? container.decode(String.self) {
        self = .text(value)
      } else if let value = try? container.decode(Data.self) {
        self = .bytes(value.count, value.base64EncodedString())
      } else if let value = try? container.decode(Bool.self) {
        self = .scalar("\(value)")
      } else if let value = try? container.decode(Int128.self) {
        self = .scalar("\(value)")
      } else if let value = try? container.decode(Double.self) {
        self = .scalar("\(value)")
      } else if let value = try? container.decode(Date.self) {
        self = .scalar("\(value.timeIntervalSinceReferenceDate.bitPattern)")
      } else if let value = try? container.decode(UUID.self) {
        self = .scalar(value.uuidString)
      } else {
        self = .scalar(container.decodeNil() ? "null" : "other")
      }
    }
  }

  /// The texts in it.
  var texts: [String] {
    switch self {
    case .text(let text): [text]
    case .list(let values): values.flatMap(\.texts)
    case .keyed(let values): values.values.flatMap(\.texts)
    case .scalar, .bytes: []
    }
  }

  /// Why the value looks like model data; `nil` when it doesn't.
  ///
  /// Bounds with room above what interface state needs: a draft of two pages, a list of open tabs, a thumbnail.
  var whyModelData: String? {
    switch self {
    case .scalar: return nil
    case .text(let text): return text.utf8.count > 8_192 ? "a text of \(text.utf8.count) bytes" : nil
    case .bytes(let count, _): return count > 8_192 ? "\(count) bytes" : nil
    case .list(let values):
      if values.count > 256 { return "a list of \(values.count)" }
      let records = values.count { if case .keyed(let fields) = $0 { fields.count >= 3 } else { false } }
      if records > 16 { return "\(records) records" }
      return values.lazy.compactMap(\.whyModelData).first
    case .keyed(let values):
      if values.count > 256 { return "\(values.count) keys" }
      return values.keys.sorted().lazy.compactMap { values[$0]?.whyModelData }.first
    }
  }
}
