import Foundation
import Glibc

/// logind or elogind: the inhibitor, sleep, shutdown, and the lock of the session's screen.
final class LogindService: SessionService {
  let link: ServiceLink
  private unowned let monitor: SessionMonitor
  private var delay: Duration
  private var sessionPath: String?
  private var inhibitor: Int32 = -1
  private var delayMax: Duration?
  private var isScreenLocked = false
  /// The announcement that is being served, and since when.
  private var ticket: (ticket: InhibitorTicket, since: MonotonicTime, timers: [UInt64])?

  private static let managerPath = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let session = "org.freedesktop.login1.Session"

  init(_ monitor: SessionMonitor) {
    self.monitor = monitor
    link = ServiceLink(to: .logind, at: "org.freedesktop.login1", monitor)
    delay = monitor.options.reconnectDelays.lowerBound
  }

  // MARK: - The service

  func listen() throws(BusError) {
    for member in ["PrepareForSleep", "PrepareForShutdown"] {
      try link.on(member, of: Self.manager, at: Self.managerPath) { [weak self] message throws(BusError) in
        try self?.prepare(member, message)
      }
    }
  }

  func begin() { setUp() }

  /// An inhibitor is the service's end of a pipe: it may outlive the bus, so it is kept until a new one is there.
  func ended(withBus isBusLost: Bool) {
    if !isBusLost { drop() }
  }

  func close() { drop() }

  // MARK: - Setting up

  private func setUp() {
    findSession { [weak self] path in
      guard let self else { return }
      sessionPath = path
      if let path { watchSession(path) }
      readDelayMax { [weak self] in self?.takeInhibitor() }
    }
  }

  private func call(_ member: String, _ arguments: [BusArgument]) -> BusCall {
    BusCall(
      destination: link.name, path: Self.managerPath, interface: Self.manager, member: member, arguments: arguments)
  }

  /// The real path of this program's session: `self` and `auto` send no signals.
  ///
  /// A program that a user's service manager started belongs to no session; then the environment's counts, or the one with
  /// the user's display.
  private func findSession(_ found: @escaping (String?) -> Void) {
    let ofUser = { [weak self] in
      guard let self else { return }
      link.send(call("GetUser", [.uint32(getuid())])) { [weak self] result in
        guard let self, let user = try? result.get().string("o") else { return found(nil) }
        let property = BusCall.property("Display", of: "org.freedesktop.login1.User", at: user, on: link.name)
        link.send(property) { result in
          guard case .text(let path)? = try? result.get().variant(), path != "/" else { return found(nil) }
          found(path)
        }
      }
    }
    let ofEnvironment = { [weak self] in
      guard let self, let identifier = ProcessInfo.processInfo.environment["XDG_SESSION_ID"], !identifier.isEmpty
      else { return ofUser() }
      link.send(call("GetSession", [.string(identifier)])) { result in
        if let path = try? result.get().string("o") { found(path) } else { ofUser() }
      }
    }
    link.send(call("GetSessionByPID", [.uint32(UInt32(getpid()))])) { result in
      if let path = try? result.get().string("o") { found(path) } else { ofEnvironment() }
    }
  }

  private func watchSession(_ path: String) {
    do throws(BusError) {
      for member in ["Lock", "Unlock"] {
        try link.on(member, of: Self.session, at: path) { [weak self] message in
          guard let self, path == sessionPath else { return }
          setScreenLocked(member == "Lock", "\(member) of the session")
        }
      }
      try link.on("PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: path) {
        [weak self] message throws(BusError) in
        guard let self, path == sessionPath else { return }
        try propertiesChanged(message)
      }
    } catch {
      link.fail(error)
    }
    link.send(.property("LockedHint", of: Self.session, at: path, on: link.name)) { [weak self] result in
      if case .bool(let isLocked)? = try? result.get().variant() { self?.setScreenLocked(isLocked, "LockedHint") }
    }
  }

  private func propertiesChanged(_ message: BusMessage) throws(BusError) {
    guard try message.string() == Self.session else { return }
    if case .bool(let isLocked)? = try message.options()["LockedHint"] { setScreenLocked(isLocked, "LockedHint") }
  }

