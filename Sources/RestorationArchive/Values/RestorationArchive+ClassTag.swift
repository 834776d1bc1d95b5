extension RestorationArchive {
  /// A stable tag for the class that remakes an object: never the name of a Swift type.
  ///
  /// Renaming a type must not lose its users' state, and nothing named in a file may choose a type: only tags
  /// that the program registered are ever looked up.
  public struct ClassTag: RestorationArchive.ExactText {
    /// The text as given; compared and stored byte for byte.
    public let rawValue: String

    /// Makes a value of any text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }
}
