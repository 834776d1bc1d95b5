internal import FoundationEssentials
internal import RestorationArchive

extension Lineage {
  /// What came of joining what was saved while locked.
  struct Joined: Sendable {
    /// What is in the change now.
    var pending: [StoredPending] = []
    /// How many nodes were saved while locked; one that several runs saved counts once.
    var nodeCount = 0
    /// The change on top of the archive; nil when there is none.
    var change: Data?
    /// Why others could not be joined; they stay pending.
    var problems: [ArchiveError] = []
    /// Kept state that made room for what was joined.
    var keptRemovals: [PreservationFinding] = []
    /// Whether what restoring died at is kept, because something newer was joined there or below.
    var keepsCulprit = false
  }

  /// What restoring died at the last time.
  struct Culprit {
    /// The node.
    var node: NodeID
    /// How many of what was saved while locked were joined already when that happened.
    var joinedBefore: Int
  }

  /// Puts what was saved while locked on top of an archive, oldest first, as one change; last what is still in memory.
  ///
  /// Records go over bit for bit, so that state whose class nobody knows in this run is joined as well.
  ///
  /// - Parameter culprit: The node that restoring died at the last time, which is to be left out, as it was then: what is
  ///   joined later takes its place.
  mutating func join(
    _ pending: [StoredPending], live: LiveState?, to reader: RestorationArchive.Reader, culprit: Culprit?
  ) throws(ArchiveError) -> Joined {
    var joined = Joined()
    guard !pending.isEmpty || live != nil else { return joined }
    try continueArchive(reader, of: nil)
    var context = try reader.context
    var touched: Set<NodeID> = []
    var leftOut: NodeID?
    for (position, one) in pending.enumerated() {
      if let culprit, culprit.joinedBefore == position { leftOut = try leaveOut(culprit) }
      var attempt = self
      do {
        let overlay = try RestorationArchive.Reader(base: .init(one.content), limits: limits)
        touched.formUnion(try attempt.join(overlay, &context))
        joined.pending.append(one)
        self = attempt
      } catch {
        joined.problems.append(error)
      }
    }
    joined.nodeCount = touched.count
    if let culprit, culprit.joinedBefore == pending.count { leftOut = try leaveOut(culprit) }
    switch live {
    case .touched(let archive)?:
      _ = try join(try RestorationArchive.Reader(base: .init(archive), limits: limits), &context)
    case .everything(let archive)?:
      try refill(from: try RestorationArchive.Reader(base: .init(archive), limits: limits))
    case nil: break
    }
    if let leftOut {
      joined.keepsCulprit = path(of: leftOut).components.first == ReservedNode.kept
      if !joined.keepsCulprit { try mark([leftOut], leftOut: false) }
    }
    joined.change = try makeChange(context: context)
    joined.keptRemovals = owedFindings
    return joined
  }

  /// Marks what restoring died at; nil when it is marked already, or not there.
  private mutating func leaveOut(_ culprit: Culprit) throws(ArchiveError) -> NodeID? {
    guard try writer.node(culprit.node)?.attributes.flags.contains(.leftOut) == false else { return nil }
    try mark([culprit.node], leftOut: true)
    return culprit.node
  }

  /// Gives what was left out over the budget its state back, from everything that this run holds.
  private mutating func refill(from whole: RestorationArchive.Reader) throws(ArchiveError) {
    var copies: [RestorationArchive.Writer.Copy] = []
    var stack: [(source: NodeID, parent: NodeID?)] = try whole.roots.map { ($0, nil) }
    while let (source, parent) = stack.popLast() {
      guard let node = try whole.node(source),
        let target = try writer.child(of: parent, identifier: node.identifier), let stored = try writer.node(target)
      else { continue }
      stack += try whole.children(of: source).map { ($0, target) }
      guard stored.attributes.flags.contains(.shed), !node.attributes.isOther(than: stored) else { continue }
      copies.append(.init(source: source, target: target, attributes: node.attributes))
    }
    try writer.copyRecords(copies, from: whole)
  }

  /// Puts the nodes of one run that have state in their places; returns their numbers.
  private mutating func join(
    _ overlay: RestorationArchive.Reader, _ context: inout RestorationContext
  ) throws(ArchiveError) -> Set<NodeID> {
    var places: [NodeID: NodeID] = [:]
    var copies: [RestorationArchive.Writer.Copy] = []
    var touched: Set<NodeID> = []
    var stack = try Array(overlay.roots.reversed())
    while let source = stack.popLast() {
      stack += try overlay.children(of: source).reversed()
      guard let node = try overlay.node(source), node.byteCount > 0 else { continue }
      var attributes = node.attributes
      let isUntouched = attributes.flags.remove(.untouched) != nil
      if isUntouched, try liesBelowOther(node, in: overlay, places) { continue }
      let target = try place(of: node, in: overlay, &places)
      if isUntouched, try !takesUntouched(target) { continue }
      if !isUntouched { try endLeavingOut(above: target, &places) }
      copies.append(.init(source: source, target: target, attributes: attributes))
      if !node.attributes.flags.contains(.reserved) { touched.insert(target) }
    }
    try writer.copyRecords(copies, from: overlay)
    let schema = max(context.schemaVersion, try overlay.context.schemaVersion)
    context = try overlay.context
    context.schemaVersion = schema
    return touched
  }

