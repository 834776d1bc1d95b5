import DesktopSession
import StateRestoration

/// Joins the program with its desktop session.
@MainActor final class DesktopFollower {
  private let application: DemoApplication
  private let log: RestorationLog
  private var driver: DesktopSessionDriver?

  init(application: DemoApplication, log: RestorationLog) {
    self.application = application
    self.log = log
  }

  /// Begins to follow the session of a launched program.
  ///
  /// - Parameter onEnd: Called when the session has ended the program.
  func start(onEnd: @escaping @MainActor () -> Void) {
    var options = DesktopSessionDriver.Options(applicationName: "restore-demo")
    options.log = log
    let driver = DesktopSessionDriver(
      application: application.application, device: application.device, options: options, onEnd: { _ in onEnd() })
    application.desktopReport = { [weak driver] in driver?.report.description ?? "" }
    driver.start()
    self.driver = driver
  }
}
