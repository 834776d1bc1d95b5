package import DataProtection
package import RestorationArchive
import StateRestoration

/// An archive read whole, node by node, with its faults.
package struct InspectedArchive: Sendable {
  /// One node and its values.
  package struct Node: Sendable {
    /// The path from the root.
    package let path: RestorationPath
    /// What the archive knows of it without decoding.
    package let facts: RestorationArchive.Node
    /// The values in their stored order; empty when they can't be read.
    package let values: [InspectedValue.Field]
    /// Why the values can't be read; `nil` when they were.
    package let problem: ArchiveError?

    /// Keys whose values are paths of other nodes.
    package fileprivate(set) var references: [(key: String, path: RestorationPath)] = []

    /// How deep it lies; 0 for roots.
    package var depth: Int { max(0, path.components.count - 1) }
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

  /// All nodes, parents before children, siblings in order.
  package private(set) var nodes: [Node] = []

  /// Reads an archive; throws when the archive as a whole can't be read, not for single nodes.
  package init(
    _ reader: RestorationArchive.Reader, generation: Generation, standing: ArchiveStanding, droppedBytes: Int = 0
  ) throws(ArchiveError) {
    context = try reader.context
    self.generation = generation
    self.standing = standing
    self.droppedBytes = droppedBytes
    var found: [Node] = []
    try Self.walk(reader) { found.append($0) }
    nodes = found
    let paths = Set(nodes.map(\.path))
    for index in nodes.indices {
      nodes[index].references = nodes[index].values.flatMap { field in
        Self.paths(in: field.value).filter { paths.contains($0) }.map { (field.key, $0) }
      }
    }
  }

  /// Reads every node and keeps none; returns the path of the first one that can't be read, and why.
  static func firstProblem(
    in reader: RestorationArchive.Reader
  ) throws(ArchiveError) -> (path: RestorationPath, problem: ArchiveError)? {
    _ = try reader.context
    var first: (RestorationPath, ArchiveError)?
    try walk(reader) { node in
      if first == nil, let problem = node.problem { first = (node.path, problem) }
    }
    return first
  }

  /// Reads all nodes, parents before children, siblings in order.
  private static func walk(
    _ reader: RestorationArchive.Reader, _ body: (Node) -> Void
  ) throws(ArchiveError) {
    // A stack of its own: the depth of the tree comes from the file.
    var stack: [(id: NodeID, parent: RestorationPath)] = try reader.roots.reversed().map { ($0, []) }
    var left = reader.nodeCount
    while let (id, parent) = stack.popLast() {
      guard left > 0 else {
        throw ArchiveError(.corrupt, "there are more nodes below the roots than there are nodes: some form a circle")
      }
      left -= 1
      guard let facts = try reader.node(id) else { continue }
      let path = parent.appending(facts.identifier)
      body(read(reader, facts, path))
      stack += try reader.children(of: id).reversed().map { ($0, path) }
    }
  }

  private static func read(
    _ reader: RestorationArchive.Reader, _ facts: RestorationArchive.Node, _ path: RestorationPath
  ) -> Node {
    var values: [InspectedValue.Field] = []
    do throws(ArchiveError) {
      let record = try reader.record(of: facts.id)
      for key in record.keys {
        let value = try record.decode(InspectedValue.self, forKey: key)
        values.append(InspectedValue.Field(key: key, value: value))
      }
      return Node(path: path, facts: facts, values: values, problem: nil)
    } catch {
      return Node(path: path, facts: facts, values: values, problem: error)
    }
  }

  /// References are stored as lists of identifiers, alone or in a list.
  private static func paths(in value: InspectedValue) -> [RestorationPath] {
    guard case .array(let items) = value, !items.isEmpty else { return [] }
    let texts = items.compactMap { item in if case .string(let text) = item { text } else { nil } }
    if texts.count == items.count { return [RestorationPath(texts.map { RestorationIdentifier($0) })] }
    return items.flatMap { item in if case .array = item { paths(in: item) } else { [RestorationPath]() } }
  }

  /// The node at a path; `nil` when there is none.
  package func node(at path: RestorationPath) -> Node? { nodes.first { $0.path == path } }
}
