import Dispatch
import Glibc
public import StateRestoration

extension Lifecycle.Notification.Kind {
  /// The screen is blank, or not any more: a change between `blank` and `on`.
  public static let screenBlanked: Lifecycle.Notification.Kind = "screenBlanked"
}

/// Drives a program by its desktop session: the screen's lock, sleep, shutdown, the end of the session.
///
/// ```swift
/// var options = DesktopSessionDriver.Options(applicationName: "Notes")
/// options.log = log
/// let driver = DesktopSessionDriver(application: application, device: device, options: options)
/// driver.start()
/// ```
///
/// | The session says | The driver does |
/// |---|---|
/// | the screen is locked | `sleep`: preserves, leaves the foreground, locks the device with its grace period |
/// | the screen is unlocked | asks the device's custody, `enterForeground`, then ``DesktopSessionDriver/Options/onUnlock`` |
/// | the machine will sleep | `sleep`, takes the keys away without grace, lets go of the inhibitor |
/// | the machine wakes | takes the inhibitor again; `enterForeground` unless the screen is locked |
/// | the machine stops | `terminate`, lets go of the inhibitor, calls `onEnd` |
/// | the session may end | preserves and answers |
/// | the session ends | `terminate`, calls `onEnd` |
/// | the screen is blank | posts a `Lifecycle.Notification`, or locks where the options say so |
///
/// A bus or a service that is missing, goes away, hangs or sends nonsense costs nothing but its announcements; ``report`` and
/// the log say so, and it is tried again. Nothing waits longer than its budget: a thread of the driver's own lets go of the
/// inhibitor, and locks the device, when the main actor doesn't come to it.
@MainActor public final class DesktopSessionDriver {
  /// Why the program is to end.
  public enum End: Sendable, Hashable {
    /// The machine is switched off or restarted.
    case shutdown
    /// The user's session ends.
    case session
  }

  /// The services that were reached, and the incidents so far.
  public private(set) var report = DesktopSessionDriver.Report()

  private let options: DesktopSessionDriver.Options
  private let device: ProtectedDevice
  private weak var application: RestorableApplication?
  private let onEnd: @MainActor (End) -> Void
  private var loop: SessionLoop?
  private var reader: Task<Void, Never>?
  private var worker: Task<Void, Never>?
  private var waiting: [SessionEvent] = []
  private var isBlanked = false

  /// Makes a driver.
  ///
  /// - Parameters:
  ///   - application: The program; not retained.
  ///   - device: The device to lock.
  ///   - options: How the session is used.
  ///   - onEnd: Called when the session has ended the life cycle; by default the process ends with success.
  public init(
    application: RestorableApplication, device: ProtectedDevice, options: DesktopSessionDriver.Options,
    onEnd: (@MainActor (End) -> Void)? = nil
  ) {
    self.application = application
    self.device = device
    self.options = options
    self.onEnd = onEnd ?? { _ in exit(EXIT_SUCCESS) }
    report.custody = device.options.custodyLines
  }

  isolated deinit { loop?.stop() }

  /// Begins to follow the session.
  public func start() {
    guard let application else { return }
    start(driving: application.lifecycle)
  }

  /// Begins to follow the session; returns at once, before any service has answered.
  public func start(driving lifecycle: Lifecycle) {
    precondition(loop == nil, "This session driver was started before; stop it first.")
    guard let loop = SessionLoop() else {
      report.add(incident: "the process has no file descriptor left, so the session is not followed")
      return
    }
    self.loop = loop
    for service in DesktopSessionDriver.Report.Service.allCases { report.services[service] = .connecting }
    let (events, sender) = AsyncStream.makeStream(of: SessionEvent.self)
    let device = device
    loop.start { [options] in
      SessionMonitor(
        options: options, emit: { sender.yield($0) },
        // Observers of a lock may hang: they must not hold up the buses.
        lockDevice: { DispatchQueue.global().async { device.lock(gracePeriod: .zero) } })
    }
    reader = Task { [weak self, weak lifecycle] in
      for await event in events {
        guard let self, let lifecycle, !Task.isCancelled else { return }
        receive(event, lifecycle)
      }
    }
  }

  /// Follows the session no longer; the system does not wait for this program any more.
  public func stop() {
    reader?.cancel()
    reader = nil
    waiting = []
    loop?.stop()
    loop = nil
    (report.isScreenLocked, isBlanked) = (false, false)
    report.holdsInhibitor = false
    report.services = [:]
  }

