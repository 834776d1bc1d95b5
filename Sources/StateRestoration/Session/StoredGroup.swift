/// Several values and controllers under one name: the root of a program that has no controller of its own for that.
///
/// ```swift
/// let draft = StoredValue("draft", "")
/// let tab = StoredValue("tab", 0)
/// let root = StoredGroup("app", draft, tab)
/// ```
@MainActor public final class StoredGroup: RestorableController {
  /// The name among its siblings.
  public let restorationIdentifier: RestorationIdentifier?

  /// The members, first to last.
  public let restorationChildren: [any RestorableController]

  /// Names a group of values and controllers, each with a name of its own.
  public init(_ name: RestorationIdentifier, _ members: any RestorableController...) {
    restorationIdentifier = name
    restorationChildren = members
  }
}
