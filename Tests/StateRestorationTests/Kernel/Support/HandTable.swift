import FoundationEssentials
import RestorationArchive

@testable import StateRestoration

/// A table that hand-made captures are committed to, and whose rows are read as words: a root, and screens with a text below it.
struct HandTable {
  /// An object as a capture finds it.
  struct Object {
    var key: CaptureBatch.Key
    var identifier: RestorationIdentifier
    /// What it has to say; nil for nothing.
    var text: String?
    var model: ModelIdentifier?
    var parent: CaptureBatch.Key = HandTable.root
    var classTag: RestorationArchive.ClassTag = "screen"
    var version: StateVersion = 1
    /// What it is given in the turn that meets it.
    var given: CaptureBatch.Given?
    /// Whether its values refuse to be encoded.
    var fails = false

    init(
      _ key: CaptureBatch.Key, _ identifier: RestorationIdentifier, _ text: String?, model: ModelIdentifier? = nil,
      below parent: CaptureBatch.Key = HandTable.root, given: CaptureBatch.Given? = nil
    ) {
      (self.key, self.identifier, self.text, self.model, self.parent) = (key, identifier, text, model, parent)
      self.given = given
    }
  }

  /// A record as the table has it.
  struct Found {
    var row: NodeID
    var record: NodeID
    var text: String
    var save: UInt32
  }

  static let root: CaptureBatch.Key = 1
  static let limits = RestorationConfiguration(application: "test", applicationVersion: "1").limits

  var table: Table
  private var places: [CaptureBatch.Key: (parent: CaptureBatch.Key, identifier: RestorationIdentifier)] = [:]

  init(isLocked: Bool = false) {
    table = Table(
      context: .test, protection: .complete, limits: Self.limits, nodeBudget: .max, isLocked: isLocked)
  }

  /// Commits a capture, as a save does; what the disk says of it is the caller's.
  ///
  /// - Parameters:
  ///   - objects: Those that are asked, parents first; those not named are as they were.
  ///   - isMeeting: Whether it is the capture at the end of the turn that restores.
  @discardableResult
  mutating func save(
    _ objects: [Object], leaving removals: [CaptureBatch.Key] = [], outgrowing outgrown: [CaptureBatch.Key] = [],
    releasing releases: [CaptureBatch.Key] = [], isMeeting: Bool = false
  ) throws -> [PreservationOutcome.Finding] {
    var batch = CaptureBatch()
    batch.isMeeting = isMeeting
    (batch.removals, batch.outgrown, batch.releases) = (removals, outgrown, releases)
    if places[Self.root] == nil {
      places[Self.root] = (0, "root")
      batch.placements.append(.init(key: Self.root, section: .interface, identifier: "root"))
      batch.kinds.append(.init(version: 1, classTag: "root"))
      batch.records.append(.init(key: Self.root, kind: 0, entries: []))
    }
    for object in objects {
      let known = places[object.key]
      if known?.parent != object.parent || known?.identifier != object.identifier || object.given != nil {
        places[object.key] = (object.parent, object.identifier)
        batch.placements.append(
          .init(key: object.key, parent: object.parent, identifier: object.identifier, given: object.given))
      }
      let value = object.text.map { FragileText($0, fails: object.fails) }
      batch.records.append(
        .init(
          key: object.key, kind: batch.kinds.count,
          entries: value.map { [.init(key: "text", value: $0)] } ?? [], model: object.model))
      batch.kinds.append(
        .init(version: object.version, classTag: object.classTag, acceptedClasses: [object.classTag]))
    }
    try table.commit(batch)
    for key in removals + releases { places[key] = nil }
    table.save &+= 1
    return table.standingFindings
  }

  /// The table as the next run continues it, with nothing live.
  func reloaded() throws -> HandTable {
    var next = HandTable()
    let reader = try reader
    next.table = try Table(
      continuing: reader, parts: PartClasses(.complete), try RestorePlan(reader: reader).index, limits: Self.limits,
      nodeBudget: .max)
    return next
  }

  /// What the disk would have.
  var reader: RestorationArchive.PartedReader {
    get throws {
      var writer = table.writer
      return try RestorationArchive.PartedReader(base: .init(try writer.makeArchive(of: .first)), limits: Self.limits)
    }
  }

  // MARK: - Reading

  /// The rows below the root, in order, with those below them: identifier, model, presence, and records, oldest first.
  var rows: [String] {
    get throws {
      let reader = try reader
      var lines: [String] = []
      for top in try reader.roots {
        guard let node = try reader.node(top), node.identifier == "root" else { continue }
        try describe(below: top, depth: 0, reader, &lines)
      }
      return lines
    }
  }

  private func describe(
    below parent: NodeID, depth: Int, _ reader: RestorationArchive.PartedReader, _ lines: inout [String]
  ) throws {
    for id in try reader.children(of: parent) {
      guard let node = try reader.node(id), !node.attributes.flags.contains(.record) else { continue }
      var line = String(repeating: "  ", count: depth) + node.rowIdentifier.rawValue
      if let model = node.attributes.model { line += " \(model.rawValue)" }
      if node.attributes.flags.contains(.absent) { line += " absent" }
      if node.attributes.flags.contains(.closed) { line += " closed" }
      let words = try records(of: node, reader).map { found, flags in
        found.text + (flags.contains(.first) ? " first" : "") + (flags.contains(.quarantined) ? " quarantined" : "")
      }
      lines.append("\(line): \(words.joined(separator: ", "))")
      try describe(below: id, depth: depth + 1, reader, &lines)
    }
  }

  private func records(
    of row: RestorationArchive.Node, _ reader: RestorationArchive.PartedReader
  ) throws -> [(Found, RestorationArchive.NodeFlags)] {
    var nodes = row.byteCount > 0 ? [row] : []
    for id in try reader.children(of: row.id) {
      if let node = try reader.node(id), node.attributes.flags.contains(.record) { nodes.append(node) }
    }
    return try nodes.map { node in
      let record = try reader.record(of: node.id)
      let text = record.contains("text") ? try record.decode(String.self, forKey: "text") : "-"
      return (Found(row: row.id, record: node.id, text: text, save: node.attributes.save), node.attributes.flags)
    }.sorted { ($0.0.save, $0.0.record.rawValue) < ($1.0.save, $1.0.record.rawValue) }
  }

  /// The record that has a text.
  func record(_ text: String) throws -> Found? {
    let reader = try reader
    var stack = try reader.roots
    while let id = stack.popLast() {
      stack += try reader.children(of: id)
      guard let node = try reader.node(id), !node.attributes.flags.contains(.record) else { continue }
      if let found = try records(of: node, reader).first(where: { $0.0.text == text }) { return found.0 }
    }
    return nil
  }

  /// What an object is given that gets the record with a text, and could have been given others, or joins others with it.
  ///
  /// - Parameter isChanged: Whether restoring has made other values of the record's.
  func given(
    _ text: String, superseding older: [String] = [], joining others: [String] = [], isChanged: Bool = false
  ) throws -> CaptureBatch.Given? {
    guard let found = try record(text) else { return nil }
    return .record(
      .init(
        row: found.row, record: found.record, superseded: try older.compactMap { try record($0)?.record },
        joined: try others.compactMap { try record($0)?.record }, isChanged: isChanged))
  }

  /// What an object is given that is met in the turn that restores, and can read none of the records beside one with a text.
  func unread(_ text: String) throws -> CaptureBatch.Given? { try record(text).map { .unread($0.row) } }
}
