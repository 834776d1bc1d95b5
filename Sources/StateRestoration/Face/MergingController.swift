/// A controller that joins what was typed while the device was locked to what was stored, instead of replacing it.
///
/// ```swift
/// func merged(stored: PageState, pending: PageState) -> PageState {
///   PageState(text: stored.text + "\n" + pending.text)
/// }
/// ```
///
/// Without it, an object that was edited while locked keeps its own state, and that takes the place of the stored one.
@MainActor public protocol MergingController: StatefulController {
  /// The state after an unlock, of the stored one and of the object's own, which was edited since the launch.
  func merged(stored: RestorableState, pending: RestorableState) -> RestorableState
}

extension MergingController {
  /// Joins what a record holds to the object's state; false when there is nothing in it to join.
  func merge(_ coder: RestorationDecoder) throws(RestorationError) -> Bool {
    guard let stored = try ValueFacet<Self>().decoded(coder, Self.stateVersion, for: self) else { return false }
    restorableState = merged(stored: stored, pending: restorableState)
    return true
  }
}
