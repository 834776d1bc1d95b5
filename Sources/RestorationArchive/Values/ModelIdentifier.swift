/// Names an element of the data model: what state holds instead of the element or its row.
///
/// Rows move between launches and model objects have a store of their own, so state keeps this and asks the
/// data source where the element is now.
public struct ModelIdentifier: RestorationArchive.ExactText {
  /// The text as given; compared and stored byte for byte.
  public let rawValue: String

  /// Makes a value of any text.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}
