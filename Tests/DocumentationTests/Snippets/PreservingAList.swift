import Foundation
import StateRestoration

struct PreservingAListSnippets {
  struct Note: Sendable {
    let key: String
    let title: String
  }

  // snippet: Association
  final class Notes: DataSourceModelAssociation {
    var notes: [Note] = []

    func modelIdentifier(forElementAt indexPath: IndexPath, in list: ListController) -> ModelIdentifier? {
      notes.indices.contains(indexPath[1]) ? ModelIdentifier(notes[indexPath[1]].key) : nil
    }

    func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier, in list: ListController) -> IndexPath? {
      notes.firstIndex { $0.key == identifier.rawValue }.map { [0, $0] }
    }
  }
  // snippet end

  // snippet: Loading
  @MainActor func show(_ source: Notes, in list: ListController, loading: () async throws -> [Note]) async throws {
    list.association = source
    source.notes = try await loading()
    list.dataSourceDidLoad(elementCounts: [source.notes.count])
  }
  // snippet end

  // snippet: Pages
  @MainActor func showPages(
    _ source: Notes, in list: ListController, loading: (Int) async throws -> [Note]
  ) async throws {
    repeat {
      let page = try await loading(source.notes.count)
      source.notes += page
      list.dataSourceDidLoad(elementCounts: [source.notes.count], isComplete: page.isEmpty)
    } while list.isAwaitingData  // the others when the user scrolls
  }
  // snippet end

  // snippet: Changing
  @MainActor func remove(noteAt row: Int, from source: Notes, shownIn list: ListController) {
    source.notes.remove(at: row)
    list.dataSourceDidLoad(elementCounts: [source.notes.count])
  }
  // snippet end
}
