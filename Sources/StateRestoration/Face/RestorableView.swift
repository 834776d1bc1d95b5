/// A view with state of its own, such as a scroll position or a selection.
///
/// It is preserved when it has an identifier and its controller, which lists it in
/// ``RestorableController/restorationViews``, is preserved.
@MainActor public protocol RestorableView: RestorableObject {
  /// What the view is called within its controller; nil or empty excludes it.
  var restorationIdentifier: RestorationIdentifier? { get }
}
