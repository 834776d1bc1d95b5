extension RestorationArchive {
  /// One value of an object's state under its key, copied and not yet encoded.
  public struct Entry: Sendable {
    /// The key, unique within the node.
    public var key: String
    /// The value; encoded by the writer, on the writer's thread.
    public var value: any Encodable & Sendable

    /// Makes an entry.
    public init(key: String, value: any Encodable & Sendable) {
      self.key = key
      self.value = value
    }
  }
}
