import RestorationArchive

/// The simplest thing that behaves as an archive should: nodes in a dictionary.
struct TreeModel {
  struct Node: Equatable {
    var parent: NodeID?
    var name: RestorationIdentifier
    var number: Int?
    var children: [NodeID] = []
  }

  var nodes: [NodeID: Node] = [:]
  var roots: [NodeID] = []

  func children(of parent: NodeID?) -> [NodeID] {
    parent.map { nodes[$0]?.children ?? [] } ?? roots
  }

  mutating func setChildren(_ children: [NodeID], of parent: NodeID?) {
    if let parent { nodes[parent]?.children = children } else { roots = children }
  }

  func hasChild(_ name: RestorationIdentifier, under parent: NodeID?) -> Bool {
    children(of: parent).contains { nodes[$0]?.name == name }
  }

  func isBelow(_ node: NodeID, _ ancestor: NodeID) -> Bool {
    var next: NodeID? = node
    while let current = next {
      if current == ancestor { return true }
      next = nodes[current]?.parent
    }
    return false
  }

  func path(of node: NodeID) -> RestorationPath {
    var components: [RestorationIdentifier] = []
    var next: NodeID? = node
    while let current = next, let node = nodes[current] {
      components.append(node.name)
      next = node.parent
    }
    return RestorationPath(components.reversed())
  }

  mutating func insert(_ id: NodeID, _ name: RestorationIdentifier, parent: NodeID?, at index: Int) {
    nodes[id] = Node(parent: parent, name: name)
    var siblings = children(of: parent)
    siblings.insert(id, at: index)
    setChildren(siblings, of: parent)
  }

  mutating func move(_ id: NodeID, to parent: NodeID?, at index: Int) {
    let old = nodes[id]?.parent
    setChildren(children(of: old).filter { $0 != id }, of: old)
    var siblings = children(of: parent)
    siblings.insert(id, at: min(index, siblings.count))
    setChildren(siblings, of: parent)
    nodes[id]?.parent = parent
  }

  mutating func remove(_ id: NodeID) {
    for child in children(of: id) { remove(child) }
    let parent = nodes[id]?.parent
    setChildren(children(of: parent).filter { $0 != id }, of: parent)
    nodes[id] = nil
  }
}
