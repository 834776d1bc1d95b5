extension RestorationArchive {
  /// One value of an object's state under its key, copied and not yet encoded.
  package struct Entry: Sendable {
    /// The key, unique within the node.
    package var key: String
    /// The value; encoded by the writer, on the writer's thread.
    package var value: any Encodable & Sendable

    /// Makes an entry.
    package init(key: String, value: any Encodable & Sendable) {
      self.key = key
      self.value = value
    }
  }
}
