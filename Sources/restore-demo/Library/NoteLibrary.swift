import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The notes in one folder of the disk: listing, reading, writing and renaming them.
///
/// Only regular files with a text-like name are notes; links and hidden files are left alone, so that no link leads out
/// of the folder or round in a circle.
struct NoteLibrary: Sendable {
  /// A failure of a folder or a note, as one line for a person.
  struct Problem: Error, CustomStringConvertible {
    var description: String
  }

  /// The folder's path as given.
  let path: String
  /// All notes, by folder and then by name.
  private(set) var notes: [Note] = []

  /// The largest file that is opened, in bytes.
  static let largestNote = 4 << 20
  /// The most notes that are listed.
  static let mostNotes = 20_000
  private static let deepestFolder = 16
  private static let extensions: Set<String> = ["txt", "md", "markdown", "text", "swift", "rst", "org", "log"]

  /// Reads the folder.
  ///
  /// - Throws: ``Problem`` when the folder is missing, is no folder or can't be read.
  init(path: String) throws(Problem) {
    self.path = path
    guard let status = Self.status(of: path) else {
      throw Problem(description: "\(path): \(Self.failure). Name a folder that exists.")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw Problem(description: "\(path) is not a folder. Name the folder that holds the notes.")
    }
    guard unsafe access(path, R_OK | X_OK) == 0 else {
      throw Problem(
        description: "\(path) can't be read: \(Self.failure). Check its permissions.")
    }
    reload()
  }

  /// Reads the folder again.
  ///
  /// Folders that can't be read any more count as empty.
  mutating func reload() {
    var found: [Note] = []
    Self.collect(in: path, place: "", depth: 0, into: &found)
    found.sort { ($0.folder, $0.name) < ($1.folder, $1.name) }
    notes = found
  }

  /// The folders that hold notes, the library's own first.
  var folders: [Folder] {
    var folders: [Folder] = []
    for note in notes {
      if folders.last?.place == note.folder {
        folders[folders.count - 1].noteCount += 1
      } else {
        folders.append(Folder(place: note.folder, noteCount: 1))
      }
    }
    return folders
  }

  /// The notes of one folder, by name.
  func notes(in folder: String) -> [Note] { notes.filter { $0.folder == folder } }

  /// The note that an identity means now.
  func note(_ identity: NoteIdentity) -> Note? { identity.index(in: notes).map { notes[$0] } }

  /// Reads a note's text.
  ///
  /// - Throws: ``Problem`` when it is too large, is no text or can't be read.
  func text(of note: Note) throws(Problem) -> String {
    guard note.byteCount <= Self.largestNote else {
      throw Problem(description: "\(note.name) has \(note.byteCount >> 20) MiB; notes of up to 4 MiB can be opened")
    }
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: fullPath(of: note)))
    } catch {
      throw Problem(description: "\(note.name) can't be read: \(error.localizedDescription)")
    }
    guard data.count <= Self.largestNote, !data.contains(0), let text = String(validating: data, as: UTF8.self) else {
      throw Problem(description: "\(note.name) is not a text file, so it is not opened")
    }
    return text
  }

  /// Writes a note's text beside the old one and then puts it in its place, so that a crash leaves one or the other.
  mutating func write(_ text: String, to note: Note) throws(Problem) {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: fullPath(of: note)), options: .atomic)
    } catch {
      throw Problem(description: "\(note.name) can't be written: \(error.localizedDescription)")
    }
    reload()
  }

  /// Gives a note another name in the same folder and returns it.
  mutating func rename(_ note: Note, to name: String) throws(Problem) -> Note {
    let name = name.trimmingCharacters(in: .whitespaces)
    guard !name.isEmpty, !name.contains("/"), !name.hasPrefix("."), !name.contains("\0") else {
      throw Problem(description: "a name can't be empty, begin with a dot or hold a slash")
    }
    guard Self.isNote(name) else {
      throw Problem(description: "the name of a note ends in .md or .txt")
    }
    let old = fullPath(of: note)
    let place = note.folder.isEmpty ? name : note.folder + "/" + name
    let new = path + "/" + place
    if name == note.name { return note }
    // `link` refuses to replace a file; `rename` would not.
    guard unsafe link(old, new) == 0 else {
      throw Problem(
        description: errno == EEXIST ? "there is a \(name) already" : Self.failure)
    }
    _ = unsafe unlink(old)
    reload()
    guard let renamed = notes.first(where: { $0.identity.place == place }) else {
      throw Problem(description: "\(name) is gone")
    }
    return renamed
  }

  /// What `errno` says, in words.
  private static var failure: String { unsafe String(cString: strerror(errno)) }

  private func fullPath(of note: Note) -> String { path + "/" + note.identity.place }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status : nil
  }

  private static func isNote(_ name: String) -> Bool {
    guard !name.hasPrefix("."), let dot = name.lastIndex(of: ".") else { return false }
    return extensions.contains(name[name.index(after: dot)...].lowercased())
  }

  private static func collect(in path: String, place: String, depth: Int, into notes: inout [Note]) {
    guard depth <= deepestFolder, let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
    for name in names.sorted() where !name.hasPrefix(".") {
      guard notes.count < mostNotes else { return }
      var status = stat()
      guard unsafe lstat(path + "/" + name, &status) == 0 else { continue }
      let inner = place.isEmpty ? name : place + "/" + name
      if status.st_mode & S_IFMT == S_IFDIR {
        collect(in: path + "/" + name, place: inner, depth: depth + 1, into: &notes)
      } else if status.st_mode & S_IFMT == S_IFREG, isNote(name) {
        let changed = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        let identity = NoteIdentity(inode: UInt64(status.st_ino), changed: changed, place: inner)
        notes.append(Note(identity: identity, folder: place, name: name, byteCount: Int(status.st_size)))
      }
    }
  }
}
