/// Keys of a record that the framework keeps to itself; users' keys can't begin with the same character.
enum ReservedKey {
  /// The one value of a ``StatefulObject``.
  static let state = "$state"

  /// Whether a key is the framework's.
  static func isReserved(_ key: String) -> Bool {
    key.utf8.first == UInt8(ascii: "$")
  }
}
