// Two windows that come back, each with its text and its dialogue, in a terminal. Kill it at any time, and start it again.
// commands: window NAME opens a window or brings it to the front · close · rename · text · in the dialogue any text is the
// name, and an empty line ends it
import StateRestoration

/// A window: a title, a text, and a dialogue over it that asks for another title.
final class Page: ContainerController {
  let text = StoredValue("text", "")
  let title = StoredValue("title", "Untitled")
  let name: String

  init(_ name: String) {
    self.name = name
    super.init(restorationIdentifier: "window")
    expectResult(of: "rename", as: String.self) { [weak self] in self?.title.value = $0 }
  }

  override var containedControllers: [any RestorableController] { [text, title] }
}

/// The dialogue: a save finds it presented, so a launch makes it again.
final class RenameDialogue: PresentableController {
  let restorationIdentifier: RestorationIdentifier? = "rename"
  let restorationClass: RestorationClass? = "rename"
  @Restored("name") var name = ""
  var presentation: Presentation?
}

/// Says yes, and makes the windows that were open.
final class Program: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
  var pages: [SceneSession.ID: Page] = [:]

  var rootController: (any RestorableController)? { nil }

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func makeRoot(for session: SceneSession) -> (any RestorableController)? {
    let page = Page(session.id.rawValue)
    pages[session.id] = page
    return page
  }
}

let program = Program()
let registry = RestorationRegistry()
registry.register(RenameDialogue.self, as: "rename") { _, _ in RenameDialogue() }
let device = try await ProtectedDevice.open(at: .applicationState("com.example.two-windows"))
let scenes = try SceneSessions(device: device, delegate: program, registry: registry)
let application = try RestorableApplication(device: device, scenes: scenes, delegate: program)

/// Opens a window, new or closed before, or brings it to the front.
@MainActor func showWindow(_ name: String) async throws {
  let id = SceneSession.ID(name)
  if program.pages[id] != nil { return try await scenes.activate(id) }
  let coordinator = try await scenes.open(id)
  let page = Page(name)
  program.pages[id] = page
  try await coordinator.restore(into: page)
  preserveAutomatically(coordinator)
}

@MainActor func preserveAutomatically(_ coordinator: RestorationCoordinator) {
  coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(250))
}

@MainActor func draw() {
  for session in scenes.sessions where session.isOpen {
    guard let page = program.pages[session.id] else { continue }
    print("\(session == scenes.frontmost ? "*" : " ") \(page.name): \(page.title.value): \(page.text.value)")
    if let dialogue = page.presentedController as? RenameDialogue { print("    New title? \(dialogue.name)") }
  }
}

@MainActor func handle(_ line: String) async throws {
  guard let front = scenes.frontmost, let page = program.pages[front.id] else {
    return try await showWindow(line.hasPrefix("window ") ? String(line.dropFirst(7)) : "first")
  }
  if let dialogue = page.presentedController as? RenameDialogue {
    if line.isEmpty { dialogue.presentation?.finish(with: dialogue.name) } else { dialogue.name += line }
  } else if line.hasPrefix("window ") {
    try await showWindow(String(line.dropFirst(7)))
  } else if line == "close" {
    try await scenes.close(front.id)
    program.pages[front.id] = nil
  } else if line == "rename" {
    page.present(RenameDialogue())
  } else {
    page.text.value += line
  }
}

try await application.launch()
for session in scenes.sessions where session.isOpen { preserveAutomatically(try scenes.coordinator(for: session.id)) }
let driver = SignalDriver()
driver.start(driving: application.lifecycle)
draw()
while let line = await Task.detached(operation: { readLine() }).value {
  try await handle(line)
  draw()
}
try await application.lifecycle.terminate()
