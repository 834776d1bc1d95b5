typealias ShapeNodeRef = Cell<ShapeNode>

/// A sequence of fields, each a key and a tag, as a node of a tree whose edges are fields.
///
/// While an object is encoded, each field is one step along an edge: nearly always the one that was taken last time,
/// which costs a comparison.
struct ShapeNode {
  /// The edge taken last: the key's number in the interner × 256 + the tag; 0 for none.
  var lastEdge: UInt64 = 0
  /// Where the edge taken last leads.
  var lastNext: ShapeNodeRef?
  /// The sequence without its last field; nil for the empty one.
  var parent: ShapeNodeRef?
  /// The last field.
  var edge: UInt64 = 0
  /// The same sequence in the tree that all key types share.
  var canonical: ShapeNodeRef?
  /// The epoch in which ``local`` was given.
  var epoch: UInt64 = 0
  /// The number of the shape in the archive being encoded.
  var local: UInt32 = 0
  /// The number of fields.
  var fieldCount: Int32 = 0
  /// Whether an object of these fields must be rewritten as a map: a key comes twice, or there are too many fields.
  var isIrregular = false
}

/// An edge of the tree of shapes.
struct ShapeEdge: Hashable {
  /// The identity of the node it leaves.
  var node: UInt
  /// The field.
  var edge: UInt64
}
