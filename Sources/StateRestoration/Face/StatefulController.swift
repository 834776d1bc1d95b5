/// An object whose whole state is one Codable value: the fastest way and, for most, the simplest.
///
/// ```swift
/// nonisolated struct EditorState: Codable, Sendable {
///   var draft = ""
///   var caret = 0
/// }
///
/// @Observable final class EditorController: StatefulController {
///   let restorationIdentifier: RestorationIdentifier? = "editor"
///   var restorableState = EditorState()
/// }
/// ```
///
/// The value is copied on the main actor and encoded elsewhere. In a module whose default isolation is the main
/// actor the state's type must be `nonisolated`, as above.
@MainActor public protocol StatefulObject: RestorableObject {
  /// The type of the state: a value, so that a copy of it is a snapshot.
  associatedtype RestorableState: Codable & Sendable

  /// How older state becomes today's, step by step; see ``StateMigrations``. None by default.
  @StateMigrationsBuilder static var migrations: StateMigrations<RestorableState> { get }

  /// The state. Read when preserving; assigned once when restoring.
  ///
  /// One stored value is noticed faster than a computed one that reads many observable properties.
  var restorableState: RestorableState { get set }
}

extension StatefulObject {
  /// No migrations: only state of ``RestorableObject/stateVersion`` is read.
  public static var migrations: StateMigrations<RestorableState> { .none }
}

/// A controller whose whole state is one Codable value; see ``StatefulObject``.
@MainActor public protocol StatefulController: RestorableController, StatefulObject {}

/// A view whose whole state is one Codable value; see ``StatefulObject``.
@MainActor public protocol StatefulView: RestorableView, StatefulObject {}
