package import RestorationArchive

/// One object as it was at one moment: copies, to be encoded elsewhere, and what the tree needs to know of it.
package struct CapturedState {
  /// The object's identifier; nil for one that is excluded and for shared objects.
  package var identifier: RestorationIdentifier?
  /// Class tag, version, priority and model of the object, as the archive records them.
  package var attributes: RestorationArchive.Attributes
  /// The values under their keys, in the order of encoding.
  package var values = CapturedValues()
  /// References to other objects, to be replaced by their places.
  package var references: [CapturedReference] = []
  /// The children, in order; empty for views and shared objects.
  package var children: [any RestorableController] = []
  /// The roles of children that have one.
  package var roles: [RestorationIdentifier: RestorationRole] = [:]
  /// The views, in order; empty for views and shared objects.
  package var views: [any RestorableView] = []

  /// The values as a list.
  package var entries: [RestorationArchive.Entry] { values.entries }

  /// Whether the object is to be preserved at all.
  package var isExcluded: Bool { identifier?.isEmpty ?? true }

  /// Describes an object without values, children and views.
  package init(attributes: RestorationArchive.Attributes = RestorationArchive.Attributes()) {
    self.attributes = attributes
  }
}
