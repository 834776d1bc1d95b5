/// Keys of a record that the framework keeps to itself; users' keys can't begin with the same character.
enum ReservedKey {
  /// The one value of a ``StatefulObject``.
  static let state = "$state"
  /// The value of a scope that was encoded when it was set, as bytes of its own.
  static let encodedState = "$encoded"
  /// The version of a scope's value, unless it is 1.
  static let version = "$version"

  /// Whether a key is the framework's.
  static func isReserved(_ key: String) -> Bool {
    key.utf8.first == UInt8(ascii: "$")
  }
}
