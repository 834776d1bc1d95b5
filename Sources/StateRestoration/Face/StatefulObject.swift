/// An object whose whole state is one Codable value: the fastest way and, for most, the simplest.
///
/// ```swift
/// nonisolated struct EditorState: Codable, Sendable {
///   var draft = ""
///   var caret = 0
/// }
///
/// @Observable final class EditorController: RestorableController, StatefulObject {
///   let restoration: RestorationIdentity = "editor"
///   var restorableState = EditorState()
/// }
/// ```
///
/// The value is copied on the main actor and encoded elsewhere. In a module whose default isolation is the main
/// actor the state's type must be `nonisolated`, as above.
@MainActor public protocol StatefulObject: RestorableObject {
  /// The type of the state: a value, so that a copy of it is a snapshot; a ``VersionedState`` if there are older versions of it.
  associatedtype RestorableState: Codable & Sendable

  /// The state. Read when preserving; assigned once when restoring.
  ///
  /// One stored value is noticed faster than a computed one that reads many observable properties.
  var restorableState: RestorableState { get set }
}
