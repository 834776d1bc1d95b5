import ApplicationLifecycle
import FoundationEssentials
import RestorationArchive
import StateRestoration
import StateRestorationTesting

/// A small healthy program: a window with a list and an editor.
@MainActor final class NotesApp: HarnessApplication {
  let root = NotesWindow()
  var calls: [String] = []
  var shown: [String] = []
  var windowCount = 0
  private let response: Lifecycle.LaunchResponse

  init(response: Lifecycle.LaunchResponse = .proceed) { self.response = response }

  var rootController: (any RestorableController)? { root }

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func willFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse {
    calls.append("willFinishLaunching")
    return response
  }
  func didFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse {
    calls.append("didFinishLaunching")
    return .proceed
  }
  func didBecomeActive() { calls.append("didBecomeActive") }
  func willTerminate() { calls.append("willTerminate") }
  func didReceiveMemoryWarning() { calls.append("memoryWarning") }
  func didRestore(_ report: RestorationReport) { calls.append("didRestore") }
  func showWindow() { windowCount += 1 }
  func makeSnapshot() -> Data? { Data("picture of \(root.editor.draft)".utf8) }
  func showSnapshot(_ snapshot: Data) { shown.append(String(decoding: snapshot, as: UTF8.self)) }
  func removeSnapshot() { shown.append("removed") }
}

@MainActor final class NotesWindow: RestorationParent {
  let restoration: RestorationIdentity = "root"
  let list = NotesList()
  let editor = NotesEditor()
  var restorationChildren: [any RestorableController] { [list, editor] }
}

@MainActor final class NotesList: RestorableController {
  let restoration: RestorationIdentity = "list"
  @Restored("query") var query = ""
}

@MainActor final class NotesEditor: RestorableController, CodingObject {
  let restoration: RestorationIdentity = "editor"
  var draft = ""
  var caret = 0
  /// Runs in the middle of restoring.
  var onDecoded: @MainActor () -> Void = {}

  func encodeRestorableState(with coder: RestorationEncoder) {
    coder.encode(draft, forKey: "draft")
    coder.encode(caret, forKey: "caret")
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    draft = try coder.decode(String.self, forKey: "draft")
    caret = try coder.decode(Int.self, forKey: "caret")
    onDecoded()
  }
}
