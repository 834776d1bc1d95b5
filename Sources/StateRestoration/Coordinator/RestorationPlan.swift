internal import FoundationEssentials
internal import RestorationArchive

/// A preserved tree, loaded off the main actor and laid flat: parents before children, siblings in order.
struct RestorationPlan: Sendable {
  /// What restoring asks of every node: copied without counting a reference.
  struct Node: Sendable {
    /// The node's number.
    var id: NodeID
    /// Index of the parent; nil for a root.
    var parent: Int?
    /// Index of the first node after the subtree.
    var end: Int
    var childCount = 0
    var byteCount: Int
    var version: StateVersion
    var flags: RestorationArchive.NodeFlags
    /// Index of the class tag in ``RestorationPlan/tags``; nil when the node has none.
    var tag: Int?
    /// Whether there is something in ``RestorationPlan/details``.
    var hasDetails: Bool

    var kind: NodeReport.Kind {
      if flags.contains(.view) { return .view }
      return flags.contains(.shared) ? .shared : .controller
    }
  }

  /// What only some nodes have.
  struct Details: Sendable {
    var savedAt: Date?
    var model: ModelIdentifier?
    /// Why the record could not be read.
    var damage: String?
  }

  private(set) var nodes: [Node] = []
  private(set) var paths: [RestorationPath] = []
  private var details: [Int: Details] = [:]
  private var tags: [RestorationClass] = []
  private var records = PlannedRecords([], paths: [])
  var context: RestorationContext
  private(set) var application: any StateRecord = EmptyRecord()
  /// The node that holds the app-level state.
  private(set) var applicationNode: NodeID?
  /// Why the app-level state can't be read; nil when it can, or there is none.
  private(set) var applicationDamage: String?
  /// Whether anything is stored of the app-level state.
  var hasApplicationState: Bool { !application.keys.isEmpty || applicationDamage != nil }
  /// Whether restoring died at the app-level state before.
  private(set) var isApplicationLeftOut = false
  /// App-level state that nobody could read and that is kept beside newer; the oldest of it.
  private(set) var keptApplication: Kept?
  /// State that lost its place and is kept, by the index of the node that has the place now; oldest first.
  private(set) var kept: [Int: [Kept]] = [:]
  /// The nodes in their places; what comes after them is kept, and nobody's, unless it is brought back.
  private(set) var placed = 0..<0

  /// State that lost its place to newer state, because nobody could read it then.
  struct Kept: Sendable {
    var id: NodeID
    var attributes: RestorationArchive.Attributes
    var record: any StateRecord
    /// Whether it is more than what is below it.
    var hasState: Bool
    /// Its index in ``RestorationPlan/nodes``, where it lies with all that is below it, if the place is another class's or
    /// model's now.
    var top: Int?
  }
  var source: RestorationReport.Source?

  /// Loads every node of an archive.
  init(reader: RestorationArchive.Reader) throws(ArchiveError) {
    context = try reader.context
    var layout = Layout(reader)
    nodes.reserveCapacity(reader.nodeCount)
    paths.reserveCapacity(reader.nodeCount)
    layout.decoders.reserveCapacity(reader.nodeCount)
    tags = layout.walk.tags
    let tops = try reader.roots
    layout.listed = tops.count
    var keptRoot: NodeID?
    for root in tops {
      guard let node = try reader.node(root) else { continue }
      switch node.identifier {
      case ReservedNode.application:
        do throws(ArchiveError) {
          application = try reader.record(of: root)
        } catch {
          applicationDamage = error.message
        }
        applicationNode = root
        isApplicationLeftOut = node.attributes.flags.contains(.leftOut)
      case ReservedNode.kept: keptRoot = root
      case ReservedNode.shared:
        let children = try reader.children(of: root)
        layout.listed += children.count
        for child in children { try add(child, &layout) }
      default: try add(root, &layout)
      }
    }
    placed = nodes.indices
    if let keptRoot { try addKept(keptRoot, reader, &layout) }
    records = PlannedRecords(layout.decoders, paths: paths)
  }

  /// Finds out what is kept for which place, and lays flat what is another class's or model's than what has the place.
  private mutating func addKept(
    _ root: NodeID, _ reader: RestorationArchive.Reader, _ layout: inout Layout
  ) throws(ArchiveError) {
    let all = try reader.children(of: root)
    layout.listed += all.count
    var places: [NodeID: [Kept]] = [:]
    for id in all {
      guard let node = try reader.node(id), let record = try? reader.record(of: id) else { continue }
      let kept = Kept(id: id, attributes: node.attributes, record: record, hasState: node.byteCount > 0)
      let name = KeptName(node.identifier)
      if name.path == ReservedNode.application {
        keptApplication = keptApplication ?? kept
      } else {
        for path in name.places {
          guard let place = try reader.id(at: path) else { continue }
          places[place, default: []].append(kept)
        }
      }
    }
    guard !places.isEmpty else { return }
    for index in placed {
      guard var kept = places[nodes[index].id] else { continue }
      for position in kept.indices where kept[position].attributes.isOther(than: identity(of: index)) {
        kept[position].top = nodes.count
        layout.place = index
        try add(kept[position].id, &layout)
        layout.place = nil
      }
      self.kept[index] = kept
    }
  }

