import Observation
import StateRestoration

struct ThreeWaysSnippets {
  // snippet: ThreeWays
  // 1. Marked properties. In an @Observable class: @ObservationIgnored @Restored("query") var query = ""
  final class SearchController: RestorableController {
    let restoration: RestorationIdentity = "search"
    @Restored("query") var query = ""
  }

  // 2. One Codable value.
  nonisolated struct EditorState: Codable, Sendable {
    var draft = ""
    var caret = 0
  }

  @Observable final class EditorController: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "editor"
    var restorableState = EditorState()
  }

  // 3. UIKit's way, for class trees.
  class CanvasController: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "canvas"
    var zoom = 1.0

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(zoom, forKey: "zoom")
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      zoom = try coder.decodeIfPresent(forKey: "zoom") ?? zoom
    }
  }
  // snippet end
}
