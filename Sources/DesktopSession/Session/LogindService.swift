import Foundation
import Glibc

/// logind or elogind: the inhibitor, sleep, shutdown, and the lock of the session's screen.
final class LogindService: SessionService {
  let service = DesktopSessionReport.Service.logind
  private unowned let monitor: SessionMonitor
  private let watch: NameWatch
  private weak var connection: BusConnection?
  /// Raised with every new owner, so that late answers of an earlier one are dropped.
  private var epoch = 0
  private var delay: Duration
  private var sessionPath: String?
  private var subscribedPaths: Set<String> = []
  private var inhibitor: Int32 = -1
  private var delayMax: Duration?
  private var isScreenLocked = false
  /// The announcement that is being served, and since when.
  private var ticket: (ticket: InhibitorTicket, since: MonotonicTime, timers: [UInt64])?

  static let name = "org.freedesktop.login1"
  private static let managerPath = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let session = "org.freedesktop.login1.Session"

  init(_ monitor: SessionMonitor) {
    self.monitor = monitor
    watch = NameWatch(Self.name, monitor)
    delay = monitor.options.reconnectDelays.lowerBound
  }

  // MARK: - The bus

  func busIsReady(_ connection: BusConnection) {
    self.connection = connection
    subscribedPaths = []
    do throws(BusError) {
      for member in ["PrepareForSleep", "PrepareForShutdown"] {
        try connection.subscribe(rule(Self.managerPath, Self.manager, member)) { [weak self] message in
          self?.prepare(member, message)
        }
      }
    } catch {
      return fail(error)
    }
    watch.begin(
      on: connection,
      changed: { [weak self] owner in self?.ownerChanged(owner) },
      failed: { [weak self] error in self?.fail(error) })
  }

  func busWasLost(_ reason: String) {
    epoch += 1
    watch.forget()
    connection = nil
    // An inhibitor is the service's end of a pipe: it may outlive the bus, so it is kept until a new one is there.
    monitor.emit(.standing(service, .absent(reason)))
  }

  func close() { drop() }

  private func ownerChanged(_ owner: String?) {
    epoch += 1
    guard owner != nil else {
      drop()
      monitor.emit(.standing(service, .absent("the service has ended")))
      return
    }
    setUp()
  }

  private func rule(_ path: String, _ interface: String, _ member: String) -> String {
    "type='signal',sender='\(Self.name)',path='\(path)',interface='\(interface)',member='\(member)'"
  }

  private func isGenuine(_ message: BusMessage) -> Bool { watch.owner != nil && message.sender == watch.owner }

  // MARK: - Setting up

  private func setUp() {
    findSession { [weak self] path in
      guard let self else { return }
      sessionPath = path
      if let path { watchSession(path) }
      readDelayMax { [weak self] in self?.takeInhibitor() }
    }
  }

  /// Sends a call; an answer that comes after the service was restarted is dropped.
  private func send(_ call: BusCall, _ reply: @escaping (Result<BusMessage, BusError>) -> Void) {
    let epoch = epoch
    connection?.send(call, timeout: monitor.options.callTimeout) { [weak self] result in
      if self?.epoch == epoch { reply(result) }
    }
  }

  private func call(_ member: String, _ arguments: [BusArgument]) -> BusCall {
    BusCall(
      destination: Self.name, path: Self.managerPath, interface: Self.manager, member: member, arguments: arguments)
  }

  /// The real path of this program's session: `self` and `auto` send no signals.
  ///
  /// A program that a user's service manager started belongs to no session; then the environment's counts, or the one with
  /// the user's display.
  private func findSession(_ found: @escaping (String?) -> Void) {
    let ofUser = { [weak self] in
      guard let self else { return }
      send(call("GetUser", [.uint32(getuid())])) { [weak self] result in
        guard let self, let user = try? result.get().string("o") else { return found(nil) }
        let property = BusCall.property("Display", of: "org.freedesktop.login1.User", at: user, on: Self.name)
        send(property) { result in
          guard case .text(let path)? = try? result.get().variant(), path != "/" else { return found(nil) }
          found(path)
        }
      }
    }
    let ofEnvironment = { [weak self] in
      guard let self, let identifier = ProcessInfo.processInfo.environment["XDG_SESSION_ID"], !identifier.isEmpty
      else { return ofUser() }
      send(call("GetSession", [.string(identifier)])) { result in
        if let path = try? result.get().string("o") { found(path) } else { ofUser() }
      }
    }
    send(call("GetSessionByPID", [.uint32(UInt32(getpid()))])) { result in
      if let path = try? result.get().string("o") { found(path) } else { ofEnvironment() }
    }
  }

