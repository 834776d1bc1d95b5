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

  /// The records of the row at a path, in the order of their saves.
  func records(at path: RestorationPath) throws -> [RestorationArchive.Node] {
    guard let row = try node(at: path) else { return [] }
    var found = row.hasRecord ? [row] : []
    for id in try children(of: row.id) {
      if let node = try node(id), node.attributes.flags.contains(.record) { found.append(node) }
    }
    return found.sorted { ($0.attributes.save, $0.id.rawValue) < ($1.attributes.save, $1.id.rawValue) }
  }

  /// The versions of the records of the row at a path, in the order of their saves.
  func versions(at path: RestorationPath) throws -> [StateVersion] {
    try records(at: path).map(\.attributes.version)
  }
}
