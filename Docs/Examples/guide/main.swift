// Apple's guide to state preservation as one program: each listing of it, in its order, with the classes made of the parts.
// Kill it at any time, and start it again.
// usage: guide [URL]
// commands: show · a number selects · edit · type TEXT · select FROM TO · sort · back · protect CLASS · handle · away · work
//           · home · url URL · focus · lock · unlock · passcode · quit
import Foundation
import Observation
import StateRestoration

// MARK: The data, which is a file of its own and no state

/// The notes, and where each one's row is now: the data source with model identifiers.
final class Notes: DataSourceModelAssociation {
  let texts = ["apple": "An apple", "banana": "A banana", "cherry": "A cherry"]
  var isDescending = false

  var titles: [String] { texts.keys.sorted { isDescending ? $0 > $1 : $0 < $1 } }

  func modelIdentifier(forElementAt path: IndexPath, in list: ListController) -> ModelIdentifier? {
    titles.indices.contains(path[1]) ? ModelIdentifier(titles[path[1]]) : nil
  }

  func indexPath(forElementWithModelIdentifier note: ModelIdentifier, in list: ListController) -> IndexPath? {
    titles.firstIndex(of: note.rawValue).map { [0, $0] }
  }
}

// MARK: Controllers and views, with restoration identifiers

/// What every screen of the program preserves; its subclasses add to that, and call `super`.
class ScreenController: CodingObject, RestorationViewOwner, FinishingObject {
  var restoration: RestorationIdentity
  var restorationViews: [any RestorableView] { [] }
  /// How often the screen was shown.
  private(set) var visits = 0

  init(_ restoration: RestorationIdentity) { self.restoration = restoration }

  func appear() {
    visits += 1
    invalidateRestorableState()
  }

  func encodeRestorableState(with coder: RestorationEncoder) {
    coder.encode(visits, forKey: "visits")
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    visits = try coder.decodeIfPresent(Int.self, forKey: "visits") ?? 0
  }

  func applicationFinishedRestoringState() {}
}

/// The selection in the text of an editor: a view keeps its own state, when its controller is preserved.
final class TextView: RestorableView, CodingObject {
  let restoration: RestorationIdentity = "text"
  var selection = 0..<0

  func encodeRestorableState(with coder: RestorationEncoder) {
    coder.encode([selection.lowerBound, selection.upperBound], forKey: "selection")
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    if let ends = try coder.decodeIfPresent([Int].self, forKey: "selection"), ends.count == 2, ends[0] <= ends[1] {
      selection = ends[0]..<ends[1]
    }
  }
}

/// An editor of one note: made by its restoration class, not by the program.
final class EditorController: ScreenController, SensitiveContent {
  let note: String
  let textView = TextView()
  private(set) var draft = ""
  private(set) var isHidden = false
  private(set) var wasRestored = false
  override var restorationViews: [any RestorableView] { [textView] }

  init(note: String) {
    self.note = note
    super.init(RestorationIdentity("editor", class: "editor"))
  }

  func type(_ text: String) {
    draft += text
    invalidateRestorableState()
  }

  func select(_ range: Range<Int>) {
    textView.selection = range
    textView.invalidateRestorableState()
  }

  static func makeForRestoration(at path: RestorationPath, coder: RestorationDecoder) -> EditorController? {
    // Without its note it is not made: nil is the class's last word.
    guard let note = try? coder.decodeIfPresent(String.self, forKey: "note") else { return nil }
    return EditorController(note: note)
  }

  override func encodeRestorableState(with coder: RestorationEncoder) {
    super.encodeRestorableState(with: coder)
    coder.encode(note, forKey: "note")
    coder.encode(draft, forKey: "draft")
  }

  override func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    try super.decodeRestorableState(with: coder)
    draft = try coder.decodeIfPresent(String.self, forKey: "draft") ?? ""
  }

  override func applicationFinishedRestoringState() { wasRestored = true }

  func hideSensitiveContent() { isHidden = true }
  func revealSensitiveContent() { isHidden = false }
}

