/// A screen saver: whether the screen is blank, which is not whether it is locked.
final class ScreenSaverService: SessionService {
  let link: ServiceLink
  private unowned let monitor: SessionMonitor

  init(_ monitor: SessionMonitor, _ service: DesktopSessionDriver.Report.Service) {
    self.monitor = monitor
    let name = service == .screenSaver ? "org.freedesktop.ScreenSaver" : "org.gnome.ScreenSaver"
    link = ServiceLink(to: service, at: name, monitor)
  }

  func listen() throws(BusError) {
    // The interface has the service's name; the path differs between desktops.
    try link.on("ActiveChanged", of: link.name) { [weak self] message throws(BusError) in
      let isActive = try message.bool()
      self?.setBlanked(isActive)
    }
  }

  func begin() {
    setBlanked(false)
    link.succeed()
  }

  func ended(withBus isBusLost: Bool) { setBlanked(false) }

  private func setBlanked(_ isBlanked: Bool) { monitor.setBlanked(isBlanked, by: link.service) }
}
