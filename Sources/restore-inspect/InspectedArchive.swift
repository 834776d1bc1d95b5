package import DataProtection
package import RestorationArchive
import StateRestoration

/// An archive read whole, row by row, with its faults.
package struct InspectedArchive: Sendable {
  /// One row, which is a node of the archive: the place of one object, and its records.
  package struct Node: Sendable {
    /// The path from the root, of the identifiers; several rows may have one.
    package let path: RestorationPath
    /// The position of the row above in the list of all; `nil` for a root.
    package let parent: Int?
    /// The record in the row's own node; without values when there is none.
    package let own: Record
    /// The records besides that, in the order of their saves.
    package fileprivate(set) var further: [Record] = []
    /// Whether another row has its path.
    package fileprivate(set) var sharesPath = false

    /// Keys whose values are paths of other nodes.
    package fileprivate(set) var references: [(key: String, path: RestorationPath)] = []

    /// The class of protection of the part that it is in; nil where the archive has one part.
    package fileprivate(set) var protection: ProtectionClass?
    /// Whether it can't be read now, as its class has no key: nothing else is known of it then.
    package var isLocked: Bool { facts.attributes.flags.contains(.hole) }

    /// What the archive knows of the row without decoding.
    package var facts: RestorationArchive.Node { own.facts }
    /// The records that there are; that in the row's own node, if there are none.
    package var records: [Record] { further.isEmpty || own.isStored ? [own] + further : further }
    /// The number of bytes of all records.
    package var byteCount: Int { further.reduce(facts.byteCount) { $0 + $1.facts.byteCount } }
    /// Why a record can't be read; `nil` when all were.
    package var problem: ArchiveError? { own.problem ?? further.lazy.compactMap(\.problem).first }
    /// How deep it lies; 0 for roots.
    package var depth: Int { max(0, path.components.count - 1) }
  }

  /// One record of a row, and its values.
  package struct Record: Sendable {
    /// What the archive knows of it without decoding.
    package let facts: RestorationArchive.Node
    /// The values in their stored order; empty when they can't be read.
    package let values: [InspectedValue.Field]
    /// Why the values can't be read; `nil` when they were.
    package let problem: ArchiveError?

    /// Whether there is such a record, also one that was shed.
    package var isStored: Bool { facts.byteCount > 0 || facts.attributes.flags.contains(.shed) }
  }

  /// The circumstances of the newest save.
  package let context: RestorationArchive.Context

  /// Which generation it is.
  package let generation: Generation

  /// How sure it is that it is the newest.
  package let standing: ArchiveStanding

  /// How many bytes behind the last change are no change, so that changes may be missing.
  package let droppedBytes: Int

  /// How the tool ends because of it: a newer generation that can't be used is damage, though something was read.
  package var standingCode: InspectExitCode { standing == .current && droppedBytes == 0 ? .success : .damaged }

  /// All rows, parents before children, siblings in order.
  package private(set) var nodes: [Node] = []

  /// Reads an archive; throws when the archive as a whole can't be read, not for single nodes.
  ///
  /// - Parameters:
  ///   - reader: Its parts.
  ///   - classes: Their classes of protection, where it has several.
  ///   - generation: Which one it is.
  ///   - standing: How sure it is that it is the newest.
  ///   - droppedBytes: How many bytes behind the last change are no change.
  package init(
    _ reader: RestorationArchive.PartedReader, classes: [RestorationArchive.Part: ProtectionClass] = [:],
    generation: Generation, standing: ArchiveStanding, droppedBytes: Int = 0
  ) throws(ArchiveError) {
    context = try reader.context
    self.generation = generation
    self.standing = standing
    self.droppedBytes = droppedBytes
    var found: [Node] = []
    try Self.walk(reader) { path, row, record in
      if let row, record.facts.attributes.flags.contains(.record) {
        found[row].further.append(record)
      } else {
        found.append(Node(path: path, parent: row, own: record))
      }
    }
    nodes = found
    let paths = Dictionary(nodes.map { ($0.path, 1) }, uniquingKeysWith: +)
    for index in nodes.indices {
      nodes[index].protection = classes.count > 1 ? classes[nodes[index].facts.id.part] : nil
      nodes[index].sharesPath = paths[nodes[index].path] != 1
      nodes[index].further.sort { $0.facts.attributes.save < $1.facts.attributes.save }
      nodes[index].references = nodes[index].records.flatMap(\.values).flatMap { field in
        Self.paths(in: field.value).filter { paths[$0] != nil }.map { (field.key, $0) }
      }
    }
  }

  /// Reads every record and keeps none; returns the path of the first one that can't be read, and why.
  static func firstProblem(
    in reader: RestorationArchive.PartedReader
  ) throws(ArchiveError) -> (path: RestorationPath, problem: ArchiveError)? {
    _ = try reader.context
    var first: (RestorationPath, ArchiveError)?
    try walk(reader) { path, _, record in
      if first == nil, let problem = record.problem { first = (path, problem) }
    }
    return first
  }

  /// Reads all nodes, parents before children, siblings in order.
  ///
  /// - Parameter body: Gets the path of the row, the position of the row above, and a record: the row's own, or, if that is
  ///   flagged so, a further one of the row above.
  private static func walk(
    _ reader: RestorationArchive.PartedReader, _ body: (RestorationPath, Int?, Record) -> Void
  ) throws(ArchiveError) {
    // A stack of its own: the depth of the tree comes from the file.
    var stack: [(id: NodeID, row: Int?, path: RestorationPath)] = try reader.roots.reversed().map { ($0, nil, []) }
    var left = reader.nodeCount
    var rows = 0
    while let (id, row, parent) = stack.popLast() {
      guard left > 0 else {
        throw ArchiveError(.corrupt, "there are more nodes below the roots than there are nodes: some form a circle")
      }
      left -= 1
      guard let facts = try reader.node(id) else { continue }
      let isRecord = facts.attributes.flags.contains(.record) && row != nil
      let path = isRecord ? parent : parent.appending(facts.rowIdentifier)
      body(path, row, read(reader, facts))
      // Damage alone puts anything below a further record; it is shown all the same.
      let below = isRecord ? row : rows
      if !isRecord { rows += 1 }
      stack += try reader.children(of: id).reversed().map { ($0, below, path) }
    }
  }

  private static func read(_ reader: RestorationArchive.PartedReader, _ facts: RestorationArchive.Node) -> Record {
    if facts.attributes.flags.contains(.hole) { return Record(facts: facts, values: [], problem: nil) }
    var values: [InspectedValue.Field] = []
    do throws(ArchiveError) {
      let record = try reader.record(of: facts.id)
      for key in record.keys {
        let value = try record.decode(InspectedValue.self, forKey: key)
        values.append(InspectedValue.Field(key: key, value: value))
      }
      return Record(facts: facts, values: values, problem: nil)
    } catch {
      return Record(facts: facts, values: values, problem: error)
    }
  }

  /// References are stored as lists of identifiers, alone or in a list.
  private static func paths(in value: InspectedValue) -> [RestorationPath] {
    guard case .array(let items) = value, !items.isEmpty else { return [] }
    let texts = items.compactMap { item in if case .string(let text) = item { text } else { nil } }
    if texts.count == items.count { return [RestorationPath(texts.map { RestorationIdentifier($0) })] }
    return items.flatMap { item in if case .array = item { paths(in: item) } else { [RestorationPath]() } }
  }
}
