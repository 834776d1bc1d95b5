import Observation
import StateRestoration

struct VersionsAndMigrationsSnippets {
  // snippet: Migrations
  nonisolated struct EditorState1: Codable, Sendable {
    var text: String
  }

  nonisolated struct EditorState2: Codable, Sendable {
    var text: String
    var caret: Int
  }

  nonisolated struct EditorState: VersionedState {
    var draft = ""
    var caret = 0

    static var stateVersion: StateVersion { 3 }

    static var migrations: StateMigrations<EditorState> {
      StateMigrations(from: 1) { (old: EditorState1) in EditorState2(text: old.text, caret: 0) }
        .then { EditorState(draft: $0.text, caret: $0.caret) }
    }
  }

  @Observable final class EditorController: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "editor"
    var restorableState = EditorState()
  }
  // snippet end

  // snippet: Versioned
  nonisolated struct Sizes: VersionedState {
    var points: [Double] = []

    static var stateVersion: StateVersion { 2 }

    static var migrations: StateMigrations<Sizes> {
      // Version 1 was a list of whole numbers, without a type of its own.
      StateMigrations(from: 1) { (old: [Int]) in Sizes(points: old.map(Double.init)) }
    }
  }
  // snippet end

  // snippet: NewType
  final class PlayerController: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "player"
    // Until version 1.4 of the program this was a whole number of percent, under the key "volume".
    @Restored("loudness") var loudness = 1.0

    func encodeRestorableState(with coder: RestorationEncoder) {}

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      if let percent = try coder.decodeIfPresent(Int.self, forKey: "volume") { loudness = Double(percent) / 100 }
    }
  }
  // snippet end

  // snippet: FormerKey
  final class SearchController: RestorableController {
    let restoration: RestorationIdentity = "search"
    @Restored("query", formerly: "search text") var query = ""
  }
  // snippet end

  final class SearchPanel: RestorableController {
    let restoration: RestorationIdentity = "search panel"
  }

  @MainActor func register(_ registry: RestorationRegistry) {
    // snippet: FormerNames
    registry.register(EditorController.self, as: "editor", formerly: ["text editor"])
    registry.register(SearchPanel.self, formerly: ["FindPanel"])
    // snippet end
    // snippet: Retire
    registry.retire("attachment")
    // snippet end
  }

  // snippet: StoredVersion
  class CanvasController: RestorableController, CodingObject {
    var restoration: RestorationIdentity { RestorationIdentity("canvas", version: 2) }
    var zoom = 1.0

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(zoom, forKey: "zoom")
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      let stored: Double = try coder.decode(forKey: "zoom")
      // Version 1 stored percent.
      zoom = coder.storedVersion == 1 ? stored / 100 : stored
    }
  }
  // snippet end

  // snippet: VersionTag
  final class AppDelegate: RestorationCoordinatorDelegate {
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool {
      coder.context.versionTag == "three columns" && coder.context.interfaceIdiom == .desktop
    }
  }
  // snippet end
}
