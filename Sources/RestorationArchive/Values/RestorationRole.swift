/// What a child is to its container, when its place in the order doesn't say it.
public struct RestorationRole: ExactText {
  /// The role's name, as stored.
  public let rawValue: String

  /// Makes a role of any name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The child is presented over its container.
  public static let presented: RestorationRole = "presented"
}
