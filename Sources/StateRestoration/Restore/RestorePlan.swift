internal import FoundationEssentials
internal import RestorationArchive

/// A preserved tree, loaded off the main actor and laid flat: parents before children, siblings in order.
struct RestorePlan: Sendable {
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
    /// Index of the class tag in ``RestorePlan/tags``; nil when the node has none.
    var tag: Int?
    /// Whether there is something in ``RestorePlan/details``.
    var hasDetails: Bool

    /// Whether it holds app-level state.
    var isApplication: Bool { flags.contains(.reserved) }

    /// Whether it is a variant behind another one, or in a place that nobody has.
    var isDormant: Bool { flags.contains(.dormant) }

    var kind: NodeReport.Kind {
      if flags.contains(.view) { return .view }
      return flags.contains(.shared) ? .shared : .controller
    }
  }

  /// What only some nodes have.
  struct Details: Sendable {
    var savedAt: Date?
    var model: ModelIdentifier?
    var role: RestorationRole?
    /// Why the record could not be read.
    var damage: String?
  }

  private(set) var nodes: [Node] = []
  private(set) var paths: [RestorationPath] = []
  private var details: [Int: Details] = [:]
  private var tags: [RestorationClass] = []
  private var records = PlannedRecords([], paths: [])
  var context: RestorationContext
  /// The variant that leads the place of the app-level state, at the empty path; nil when there is none.
  private(set) var application: Int?
  /// The dormant variants of places, newest first, by the index of the variant that leads the place: the active one, or the
  /// newest where there is none.
  private(set) var dormants: [Int: [Int]] = [:]
  /// The states that variants have replaced, and that are to be joined with them, oldest first, by their indices.
  private(set) var replaced: [Int: [Int]] = [:]
  /// All dormant variants of the archive, oldest first.
  private(set) var allDormants: [DormantVariant] = []

  /// The nodes that lead their places, outside of dormant subtrees.
  var leads: [Int] {
    guard !allDormants.isEmpty else { return Array(nodes.indices) }
    var leads: [Int] = []
    var next = 0
    while next < nodes.count {
      if !nodes[next].isDormant || dormants[next] != nil { leads.append(next) }
      next = nodes[next].isDormant ? nodes[next].end : next + 1
    }
    return leads
  }

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
    for root in tops {
      guard let node = try reader.node(root) else { continue }
      if node.identifier == ReservedNode.shared {
        let children = try reader.children(of: root)
        layout.listed += children.count
        for child in children { try add(child, &layout) }
      } else {
        try add(root, &layout)
      }
    }
    findVariants(layout.dormantTops)
    application = nodes.indices.first { nodes[$0].isApplication && (!nodes[$0].isDormant || dormants[$0] != nil) }
    records = PlannedRecords(layout.decoders, paths: paths)
  }

  /// Groups dormant variants by their places.
  private mutating func findVariants(_ tops: [(index: Int, number: Int)]) {
    defer { allDormants.sort { $0.number < $1.number } }
    guard !tops.isEmpty else { return }
    struct Place: Hashable {
      var parent: Int?
      var path: RestorationPath
    }
    var places: [Place: [Int]] = [:]
    for (index, number) in tops.sorted(by: { $0.number > $1.number }) {
      let parent = nodes[index].flags.contains(.replaced) ? nodes[index].parent : nil
      let bytes = byteCount(insideDormant: index)
      allDormants.append(.init(node: nodes[index].id, number: number, byteCount: bytes, isReplaced: parent != nil))
      if let parent {
        replaced[parent, default: []].insert(index, at: 0)
      } else {
        places[Place(parent: nodes[index].parent, path: paths[index]), default: []].append(index)
      }
    }
    var actives: [Place: Int] = [:]
    for index in nodes.indices where !nodes[index].isDormant {
      let place = Place(parent: nodes[index].parent, path: paths[index])
      if places[place] != nil { actives[place] = index }
    }
    for (place, variants) in places {
      if let active = actives[place] {
        dormants[active] = variants
      } else {
        dormants[variants[0]] = Array(variants.dropFirst())
      }
    }
  }

  /// The bytes of a dormant variant's records; one inside it counts by itself.
  private func byteCount(insideDormant top: Int) -> Int {
    var bytes = nodes[top].byteCount
    var next = top + 1
    while next < nodes[top].end {
      if nodes[next].isDormant {
        next = nodes[next].end
      } else {
        bytes += nodes[next].byteCount
        next += 1
      }
    }
    return bytes
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
    /// The dormant variants, and their numbers.
    var dormantTops: [(index: Int, number: Int)] = []

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
    var rest = Details(savedAt: attributes.savedAt, model: attributes.model, role: attributes.role)
    var decoder: RecordDecoder?
    do throws(ArchiveError) {
      decoder = try layout.walk.decoder(of: visit)
    } catch {
      rest.damage = error.message
    }
    layout.decoders.append(decoder)
    let index = nodes.count
    let hasDetails = rest.savedAt != nil || rest.model != nil || rest.role != nil || rest.damage != nil
    if hasDetails { details[index] = rest }
    let isDormant = attributes.flags.contains(.dormant)
    let name = isDormant ? VariantName(visit.identifier) : VariantName(visit.identifier, number: 0)
    if isDormant { layout.dormantTops.append((index, name.number)) }
    if let parent {
      if !isDormant { nodes[parent].childCount += 1 }
      // A replaced variant has the path of the edit that has replaced it.
      let isReplaced = isDormant && attributes.flags.contains(.replaced)
      paths.append(isReplaced ? paths[parent] : paths[parent].appending(name.identifier))
    } else if attributes.flags.contains(.shared) {
      paths.append([ReservedNode.shared, name.identifier])
    } else if attributes.flags.contains(.reserved) {
      paths.append([])
    } else {
      paths.append([ReservedNode.original(name.identifier)])
    }
    nodes.append(
      Node(
        id: id, parent: parent, end: index + 1, byteCount: visit.byteCount, version: attributes.version,
        flags: attributes.flags, tag: visit.tag, hasDetails: hasDetails))
  }
}

