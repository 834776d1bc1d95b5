import Foundation
import Observation
import StateRestoration

struct LifeOfAProgramSnippets {
  // snippet: LifeParts
  final class Notes: RestorationCoordinatorDelegate, RestorableApplicationDelegate {
    let window = WindowController("window", content: StoredValue("draft", ""))

    var rootController: (any RestorableController)? { window }

    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

    func didRestore(_ report: RestorationReport) { print(report) }
    func didReceiveMemoryWarning() { print("caches are emptied") }
    func willTerminate() { print("the last save follows") }
  }

  @MainActor func run(_ notes: Notes, showing show: () async -> Void) async throws {
    let device = try await ProtectedDevice.open(at: .applicationState("com.example.notes"))
    let coordinator = try RestorationCoordinator(device: device, delegate: notes)
    let application = try RestorableApplication(device: device, coordinator: coordinator, delegate: notes)

    try await application.launch()
    coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(250))
    application.answerSignals()
    await show()
    try await application.lifecycle.terminate()
  }
  // snippet end

  // snippet: LifeObservers
  final class Downloads {
    private var observation: Lifecycle.Observation?

    @MainActor func follow(_ lifecycle: Lifecycle) {
      observation = lifecycle.observeCallbacks { [weak self] callback in
        switch callback {
        case .willResignActive: await self?.saveList()
        case .didReceive(let notification) where notification.kind == .locale: self?.formatAgain()
        default: break
        }
      }
    }

    func saveList() async {}
    func formatAgain() {}
  }
  // snippet end

  // snippet: LifeSensitive
  @Observable final class AccountController: RestorableController, StatefulObject, SensitiveContent {
    let restoration: RestorationIdentity = "account"
    var restorableState = 0
    private(set) var isHidden = false

    func hideSensitiveContent() { isHidden = true }
    func revealSensitiveContent() { isHidden = false }
  }
  // snippet end

  // snippet: LifeBackground
  @MainActor func upload(_ pages: [String], of application: RestorableApplication) async throws {
    try await application.lifecycle.withBackgroundTask(named: "upload") {
      for page in pages {
        try Task.checkCancellation()  // the time in the background is over
        try await send(page)
      }
    }
  }
  // snippet end

  func send(_ page: String) async throws {}

  // snippet: LifeTerminal
  @MainActor func driveTerminal(_ application: RestorableApplication, restoringTerminal: @escaping () -> Void) {
    application.answerSignals([.hangUp, .terminate, .terminalStop, .resume]) { _ in restoringTerminal() }
  }
  // snippet end
}

// snippet: LifeSession
@MainActor final class Reader {
  var sortsByDate = false
}

// In an extension of its own: there the compiler warns of a misspelt method.
extension Reader: RestorationSessionDelegate {
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { coder.context.versionTag == "2" }

  func willEncodeRestorableState(with coder: RestorationEncoder) { coder.encode(sortsByDate, forKey: "sort") }
  func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    sortsByDate = try coder.decodeIfPresent(Bool.self, forKey: "sort") ?? false
  }

  func didEnterBackground() { print("nobody sees it now") }
  func makeSnapshot() -> Data? { Data("a picture".utf8) }
  func sessionDidEnd(by signal: Lifecycle.Signal?) { print("the terminal is the user's again") }
}

@MainActor func run(_ draft: StoredValue<String>, _ reader: Reader) async throws {
  try await RestorationSession.run(at: .applicationState("com.example.reader"), root: draft, delegate: reader) {
    session in
    let files = try session.device.files(in: "notes")
    session.application?.manage(try files.open("today"))
  }
}
// snippet end
