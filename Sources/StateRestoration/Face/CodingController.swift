/// An object that writes and reads its state itself, under string keys: for class trees, with `super`.
///
/// Neither method has a default. A default would be the witness for the whole class tree, and a subclass's own
/// method would never be called. Declare both in the base class as `open`; subclasses override them, call `super`
/// and use keys of their own.
@MainActor public protocol CodingObject: RestorableObject {
  /// Hands copies of the state to the coder; the values are encoded later, away from the main actor.
  func encodeRestorableState(with coder: RestorationEncoder)

  /// Takes the state back. Every restored object exists by now, but may not have decoded its own state yet.
  ///
  /// What is thrown ends up in the report; the stored state is kept and offered again at the next launch.
  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError)
}

/// A controller that writes and reads its state itself; see ``CodingObject``.
@MainActor public protocol CodingController: RestorableController, CodingObject {}

/// A view that writes and reads its state itself; see ``CodingObject``.
@MainActor public protocol CodingView: RestorableView, CodingObject {}
