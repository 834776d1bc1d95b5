package import RestorationArchive

/// The differences between two archives, by path.
///
/// Of several rows of one path those of the same class and model are compared, then those of the same class, then the rest
/// in their order. A node keeps its number within one lineage of saves, so that one which is found under another path, with
/// the same identifier and class, has moved. Between archives of two lineages everything is compared by path alone.
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
    /// The row as it is, or as it was when it is gone.
    package let row: InspectedArchive.Node
  }

  /// What the two saves say of themselves: versions of program, schema, system and interface.
  package let context: [Change]

  /// The nodes, in the order of the newer tree; then those that are gone, in the order of the older one.
  package private(set) var nodes: [Node] = []

  /// Whether nothing is different.
  package var isEmpty: Bool { context.isEmpty && nodes.isEmpty }

  /// For each row of the newer archive its position in the older one; `nil` for a new one.
  package let origins: [Int?]

  private let reveals: Bool

  /// Compares two archives.
  package init(from older: InspectedArchive, to newer: InspectedArchive, reveals: Bool) {
    self.reveals = reveals
    context = Self.changes(older.context, newer.context)
    let pairs = Pairs(older.nodes, newer.nodes)
    origins = pairs.origins
    let (orderBefore, orderAfter) = (Self.children(older.nodes), Self.children(newer.nodes))
    for (index, node) in newer.nodes.enumerated() {
      guard let origin = pairs.origins[index] else {
        nodes.append(Node(path: node.path, kind: .added, row: node))
        continue
      }
      let old = older.nodes[origin]
      let order = (orderAfter[index] ?? []).compactMap { pairs.origins[$0] }.filter { older.nodes[$0].parent == origin }
      let changes =
        changes(from: old, to: node) + Self.order(orderBefore[origin] ?? [], order, of: older.nodes)
      // Nodes below a node that moved have moved with it, and are not worth a line each.
      let parentBefore = node.parent.flatMap { pairs.origins[$0] }
      let hasMovedAlone = pairs.moved.contains(index) && (parentBefore == nil || parentBefore != old.parent)
      if hasMovedAlone || !changes.isEmpty {
        nodes.append(
          Node(
            path: node.path, kind: hasMovedAlone ? .moved : .changed, origin: hasMovedAlone ? old.path : nil,
            changes: changes, row: node))
      }
    }
    for (index, node) in older.nodes.enumerated() where !pairs.taken.contains(index) {
      nodes.append(Node(path: node.path, kind: .removed, row: node))
    }
  }

  /// Which row of the older archive each row of the newer one was.
  private struct Pairs {
    private struct Place: Hashable {
      var parent: Int?
      var identifier: RestorationIdentifier
    }

    /// The positions of the older rows; `nil` for a new one.
    var origins: [Int?]
    /// The older rows that have a newer one.
    var taken: Set<Int> = []
    /// The newer rows that were somewhere else.
    var moved: Set<Int> = []

    init(_ older: [InspectedArchive.Node], _ newer: [InspectedArchive.Node]) {
      origins = newer.map { _ in nil }
      var places: [Place: [Int]] = [:]
      for (index, node) in older.enumerated() {
        places[Self.place(of: node, below: node.parent), default: []].append(index)
      }
      var siblings: [Place: [Int]] = [:]
      for (index, node) in newer.enumerated() {
        siblings[Self.place(of: node, below: node.parent), default: []].append(index)
      }
      // Parents come first.
      for node in newer {
        guard let group = siblings.removeValue(forKey: Self.place(of: node, below: node.parent)) else { continue }
        let above = node.parent.map { origins[$0] }
        guard above != .some(nil) else { continue }
        pair(places[Self.place(of: node, below: above ?? nil)] ?? [], older, with: group, newer)
      }
      pairMoved(older, newer)
    }

    private static func place(of node: InspectedArchive.Node, below parent: Int?) -> Place {
      Place(parent: parent, identifier: node.path.last ?? "")
    }

    /// Pairs the rows of one place.
    private mutating func pair(
      _ olds: [Int], _ older: [InspectedArchive.Node], with news: [Int], _ newer: [InspectedArchive.Node]
    ) {
      let tests: [(RestorationArchive.Attributes, RestorationArchive.Attributes) -> Bool] = [
        { $0.classTag == $1.classTag && $0.model == $1.model }, { $0.classTag == $1.classTag }, { _, _ in true },
      ]
      for isSame in tests {
        for new in news where origins[new] == nil {
          let old = olds.first { old in
            !taken.contains(old) && isSame(older[old].facts.attributes, newer[new].facts.attributes)
          }
          guard let old else { continue }
          origins[new] = old
          taken.insert(old)
        }
      }
    }

    /// Pairs rows whose place is another one: they have the same number, identifier and class.
    private mutating func pairMoved(_ older: [InspectedArchive.Node], _ newer: [InspectedArchive.Node]) {
      var gone: [NodeID: Int] = [:]
      for (index, node) in older.enumerated() where !taken.contains(index) { gone[node.facts.id] = index }
      for (index, node) in newer.enumerated() where origins[index] == nil {
        guard let old = gone[node.facts.id], older[old].path.last == node.path.last,
          older[old].facts.attributes.classTag == node.facts.attributes.classTag
        else { continue }
        origins[index] = old
        taken.insert(old)
        moved.insert(index)
      }
    }
  }

  /// The positions of each row's children.
  private static func children(_ nodes: [InspectedArchive.Node]) -> [Int: [Int]] {
    var children: [Int: [Int]] = [:]
    for (index, node) in nodes.enumerated() {
      if let parent = node.parent { children[parent, default: []].append(index) }
    }
    return children
  }

  /// Children that are in both, by their older positions, and follow one another differently.
  private static func order(_ before: [Int], _ after: [Int], of nodes: [InspectedArchive.Node]) -> [Change] {
    let common = Set(after)
    let old = before.filter(common.contains)
    if old == after { return [] }
    let texts = [old, after].map { $0.map { nodes[$0].path.last?.rawValue ?? "" }.joined(separator: ", ") }
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
      ("presence", old.presence ?? "none", new.presence ?? "none"),
      ("class", a.classTag?.description ?? "none", b.classTag?.description ?? "none"),
      ("version", "\(a.version)", "\(b.version)"),
      ("priority", "\(a.priority)", "\(b.priority)"),
      ("model", a.model?.rawValue ?? "none", b.model?.rawValue ?? "none"),
      ("role", a.role?.rawValue ?? "none", b.role?.rawValue ?? "none"),
      ("flags", Self.flags(old), Self.flags(new)),
      ("problem", old.own.problem?.code.description ?? "none", new.own.problem?.code.description ?? "none"),
    ]
    return facts.filter { $0.1 != $0.2 }.map(Change.init)
      + changes(InspectedArchive.fields(old.own.values), InspectedArchive.fields(new.own.values), below: "")
      + changes(old.further, new.further)
  }

  private static func flags(_ node: InspectedArchive.Node) -> String {
    (node.flagTexts + node.own.flagTexts).joined(separator: ", ")
  }

  /// Further records: a record keeps the number of its node as long as it is there.
  private func changes(_ before: [InspectedArchive.Record], _ after: [InspectedArchive.Record]) -> [Change] {
    let old = Dictionary(before.map { ($0.facts.id, $0) }, uniquingKeysWith: { first, _ in first })
    let new = Dictionary(after.map { ($0.facts.id, $0) }, uniquingKeysWith: { first, _ in first })
    var changes: [Change] = []
    for id in (before + after.filter { old[$0.facts.id] == nil }).map(\.facts.id) {
      let texts = [old[id], new[id]].map { $0.map { ($0.details + $0.flagTexts).joined(separator: ", ") } ?? "nothing" }
      let what = "record of save \((old[id] ?? new[id])?.facts.attributes.save ?? 0)"
      if texts[0] != texts[1] { changes.append(Change(what: what, before: texts[0], after: texts[1])) }
      guard let old = old[id], let new = new[id] else { continue }
      changes += self.changes(
        InspectedArchive.fields(old.values), InspectedArchive.fields(new.values), below: what + ": ")
    }
    return changes
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