  private func setScreenLocked(_ isLocked: Bool, _ reason: String) {
    guard isScreenLocked != isLocked else { return }
    isScreenLocked = isLocked
    monitor.log("the screen is \(isLocked ? "locked" : "unlocked") (\(reason))")
    monitor.emit(isLocked ? .lock : .unlock)
  }

  private func readDelayMax(_ done: @escaping () -> Void) {
    let property = BusCall.property(
      "InhibitDelayMaxUSec", of: Self.manager, at: Self.managerPath, on: link.name)
    link.send(property) { [weak self] result in
      if case .number(let microseconds)? = try? result.get().variant(), microseconds > 0 {
        self?.delayMax = .microseconds(Int64(clamping: microseconds))
      }
      done()
    }
  }

  private func takeInhibitor() {
    let arguments = ["sleep:shutdown", monitor.options.applicationName, "Preserves its state and locks", "delay"]
    link.send(call("Inhibit", arguments.map { .string($0) })) { [weak self] result in
      guard let self else { return }
      do throws(BusError) {
        let taken = try result.get().descriptor()
        drop()
        inhibitor = taken
        delay = monitor.options.reconnectDelays.lowerBound
        monitor.emit(.inhibitor(isHeld: true))
        monitor.log("the inhibitor is taken")
        let session = sessionPath.map { "session \($0)" } ?? "no session, so the screen's lock is not noticed"
        link.succeed(session)
      } catch {
        failSettingUp(error)
      }
    }
  }

  /// Tells of a failure, and tries once more after a pause.
  private func failSettingUp(_ error: BusError) {
    link.fail(error)
    link.after(delay) { [weak self] in self?.setUp() }
    delay = min(delay * 2, monitor.options.reconnectDelays.upperBound)
  }

  // MARK: - Sleep and shutdown

  private func prepare(_ member: String, _ message: BusMessage) throws(BusError) {
    let begins = try message.bool()
    monitor.log("\(member)(\(begins))")
    begins ? begin(isSleep: member == "PrepareForSleep") : end(isSleep: member == "PrepareForSleep")
  }

  private func begin(isSleep: Bool) {
    finishTicket()
    let next = InhibitorTicket(number: monitor.nextTicket())
    let budget = min(monitor.options.inhibitorBudget, (delayMax ?? .seconds(5)) * 0.9)
    if inhibitor < 0 { monitor.report(incident: "the machine sleeps or stops, and no inhibitor is held") }
    // Keys that the main actor leaves in memory are taken away first; then nothing delays the system any longer.
    let lock = monitor.after(budget * 0.8) { [weak self] in
      guard let self, ticket?.ticket == next else { return }
      monitor.report(incident: "preserving has not ended within \(budget * 0.8): the device is locked all the same")
      monitor.lockLate()
    }
    let release = monitor.after(budget) { [weak self] in
      guard let self, ticket?.ticket == next else { return }
      monitor.report(incident: "preserving has not ended within \(budget): the system waits no longer")
      finish(next)
    }
    ticket = (next, .now, [lock, release])
    monitor.emit(isSleep ? .sleeping(next) : .shuttingDown(next))
  }

  private func end(isSleep: Bool) {
    finishTicket()
    if link.isThere, inhibitor < 0 { takeInhibitor() }
    if isSleep { monitor.emit(.woke) }
  }

  /// The work for an announcement is done: the system need not wait.
  func finish(_ finished: InhibitorTicket) {
    guard let ticket, ticket.ticket == finished else { return }
    finishTicket()
    drop()
    monitor.log("the inhibitor is let go after \(MonotonicTime.now.since(ticket.since))")
  }

  private func finishTicket() {
    for timer in ticket?.timers ?? [] { monitor.cancel(timer) }
    ticket = nil
  }

  private func drop() {
    guard inhibitor >= 0 else { return }
    Glibc.close(inhibitor)
    inhibitor = -1
    monitor.emit(.inhibitor(isHeld: false))
  }
}
