// Two windows that come back, each with its text and its dialogue, in a terminal. Kill it at any time, and start it again.
// commands: window NAME opens a window or brings it to the front · close · reopen · rename · passcode TEXT sets one, which the next
// launch asks for · text · in the dialogue any text is the name, and an empty line ends it
import StateRestoration

/// A window: a title, a text, and a dialogue over it that asks for another title.
final class Page: ContainerController {
  let text = StoredValue("text", "")
  let title = StoredValue("title", "Untitled")
  let id: RestoredWindow.ID

  init(_ id: RestoredWindow.ID) {
    self.id = id
    super.init("window")
    expectResult(of: "rename", as: String.self) { [weak self] in self?.title.value = $0 }
  }

  override var containedControllers: [any RestorableController] { [text, title] }
}

/// The dialogue: a save finds it presented, so a launch makes it again.
final class RenameDialogue: PresentableController {
  let restoration = RestorationIdentity("rename", class: "rename")
  @Restored("name") var name = ""
  var presentation: ContainerController.Presentation?
}

let registry = RestorationRegistry()
registry.register(RenameDialogue.self, as: "rename") { _, _ in RenameDialogue() }

@MainActor func draw(_ windows: RestoredWindows<Page>) {
  for page in windows.roots {
    print("\(page === windows.roots.first ? "*" : " ") \(page.id): \(page.title.value): \(page.text.value)")
    if let dialogue = page.presentedController as? RenameDialogue { print("    New title? \(dialogue.name)") }
  }
}

@MainActor func handle(_ line: String, _ windows: RestoredWindows<Page>) async throws {
  if let page = windows.roots.first, let dialogue = page.presentedController as? RenameDialogue {
    if line.isEmpty { dialogue.presentation?.finish(with: dialogue.name) } else { dialogue.name += line }
  } else if line.hasPrefix("window ") {
    try await windows.open(RestoredWindow.ID(String(line.dropFirst(7))))
  } else if line == "reopen" {
    if try await windows.reopen() == nil { print("No window was closed.") }
  } else if line.hasPrefix("passcode ") {
    let text = String(line.dropFirst(9))
    if !text.isEmpty { try await windows.device.setPasscode(ProtectedDevice.Passcode(text)) }
  } else if let page = windows.roots.first {
    switch line {
    case "close": try await windows.close(page.id, title: page.title.value)
    case "rename": page.present(RenameDialogue())
    default: page.text.value += line
    }
  } else {
    try await windows.open("first")
  }
}

/// Reads a line on a thread of its own; the main actor stays free.
@MainActor func ask(_ question: String = "") async -> String? {
  if !question.isEmpty { print(question) }
  return await Task.detached { readLine() }.value
}

try await RestorationSession.run(
  at: .applicationState("com.example.two-windows"), windows: { Page($0.id) }, registry: registry
) { windows in
  guard try await windows.unlock(asking: { await ask("\($0)Passcode:") }) else { return }
  draw(windows)
  while let line = await ask() {
    try await handle(line, windows)
    draw(windows)
  }
}
