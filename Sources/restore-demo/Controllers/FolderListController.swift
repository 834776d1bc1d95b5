import Foundation
import StateRestoration

/// The bottom of the notes' stack: the folders that hold notes.
///
/// It exists at launch.
@MainActor final class FolderListController: RowListController, DataSourceModelAssociation {
  private let shelf: NoteShelf
  private let onOpen: @MainActor (String) -> Void

  init(shelf: NoteShelf, onOpen: @escaping @MainActor (String) -> Void) {
    self.shelf = shelf
    self.onOpen = onOpen
    super.init("folders")
    association = self
    rowsDidChange()
    shelf.onChange { [weak self] in self?.rowsDidChange() }
  }

  override var title: String { "Folders" }

  override var rows: [String] { shelf.library.folders.map { "\($0.title)  (\($0.noteCount))" } }

  override var emptyText: String { "No notes in \(shelf.library.path). Put .md or .txt files there." }

  override func open(row: Int) { onOpen(shelf.library.folders[row].place) }

  func modelIdentifier(forElementAt indexPath: IndexPath, in list: ListController) -> ModelIdentifier? {
    let folders = shelf.library.folders
    return folders.indices.contains(indexPath[1]) ? ModelIdentifier("folder:" + folders[indexPath[1]].place) : nil
  }

  func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier, in list: ListController) -> IndexPath? {
    shelf.library.folders.firstIndex { ModelIdentifier("folder:" + $0.place) == identifier }
      .map { IndexPath(indexes: [0, $0]) }
  }
}
