/// A part of the interface that is preserved: a screen, a pane, a dialogue.
///
/// ```swift
/// final class SearchController: RestorableController {
///   let restoration: RestorationIdentity = "search"
///   @Restored("query") var query = ""
/// }
/// ```
///
/// One that has others below it is a ``RestorationParent``.
@MainActor public protocol RestorableController: RestorableObject {
  /// What the controller is called among its siblings, which class remakes it, and whose state it has.
  var restoration: RestorationIdentity { get }
}

extension RestorableController {
  /// Says what to write where `restoration` is missing or has another type.
  @available(
    *, unavailable, message: "declare `let restoration: RestorationIdentity = \"name\"`, with this type"
  )
  public var restoration: RestorationIdentity { fatalError("A default that nobody can use.") }

  /// Says where the identifier of an object stands.
  @available(*, unavailable, renamed: "restoration.identifier")
  public var restorationIdentifier: RestorationIdentifier? { fatalError("A name that nobody can use.") }

  /// Says where the class of a controller stands.
  @available(*, unavailable, renamed: "restoration.class")
  public var restorationClass: RestorationIdentity.ClassTag? { fatalError("A name that nobody can use.") }
}
