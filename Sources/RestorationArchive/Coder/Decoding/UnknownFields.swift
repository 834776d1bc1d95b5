/// The stored fields of a value that its type does not know: they were renamed or removed, and the next save loses them.
///
/// They are found while the value is decoded: a type asks its decoder for a container by the keys that it knows. Only the fields
/// of the value itself are looked at, not those of values within it. Fields that any of the type's sets of keys knows are not
/// named, as a type may read older forms of itself.
package final class UnknownFields {
  private var found: [String]?

  /// Begins without any.
  package init() {}

  /// Their names, in the order in which they are stored.
  package var names: [String] { found ?? [] }

  /// Looks at the fields of an open value by the keys that its type has asked for.
  func note<Key: CodingKey>(_ frame: DecodeFrameRef, _ type: Key.Type) {
    if found == nil {
      // As nearly always: nothing has to be walked through.
      if frame.knowsShape(type) {
        found = []
        return
      }
      found = frame.allKeys()
    }
    found?.removeAll { Key(stringValue: $0) != nil }
  }
}
