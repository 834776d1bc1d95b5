public import FoundationShim

extension ProtectedFiles {
  /// The facts about a protected file that are known without opening it.
  public struct Attributes: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// Its class.
    public let protection: ProtectionClass
    /// The length of its content in bytes, as its file's length says; authenticated only when it is opened.
    public let byteCount: Int
    /// The number of its newest content, which grows with every write.
    package let generation: Generation
    /// When it was created.
    public let creationDate: Date
    /// When its content was last written, by the file system's clock.
    public let modificationDate: Date
  }
}
