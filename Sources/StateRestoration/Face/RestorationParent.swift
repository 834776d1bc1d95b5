/// A controller with others below it, which are preserved with it.
///
/// ```swift
/// final class ShelfController: RestorationParent {
///   let restoration: RestorationIdentity = "shelf"
///   let search = SearchController()
///   var restorationChildren: [any RestorableController] { [search] }
/// }
/// ```
///
/// One whose children come and go is a ``RestorationContainer``.
@MainActor public protocol RestorationParent: RestorableController {
  /// The controllers below this one, first to last.
  ///
  /// The list must be finite: a controller that is its own descendant is a programmer's mistake.
  var restorationChildren: [any RestorableController] { get }
}

/// A controller with views that have state of their own.
@MainActor public protocol RestorationViewOwner: RestorableController {
  /// The views of this controller that have state of their own.
  var restorationViews: [any RestorableView] { get }
}

extension RestorableController {
  /// Says what a class with children conforms to.
  @available(
    *, unavailable, message: "declare `var restorationChildren: [any RestorableController]` in a RestorationParent"
  )
  public var restorationChildren: [any RestorableController] { fatalError("A default that nobody can use.") }

  /// Says what a class with views conforms to.
  @available(*, unavailable, message: "declare `var restorationViews: [any RestorableView]` in a RestorationViewOwner")
  public var restorationViews: [any RestorableView] { fatalError("A default that nobody can use.") }

  /// The children of a parent; none of any other controller.
  package var listedChildren: [any RestorableController] {
    ClassPlan.plan(for: type(of: self)).shape.children(of: self)
  }

  /// The views of an owner of views; none of any other controller.
  package var listedViews: [any RestorableView] { ClassPlan.plan(for: type(of: self)).shape.views(of: self) }
}
