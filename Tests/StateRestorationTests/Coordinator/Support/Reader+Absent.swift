import RestorationArchive

@testable import StateRestoration

extension RestorationArchive.Reader {
  /// The rows that wait for an object.
  func absentRows() throws -> [RestorationArchive.Node] {
    var found: [RestorationArchive.Node] = []
    var stack = try roots
    while let id = stack.popLast() {
      stack += try children(of: id)
      if let node = try node(id), node.attributes.flags.contains(.absent) { found.append(node) }
    }
    return found
  }
}
