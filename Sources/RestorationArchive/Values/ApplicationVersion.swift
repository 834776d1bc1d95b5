extension RestorationArchive {
  /// The version of the program that preserved the state, as the program words it.
  ///
  /// Compared for equality only: a program that needs an order of versions should migrate by ``StateVersion``.
  public struct ApplicationVersion: RestorationArchive.ExactText {
    /// The text as given; compared and stored byte for byte.
    public let rawValue: String

    /// Makes a value of any text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }
}
