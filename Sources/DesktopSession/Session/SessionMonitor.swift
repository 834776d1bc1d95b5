import Glibc
import StateRestoration

/// The state behind the loop: buses, services and timers.
///
/// It belongs to the loop's thread.
final class SessionMonitor {
  let options: DesktopSessionDriver.Options
  private let emitEvent: (SessionEvent) -> Void
  private let lockDevice: @Sendable () -> Void
  private var buses: [BusPeer] = []
  private var timers: [UInt64: (due: MonotonicTime, body: () -> Void)] = [:]
  private var lastTimer: UInt64 = 0
  private var lastTicket: UInt64 = 0
  private var blankedBy: Set<DesktopSessionDriver.Report.Service> = []
  private(set) var logind: LogindService!
  private(set) var portal: PortalService!

  /// Makes the services of both buses.
  ///
  /// - Parameters:
  ///   - emit: Takes the events, in order; must not block.
  ///   - lockDevice: Locks the device at once, on a thread of its own: the main actor has not come to it.
  init(
    options: DesktopSessionDriver.Options, emit: @escaping @Sendable (SessionEvent) -> Void,
    lockDevice: @escaping @Sendable () -> Void
  ) {
    self.options = options
    emitEvent = emit
    self.lockDevice = lockDevice
    logind = LogindService(self)
    portal = PortalService(self)
    let savers = [ScreenSaverService(self, .screenSaver), ScreenSaverService(self, .gnomeScreenSaver)]
    buses = [
      BusPeer(.system, options.systemBus, self, [logind]),
      BusPeer(.session, options.sessionBus, self, [portal] + savers),
    ]
  }

  // MARK: - The loop

  /// The descriptors to wait for.
  var descriptors: [pollfd] { buses.compactMap(\.descriptor) }

  /// When ``step()`` is due at the latest.
  var deadline: MonotonicTime? { (buses.compactMap(\.deadline) + timers.values.map(\.due)).min() }

  /// Does everything that can be done now.
  func step() {
    for bus in buses { bus.step() }
    let now = MonotonicTime.now
    for (id, timer) in timers.sorted(by: { $0.value.due < $1.value.due }) where timer.due <= now {
      // One that ran before may have cancelled this one.
      if timers.removeValue(forKey: id) != nil { timer.body() }
    }
  }

  /// Closes everything; the system waits for this program no longer.
  func close() {
    logind.close()
    for bus in buses { bus.close() }
    timers = [:]
  }

  // MARK: - For the services

  func emit(_ event: SessionEvent) { emitEvent(event) }

  func report(incident: String) {
    options.log.log(.warning, "desktop session: \(incident)")
    emit(.incident(incident))
  }

  func log(_ text: String) { options.log.log(.info, "desktop session: \(text)") }

  /// Has something done later, unless it is cancelled.
  @discardableResult
  func after(_ delay: Duration, _ body: @escaping () -> Void) -> UInt64 {
    lastTimer += 1
    timers[lastTimer] = (.now + delay, body)
    return lastTimer
  }

  func cancel(_ timer: UInt64?) {
    if let timer { timers[timer] = nil }
  }

  /// A number that no announcement had before.
  func nextTicket() -> UInt64 {
    lastTicket += 1
    return lastTicket
  }

  /// Locks the device because the main actor did not do it in time.
  func lockLate() { lockDevice() }

  /// One of the screen savers began or ended; told on when the screen as a whole changes.
  func setBlanked(_ isBlanked: Bool, by service: DesktopSessionDriver.Report.Service) {
    let before = !blankedBy.isEmpty
    if isBlanked { blankedBy.insert(service) } else { blankedBy.remove(service) }
    if before == blankedBy.isEmpty { emit(.blanked(!blankedBy.isEmpty)) }
  }
}
