import Foundation
import Observation
import StateRestoration
import Testing

@testable import two_windows

@MainActor @Suite struct WindowPartsSnippets {
  private let registry = RestorationRegistry()

  // snippet: WindowParts
  final class Program: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
    var pages: [SceneSession.ID: Page] = [:]

    var rootController: (any RestorableController)? { nil }

    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

    func makeRoot(for session: SceneSession) -> (any RestorableController)? {
      pages[session.id] = Page(session.id)
      return pages[session.id]
    }
  }

  @MainActor func launch(
    _ program: Program, on device: ProtectedDevice
  ) async throws -> (SceneSessions, RestorableApplication) {
    let scenes = try SceneSessions(device: device, delegate: program, registry: registry)
    let application = try RestorableApplication(device: device, scenes: scenes, delegate: program)
    try await application.launch()  // restores the windows that were open, if the device is unlocked
    for session in scenes.sessions where session.isOpen {
      try scenes.coordinator(for: session.id).preservesAutomatically = .onChange(coalescedOver: .milliseconds(250))
    }
    return (scenes, application)
  }
  // snippet end

  // snippet: ProgramScope
  @MainActor func order(in windows: RestoredWindows<Page>) async throws -> StoredValue<String> {
    let program = try await windows.openScope()
    return program.value("order", default: "by name")
  }
  // snippet end

  // snippet: Book
  @Observable final class Book: ContainerController {
    private(set) var pages: [any RestorableController] = []
    // A subclass may have marked properties, beside its coder methods.
    @ObservationIgnored @Restored("title") var title = ""

    override var containedControllers: [any RestorableController] { pages }

    override func install(_ children: [RestoredChild]) { pages = children.arranged(with: pages) }

    func add(_ page: any RestorableController) { pages.append(page) }
  }
  // snippet end

  @Test func `the parts find what the windows have saved`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "parts-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await RestorationSession.run(at: .directory(folder.path), windows: { Page($0.id) }, answering: []) { windows in
      try await windows.open("first").text.value = "one"
      try await windows.open("second").text.value = "two"
    }
    let program = Program()
    let (scenes, application) = try await launch(
      program, on: try await ProtectedDevice.open(at: .directory(folder.path)))
    #expect(program.pages.mapValues(\.text.value) == ["first": "one", "second": "two"])
    program.pages["first"]?.text.value = "last"
    try await application.lifecycle.terminate()
    #expect(try await scenes.preserveAll().count == 2)
  }
}
