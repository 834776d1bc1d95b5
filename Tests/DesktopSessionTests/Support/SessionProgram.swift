import DesktopSession
import Foundation
import StateRestoration
import Testing

/// A program in a desktop session: a device with a passcode, one controller, the life cycle and the driver.
@MainActor final class SessionProgram {
  let desktop: MockDesktop
  let device: ProtectedDevice
  let draft = Draft()
  let log = EventLog()
  let delegate: Delegate
  let coordinator: RestorationCoordinator
  let application: RestorableApplication
  private(set) var driver: DesktopSessionDriver!
  var ends: [DesktopSessionDriver.End] = []

  static let passcode = "correct horse"

  /// Makes and launches the program; nobody has answered on the bus when this returns.
  init(
    on desktop: MockDesktop, grace: Duration = .seconds(10), custody: (any ProtectedDevice.KeyCustody)? = nil,
    options change: (inout DesktopSessionDriver.Options) -> Void = { _ in }
  ) async throws {
    self.desktop = desktop
    var deviceOptions = ProtectedDevice.Options()
    deviceOptions.gracePeriod = grace
    deviceOptions.custody = custody
    device = try await ProtectedDevice.open(at: .directory(desktop.state), options: deviceOptions)
    if !device.hasPasscode { try await device.setPasscode(ProtectedDevice.Passcode(Self.passcode)) }
    delegate = Delegate(draft, log)
    var configuration = RestorationConfiguration(application: "test", applicationVersion: "1")
    configuration.log = log.log
    coordinator = try RestorationCoordinator(device: device, delegate: delegate, configuration: configuration)
    application = try RestorableApplication(device: device, coordinator: coordinator, delegate: delegate)
    try await application.launch()
    var options = desktop.options(log: log)
    change(&options)
    driver = DesktopSessionDriver(
      application: application, device: device, options: options, onEnd: { [weak self] in self?.ends.append($0) })
    driver.start()
  }

  /// Waits until the driver holds the inhibitor and hears the portal.
  func connect() async throws {
    try await Machine.wait(for: "the services: \(driver.report)") {
      driver.report.holdsInhibitor && driver.report.services[.portal]?.isConnected == true
        && driver.report.services[.logind]?.isConnected == true
    }
  }

  func wait(forEntry text: String) async throws {
    try await Machine.wait(for: "\(text) in \(log.all)") { log.position(of: text) != nil }
  }

  func wait(for state: Lifecycle.State) async throws {
    try await Machine.wait(for: "\(state) instead of \(application.lifecycle.state): \(log.all)") {
      application.lifecycle.state == state
    }
  }

  /// One text, preserved.
  @MainActor final class Draft: RestorableController {
    let restoration: RestorationIdentity = "draft"
    @Restored("text") var text = ""
  }

  /// Says yes to everything, and notes saves.
  @MainActor final class Delegate: RestorableApplicationDelegate, RestorationCoordinatorDelegate {
    private let draft: Draft
    private let log: EventLog
    /// Called on the main actor when a save begins.
    var onSave: () -> Void = {}

    init(_ draft: Draft, _ log: EventLog) {
      self.draft = draft
      self.log = log
    }

    var rootController: (any RestorableController)? { draft }
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool {
      onSave()
      return true
    }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
    func didPreserve(_ result: Result<PreservationOutcome, RestorationError>) {
      if case .success(.preserved(let receipt)) = result { log.add("preserved \(receipt.durability)") }
    }
    func protectedDataWillBecomeUnavailable() { log.add("keys go") }
    func didReceive(_ notification: Lifecycle.Notification) { log.add("\(notification)") }
  }
}
