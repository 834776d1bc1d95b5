/// Where an object is: the restoration identifiers from the root to it.
///
/// There is deliberately no way to make one from a string with separators: identifiers may hold any text.
public struct RestorationPath: Hashable, Codable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
  /// The identifiers, the root's first.
  public var components: [RestorationIdentifier]

  /// Makes a path of its components.
  public init(_ components: [RestorationIdentifier] = []) {
    self.components = components
  }

  /// Makes a path from a literal list of identifiers.
  public init(arrayLiteral elements: RestorationIdentifier...) {
    components = elements
  }

  /// Reads the list of identifiers.
  public init(from decoder: any Decoder) throws {
    components = try decoder.singleValueContainer().decode([String].self).map { RestorationIdentifier($0) }
  }

  /// Writes the list of identifiers.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(components.map(\.rawValue))
  }

  /// The object's own identifier; nil for the empty path.
  public var last: RestorationIdentifier? { components.last }

  /// True for the path above every root.
  package var isEmpty: Bool { components.isEmpty }

  /// The path of the object's parent; nil for the empty path.
  package var parent: RestorationPath? {
    isEmpty ? nil : RestorationPath(Array(components.dropLast()))
  }

  /// The path of a child.
  public func appending(_ identifier: RestorationIdentifier) -> RestorationPath {
    var longer: [RestorationIdentifier] = []
    // Exactly as long as it is: restoring makes one for every node.
    longer.reserveCapacity(components.count + 1)
    longer.append(contentsOf: components)
    longer.append(identifier)
    return RestorationPath(longer)
  }

  /// Whether this path is the given one or lies below it.
  package func starts(with ancestor: RestorationPath) -> Bool {
    components.starts(with: ancestor.components)
  }

  /// The identifiers with slashes between, for people; not a form that can be read back.
  ///
  /// Nothing is escaped: the identifier “a/b” looks like two. Compare paths, or their ``components``, not this text.
  public var description: String {
    isEmpty ? "/" : components.map(\.rawValue).joined(separator: "/")
  }
}
