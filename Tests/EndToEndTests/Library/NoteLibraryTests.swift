import Foundation
import Testing

@testable import restore_demo

struct NoteLibraryTests {
  /// A folder of its own for one test, removed at the end.
  final class Scratch {
    let path: String

    init(_ files: [String: String]) throws {
      path = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for (name, text) in files { try write(text, to: name) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws {
      let url = URL(fileURLWithPath: path + "/" + name)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
  }

  @Test func `text files are notes, in their folders; links, hidden and other files are not`() throws {
    let scratch = try Scratch(["b.md": "b", "a.txt": "a", ".hidden.md": "", "picture.png": "", "deep/er/c.md": "c"])
    try FileManager.default.createSymbolicLink(atPath: scratch.path + "/loop", withDestinationPath: scratch.path)
    let library = try NoteLibrary(path: scratch.path)
    #expect(library.notes.map(\.identity.place) == ["a.txt", "b.md", "deep/er/c.md"])
    #expect(library.folders.map(\.place) == ["", "deep/er"])
  }

  @Test func `a renamed note keeps its identity`() throws {
    let scratch = try Scratch(["a.md": "one", "b.md": "two"])
    var library = try NoteLibrary(path: scratch.path)
    let identity = library.notes[0].identity
    try FileManager.default.moveItem(atPath: scratch.path + "/a.md", toPath: scratch.path + "/z.md")
    try scratch.write("new", to: "a0.md")
    library.reload()
    #expect(library.note(identity)?.name == "z.md")
  }

  @Test func `a note that was replaced under its name is still the note`() throws {
    let scratch = try Scratch(["a.md": "one"])
    var library = try NoteLibrary(path: scratch.path)
    let identity = library.notes[0].identity
    try library.write("other text", to: library.notes[0])
    #expect(library.note(identity)?.name == "a.md")
    #expect(try library.text(of: library.notes[0]) == "other text")
  }

  @Test func `a deleted note is gone even when its inode number is used again`() throws {
    let note = Note(identity: NoteIdentity(inode: 7, changed: 1, place: "a.md"), folder: "", name: "a.md", byteCount: 1)
    let other = NoteIdentity(inode: 7, changed: 2, place: "b.md")
    #expect(note.identity.index(in: []) == nil)
    #expect(other.index(in: [note]) == nil)
    #expect(NoteIdentity(note.identity.modelIdentifier) == note.identity)
  }

  @Test func `what can't be a note says why in one line`() throws {
    let scratch = try Scratch(["binary.md": "a\0b", "huge.md": ""])
    try FileManager.default.createDirectory(atPath: scratch.path + "/x", withIntermediateDirectories: true)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.path + "/huge.md"))
    try handle.truncate(atOffset: UInt64(NoteLibrary.largestNote) + 1)
    var library = try NoteLibrary(path: scratch.path)
    for note in library.notes {
      let problem = #expect(throws: NoteLibrary.Problem.self) { try library.text(of: note) }
      #expect(problem?.description.contains("\n") == false)
    }
    for name in ["", "a/b.md", ".md", "x", "\0.md"] {
      #expect(throws: NoteLibrary.Problem.self) { try library.rename(library.notes[0], to: name) }
    }
    #expect(throws: NoteLibrary.Problem.self) { try library.rename(library.notes[0], to: "huge.md") }
    #expect(library.notes.count == 2)
    #expect(throws: NoteLibrary.Problem.self) { try NoteLibrary(path: scratch.path + "/missing") }
    #expect(throws: NoteLibrary.Problem.self) { try NoteLibrary(path: scratch.path + "/huge.md") }
  }

  @Test func `renaming keeps the text`() throws {
    let scratch = try Scratch(["a.md": "one"])
    var library = try NoteLibrary(path: scratch.path)
    let renamed = try library.rename(library.notes[0], to: " b.txt ")
    #expect(renamed.name == "b.txt")
    #expect(library.notes == [renamed])
    #expect(try library.text(of: renamed) == "one")
  }
}