  /// The node that a node saved while locked belongs to: that of its path, made when there is none.
  private mutating func place(
    of node: RestorationArchive.Node, in overlay: RestorationArchive.Reader, _ places: inout [NodeID: NodeID]
  ) throws(ArchiveError) -> NodeID {
    var chain = [node]
    while places[chain[chain.count - 1].id] == nil, let parent = chain[chain.count - 1].parent,
      let next = try overlay.node(parent)
    {
      chain.append(next)
    }
    var parent: NodeID?
    for link in chain.reversed() {
      if let known = places[link.id] {
        parent = known
        continue
      }
      let target = try self.target(for: link, under: parent)
      places[link.id] = target
      parent = target
    }
    return parent ?? node.id
  }

  /// Has what restoring died at kept above something newer, which would stay out with it at every launch.
  private mutating func endLeavingOut(
    above node: NodeID, _ places: inout [NodeID: NodeID]
  ) throws(ArchiveError) {
    var next = try writer.node(node)?.parent
    while let id = next, let above = try writer.node(id) {
      next = above.parent
      guard above.attributes.flags.contains(.leftOut), try !diedAgain(at: above) else { continue }
      let bare = try renew(id, above)
      try mark([bare], leftOut: false)
      for (source, place) in places where place == id { places[source] = bare }
    }
  }

  /// Whether restoring has died at what is kept for the place of a node, too.
  private func diedAgain(at node: RestorationArchive.Node) throws(ArchiveError) -> Bool {
    try keptNodes(of: path(of: node.id)).contains {
      $0.attributes.flags.contains(.leftOut) && !node.attributes.isOther(than: $0)
    }
  }

  /// What is kept for a path, the oldest first.
  private func keptNodes(of path: RestorationPath) throws(ArchiveError) -> [RestorationArchive.Node] {
    guard let kept = try writer.child(of: nil, identifier: ReservedNode.kept) else { return [] }
    let name = KeptName(path).path
    var nodes: [RestorationArchive.Node] = []
    for id in try writer.children(of: kept) {
      if let node = try writer.node(id), KeptName(node.identifier).path == name { nodes.append(node) }
    }
    return nodes
  }

  /// Whether the place of a node, or one above it, is another class's or model's.
  private func liesBelowOther(
    _ node: RestorationArchive.Node, in overlay: RestorationArchive.Reader, _ places: [NodeID: NodeID]
  ) throws(ArchiveError) -> Bool {
    var chain = [node]
    while let above = chain[chain.count - 1].parent, let next = try overlay.node(above) { chain.append(next) }
    var parent: NodeID?
    for link in chain.reversed() {
      if let known = places[link.id] {
        parent = known
        continue
      }
      guard let there = try writer.child(of: parent, identifier: link.identifier), let stored = try writer.node(there)
      else { return false }
      if link.attributes.isOther(than: stored) { return true }
      parent = there
    }
    return false
  }

  /// What is kept for a path and positively of a node's class or model, the newest of it; nil when there is none.
  private func keptNode(
    of path: RestorationPath, for attributes: RestorationArchive.Attributes, insteadOf stored: RestorationArchive.Node
  ) throws(ArchiveError) -> NodeID? {
    guard attributes.isOther(than: stored) else { return nil }
    for node in try keptNodes(of: path).reversed() where !attributes.isOther(than: node) {
      if let model = attributes.model, node.attributes.model == model { return node.id }
      if let tag = attributes.classTag, node.attributes.classTag == tag, stored.attributes.classTag != tag {
        return node.id
      }
    }
    return nil
  }

  /// Gives what was kept its name back.
  private mutating func putBack(
    _ node: NodeID, as identifier: RestorationIdentifier
  ) throws(ArchiveError) -> NodeID {
    try writer.rename(node, to: identifier)
    if var attributes = try writer.node(node)?.attributes {
      attributes.flags.remove(.carriedOver)
      attributes.priority = .normal
      try writer.setAttributes(attributes, of: node)
    }
    return node
  }

  /// The child that takes a node's state; another class's or another model's state makes room and is kept.
  private mutating func target(
    for node: RestorationArchive.Node, under parent: NodeID?
  ) throws(ArchiveError) -> NodeID {
    if let known = try writer.child(of: parent, identifier: node.identifier), let stored = try writer.node(known) {
      if !node.attributes.isOther(than: stored) {
        guard node.byteCount > 0, !node.attributes.flags.contains(.untouched), !node.attributes.replaces(stored) else {
          return known
        }
        // What a newer program saved, or restoring died at, is kept; what is below it is still the same object's.
        if node.attributes.fits(stored) { return try renew(known, stored) }
      }
      let path = path(of: known)
      let own = try keptNode(of: path, for: node.attributes, insteadOf: stored)
      if let own {
        // First, so that what is kept now does not take its room.
        try relocate(own, under: parent, as: freeName())
      }
      try keep(known, path: path)
      if let own { return try putBack(own, as: node.identifier) }
    }
    return try writer.insert(node.identifier, parent: parent, attributes: node.attributes)
  }
}
