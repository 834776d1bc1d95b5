/// What an object is called among its siblings, from one launch to the next.
///
/// An object without one, or with an empty one, is not preserved, nor is anything below it. It often comes from
/// data (a document's name), so it may hold anything, slashes included; it never becomes part of a file's name.
public struct RestorationIdentifier: RestorationArchive.ExactText {
  /// The text as given; compared and stored byte for byte.
  public let rawValue: String

  /// Makes a value of any text.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}
