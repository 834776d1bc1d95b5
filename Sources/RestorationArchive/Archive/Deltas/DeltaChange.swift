/// The kinds of changes in a delta; each change begins with its kind, a byte.
enum DeltaChange: UInt8 {
  /// A node's block: its attributes and its state are others.
  case node = 1
  /// A node's block: it is new, or has another parent or another name.
  case placedNode = 2
  /// The number of a node that is gone.
  case removal = 3
  /// The number of a node plus one, zero for the parent of the roots, and a list of its children behind the list's length.
  case children = 4
}
