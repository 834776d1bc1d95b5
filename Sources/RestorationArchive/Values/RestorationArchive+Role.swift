extension RestorationArchive {
  /// The part of a child in its container, when its place in the order doesn't tell.
  public struct Role: RestorationArchive.ExactText {
    /// The role's name, as stored.
    public let rawValue: String

    /// Makes a role of any name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The child is presented over its container.
    public static let presented: RestorationArchive.Role = "presented"
  }
}
