/// How one object's state names another preserved object.
///
/// A path survives a new archive and a remade object, so it is what coders write by default.
package enum NodeReference: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The object at a path.
  case path(RestorationPath)
  /// The object of a node, within one lineage.
  case node(NodeID)

  /// Reads a list of identifiers or a number.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(UInt32.self) {
      self = .node(NodeID(rawValue: number))
    } else {
      self = .path(try container.decode(RestorationPath.self))
    }
  }

  /// Writes a list of identifiers or a number.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .path(let path): try container.encode(path)
    case .node(let node): try container.encode(node.rawValue)
    }
  }

  /// The path or the number.
  package var description: String {
    switch self {
    case .path(let path): path.description
    case .node(let node): node.description
    }
  }
}
