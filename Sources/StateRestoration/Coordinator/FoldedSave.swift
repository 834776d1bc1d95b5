/// A save that waits for the end of the one in progress, and the callers that asked for it.
struct FoldedSave {
  /// The hierarchy to save.
  ///
  /// Alive for as long as somebody waits who asked for it by name; otherwise it may die, and the hierarchy that was asked
  /// for last is saved.
  private(set) weak var root: (any RestorableController)?
  var requests: [CheckedContinuation<Result<PreservationOutcome, RestorationError>, Never>]
}
