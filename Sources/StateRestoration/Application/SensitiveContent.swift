/// A controller or view that shows what a snapshot must not.
@MainActor public protocol SensitiveContent: AnyObject {
  /// Hides it: a snapshot is about to be taken.
  func hideSensitiveContent()

  /// Shows it again: the program returns to the foreground.
  func revealSensitiveContent()
}
