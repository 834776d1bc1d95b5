/// Follows who owns a name on a bus, so that only the owner's signals are believed and a restarted service is noticed.
final class NameWatch {
  let name: String
  /// The owner's unique name; nil while nobody has the name.
  private(set) var owner: String?
  private unowned let monitor: SessionMonitor
  private weak var connection: BusConnection?
  private let startsService: Bool
  private var changed: (String?) -> Void = { _ in }
  private var failed: (BusError) -> Void = { _ in }
  private var delay: Duration

  /// Makes a watch.
  ///
  /// - Parameters:
  ///   - name: The service's well-known name.
  ///   - startsService: Whether the bus may start the service.
  init(_ name: String, _ monitor: SessionMonitor, startsService: Bool = false) {
    self.name = name
    self.monitor = monitor
    self.startsService = startsService
    delay = monitor.options.reconnectDelays.lowerBound
  }

  /// Begins to follow the name on a new connection.
  ///
  /// - Parameters:
  ///   - changed: Gets every new owner, and nil when there is none any more.
  ///   - failed: Gets why the owner is not known; a passing failure is followed by another attempt.
  func begin(
    on connection: BusConnection, changed: @escaping (String?) -> Void, failed: @escaping (BusError) -> Void
  ) {
    owner = nil
    (self.connection, self.changed, self.failed) = (connection, changed, failed)
    let rule =
      "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
      + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
    do throws(BusError) {
      try connection.subscribe(rule) { [weak self] message in
        guard let self, message.sender == "org.freedesktop.DBus", (try? message.string()) == name,
          (try? message.string()) != nil, let owner = try? message.string()
        else { return }
        become(owner.isEmpty ? nil : owner)
      }
    } catch {
      return failed(error)
    }
    ask()
  }

  /// The connection is gone, and with it everything known.
  func forget() { owner = nil }

  private func ask() {
    guard startsService else { return askForOwner() }
    send(.bus("StartServiceByName", [.string(name), .uint32(0)])) { [weak self] result in
      guard let self else { return }
      if case .failure(let error) = result, !error.isAbsentService { fail(error) } else { askForOwner() }
    }
  }

  private func askForOwner() {
    send(.bus("GetNameOwner", [.string(name)])) { [weak self] result in
      guard let self else { return }
      do throws(BusError) {
        become(try result.get().string())
        delay = monitor.options.reconnectDelays.lowerBound
      } catch {
        fail(error)
      }
    }
  }

  private func send(_ call: BusCall, _ reply: @escaping (Result<BusMessage, BusError>) -> Void) {
    connection?.send(call, timeout: monitor.options.callTimeout, reply)
  }

  private func fail(_ error: BusError) {
    // A signal may have told meanwhile.
    guard owner == nil else { return }
    failed(error)
    // A name that nobody has is announced when somebody takes it.
    if error.isAbsentService { return }
    monitor.after(delay) { [weak self, weak connection] in
      guard let self, let connection, connection === self.connection, owner == nil else { return }
      ask()
    }
    delay = min(delay * 2, monitor.options.reconnectDelays.upperBound)
  }

  private func become(_ newOwner: String?) {
    guard owner != newOwner else { return }
    owner = newOwner
    changed(newOwner)
  }
}
