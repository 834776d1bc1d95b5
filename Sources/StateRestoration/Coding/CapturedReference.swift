/// A reference as captured: the objects themselves, which the coordinator replaces by their places.
package struct CapturedReference {
  /// The objects a key refers to.
  package enum Targets {
    /// One object or none; stored as an optional path.
    case one((any RestorableObject)?)
    /// Several, in order; stored as an array of optional paths.
    case many([any RestorableObject])
  }

  /// The objects.
  package var objects: [any RestorableObject] {
    switch targets {
    case .one(let object): object.map { [$0] } ?? []
    case .many(let objects): objects
    }
  }

  /// The key, chosen by the object that refers.
  package let key: String
  /// What it refers to.
  package let targets: Targets
}
