/// Who keeps a key: for the report of a session, in words.
package protocol KeyPlace {
  /// Where the key is kept.
  var place: String { get }
}
