/// The desktop portal: the screen saver, and the question whether the session may end.
final class PortalService: SessionService {
  let link: ServiceLink
  private unowned let monitor: SessionMonitor
  /// The number of the request for a monitor that was made last.
  private var attempt: UInt64 = 0
  /// The request whose answer is awaited.
  private var requestPath: String?
  private var sessionHandle: String?
  private var query: (ticket: QueryTicket, timer: UInt64)?
  private var isEnding = false

  private static let path = "/org/freedesktop/portal/desktop"
  private static let inhibit = "org.freedesktop.portal.Inhibit"

  init(_ monitor: SessionMonitor) {
    self.monitor = monitor
    link = ServiceLink(to: .portal, at: "org.freedesktop.portal.Desktop", monitor, startsService: true)
  }

  // MARK: - The service

  func listen() throws(BusError) {
    try link.on("StateChanged", of: Self.inhibit, at: Self.path) { [weak self] message throws(BusError) in
      try self?.stateChanged(message)
    }
    // The path of a request is known only when it is made.
    try link.on("Response", of: "org.freedesktop.portal.Request") { [weak self] in self?.responded($0) }
  }

  func begin() {
    forget()
    createMonitor()
  }

  func ended(withBus isBusLost: Bool) { forget() }

  private func forget() {
    requestPath = nil
    sessionHandle = nil
    cancelQuery()
    monitor.setBlanked(false, by: link.service)
  }

  private func call(_ member: String, _ arguments: [BusArgument]) -> BusCall {
    BusCall(destination: link.name, path: Self.path, interface: Self.inhibit, member: member, arguments: arguments)
  }

  // MARK: - The monitor

  private func createMonitor() {
    guard let unique = link.uniqueName else { return }
    let sender = unique.drop { $0 == ":" }.map { $0 == "." ? "_" : String($0) }.joined()
    attempt = monitor.nextTicket()
    let token = "restoration\(attempt)"
    // The answer may overtake the reply, so its path is known before.
    requestPath = "\(Self.path)/request/\(sender)/\(token)"
    let options: [(String, BusArgument)] = [
      ("handle_token", .string(token)), ("session_handle_token", .string(token)),
    ]
    link.send(call("CreateMonitor", [.string(""), .options(options)])) { [weak self] result in
      guard let self else { return }
      do throws(BusError) {
        let path = try result.get().string("o")
        if requestPath != nil { requestPath = path }
      } catch {
        fail(error)
      }
    }
    let attempt = attempt
    link.after(monitor.options.callTimeout) { [weak self] in
      guard let self, self.attempt == attempt, requestPath != nil else { return }
      fail(.timedOut("the request for the session's state"))
    }
  }

  /// There is no monitor; another one is asked for after a pause.
  private func fail(_ error: BusError) {
    guard requestPath != nil else { return }
    requestPath = nil
    link.fail(error) { [weak self] in self?.createMonitor() }
  }

  private func responded(_ message: BusMessage) {
    do throws(BusError) {
      let response = try message.uint32()
      guard response == 0, case .text(let handle)? = try message.options()["session_handle"] else {
        throw .malformed("the answer to CreateMonitor")
      }
      guard let requestPath, message.path == requestPath else { return closeMonitor(handle) }
      self.requestPath = nil
      sessionHandle = handle
      link.succeed()
    } catch {
      if message.path == requestPath { fail(error) }
    }
  }

  /// Ends a monitor that was given up before it was there: the session would wait for its answer.
  private func closeMonitor(_ handle: String) {
    guard handle != sessionHandle else { return }
    let close = BusCall(
      destination: link.name, path: handle, interface: "org.freedesktop.portal.Session", member: "Close")
    link.send(close) { _ in }
  }

  private func stateChanged(_ message: BusMessage) throws(BusError) {
    guard let sessionHandle, try message.string("o") == sessionHandle else { return }
    let state = try message.options()
    if case .bool(let isActive)? = state["screensaver-active"] { monitor.setBlanked(isActive, by: link.service) }
    switch state["session-state"] {
    case .number(1)?:
      isEnding = false
      cancelQuery()
    case .number(2)?: ask()
    case .number(3)?:
      cancelQuery()
      if !isEnding { monitor.emit(.ending) }
      isEnding = true
    case nil: break
    case let other?: monitor.report(incident: "portal sent the session state \(other)")
    }
  }

  // MARK: - The question

  private func ask() {
    monitor.log("the session asks whether it may end")
    guard query == nil else { return }
    let ticket = QueryTicket(number: monitor.nextTicket())
    let timer = monitor.after(monitor.options.queryEndBudget) { [weak self] in
      guard let self, query?.ticket == ticket else { return }
      monitor.report(
        incident:
          "preserving has not ended within \(monitor.options.queryEndBudget): the session's question is answered")
      answer(ticket)
    }
    query = (ticket, timer)
    monitor.emit(.queryEnd(ticket))
  }

  private func cancelQuery() {
    if let query { monitor.cancel(query.timer) }
    query = nil
  }

  /// The state is preserved: the session may end as far as this program is concerned.
  func answer(_ answered: QueryTicket) {
    guard query?.ticket == answered, let sessionHandle else { return }
    cancelQuery()
    link.send(call("QueryEndResponse", [.path(sessionHandle)])) { [weak self] result in
      if case .failure(let error) = result { self?.monitor.report(incident: "portal: \(error)") }
    }
    monitor.log("the session's question is answered")
  }
}
