/// A controller or view that shows what a snapshot must not.
@MainActor public protocol SensitiveContent: AnyObject {
  /// Hides it: a snapshot is about to be taken; it may be hidden already, by an earlier one.
  ///
  /// Change nothing that is preserved: the program may be preserved again before it shows its content.
  func hideSensitiveContent()

  /// Shows it again: the program returns to the foreground.
  func revealSensitiveContent()
}
