internal import RestorationArchive

extension ArchiveDraft {
  /// The table *Merge*: puts the nodes that were saved, or edited, while locked onto the stored ones.
  ///
  /// Records go over bit for bit, so that state whose class is unknown in this run is merged as well.
  ///
  /// - Returns: The nodes that have edited state now.
  mutating func merge(
    _ overlay: RestorationArchive.Reader, _ context: inout RestorationContext
  ) throws(ArchiveError) -> Set<NodeID> {
    var targets: [NodeID: NodeID] = [:]
    var copies: [NodeID: RestorationArchive.Writer.Copy] = [:]
    isMerging = true
    defer { isMerging = false }
    let edited = try edited(in: overlay)
    var made: Set<NodeID> = []
    var displaced: [NodeID] = []
    var stack = try oldestFirst(overlay.roots, in: overlay)
    var visited = 0
    while let source = stack.popLast() {
      visited += 1
      guard visited <= overlay.nodeCount, let node = try overlay.node(source) else { continue }
      var parent: NodeID?
      if let above = node.parent {
        guard let target = targets[above] else { continue }
        parent = target
      }
      stack += try oldestFirst(overlay.children(of: source), in: overlay)
      let count = writer.nodeCount
      guard let target = try self.target(of: node, under: parent, made: made, leadsToEdit: edited.contains(source))
      else { continue }
      if writer.nodeCount > count { made.insert(target) }
      targets[source] = target
      guard node.byteCount > 0 else { continue }
      // Values that nobody has edited go where there are none.
      let hasRecord = try writer.node(target).map { $0.byteCount > 0 } ?? false
      if node.isUnedited, hasRecord || copies[target] != nil { continue }
      var attributes = node.attributes
      // A changed role is no edit, unless another child has taken the stored role.
      let role = try writer.node(target)?.attributes.role
      if try isTaken(role, from: node, in: overlay) { displaced.append(target) } else { attributes.role = role }
      copies[target] = .init(source: source, target: target, attributes: attributes)
      // The next nodes of its place are compared with its coming identity.
      if var attributes = try writer.node(target)?.attributes {
        (attributes.classTag, attributes.model) = (node.attributes.classTag, node.attributes.model)
        attributes.version = node.attributes.version
        try writer.setAttributes(attributes, of: target)
      }
    }
    // A target may have gone dormant since, behind another one of its place.
    for target in copies.keys {
      copies[target]?.attributes.flags.subtract([.dormant, .carriedOver, .unedited])
      if isDormant(target) {
        copies[target]?.attributes.flags.formUnion([.dormant, .carriedOver])
        copies[target]?.attributes.priority = .low
      }
    }
    for target in displaced { try yieldRole(to: target, as: copies[target]?.attributes.role, among: Set(copies.keys)) }
    try writer.copyRecords(copies.values.sorted { $0.target.rawValue < $1.target.rawValue }, from: overlay)
    for index in dormants.indices { dormants[index].byteCount = try byteCount(inside: dormants[index].node) }
    let newer = try overlay.context
    context.timeSaved = max(context.timeSaved, newer.timeSaved)
    context.schemaVersion = max(context.schemaVersion, newer.schemaVersion)
    return Set(copies.keys)
  }

  /// Whether another child of the node's parent has taken its stored role while the device was locked.
  private func isTaken(
    _ role: RestorationRole?, from node: RestorationArchive.Node, in overlay: RestorationArchive.Reader
  ) throws(ArchiveError) -> Bool {
    guard let role, role != node.attributes.role, let parent = node.parent else { return false }
    for sibling in try overlay.children(of: parent) where sibling != node.id {
      if try overlay.node(sibling)?.attributes.role == role { return true }
    }
    return false
  }

  /// Marks stored siblings as carried over whose role an edited node has taken: a container with room for one prefers the node.
  private mutating func yieldRole(
    to target: NodeID, as role: RestorationRole?, among edited: Set<NodeID>
  ) throws(ArchiveError) {
    guard let role, let parent = try writer.node(target)?.parent else { return }
    for sibling in try writer.children(of: parent) where !edited.contains(sibling) && !isDormant(sibling) {
      guard var attributes = try writer.node(sibling)?.attributes, attributes.role == role else { continue }
      attributes.flags.insert(.carriedOver)
      attributes.savedAt = attributes.savedAt ?? writer.context.timeSaved
      try writer.setAttributes(attributes, of: sibling)
    }
  }

  /// Siblings as a stack: of the variants of one place the oldest comes off first, so that the newest ends in front.
  private func oldestFirst(
    _ siblings: [NodeID], in overlay: RestorationArchive.Reader
  ) throws(ArchiveError) -> [NodeID] {
    var dormant: [(number: Int, id: NodeID)] = []
    var active: [NodeID] = []
    for id in siblings {
      guard let node = try overlay.node(id) else { continue }
      if node.attributes.flags.contains(.dormant) {
        dormant.append((VariantName(node.identifier).number, id))
      } else {
        active.append(id)
      }
    }
    return active.reversed() + dormant.sorted { $0.number > $1.number }.map(\.id)
  }

  /// The nodes that were edited, with all above them.
  private func edited(in overlay: RestorationArchive.Reader) throws(ArchiveError) -> Set<NodeID> {
    var result: Set<NodeID> = []
    var stack = try overlay.roots
    var visited = 0
    while let source = stack.popLast(), visited < overlay.nodeCount {
      visited += 1
      stack += try overlay.children(of: source)
      guard let node = try overlay.node(source), node.byteCount > 0, !node.isUnedited else { continue }
      var next: NodeID? = source
      while let id = next, result.insert(id).inserted { next = try overlay.node(id)?.parent }
    }
    return result
  }

  /// The variant that a merged node's state goes to, in front of its place; one that it must not overwrite stays behind it.
  ///
  /// - Parameters:
  ///   - made: The variants that this merge has made.
  ///   - leadsToEdit: Whether it was edited, or a node below it.
  /// - Returns: Nil when nobody has edited anything and the place is another's.
  private mutating func target(
    of node: RestorationArchive.Node, under parent: NodeID?, made: Set<NodeID>, leadsToEdit: Bool
  ) throws(ArchiveError) -> NodeID? {
    if !leadsToEdit, node.attributes.flags.contains(.dormant) { return nil }
    let identifier = node.placeIdentifier
    let isEdited = node.byteCount > 0 && !node.isUnedited
    var claimant = tags.claimant(of: node.attributes)
    claimant.isGivenNothing = isEdited
    let variants = try variants(of: parent, identifier)
    for variant in variants {
      guard let stored = try writer.node(variant) else { continue }
      switch Selection.verdict(on: .init(stored.attributes), for: claimant) {
      case .refused: continue
      case .unreadable where isEdited && stored.byteCount > 0: return try renew(variant, stored)
      case .fits where isEdited && stored.byteCount > 0 && node.attributes.flags.contains(.joins):
        return try renew(variant, stored, joins: true)
      case .unreadable, .fits:
        if leadsToEdit { try bringForward(variant, under: parent, as: identifier, for: nil) }
        return variant
      }
    }
    guard leadsToEdit || variants.allSatisfy(made.contains) else { return nil }
    var attributes = node.attributes
    attributes.flags.remove(.unedited)
    return try insertInFront(parent, identifier, attributes)
  }
}
