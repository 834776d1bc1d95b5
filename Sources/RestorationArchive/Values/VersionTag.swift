extension RestorationArchive {
  /// The user interface's own version: change it when old state no longer fits the new interface.
  ///
  /// The delegate reads it before restoring and may decline.
  public struct VersionTag: RestorationArchive.ExactText {
    /// The text as given; compared and stored byte for byte.
    public let rawValue: String

    /// Makes a value of any text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }
}
