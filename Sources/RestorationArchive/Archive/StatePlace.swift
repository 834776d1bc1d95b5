import FoundationShim

/// The place of a node's state or of a list of children, in the base or in a delta.
struct StatePlace: Sendable {
  /// Its bytes, counted from the first of the base or of the delta.
  var range: Range<Int>
  /// The delta's bytes; nil for the base.
  var delta: Data?
}
