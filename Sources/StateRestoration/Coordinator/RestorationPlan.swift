internal import FoundationEssentials
internal import RestorationArchive

/// A preserved tree, loaded off the main actor and laid flat: parents before children, siblings in order.
struct RestorationPlan: Sendable {
  /// One preserved object.
  struct Node: Sendable {
    /// The node's number.
    var id: NodeID
    /// Index of the parent; nil for a root.
    var parent: Int?
    /// Index of the first node after the subtree.
    var end: Int
    var path: RestorationPath
    var attributes: RestorationArchive.Attributes
    var byteCount: Int
    var record: any StateRecord
    /// Why the record could not be read.
    var damage: String?

    var kind: NodeReport.Kind {
      if attributes.flags.contains(.view) { return .view }
      return attributes.flags.contains(.shared) ? .shared : .controller
    }
  }

  var nodes: [Node] = []
  /// Indices of the children of every node, and of the roots under the last index.
  var children: [[Int]] = []
  var roots: [Int] = []
  var context: RestorationContext
  var application: any StateRecord = EmptyRecord()
  /// The node that holds the app-level state.
  var applicationNode: NodeID?
  /// Whether restoring died at the app-level state before.
  var isApplicationLeftOut = false
  /// State that lost its place and is kept, by its path's text, oldest first.
  var kept: [String: [Kept]] = [:]

  /// State that lost its place to newer state, because nobody could read it then.
  struct Kept: Sendable {
    var id: NodeID
    var attributes: RestorationArchive.Attributes
    var record: any StateRecord
  }
  var source: RestorationReport.Source?

  init(context: RestorationContext) {
    self.context = context
  }

  /// Loads every node of an archive.
  init(reader: RestorationArchive.Reader) throws(ArchiveError) {
    try self.init(context: reader.context)
    nodes.reserveCapacity(reader.nodeCount)
    children.reserveCapacity(reader.nodeCount)
    let tops = try reader.roots
    var listed = tops.count
    for root in tops {
      guard let node = try reader.node(root) else { continue }
      switch node.identifier {
      case ReservedNode.application:
        application = (try? reader.record(of: root)) ?? EmptyRecord()
        applicationNode = root
        isApplicationLeftOut = node.attributes.flags.contains(.leftOut)
      case ReservedNode.kept:
        for id in try reader.children(of: root) {
          guard let node = try reader.node(id), node.byteCount > 0, let record = try? reader.record(of: id) else {
            continue
          }
          kept[KeptName(node.identifier).path, default: []].append(
            Kept(id: id, attributes: node.attributes, record: record))
        }
      case ReservedNode.shared:
        let children = try reader.children(of: root)
        listed += children.count
        for child in children { try add(child, of: reader, listed: &listed) }
      default: try add(root, of: reader, listed: &listed)
      }
    }
  }

  /// Lays a subtree flat.
  ///
  /// `listed` counts the nodes that lists of children have named so far: more than there are is damage, or somebody's
  /// doing, and would be walked for ever.
  private mutating func add(
    _ root: NodeID, of reader: RestorationArchive.Reader, listed: inout Int
  ) throws(ArchiveError) {
    var stack: [(id: NodeID, parent: Int?)] = [(root, nil)]
    var open: [Int] = []
    while let (id, parent) = stack.popLast() {
      guard let node = try reader.visit(id) else { continue }
      listed += node.children.count
      guard listed <= reader.nodeCount else {
        throw ArchiveError(
          .corrupt, "the lists of children name more nodes than there are", path: parent.map { nodes[$0].path })
      }
      let index = nodes.count
      while let last = open.last, last != parent {
        nodes[last].end = index
        open.removeLast()
      }
      let path =
        parent.map { nodes[$0].path.appending(node.identifier) }
        ?? (node.attributes.flags.contains(.shared) ? [ReservedNode.shared, node.identifier] : [node.identifier])
      var item = Node(
        id: id, parent: parent, end: index + 1, path: path, attributes: node.attributes, byteCount: node.byteCount,
        record: EmptyRecord())
      if node.byteCount > 0 {
        do {
          item.record = try node.record()
        } catch {
          item.damage = error.message
        }
      }
      nodes.append(item)
      children.append([])
      if let parent { children[parent].append(index) } else { roots.append(index) }
      open.append(index)
      for child in node.children.reversed() { stack.append((child, index)) }
    }
    for index in open { nodes[index].end = nodes.count }
  }
}
