import FoundationEssentials

extension ReaderCore {
  /// The path of a node; `noSuchNode` when there is none of that number.
  func path(of id: UInt32) throws(ArchiveError) -> RestorationPath {
    var components: [RestorationIdentifier] = []
    var next = id
    while next != BaseHeader.rootID {
      guard components.count < limits.depth else {
        throw ArchiveError(
          .limitExceeded, "node \(id) lies deeper than \(limits.depth) levels, or its ancestors form a circle")
      }
      guard let node = try locate(next) else {
        throw next == id
          ? ArchiveError(.noSuchNode, "there is no node \(id)")
          : ArchiveError(.corrupt, "node \(id) lies below node \(next), which is not there")
      }
      components.append(RestorationIdentifier(try name(of: node)))
      next = try parent(of: node)
    }
    return RestorationPath(components.reversed())
  }

  /// The node at a path; nil when there is none.
  func locate(_ path: RestorationPath) throws(ArchiveError) -> Located? {
    guard !path.isEmpty, path.components.count <= limits.depth else { return nil }
    if let (place, block) = try base.place(at: path) {
      if deltas.newest == nil { return Located(block: block, range: place.range, delta: nil) }
      if !deltas.changesTree { return try locate(block.id) }
    }
    guard deltas.changesTree else { return nil }
    // A delta changed the tree: the index of the base tells of single steps only.
    var id = BaseHeader.rootID
    var node: Located?
    for component in path.components {
      node = try child(of: id, named: component.rawValue)
      guard let node else { return nil }
      id = node.block.id
    }
    return node
  }

  /// The child of a node, or a root, that has a name; nil when there is none.
  func child(of id: UInt32, named name: String) throws(ArchiveError) -> Located? {
    if let linked = deltas.child(of: id, named: name), let node = try child(linked, of: id, named: name) { return node }
    guard let branch = try baseBranch(of: id) else { return nil }
    guard let (place, block) = try base.place(of: name, under: branch.index, hash: branch.hash) else { return nil }
    guard deltas.node(block.id) != nil else { return Located(block: block, range: place.range, delta: nil) }
    return try child(block.id, of: id, named: name)
  }

  /// A node that was the child of a name once; nil when it is gone, or has another parent or name.
  private func child(_ number: UInt32, of id: UInt32, named name: String) throws(ArchiveError) -> Located? {
    guard let node = try locate(number), try parent(of: node) == id, try self.name(of: node).hasSameBytes(as: name)
    else { return nil }
    return node
  }

  /// The branch that a node was in the base, and the hash of its path there; nil when it was none.
  private func baseBranch(of id: UInt32) throws(ArchiveError) -> (index: UInt32, hash: PathHash)? {
    if id == BaseHeader.rootID { return (0, .root) }
    guard let (_, block) = try base.node(of: id), case .branch(let index) = block.name else { return nil }
    var names: [String] = []
    var next = index
    while next != 0 {
      guard names.count < limits.depth else {
        throw ArchiveError(.limitExceeded, "node \(id) lies deeper than \(limits.depth) levels")
      }
      let branch = try base.branch(next)
      names.append(try base.name(of: branch))
      next = branch.parent
    }
    return (index, names.reversed().reduce(PathHash.root) { $0.appending($1) })
  }
}
