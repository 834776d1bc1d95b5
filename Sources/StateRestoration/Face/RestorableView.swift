/// A view with state of its own, such as a scroll position or a selection.
///
/// It is preserved when it has an identifier and its controller, which lists it in
/// ``RestorationViewOwner/restorationViews``, is preserved.
@MainActor public protocol RestorableView: RestorableObject {
  /// What the view is called within its controller. A class, a model or a priority traps: a view comes with its controller.
  var restoration: RestorationIdentity { get }
}

extension RestorableView {
  /// Says what to write where `restoration` is missing or has another type.
  @available(
    *, unavailable, message: "declare `let restoration: RestorationIdentity = \"name\"`, with this type"
  )
  public var restoration: RestorationIdentity { fatalError("A default that nobody can use.") }
}
