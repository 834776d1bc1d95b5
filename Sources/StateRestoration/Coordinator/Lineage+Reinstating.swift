internal import RestorationArchive

extension Lineage {
  /// Gives kept state its place back; what took the place is kept instead, so that neither is lost.
  mutating func reinstate(_ kept: NodeID, over node: NodeID) throws(ArchiveError) {
    guard let old = try writer.node(node), try writer.node(kept) != nil else { return }
    let path = path(of: node)
    let siblings =
      if let parent = old.parent { try writer.children(of: parent) } else { try writer.roots }
    let children = try writer.children(of: node)
    try writer.rename(node, to: freeName())
    try relocate(kept, under: old.parent, at: siblings.firstIndex(of: node), as: old.identifier)
    for child in children { try take(child, under: kept) }
    if var attributes = try writer.node(kept)?.attributes {
      attributes.flags.subtract([.carriedOver, .leftOut])
      attributes.priority = old.attributes.priority
      try writer.setAttributes(attributes, of: kept)
    }
    try keep(node, path: path)
  }

  /// Moves a child of what is kept from now on, unless its new parent has one of that name.
  private mutating func take(_ child: NodeID, under parent: NodeID) throws(ArchiveError) {
    guard let node = try writer.node(child),
      try writer.child(of: parent, identifier: node.identifier) == nil
    else { return }
    try writer.move(child, to: parent, at: nil)
  }
}