  private func watchSession(_ path: String) {
    guard let connection else { return }
    if subscribedPaths.insert(path).inserted {
      do throws(BusError) {
        for member in ["Lock", "Unlock"] {
          try connection.subscribe(rule(path, Self.session, member)) { [weak self] message in
            guard let self, isGenuine(message), message.path == sessionPath else { return }
            setScreenLocked(member == "Lock", "\(member) of the session")
          }
        }
        let properties = rule(path, "org.freedesktop.DBus.Properties", "PropertiesChanged")
        try connection.subscribe(properties) { [weak self] message in
          guard let self, isGenuine(message), message.path == sessionPath else { return }
          propertiesChanged(message)
        }
      } catch {
        fail(error)
      }
    }
    send(.property("LockedHint", of: Self.session, at: path, on: Self.name)) { [weak self] result in
      if case .bool(let isLocked)? = try? result.get().variant() { self?.setScreenLocked(isLocked, "LockedHint") }
    }
  }

  private func propertiesChanged(_ message: BusMessage) {
    do throws(BusError) {
      guard try message.string() == Self.session else { return }
      if case .bool(let isLocked)? = try message.options()["LockedHint"] { setScreenLocked(isLocked, "LockedHint") }
    } catch {
      monitor.report(incident: "logind sent PropertiesChanged: \(error)")
    }
  }

  private func setScreenLocked(_ isLocked: Bool, _ reason: String) {
    guard isScreenLocked != isLocked else { return }
    isScreenLocked = isLocked
    monitor.log("the screen is \(isLocked ? "locked" : "unlocked") (\(reason))")
    monitor.emit(isLocked ? .lock : .unlock)
  }

  private func readDelayMax(_ done: @escaping () -> Void) {
    let property = BusCall.property(
      "InhibitDelayMaxUSec", of: Self.manager, at: Self.managerPath, on: Self.name)
    send(property) { [weak self] result in
      if case .number(let microseconds)? = try? result.get().variant(), microseconds > 0 {
        self?.delayMax = .microseconds(Int64(clamping: microseconds))
      }
      done()
    }
  }

  private func takeInhibitor() {
    let arguments = ["sleep:shutdown", monitor.options.applicationName, "Preserves its state and locks", "delay"]
    send(call("Inhibit", arguments.map { .string($0) })) { [weak self] result in
      guard let self else { return }
      do throws(BusError) {
        let taken = try result.get().descriptor()
        drop()
        inhibitor = taken
        delay = monitor.options.reconnectDelays.lowerBound
        monitor.emit(.inhibitor(isHeld: true))
        monitor.log("the inhibitor is taken")
        let session = sessionPath.map { "session \($0)" } ?? "no session, so the screen's lock is not noticed"
        monitor.emit(.standing(service, .connected(session)))
      } catch {
        failSettingUp(error)
      }
    }
  }

  private func fail(_ error: BusError) {
    monitor.emit(.standing(service, .absent(error.description)))
    if !error.isAbsentService { monitor.report(incident: "logind: \(error)") }
  }

  /// Tells of a failure, and tries once more after a pause.
  private func failSettingUp(_ error: BusError) {
    fail(error)
    let epoch = epoch
    monitor.after(delay) { [weak self] in
      guard let self, self.epoch == epoch else { return }
      setUp()
    }
    delay = min(delay * 2, monitor.options.reconnectDelays.upperBound)
  }

  // MARK: - Sleep and shutdown

  private func prepare(_ member: String, _ message: BusMessage) {
    guard isGenuine(message) else { return }
    do throws(BusError) {
      let begins = try message.bool()
      monitor.log("\(member)(\(begins))")
      begins ? begin(isSleep: member == "PrepareForSleep") : end(isSleep: member == "PrepareForSleep")
    } catch {
      monitor.report(incident: "logind sent \(member): \(error)")
    }
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
    if watch.owner != nil, inhibitor < 0 { takeInhibitor() }
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
