internal import DataProtection

/// What an object says of its place in the tree when it is captured.
struct CapturedShape {
  /// The object's identity; an excluded object and a shared one have no identifier in it.
  var identity = RestorationIdentity(nil)
  /// The children, in order; empty for views and shared objects.
  var children: [any RestorableController] = []
  /// The views, in order; empty for views and shared objects.
  var views: [any RestorableView] = []
  /// The roles of children that have one: by object, as two of them may be called the same.
  var roles: [ObjectIdentifier: RestoredChild.Role] = [:]

  /// The object's identifier; nil for one that is excluded and for shared objects.
  var identifier: RestorationIdentifier? { identity.identifier }
  /// The tag of the class that remakes it.
  var classTag: RestorationIdentity.ClassTag? { identity.class }
  /// The element of the data model that it shows.
  var model: ModelIdentifier? { identity.model }
  /// How soon the state is left out when there is too much.
  var priority: RestorationArchive.Priority { identity.priority }
  /// The class of protection of its state, and of that below it; nil for its parent's.
  var protection: ProtectionClass? { identity.protection }
  /// The version that the object names.
  var version: StateVersion { identity.version }

  /// Whether this is what an object answers that is plain, as its facet says without making a list of answers.
  @MainActor func isPlain(_ node: LiveNode, _ plain: PlainIdentity) -> Bool {
    children.isEmpty && views.isEmpty && identity.saysOnly(node.identifier, plain)
  }
}

/// One object as it was at one moment: copies, to be encoded elsewhere, and what the tree needs to know of it.
///
/// The one value of a ``StatefulObject`` goes to a ``StateColumn`` instead, together with those of its class.
package struct CapturedState {
  /// What the object says of its place.
  var shape: CapturedShape
  /// The version of its class.
  let version: StateVersion
  /// Its values.
  var values = CapturedValues()

  /// Where its one value is in the column of its class; nil when it has none, or when the value is among the entries.
  var row: Int? {
    get { values.row }
    set { values.row = newValue }
  }
  /// The other values under their keys, in the order of encoding.
  package var entries: [RestorationArchive.Entry] {
    get { values.entries }
    _modify { yield &values.entries }
  }
  /// Whether the object keeps the record that it was given, as it has not changed since.
  var isAsStored: Bool { values.isAsStored }
  /// References to other objects, to be replaced by their places.
  package var references: [CapturedReference] { values.references }
}

/// An object's values as they were at one moment.
struct CapturedValues {
  /// Where its one value is in the column of its class; nil when it has none, or when the value is among the entries.
  var row: Int?
  /// The other values under their keys, in the order of encoding.
  var entries: [RestorationArchive.Entry] = []
  /// Whether the object keeps the record that it was given, as it has not changed since.
  var isAsStored = false
  /// References to other objects, to be replaced by their places.
  var references: [CapturedReference] = []
}
