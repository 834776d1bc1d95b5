import Foundation
import StateRestoration

/// The notes of one folder.
///
/// Its selection and scrolling follow the notes, whatever they are called now.
@MainActor final class NoteListController: RowListController, DataSourceModelAssociation {
  /// The tag under which lists of notes are registered.
  static let tag: RestorationIdentity.ClassTag = "note-list"

  /// The folder whose notes these are, relative to the library's.
  @Restored("folder") private(set) var folder = ""
  private let shelf: NoteShelf
  private let onOpen: @MainActor (Note) -> Void

  init(folder: String, shelf: NoteShelf, onOpen: @escaping @MainActor (Note) -> Void) {
    self.shelf = shelf
    self.onOpen = onOpen
    super.init(RestorationIdentity("notes", class: Self.tag))
    self.folder = folder
    association = self
    rowsDidChange()
    shelf.onChange { [weak self] in self?.rowsDidChange() }
  }

  /// The notes as they are listed.
  var notes: [Note] { shelf.library.notes(in: folder) }

  /// The selected note.
  var selectedNote: Note? { selectedRow.flatMap { notes.indices.contains($0) ? notes[$0] : nil } }

  override var title: String { folder.isEmpty ? "Notes" : folder }

  override var rows: [String] { notes.map(\.name) }

  override var hints: [Hint] { super.hints + [Hint("^N", "rename"), Hint("Esc", "back")] }

  override func open(row: Int) { onOpen(notes[row]) }

  func modelIdentifier(forElementAt indexPath: IndexPath, in list: ListController) -> ModelIdentifier? {
    let notes = notes
    return notes.indices.contains(indexPath[1]) ? notes[indexPath[1]].identity.modelIdentifier : nil
  }

  func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier, in list: ListController) -> IndexPath? {
    NoteIdentity(identifier)?.index(in: notes).map { IndexPath(indexes: [0, $0]) }
  }
}