  // MARK: - Events

  /// Notes facts at once, and queues work that takes time.
  private func receive(_ event: SessionEvent, _ lifecycle: Lifecycle) {
    switch event {
    case .standing(let service, let standing): report.services[service] = standing
    case .inhibitor(let isHeld): report.holdsInhibitor = isHeld
    case .incident(let text): report.add(incident: text)
    case .lock, .unlock, .blanked, .sleeping, .woke, .shuttingDown, .queryEnd, .ending:
      waiting.append(event)
      handleNext(lifecycle)
    }
  }

  private func handleNext(_ lifecycle: Lifecycle) {
    guard worker == nil, !waiting.isEmpty else { return }
    worker = Task {
      while !waiting.isEmpty { await handle(waiting.removeFirst(), lifecycle) }
      worker = nil
    }
  }

  /// Whether nobody is to see the program.
  private var isCovered: Bool { report.isScreenLocked || isBlanked && options.locksWhenBlanked }

  private func handle(_ event: SessionEvent, _ lifecycle: Lifecycle) async {
    // A driver that is started again has another loop, with announcements of its own.
    let (loop, wasCovered) = (loop, isCovered)
    switch event {
    case .lock, .unlock: report.isScreenLocked = event == .lock
    case .blanked(let isBlanked):
      self.isBlanked = isBlanked
      let (before, after) = isBlanked ? ("on", "blank") : ("blank", "on")
      lifecycle.post(Lifecycle.Notification(.screenBlanked, .change(from: before, to: after)))
    case .sleeping(let ticket):
      try? await lifecycle.sleep()
      device.lock(gracePeriod: .zero)
      log("preserved and locked before sleep; the device is \(device.lockState)")
      loop?.perform { $0.logind.finish(ticket) }
    case .woke:
      if !isCovered { try? await lifecycle.enterForeground() }
    case .shuttingDown(let ticket):
      try? await lifecycle.terminate()
      log("preserved before the shutdown")
      loop?.perform { $0.logind.finish(ticket) }
      onEnd(.shutdown)
    case .queryEnd(let ticket):
      _ = try? await application?.preserve()
      loop?.perform { $0.portal.answer(ticket) }
    case .ending:
      try? await lifecycle.terminate()
      log("preserved at the end of the session")
      onEnd(.session)
    case .standing, .inhibitor, .incident: break
    }
    if isCovered != wasCovered { isCovered ? await lock(lifecycle) : await unlock(lifecycle) }
  }

  private func lock(_ lifecycle: Lifecycle) async {
    try? await lifecycle.sleep()
    // The life cycle has refused, in a program that is not launched: the screen is locked all the same.
    device.lock()
    log("preserved and locked with the screen; the device is \(device.lockState)")
  }

  private func unlock(_ lifecycle: Lifecycle) async {
    await askCustody()
    try? await lifecycle.enterForeground()
    // Not waited for: a program that asks for a passcode there must be able to sleep and to end meanwhile.
    if let onUnlock = options.onUnlock { Task { await onUnlock() } }
  }

  /// Takes the keys back that another program of the session was given the passcode for; waits no longer than for a service.
  private func askCustody() async {
    guard device.lockState == .locked else { return }
    let (device, limit) = (device, options.callTimeout)
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    // A custody may hang: it gets a thread of its own, and the driver goes on.
    DispatchQueue.global().async { answer.yield(device.unlockFromCustody()) }
    let timer = Task {
      try? await Task.sleep(for: limit)
      answer.finish()
    }
    defer { timer.cancel() }
    for await isUnlocked in answers {
      if isUnlocked { log("the device's custody had the keys") }
      return
    }
    report.add(incident: "the device's custody has not answered within \(limit)")
  }

  private func log(_ text: String) { options.log.log(.info, "desktop session: \(text)") }
}

extension ProtectedDevice.Options {
  /// Where the keys are kept, in a line each.
  var custodyLines: [String] {
    // One of the program's own is named as it prints.
    func place(of keeper: Any) -> String { (keeper as? any KeyPlace)?.place ?? "\(keeper)" }
    let provider = keyProvider.map(place) ?? "a file beside the data"
    let custody = custody.map(place) ?? "this process alone"
    return ["the device key is kept by \(provider)", "the class keys are kept by \(custody)"]
  }
}
