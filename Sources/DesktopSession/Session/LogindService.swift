import Foundation
import Glibc

/// logind or elogind: the inhibitor, sleep, shutdown, and the lock of the session's screen.
final class LogindService: SessionService {
  let link: ServiceLink
  private unowned let monitor: SessionMonitor
  private var sessionPath: String?
  private var inhibitor: Int32 = -1
  /// Whether the inhibitor is one of the service's present owner.
  private var isInhibitorNew = false
  private var delayMax: Duration?
  private var isScreenLocked = false
  /// Whether the desktop sets `LockedHint`: otherwise it is false while the screen is locked.
  private var hasHint = false
  /// The announcement that is being served, and since when.
  private var ticket: (ticket: InhibitorTicket, since: MonotonicTime, timers: [UInt64])?

  private static let managerPath = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let session = "org.freedesktop.login1.Session"

  init(_ monitor: SessionMonitor) {
    self.monitor = monitor
    link = ServiceLink(to: .logind, at: "org.freedesktop.login1", monitor)
  }

  // MARK: - The service

  func listen() throws(BusError) {
    for member in ["PrepareForSleep", "PrepareForShutdown"] {
      try link.on(member, of: Self.manager, at: Self.managerPath) { [weak self] message throws(BusError) in
        try self?.prepare(member, message)
      }
    }
  }

  func begin() {
    isInhibitorNew = false
    setUp()
  }

  /// An inhibitor is the service's end of a pipe: it may outlive the bus, so it is kept until a new one is there.
  func ended(withBus isBusLost: Bool) {
    if !isBusLost { drop() }
  }

  func close() { drop() }

  // MARK: - Setting up

  /// Asks for everything at once, and asks again after a pause when one answer is missing or wrong.
  private func setUp() {
    var (open, failure) = (3, BusError?.none)
    let finish = { [weak self] (error: BusError?) in
      open -= 1
      failure = failure ?? error
      guard open == 0, let self else { return }
      if let failure { return link.fail(failure) { [weak self] in self?.setUp() } }
      link.succeed(sessionPath.map { "session \($0)" } ?? "no session, so the screen's lock is not noticed")
    }
    if isInhibitorNew { finish(nil) } else { takeInhibitor(finish) }
    readDelayMax(finish)
    findSession { [weak self] path, error in
      guard let self, let path else { return finish(error) }
      sessionPath = path
      watchSession(path, finish)
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
  ///
  /// - Parameter found: Gets the path, or why it is not known; neither when logind says that there is no session.
  private func findSession(_ found: @escaping (String?, BusError?) -> Void) {
    var calls = [call("GetSessionByPID", [.uint32(UInt32(getpid()))])]
    if let identifier = ProcessInfo.processInfo.environment["XDG_SESSION_ID"], !identifier.isEmpty {
      calls.append(call("GetSession", [.string(identifier)]))
    }
    ask(calls[...], nil) { [weak self] path, failure in
      guard let self, path == nil else { return found(path, nil) }
      ask([call("GetUser", [.uint32(getuid())])], failure) { [weak self] user, failure in
        guard let self, let user else { return found(nil, failure) }
        let property = BusCall.property("Display", of: "org.freedesktop.login1.User", at: user, on: link.name)
        link.send(property) { result in
          switch result.flatMap({ message in Result { () throws(BusError) in try message.variant() } }) {
          case .success(.text(let path)?): path == "/" ? found(nil, failure) : found(path, nil)
          case .success: found(nil, .malformed("Display"))
          case .failure(let error): found(nil, failure ?? error)
          }
        }
      }
    }
  }

  /// Calls one after another until one answers with a path.
  ///
  /// - Parameter found: Gets the path, or the first failure that is not logind's own "no".
  private func ask(
    _ calls: ArraySlice<BusCall>, _ failure: BusError?, _ found: @escaping (String?, BusError?) -> Void
  ) {
    guard let next = calls.first else { return found(nil, failure) }
    link.send(next) { [weak self] result in
      do throws(BusError) {
        found(try result.get().string("o"), nil)
      } catch {
        let isAnswer = error.name?.hasPrefix("org.freedesktop.login1.") == true
        self?.ask(calls.dropFirst(), failure ?? (isAnswer ? nil : error), found)
      }
    }
  }

  private func watchSession(_ path: String, _ done: @escaping (BusError?) -> Void) {
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
      return done(error)
    }
    link.send(.property("LockedHint", of: Self.session, at: path, on: link.name)) { [weak self] result in
      do throws(BusError) {
        guard case .bool(let isLocked)? = try result.get().variant() else { throw BusError.malformed("LockedHint") }
        if let self, isLocked || hasHint { hint(isLocked) }
        done(nil)
      } catch {
        // Signals tell of the lock where the property is not there.
        done(error.name == "org.freedesktop.DBus.Error.UnknownProperty" ? nil : error)
      }
    }
  }

  private func propertiesChanged(_ message: BusMessage) throws(BusError) {
    guard try message.string() == Self.session else { return }
    if case .bool(let isLocked)? = try message.options()["LockedHint"] { hint(isLocked) }
  }

  private func hint(_ isLocked: Bool) {
    hasHint = hasHint || isLocked
    setScreenLocked(isLocked, "LockedHint")
  }

  private func setScreenLocked(_ isLocked: Bool, _ reason: String) {
    guard isScreenLocked != isLocked else { return }
    isScreenLocked = isLocked
    monitor.log("the screen is \(isLocked ? "locked" : "unlocked") (\(reason))")
    monitor.emit(isLocked ? .lock : .unlock)
  }

  private func readDelayMax(_ done: @escaping (BusError?) -> Void) {
    let property = BusCall.property(
      "InhibitDelayMaxUSec", of: Self.manager, at: Self.managerPath, on: link.name)
    link.send(property) { [weak self] result in
      do throws(BusError) {
        guard case .number(let microseconds)? = try result.get().variant() else {
          throw BusError.malformed("InhibitDelayMaxUSec")
        }
        if microseconds > 0 { self?.delayMax = .microseconds(Int64(clamping: microseconds)) }
        done(nil)
      } catch {
        done(error)
      }
    }
  }

  private func takeInhibitor(_ done: @escaping (BusError?) -> Void) {
    let arguments = ["sleep:shutdown", monitor.options.applicationName, "Preserves its state and locks", "delay"]
    link.send(call("Inhibit", arguments.map { .string($0) })) { [weak self] result in
      guard let self else { return }
      do throws(BusError) {
        let taken = try result.get().descriptor()
        drop()
        inhibitor = taken
        isInhibitorNew = true
        monitor.emit(.inhibitor(isHeld: true))
        monitor.log("the inhibitor is taken")
        done(nil)
      } catch {
        done(error)
      }
    }
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
    if link.isThere, inhibitor < 0 {
      takeInhibitor { [weak self] error in
        if let error { self?.link.fail(error) { [weak self] in self?.setUp() } }
      }
    }
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
    isInhibitorNew = false
    monitor.emit(.inhibitor(isHeld: false))
  }
}
