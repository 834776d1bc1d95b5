/// What an object says of its place in the tree when it is captured.
struct CapturedShape {
  /// The object's identifier; nil for one that is excluded and for shared objects.
  var identifier: RestorationIdentifier?
  /// The tag of the class that remakes it.
  var classTag: RestorationClass?
  /// The element of the data model that it shows.
  var model: ModelIdentifier?
  /// How soon the state is left out when there is too much.
  var priority = PreservationPriority.normal
  /// The version that the object names.
  var version: StateVersion = 1
  /// The children, in order; empty for views and shared objects.
  var children: [any RestorableController] = []
  /// The views, in order; empty for views and shared objects.
  var views: [any RestorableView] = []
  /// The roles of children that have one: by object, as two of them may be called the same.
  var roles: [ObjectIdentifier: RestorationRole] = [:]
}

/// One object as it was at one moment: copies, to be encoded elsewhere, and what the tree needs to know of it.
///
/// The one value of a ``StatefulObject`` goes to a ``StateColumn`` instead, together with those of its class.
package struct CapturedState {
  /// What the object says of its place.
  var shape: CapturedShape
  /// The version of its class.
  let version: StateVersion
  /// Where its one value is in the column of its class; nil when it has none, or when the value is among the entries.
  var row: Int?
  /// The other values under their keys, in the order of encoding.
  package var entries: [RestorationArchive.Entry] = []
  /// Whether the object keeps the record that it was given, as it has not changed since.
  var isAsStored = false
  /// References to other objects, to be replaced by their places.
  package var references: [CapturedReference] = []
}
