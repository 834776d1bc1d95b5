import DesktopSession
import Observation
import StateRestoration

struct DesktopSessionSnippets {
  // snippet: FollowSession
  @MainActor func followSession(
    of application: RestorableApplication, on device: ProtectedDevice
  ) -> DesktopSessionDriver {
    var options = DesktopSessionDriver.Options(applicationName: "Notes")
    options.onUnlock = { print("Show the field for the passcode.") }
    let driver = DesktopSessionDriver(application: application, device: device, options: options)
    driver.start()
    return driver  // keep it for as long as the program runs
  }
  // snippet end

  // snippet: Extent
  @Observable final class DocumentController: RestorableController, StatefulObject {
    let restoration = RestorationIdentity("document", class: "document")
    var restorableState = ""
  }

  @MainActor func registerDocuments(in registry: RestorationRegistry) {
    registry.register(DocumentController.self, as: "document", extent: .restore) { _, _ in DocumentController() }
  }

  @MainActor func launch(_ application: RestorableApplication, isSessionRestored: Bool) async throws {
    try await application.launch(Lifecycle.LaunchOptions(extent: isSessionRestored ? .restore : .launch))
  }
  // snippet end

  // snippet: Custody
  @MainActor func openDevice() async throws -> ProtectedDevice {
    var options = ProtectedDevice.Options()
    options.gracePeriod = .zero
    options.keyProvider = SecretServiceKey(application: "com.example.notes", label: "Notes: device key")
    options.custody = SessionKeyring(.session, timeLimit: .seconds(8 * 3600))
    return try await ProtectedDevice.open(at: .applicationState("com.example.notes"), options: options)
  }
  // snippet end
}