// MARK: The application's delegate

/// Consent, the version check, the program's own state, the life cycle, the snapshot and the URL.
final class AppDelegate: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
  let notes = Notes()
  let list: ListController
  let stack: NavigationController
  var application: RestorableApplication?
  var device: ProtectedDevice?
  var handle: ProtectedFiles.Handle?
  private(set) var heard: [String] = []

  init() {
    list = ListController("list", association: notes)
    stack = NavigationController("stack", root: list)
  }

  var rootController: (any RestorableController)? { stack }
  var editor: EditorController? { stack.top as? EditorController }

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool {
    coder.encode("notes", forKey: "program")
    return true
  }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool {
    // The listing's version check: state of another interface is not restored.
    let version = ProcessInfo.processInfo.environment["GUIDE_REFUSES_VERSION"]
    return coder.context.versionTag?.rawValue != version
  }

  func willEncodeRestorableState(with coder: RestorationEncoder) {
    coder.encode(notes.isDescending, forKey: "descending")
  }

  func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    notes.isDescending = try coder.decodeIfPresent(Bool.self, forKey: "descending") ?? false
  }

  func willFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse {
    // Only notes have URLs that this program opens.
    if case .url(let url) = options.reason, url.scheme != "note" { return .declinesURL }
    return .proceed
  }

  func didFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse {
    list.dataSourceDidLoad(elementCounts: [notes.titles.count])
    return .proceed
  }

  func open(_ url: URL) -> Bool {
    let note = url.absoluteString.replacingOccurrences(of: "note:", with: "")
    guard notes.texts[note] != nil else { return false }
    edit(note)
    return true
  }

  func edit(_ note: String) {
    stack.popToRoot()
    let editor = EditorController(note: note)
    stack.push(editor)
    editor.appear()
  }

  func willResignActive() async {
    // What an interrupted program saves is on disk before it is inactive.
    _ = try? await application?.preserve()
    heard.append("resigned")
  }

  func didEnterBackground() { heard.append("background") }
  func willEnterForeground() { heard.append("foreground") }
  func didReceiveMemoryWarning() { heard.append("memory") }

  func makeSnapshot() -> Data? { Data(picture.utf8) }
  private(set) var wasPictured = false

  func showSnapshot(_ snapshot: Data) {
    wasPictured = true
    print("Snapshot: \(String(decoding: snapshot, as: UTF8.self))")
  }

  var picture: String {
    guard let editor else { return "list" }
    return editor.isHidden ? "editor of \(editor.note)" : "editor of \(editor.note): \(editor.draft)"
  }
}

// MARK: The program

let delegate = AppDelegate()

@MainActor func draw() {
  if let editor = delegate.editor {
    let selection = editor.textView.selection
    print(
      "Editor of \(editor.note), visit \(editor.visits): \(editor.draft) "
        + "[\(selection.lowerBound), \(selection.upperBound)]\(editor.wasRestored ? " restored" : "")")
  } else {
    for (row, title) in delegate.notes.titles.enumerated() {
      print(delegate.list.selection == [[0, row]] ? ">" : " ", row + 1, title)
    }
  }
  print("ok")
}

/// The file of the listings: made under a class, which is changed later.
let fileName = "diary"

