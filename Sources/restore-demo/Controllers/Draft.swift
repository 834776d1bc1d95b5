import StateRestoration

/// The draft of a note, and where the user is in it: only the passcode opens it.
///
/// Its editor is less secret: on a locked device it comes back without its text.
@MainActor final class Draft: RestorableView, FinishingObject {
  let restoration = RestorationIdentity("draft", protection: .complete)

  /// The note as it was typed, and not written to the file; nil when there is no draft.
  @Restored("text") var text: String? = nil
  @Restored("caret") var caret = 0
  /// The first row that is seen.
  @Restored("top") var top = 0

  /// Called when the state is back: at the launch, or at the unlock.
  var onRestored: @MainActor () -> Void = {}

  func applicationFinishedRestoringState() { onRestored() }
}