extension RestorePlan {
  /// The class tag of a node; nil when it has none.
  func tag(of index: Int) -> RestorationClass? { nodes[index].tag.map { tags[$0] } }

  /// What a node has that most have not.
  func details(of index: Int) -> Details { nodes[index].hasDetails ? details[index] ?? Details() : Details() }

  /// The state of a node; empty when it has none, or when damage hides it.
  func record(of index: Int) -> any StateRecord { PlannedRecords.Record(records, at: index) }

  /// The stored state of a node, for its object's decoder.
  func stored(at index: Int) -> RestorationDecoder.Stored {
    .init(record(of: index), at: paths[index], version: nodes[index].version, model: details(of: index).model)
  }

  /// Whose state a node holds.
  func identity(of index: Int) -> Identity {
    Identity(
      classTag: tag(of: index), model: details(of: index).model, isView: nodes[index].flags.contains(.view))
  }

  /// The variants of a place, newest first, by the index of the one that leads it.
  func variants(ledBy index: Int) -> [Int] {
    dormants.isEmpty ? [index] : [index] + (dormants[index] ?? [])
  }

  /// The variants of a node's place that stand behind it, newest first.
  func variants(behind index: Int) -> ArraySlice<Int> {
    guard !dormants.isEmpty else { return [] }
    guard nodes[index].isDormant, dormants[index] == nil else { return dormants[index]?[...] ?? [] }
    let place = dormants.values.first { $0.contains(index) } ?? []
    return place.drop { $0 != index }.dropFirst()
  }

  /// The indices of a node's children, in order, each the leading variant of its place: each subtree begins where the one
  /// before it ends.
  func children(of index: Int) -> [Int] {
    var children: [Int] = []
    children.reserveCapacity(nodes[index].childCount)
    var next = index + 1
    while next < nodes[index].end {
      if !nodes[next].isDormant || dormants[next] != nil { children.append(next) }
      next = nodes[next].end
    }
    return children
  }
}
