internal import RestorationArchive

/// What a live object has to do with the stored state in its place: decided in the turn in which the object is met.
enum Binding: Sendable {
  /// The variant under the number is the object's: the next difference overwrites it.
  case owner(NodeID)
  /// The stored state, if any, is not the object's, or the object could not read it: nothing is written for the object until
  /// it differs from its baseline.
  indirect case blank(Blank)

  /// The node below which the object's children have their places; nil when there is none.
  var node: NodeID? {
    switch self {
    case .owner(let node): node
    case .blank(let blank): blank.over
    }
  }
}

/// A live object that owns no stored state.
struct Blank: Sendable {
  /// The object's place.
  var place: CaptureBatch.Placement
  /// The variant of the object's own identity whose record it could not read, or not wholly; nil for none.
  var over: NodeID?
  /// Whether it has read the record but for references to state that was not restored: an edit overwrites it.
  var hasRead = false
  /// What the object had when it was met.
  var baseline = Baseline.unknown
  /// What the archive records of the object, once its values were captured.
  var attributes = RestorationArchive.Attributes()
  /// The values that were captured last.
  var entries: [RestorationArchive.Entry] = []
}

/// What a blank object had at the end of the turn in which it was met.
enum Baseline: Hashable, Sendable {
  /// Nobody has looked yet.
  case unknown
  /// Nothing to compare with, as its values could not be encoded, or were an owner's: the first that can be are an edit.
  case unencodable
  /// Its values.
  case values(Digest)
}
