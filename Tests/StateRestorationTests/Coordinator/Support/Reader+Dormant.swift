import RestorationArchive

@testable import StateRestoration

extension RestorationArchive.Reader {
  /// The variants behind others of their places, and those in places that nobody has.
  func dormantNodes() throws -> [RestorationArchive.Node] {
    var found: [RestorationArchive.Node] = []
    var stack = try roots
    while let id = stack.popLast() {
      stack += try children(of: id)
      if let node = try node(id), node.attributes.flags.contains(.dormant) { found.append(node) }
    }
    return found
  }
}
