/// A part of the interface that is preserved with everything below it: a screen, a pane, a dialogue.
///
/// A controller with a nil or an empty identifier is excluded, and so is all that is below it.
///
/// ```swift
/// final class SearchController: RestorableController {
///   let restorationIdentifier: RestorationIdentifier? = "search"
///   @Restored("query") var query = ""
/// }
/// ```
///
/// Spell the identifier's type with its question mark: `let restorationIdentifier = "search"` is a `String` and
/// doesn't satisfy the requirement.
@MainActor public protocol RestorableController: RestorableObject {
  /// What the controller is called among its siblings; nil or empty excludes it and everything below it.
  ///
  /// A child that had no name, or a sibling's, and gets its own is noticed when its parent changes or is invalidated, and by
  /// each explicit save.
  var restorationIdentifier: RestorationIdentifier? { get }

  /// The tag of the class that remakes this controller: stable, registered, never a type's name. Nil by default.
  ///
  /// With nil the controller comes back if it exists at launch, or if the delegate or a blueprint makes it.
  var restorationClass: RestorationClass? { get }

  /// The controllers below this one, first to last. Empty by default.
  ///
  /// The list must be finite: a controller that is its own descendant is a programmer's mistake.
  var restorationChildren: [any RestorableController] { get }

  /// The views of this controller that have state of their own. Empty by default.
  var restorationViews: [any RestorableView] { get }

  /// Which model object the state belongs to, such as the note that an editor shows. Nil by default.
  ///
  /// State of one model object is never given to a controller that names another, so that the draft of one note can't
  /// land in the editor of another. A controller that names none takes any, as it may learn its model from the state; and
  /// state that was preserved without a model, by an older version of the program, say, is anybody's.
  var restorationModelIdentifier: ModelIdentifier? { get }

  /// How soon the state is left out when the archive outgrows its budget. `normal` by default.
  var preservationPriority: PreservationPriority { get }
}

extension RestorableController {
  /// No class: the controller exists at launch, or the delegate makes it.
  public var restorationClass: RestorationClass? { nil }

  /// No children.
  public var restorationChildren: [any RestorableController] { [] }

  /// No views.
  public var restorationViews: [any RestorableView] { [] }

  /// No model object.
  public var restorationModelIdentifier: ModelIdentifier? { nil }

  /// The middle of the road.
  public var preservationPriority: PreservationPriority { .normal }
}
