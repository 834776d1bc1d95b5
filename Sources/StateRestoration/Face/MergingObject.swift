/// An object that joins edits made while the device was locked to the stored state.
///
/// A controller, a view or a shared object says it in place of ``StatefulObject``:
///
/// ```swift
/// @Observable final class Page: RestorableView, MergingObject {
///   let restoration = RestorationIdentity("page", protection: .complete)
///   var restorableState = ""
///
///   func merged(stored: String, pending: String) -> String { stored + "\n" + pending }
/// }
/// ```
///
/// It is asked at the unlock, or when it is given its state for the first time after it: at the next launch, or as a late
/// object. Without it, an object that was edited while locked keeps its own state, and the stored one waits beside it as a
/// conflict; see ``RestorationCoordinator/settleConflict(of:_:)``.
@MainActor public protocol MergingObject: StatefulObject {
  /// The state after an unlock, of the stored one and of the object's own, which was edited since the launch.
  func merged(stored: RestorableState, pending: RestorableState) -> RestorableState
}

extension MergingObject {
  /// Joins what records hold, oldest first, and last the object's own state.
  ///
  /// - Returns: The positions of those that were joined, and why others could not be decoded.
  func join(_ coders: [RestorationDecoder]) -> (joined: [Int], failures: [RestorationError]) {
    let version = ClassPlan.plan(for: type(of: self)).version(of: self)
    var (states, joined, failures): ([RestorableState], [Int], [RestorationError]) = ([], [], [])
    for (position, coder) in coders.enumerated() {
      do throws(RestorationError) {
        guard let state = try ValueFacet<Self, RestorableState>().decoded(coder, version, for: self) else { continue }
        states.append(state)
        joined.append(position)
      } catch {
        failures.append(error)
      }
    }
    guard let oldest = states.first else { return ([], failures) }
    states.append(restorableState)
    restorableState = states.dropFirst().reduce(oldest) { merged(stored: $0, pending: $1) }
    return (joined, failures)
  }
}
