/// An object that writes and reads its state itself, under string keys: for class trees, with `super`.
///
/// Neither method has a default: Swift would use it for all subclasses of a class that relies on it, and never call
/// their own methods. Declare both in the base class, `open` if other modules subclass it; subclasses override them, call
/// `super` and use keys of their own.
@MainActor public protocol CodingObject: RestorableObject {
  /// Hands copies of the state to the coder; the values are encoded later, away from the main actor.
  func encodeRestorableState(with coder: RestorationEncoder)

  /// Takes the state back. Every restored object exists by now, but may not have decoded its own state yet.
  ///
  /// The report has the thrown error; the stored state is kept and offered again at the next launch.
  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError)
}
