import DesktopSession
import StateRestoration

/// Joins the program with its desktop session.
@MainActor final class DesktopFollower {
  private let application: DemoApplication
  private let log: any RestorationLog
  private let deviceOptions: DeviceOptions
  private var driver: DesktopSessionDriver?

  init(application: DemoApplication, log: any RestorationLog, deviceOptions: DeviceOptions) {
    self.application = application
    self.log = log
    self.deviceOptions = deviceOptions
  }

  /// Begins to follow the session of a launched program.
  ///
  /// - Parameter onEnd: Called when the session has ended the program.
  func start(onEnd: @escaping @MainActor () -> Void) {
    guard let restorable = application.application else { return }
    var options = DesktopSessionOptions(applicationName: "restore-demo")
    options.log = log
    let driver = DesktopSessionDriver(
      application: restorable, device: application.device, deviceOptions: deviceOptions, options: options,
      onEnd: { _ in onEnd() })
    application.desktopReport = { [weak driver] in driver?.report.description ?? "" }
    driver.start()
    self.driver = driver
  }
}