@MainActor func handle(_ words: [String], _ application: RestorableApplication, _ device: ProtectedDevice) async throws
  -> Bool
{
  let lifecycle = application.lifecycle
  let files = try device.files(in: "documents")
  let rest = words.dropFirst().joined(separator: " ")
  switch words.first {
  case "show": break
  case "edit":
    let path = delegate.list.selection.first ?? [0, 0]
    delegate.edit(delegate.notes.titles[path[1]])
  case "type": delegate.editor?.type(rest)
  case "select":
    if words.count == 3, let from = Int(words[1]), let to = Int(words[2]), from <= to {
      delegate.editor?.select(from..<to)
    }
  case "sort":
    delegate.notes.isDescending.toggle()
    delegate.list.dataSourceDidLoad(elementCounts: [delegate.notes.titles.count])
  case "back": delegate.stack.pop()
  case "write": try files.write(Data(rest.utf8), to: fileName)
  case "append":
    if let handle = delegate.handle {
      try handle.append(Data(rest.utf8))
    } else {
      try files.append(Data(rest.utf8), to: fileName)
    }
  case "read":
    do {
      print("File: \(String(decoding: try files.read(fileName), as: UTF8.self))")
    } catch {
      print("File: \(error.code)")
    }
  case "protect":
    let classes: [String: ProtectionClass] = [
      "complete": .complete, "unlessOpen": .completeUnlessOpen, "none": .none,
      "firstUnlock": .completeUntilFirstUserAuthentication,
    ]
    if let protection = classes[rest] { try files.setProtection(protection, of: fileName) }
    print("Class: \(try files.attributes(of: fileName).protection)")
  case "handle":
    let handle = try files.open(fileName)
    application.manage(handle)
    delegate.handle = handle
  case "handled":
    do {
      if let handle = delegate.handle { print("Handle: \(try handle.byteCount)") }
    } catch {
      print("Handle: \(error)")
    }
  case "focus":
    if lifecycle.state == .active { try await lifecycle.resignActive() } else { try await lifecycle.becomeActive() }
    print("State: \(lifecycle.state)")
  case "away": try await lifecycle.enterBackground()
  case "work":
    // Work that goes on in the background changes the state, and the snapshot with it.
    let task = try lifecycle.beginBackgroundTask(named: "sync") {}
    try await lifecycle.enterBackground()
    delegate.editor?.type(" synced")
    try lifecycle.endBackgroundTask(task)
    while lifecycle.state != .suspended { await Task.yield() }
  case "home": try await lifecycle.enterForeground()
  case "url": print(URL(string: rest) == nil ? "no URL" : "Opened: \(try await lifecycle.open(URL(string: rest)!))")
  case "warn": lifecycle.receiveMemoryWarning()
  case "heard": print("Heard: \(delegate.heard.joined(separator: ", "))")
  case "pictured": print("Pictured: \(delegate.wasPictured)")
  case "passcode": try await device.setPasscode(ProtectedDevice.Passcode(rest))
  case "lock":
    try await lifecycle.sleep()
    device.lock(gracePeriod: .zero)
  case "unlock":
    try await device.unlock(passcode: ProtectedDevice.Passcode(rest))
    await application.finishLateRestoration()
    if lifecycle.state != .active { try await lifecycle.enterForeground() }
  case "quit":
    try await lifecycle.terminate()
    return false
  default:
    if let number = words.first.flatMap({ Int($0) }) { delegate.list.select([[0, number - 1]]) }
  }
  draw()
  return true
}

let device = try await ProtectedDevice.open(at: .applicationState("com.example.guide"))
let configuration = RestorationConfiguration(application: "guide", interfaceVersion: "1")
let registry = RestorationRegistry()
registry.register(EditorController.self, as: "editor", make: EditorController.makeForRestoration)
let coordinator = try RestorationCoordinator(
  device: device, delegate: delegate, configuration: configuration, registry: registry)
let application = try RestorableApplication(device: device, coordinator: coordinator, delegate: delegate)
(delegate.application, delegate.device) = (application, device)
let url = CommandLine.arguments.dropFirst().first.flatMap { URL(string: $0) }
try await application.launch(url.map(Lifecycle.LaunchOptions.opening) ?? .icon)
coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(250))
application.answerSignals()
draw()
while let line = await Task.detached(operation: { readLine() }).value {
  guard try await handle(line.split(separator: " ").map(String.init), application, device) else { break }
}
