/// A note: a text file in the library's folder.
struct Note: Hashable, Sendable {
  var identity: NoteIdentity
  /// The folder's path relative to the library's, empty for the library's own.
  var folder: String
  /// The file's name.
  var name: String
  /// The file's size in bytes.
  var byteCount: Int
}

/// A folder that holds notes.
struct Folder: Hashable, Sendable {
  /// The path relative to the library's folder, empty for the library's own.
  var place: String
  var noteCount: Int

  /// What a person reads.
  var title: String { place.isEmpty ? "Notes" : place }
}
