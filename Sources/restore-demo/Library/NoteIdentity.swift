import StateRestoration

/// Which note it is, across renames, edits by other programs and restarts.
///
/// A file keeps its inode and its time of change when it is renamed or moved; a program that saves by replacing the file
/// gives it new ones under the old name. So all three are kept. An inode number alone is not enough: file systems hand
/// the number of a deleted file to the next new one.
struct NoteIdentity: Hashable, Sendable {
  /// The inode number.
  var inode: UInt64
  /// When the contents changed last, in nanoseconds since 1970.
  var changed: Int64
  /// The path relative to the library's folder.
  var place: String

  init(inode: UInt64, changed: Int64, place: String) {
    self.inode = inode
    self.changed = changed
    self.place = place
  }

  /// Reads an identity from the text of ``modelIdentifier``.
  ///
  /// `nil` when the text is no such identity.
  init?(_ identifier: ModelIdentifier) {
    let parts = identifier.rawValue.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let inode = UInt64(parts[0]), let changed = Int64(parts[1]), !parts[2].isEmpty else {
      return nil
    }
    self.init(inode: inode, changed: changed, place: String(parts[2]))
  }

  /// The identity as the framework stores it.
  var modelIdentifier: ModelIdentifier { ModelIdentifier(rawValue: "\(inode) \(changed) \(place)") }

  /// Which of the notes that are there now this identity means, if any.
  ///
  /// In this order: the same file at the same place; the same file, unchanged, at another place (it was renamed or
  /// moved); another file at the same place (it was replaced by a program that saves that way). A file with the same
  /// inode but another place and other contents is somebody else's.
  func index(in notes: [Note]) -> Int? {
    var replaced: Int?
    var moved: Int?
    for (index, note) in notes.enumerated() {
      let other = note.identity
      if other.place == place {
        if other.inode == inode { return index }
        replaced = index
      } else if other.inode == inode, other.changed == changed {
        moved = index
      }
    }
    return moved ?? replaced
  }
}
