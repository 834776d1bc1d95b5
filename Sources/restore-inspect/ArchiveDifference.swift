package import RestorationArchive

/// The differences between two archives, by path.
///
/// A node keeps its number within one lineage of saves, so that one which is found under another path, with the same
/// identifier and class, has moved. Between archives of two lineages everything is compared by path alone.
package struct ArchiveDifference: Sendable {
  /// One fact that is not what it was.
  package struct Change: Sendable, Hashable {
    /// What it is a fact of: `version`, `order of children`, or the key of a value.
    package let what: String
    /// What it was.
    package let before: String
    /// What it is.
    package let after: String
  }

  /// What became of a node.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// It is new.
    case added
    /// It is gone.
    case removed
    /// It lies elsewhere; its values may have changed too.
    case moved
    /// It lies where it was, and something of it is different.
    case changed
  }

  /// One node that is not as it was.
  package struct Node: Sendable {
    /// Where it is, or was when it is gone.
    package let path: RestorationPath
    /// What became of it.
    package let kind: Kind
    /// Where it was, for one that moved.
    package var origin: RestorationPath?
    /// What of it is different.
    package var changes: [Change] = []
  }

  /// What the two saves say of themselves: versions of program, schema, system and interface.
  package let context: [Change]

  /// The nodes, in the order of the newer tree; then those that are gone, in the order of the older one.
  package private(set) var nodes: [Node] = []

  /// Whether nothing is different.
  package var isEmpty: Bool { context.isEmpty && nodes.isEmpty }

  private let reveals: Bool

  /// Compares two archives.
  package init(from older: InspectedArchive, to newer: InspectedArchive, reveals: Bool) {
    self.reveals = reveals
    context = Self.changes(older.context, newer.context)
    let before = Dictionary(older.nodes.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    let after = Dictionary(newer.nodes.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    let origins = Self.origins(older, newer, before, after)
    let (orderBefore, orderAfter) = (Self.children(older), Self.children(newer))
    for node in newer.nodes {
      let origin = origins[node.path]
      guard let old = before[origin ?? node.path] else {
        nodes.append(Node(path: node.path, kind: .added))
        continue
      }
      var changes = changes(from: old, to: node)
      changes += Self.order(orderBefore[old.path] ?? [], orderAfter[node.path] ?? [])
      // Nodes below a node that moved have moved with it, and are not worth a line each.
      let parentMoved = origin.map { origins[node.path.withoutLast] == $0.withoutLast } ?? true
      if origin == nil || parentMoved {
        if !changes.isEmpty { nodes.append(Node(path: node.path, kind: .changed, changes: changes)) }
      } else {
        nodes.append(Node(path: node.path, kind: .moved, origin: origin, changes: changes))
      }
    }
    let moved = Set(origins.values)
    for node in older.nodes where after[node.path] == nil && !moved.contains(node.path) {
      nodes.append(Node(path: node.path, kind: .removed))
    }
  }

  /// Where the nodes under new paths were before: same number, identifier and class, at a path that is no more.
  private static func origins(
    _ older: InspectedArchive, _ newer: InspectedArchive, _ before: [RestorationPath: InspectedArchive.Node],
    _ after: [RestorationPath: InspectedArchive.Node]
  ) -> [RestorationPath: RestorationPath] {
    var gone: [NodeID: InspectedArchive.Node] = [:]
    for node in older.nodes where after[node.path] == nil { gone[node.facts.id] = node }
    var origins: [RestorationPath: RestorationPath] = [:]
    for node in newer.nodes where before[node.path] == nil {
      guard let old = gone[node.facts.id], old.path.last == node.path.last,
        old.facts.attributes.classTag == node.facts.attributes.classTag
      else { continue }
      origins[node.path] = old.path
    }
    return origins
  }

  private static func children(_ archive: InspectedArchive) -> [RestorationPath: [RestorationIdentifier]] {
    var children: [RestorationPath: [RestorationIdentifier]] = [:]
    for node in archive.nodes {
      if let name = node.path.last { children[node.path.withoutLast, default: []].append(name) }
    }
    return children
  }

  /// Children that are in both and follow one another differently.
  private static func order(_ before: [RestorationIdentifier], _ after: [RestorationIdentifier]) -> [Change] {
    let common = Set(before).intersection(after)
    let (old, new) = (before.filter(common.contains), after.filter(common.contains))
    if old == new { return [] }
    let texts = [old, new].map { $0.map(\.rawValue).joined(separator: ", ") }
    return [Change(what: "order of children", before: texts[0], after: texts[1])]
  }

  private static func changes(
    _ old: RestorationArchive.Context, _ new: RestorationArchive.Context
  ) -> [Change] {
    let facts = [
      ("program", "\(old.applicationVersion)", "\(new.applicationVersion)"),
      ("schema", "\(old.schemaVersion)", "\(new.schemaVersion)"),
      ("interface", old.versionTag?.description ?? "none", new.versionTag?.description ?? "none"),
      ("system", old.systemVersion, new.systemVersion),
      ("idiom", "\(old.interfaceIdiom)", "\(new.interfaceIdiom)"),
    ]
    return facts.filter { $0.1 != $0.2 }.map(Change.init)
  }

  private func changes(from old: InspectedArchive.Node, to new: InspectedArchive.Node) -> [Change] {
    let (a, b) = (old.facts.attributes, new.facts.attributes)
    let facts = [
      ("class", a.classTag?.description ?? "none", b.classTag?.description ?? "none"),
      ("version", "\(a.version)", "\(b.version)"),
      ("priority", "\(a.priority)", "\(b.priority)"),
      ("model", a.model?.rawValue ?? "none", b.model?.rawValue ?? "none"),
      ("role", a.role?.rawValue ?? "none", b.role?.rawValue ?? "none"),
      ("flags", InspectedArchive.text(a.flags), InspectedArchive.text(b.flags)),
      ("problem", old.problem?.code.description ?? "none", new.problem?.code.description ?? "none"),
    ]
    return facts.filter { $0.1 != $0.2 }.map(Change.init)
      + changes(InspectedArchive.fields(old.values), InspectedArchive.fields(new.values), below: "")
  }

  /// Values by key; revealed, the parts of a value by their own keys too.
  private func changes(
    _ before: [String: InspectedValue], _ after: [String: InspectedValue], below prefix: String
  ) -> [Change] {
    var changes: [Change] = []
    for key in Set(before.keys).union(after.keys).sorted() where before[key] != after[key] {
      let name = prefix + key
      if reveals, case .object(let old)? = before[key], case .object(let new)? = after[key] {
        changes += self.changes(InspectedArchive.fields(old), InspectedArchive.fields(new), below: name + ".")
        continue
      }
      let texts = [before[key], after[key]].map { $0.map { reveals ? $0.revealed : $0.redacted } ?? "nothing" }
      changes.append(Change(what: name, before: texts[0], after: texts[1]))
    }
    return changes
  }
}

extension RestorationPath {
  /// The path of the parent; the empty one for a root.
  fileprivate var withoutLast: RestorationPath { RestorationPath(Array(components.dropLast())) }
}