  /// Whether a node is kept for a place, or for the app-level state.
  func isKept(_ node: NodeID) -> Bool {
    keptApplication?.id == node || kept.values.contains { $0.contains { $0.id == node } }
  }

  /// The class and the model of a node.
  private func identity(of index: Int) -> RestorationArchive.Attributes {
    .init(classTag: tag(of: index), model: details(of: index).model)
  }

  /// What laying an archive flat needs, and the plan doesn't.
  private struct Layout {
    let walk: RestorationArchive.Walk
    let nodeCount: Int
    var decoders: [RecordDecoder?] = []
    /// The nodes that lists of children have named so far: more than there are is damage, or somebody's doing, and would
    /// be walked for ever.
    var listed = 0
    /// The nodes to look up, the next one last.
    var waiting: [(id: NodeID, parent: Int?)] = []
    /// The node that was looked up last and those above it.
    var open: [Int] = []
    /// The node in whose place a kept subtree belongs, while that is laid flat.
    var place: Int?

    init(_ reader: RestorationArchive.Reader) {
      walk = RestorationArchive.Walk(reader)
      nodeCount = reader.nodeCount
    }
  }

  /// Lays a subtree flat.
  private mutating func add(_ root: NodeID, _ layout: inout Layout) throws(ArchiveError) {
    layout.waiting.append((root, nil))
    while let (id, parent) = layout.waiting.popLast() {
      guard let visit = try layout.walk.visit(id) else { continue }
      layout.listed += visit.children.count
      guard layout.listed <= layout.nodeCount else {
        throw ArchiveError(
          .corrupt, "the lists of children name more nodes than there are", path: parent.map { paths[$0] })
      }
      let index = nodes.count
      while let last = layout.open.last, last != parent {
        nodes[last].end = index
        layout.open.removeLast()
      }
      append(visit, id, parent, &layout)
      layout.open.append(index)
      for child in visit.children.reversed() { layout.waiting.append((child, index)) }
    }
    for index in layout.open { nodes[index].end = nodes.count }
    layout.open = []
  }

  private mutating func append(
    _ visit: RestorationArchive.Visit, _ id: NodeID, _ parent: Int?, _ layout: inout Layout
  ) {
    let attributes = visit.attributes
    var rest = Details(savedAt: attributes.savedAt, model: attributes.model)
    var decoder: RecordDecoder?
    do throws(ArchiveError) {
      decoder = try layout.walk.decoder(of: visit)
    } catch {
      rest.damage = error.message
    }
    layout.decoders.append(decoder)
    let index = nodes.count
    let hasDetails = rest.savedAt != nil || rest.model != nil || rest.damage != nil
    if hasDetails { details[index] = rest }
    if let parent {
      nodes[parent].childCount += 1
      paths.append(paths[parent].appending(visit.identifier))
    } else if let place = layout.place {
      paths.append(paths[place])
    } else if attributes.flags.contains(.shared) {
      paths.append([ReservedNode.shared, visit.identifier])
    } else {
      paths.append([ReservedNode.original(visit.identifier)])
    }
    nodes.append(
      Node(
        id: id, parent: parent ?? layout.place.flatMap { nodes[$0].parent }, end: index + 1, byteCount: visit.byteCount,
        version: attributes.version,
        flags: attributes.flags, tag: visit.tag, hasDetails: hasDetails))
  }
}

extension RestorationPlan {
  /// The class tag of a node; nil when it has none.
  func tag(of index: Int) -> RestorationClass? { nodes[index].tag.map { tags[$0] } }

  /// What a node has that most have not.
  func details(of index: Int) -> Details { nodes[index].hasDetails ? details[index] ?? Details() : Details() }

  /// The state of a node; empty when it has none, or when damage hides it.
  func record(of index: Int) -> any StateRecord { PlannedRecords.Record(records, at: index) }

  /// The indices of a node's children, in order: each begins where the subtree before it ends.
  func children(of index: Int) -> [Int] {
    var children: [Int] = []
    children.reserveCapacity(nodes[index].childCount)
    var next = index + 1
    while next < nodes[index].end {
      children.append(next)
      next = nodes[next].end
    }
    return children
  }
}
