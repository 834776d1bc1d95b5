import StateRestoration

struct QuickStartSnippets {
  typealias EditorController = ThreeWaysSnippets.EditorController

  // snippet: QuickStart
  final class AppDelegate: RestorationCoordinatorDelegate {
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
  }

  @MainActor func run(delegate: AppDelegate) async throws {
    let device = try await ProtectedDevice.open(at: .applicationState("com.example.notes"))
    let restorer = try RestorationCoordinator(device: device, delegate: delegate)
    restorer.register(EditorController.self, as: "editor")

    let window = WindowController(restorationIdentifier: "window", content: EditorController())
    let report = try await restorer.restore(into: window)
    print(report)  // what came back, what did not and why

    restorer.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    let outcome = try await restorer.preserve(window)
    print(outcome)  // what was saved, and whether it would survive a power cut
  }
  // snippet end
}
