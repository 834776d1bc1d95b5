/// A screen saver: whether the screen is blank, which is not whether it is locked.
final class ScreenSaverService: SessionService {
  let service: DesktopSessionReport.Service
  private unowned let monitor: SessionMonitor
  private let watch: NameWatch

  init(_ monitor: SessionMonitor, _ service: DesktopSessionReport.Service) {
    self.monitor = monitor
    self.service = service
    watch = NameWatch(service == .screenSaver ? "org.freedesktop.ScreenSaver" : "org.gnome.ScreenSaver", monitor)
  }

  func busIsReady(_ connection: BusConnection) {
    do throws(BusError) {
      // The interface has the service's name; the path differs between desktops.
      let rule = "type='signal',sender='\(watch.name)',interface='\(watch.name)',member='ActiveChanged'"
      try connection.subscribe(rule) { [weak self] message in
        guard let self, watch.owner != nil, message.sender == watch.owner else { return }
        do throws(BusError) {
          monitor.setBlanked(try message.bool(), by: service)
        } catch {
          monitor.report(incident: "\(service) sent ActiveChanged: \(error)")
        }
      }
    } catch {
      return monitor.emit(.standing(service, .absent(error.description)))
    }
    watch.begin(
      on: connection,
      changed: { [weak self] owner in
        guard let self else { return }
        monitor.setBlanked(false, by: service)
        monitor.emit(.standing(service, owner == nil ? .absent("the service has ended") : .connected("")))
      },
      failed: { [weak self] error in
        guard let self else { return }
        monitor.emit(.standing(service, .absent(error.description)))
      })
  }

  func busWasLost(_ reason: String) {
    watch.forget()
    monitor.setBlanked(false, by: service)
    monitor.emit(.standing(service, .absent(reason)))
  }
}
