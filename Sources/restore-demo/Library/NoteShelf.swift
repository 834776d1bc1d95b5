/// The library as the controllers share it: they read it and are told when it changed.
@MainActor final class NoteShelf {
  private(set) var library: NoteLibrary
  private var listeners: [@MainActor () -> Void] = []

  init(_ library: NoteLibrary) { self.library = library }

  /// Calls a closure after every change; it must not keep its owner alive.
  func onChange(_ listener: @escaping @MainActor () -> Void) { listeners.append(listener) }

  /// Reads the folder again.
  func reload() { change { $0.reload() } }

  /// Gives a note another name.
  func rename(_ note: Note, to name: String) throws(NoteLibrary.Problem) -> Note {
    try change { (library) throws(NoteLibrary.Problem) in try library.rename(note, to: name) }
  }

  /// Replaces a note's text.
  func write(_ text: String, to note: Note) throws(NoteLibrary.Problem) {
    try change { (library) throws(NoteLibrary.Problem) in try library.write(text, to: note) }
  }

  private func change<Result, Failure: Error>(
    _ body: (inout NoteLibrary) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { for listener in listeners { listener() } }
    return try body(&library)
  }
}
