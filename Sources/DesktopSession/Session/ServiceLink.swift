/// The driver's side of one service on a bus: its standing, its signals, and calls to it.
///
/// Only signals of the name's owner are believed, and only answers of the owner that was asked.
final class ServiceLink {
  /// The service's name in the report.
  let service: DesktopSessionDriver.Report.Service
  private unowned let monitor: SessionMonitor
  private let watch: NameWatch
  private weak var user: (any SessionService)?
  private weak var connection: BusConnection?
  /// The rules that the connection has.
  private var rules: Set<String> = []
  /// The failure that was reported last, so that one that lasts is reported once.
  private var failure: String?
  /// The pause before the next attempt.
  private var delay: Duration
  /// Raised whenever the owner changes, so that late answers of an earlier one are dropped.
  private var epoch = 0

  /// Makes a link; nothing is sent before a bus is ready.
  ///
  /// - Parameters:
  ///   - name: The service's name on the bus.
  ///   - startsService: Whether the bus may start the service.
  init(
    to service: DesktopSessionDriver.Report.Service, at name: String, _ monitor: SessionMonitor,
    startsService: Bool = false
  ) {
    self.service = service
    self.monitor = monitor
    delay = monitor.options.reconnectDelays.lowerBound
    watch = NameWatch(name, monitor, startsService: startsService)
  }

  /// The service's name on the bus.
  var name: String { watch.name }

  /// Whether somebody has the name.
  var isThere: Bool { watch.owner != nil }

  /// This program's own name on the bus; nil while there is none.
  var uniqueName: String? { connection?.uniqueName }

  // MARK: - The bus

  /// The bus answers; the connection stays until ``busWasLost(_:)``.
  func busIsReady(_ connection: BusConnection, for user: any SessionService) {
    self.user = user
    self.connection = connection
    rules = []
    do throws(BusError) {
      try user.listen()
    } catch {
      return fail(error)
    }
    watch.begin(
      on: connection,
      changed: { [weak self] owner in self?.ownerChanged(owner) },
      failed: { [weak self] error in self?.fail(error) })
  }

  /// The bus is gone or was never reached.
  func busWasLost(_ reason: String) {
    epoch += 1
    watch.forget()
    connection = nil
    user?.ended(withBus: true)
    monitor.emit(.standing(service, .absent(reason)))
  }

  private func ownerChanged(_ owner: String?) {
    epoch += 1
    guard owner != nil else {
      user?.ended(withBus: false)
      return monitor.emit(.standing(service, .absent("the service has ended")))
    }
    user?.begin()
  }

  // MARK: - The standing

  /// The service's announcements arrive.
  func succeed(_ detail: String = "") {
    failure = nil
    delay = monitor.options.reconnectDelays.lowerBound
    monitor.emit(.standing(service, .connected(detail)))
  }

  /// The service is of no use now; one that is not installed is nothing to report.
  ///
  /// - Parameter retry: Done after a pause, which doubles from one failure to the next.
  func fail(_ error: BusError, retry: (() -> Void)? = nil) {
    monitor.emit(.standing(service, .absent(error.description)))
    if !error.isAbsentService, failure != error.description {
      failure = error.description
      monitor.report(incident: "\(service): \(error)")
    }
    guard let retry else { return }
    after(delay, retry)
    delay = min(delay * 2, monitor.options.reconnectDelays.upperBound)
  }

  /// Does something later, unless the service has another owner by then.
  func after(_ delay: Duration, _ body: @escaping () -> Void) {
    let epoch = epoch
    monitor.after(delay) { [weak self] in
      if self?.epoch == epoch { body() }
    }
  }

  // MARK: - Signals and calls

  /// Has a signal of the service delivered for as long as the connection lives.
  ///
  /// A message that is not what its interface promises makes `body` throw, and is reported.
  ///
  /// - Parameter path: The sending object; nil for all.
  func on(
    _ member: String, of interface: String, at path: String? = nil,
    _ body: @escaping (BusMessage) throws(BusError) -> Void
  ) throws(BusError) {
    var rule = "type='signal',sender='\(name)',interface='\(interface)',member='\(member)'"
    if let path { rule += ",path='\(path)'" }
    guard let connection, rules.insert(rule).inserted else { return }
    try connection.subscribe(rule) { [weak self] message in
      guard let self, isThere, message.sender == watch.owner else { return }
      do throws(BusError) {
        try body(message)
      } catch {
        monitor.report(incident: "\(service) sent \(member): \(error)")
      }
    }
  }

  /// Sends a call; an answer that comes after the service was restarted is dropped.
  func send(_ call: BusCall, _ reply: @escaping (Result<BusMessage, BusError>) -> Void) {
    let epoch = epoch
    connection?.send(call, timeout: monitor.options.callTimeout) { [weak self] result in
      if self?.epoch == epoch { reply(result) }
    }
  }
}
