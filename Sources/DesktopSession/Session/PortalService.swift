/// The desktop portal: the screen saver, and the question whether the session may end.
final class PortalService: SessionService {
  let service = DesktopSessionReport.Service.portal
  private unowned let monitor: SessionMonitor
  private let watch: NameWatch
  private weak var connection: BusConnection?
  private var epoch = 0
  private var requestPath: String?
  private var sessionHandle: String?
  private var query: (ticket: QueryTicket, timer: UInt64)?
  private var isEnding = false

  static let name = "org.freedesktop.portal.Desktop"
  private static let path = "/org/freedesktop/portal/desktop"
  private static let inhibit = "org.freedesktop.portal.Inhibit"

  init(_ monitor: SessionMonitor) {
    self.monitor = monitor
    watch = NameWatch(Self.name, monitor, startsService: true)
  }

  // MARK: - The bus

  func busIsReady(_ connection: BusConnection) {
    self.connection = connection
    do throws(BusError) {
      let state =
        "type='signal',sender='\(Self.name)',path='\(Self.path)',interface='\(Self.inhibit)',member='StateChanged'"
      try connection.subscribe(state) { [weak self] in self?.stateChanged($0) }
      let response = "type='signal',sender='\(Self.name)',interface='org.freedesktop.portal.Request',member='Response'"
      try connection.subscribe(response) { [weak self] in self?.responded($0) }
    } catch {
      return fail(error)
    }
    watch.begin(
      on: connection,
      changed: { [weak self] owner in self?.ownerChanged(owner) },
      failed: { [weak self] error in self?.fail(error) })
  }

  func busWasLost(_ reason: String) {
    watch.forget()
    connection = nil
    end()
    monitor.emit(.standing(service, .absent(reason)))
  }

  private func ownerChanged(_ owner: String?) {
    end()
    if owner == nil {
      monitor.emit(.standing(service, .absent("the service has ended")))
    } else {
      createMonitor()
    }
  }

  private func end() {
    epoch += 1
    requestPath = nil
    sessionHandle = nil
    if let query { monitor.cancel(query.timer) }
    query = nil
    monitor.setBlanked(false, by: service)
  }

  private func fail(_ error: BusError) {
    monitor.emit(.standing(service, .absent(error.description)))
    // A desktop without a portal is an ordinary one.
    if !error.isAbsentService { monitor.report(incident: "the portal: \(error)") }
  }

  private func isGenuine(_ message: BusMessage) -> Bool { watch.owner != nil && message.sender == watch.owner }

  // MARK: - The monitor

  private func createMonitor() {
    guard let connection, let unique = connection.uniqueName else { return }
    let sender = unique.drop { $0 == ":" }.map { $0 == "." ? "_" : String($0) }.joined()
    let token = "restoration\(monitor.nextTicket())"
    // The answer may overtake the reply, so its path is known before.
    requestPath = "\(Self.path)/request/\(sender)/\(token)"
    let call = BusCall(
      destination: Self.name, path: Self.path, interface: Self.inhibit, member: "CreateMonitor",
      arguments: [
        .string(""),
        .options([("handle_token", .string(token)), ("session_handle_token", .string(token))]),
      ])
    let epoch = epoch
    connection.send(call, timeout: monitor.options.callTimeout) { [weak self] result in
      guard let self, self.epoch == epoch else { return }
      do throws(BusError) {
        let path = try result.get().string("o")
        if sessionHandle == nil { requestPath = path }
      } catch {
        fail(error)
      }
    }
  }

  private func responded(_ message: BusMessage) {
    guard isGenuine(message), let requestPath, message.path == requestPath else { return }
    self.requestPath = nil
    do throws(BusError) {
      let response = try message.uint32()
      guard response == 0, case .text(let handle)? = try message.options()["session_handle"] else {
        return fail(.malformed("the answer to CreateMonitor"))
      }
      sessionHandle = handle
      monitor.emit(.standing(service, .connected("")))
    } catch {
      fail(error)
    }
  }

  private func stateChanged(_ message: BusMessage) {
    guard isGenuine(message), let sessionHandle else { return }
    do throws(BusError) {
      guard try message.string("o") == sessionHandle else { return }
      let state = try message.options()
      if case .bool(let isActive)? = state["screensaver-active"] { monitor.setBlanked(isActive, by: service) }
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
      case let other?: monitor.report(incident: "the portal sent the session state \(other)")
      }
    } catch {
      monitor.report(incident: "the portal sent StateChanged: \(error)")
    }
  }

  // MARK: - The question

  private func ask() {
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
    let call = BusCall(
      destination: Self.name, path: Self.path, interface: Self.inhibit, member: "QueryEndResponse",
      arguments: [.path(sessionHandle)])
    connection?.send(call, timeout: monitor.options.callTimeout) { [weak self] result in
      if case .failure(let error) = result { self?.monitor.report(incident: "the portal: \(error)") }
    }
    monitor.log("the session's question is answered")
  }
}
