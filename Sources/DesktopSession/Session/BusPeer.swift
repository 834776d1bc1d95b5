import Glibc

/// One bus: connects, hands the connection to its services, and connects again when it is lost.
final class BusPeer {
  private enum Phase {
    case resting(until: MonotonicTime)
    case connecting(BusConnection, until: MonotonicTime)
    case ready(BusConnection)
    case closed
  }

  private let kind: BusKind
  private let address: BusAddress
  private unowned let monitor: SessionMonitor
  private let services: [any SessionService]
  private var phase = Phase.resting(until: .now)
  private var delay: Duration

  init(_ kind: BusKind, _ address: BusAddress, _ monitor: SessionMonitor, _ services: [any SessionService]) {
    self.kind = kind
    self.address = address
    self.monitor = monitor
    self.services = services
    delay = monitor.options.reconnectDelays.lowerBound
    if address == .none { phase = .closed }
  }

  private var connection: BusConnection? {
    switch phase {
    case .connecting(let connection, _), .ready(let connection): connection
    case .resting, .closed: nil
    }
  }

  var descriptor: pollfd? { connection?.descriptor }

  var deadline: MonotonicTime? {
    let own = connection?.deadline.map { MonotonicTime(microseconds: $0) }
    switch phase {
    case .resting(let time): return time
    case .connecting(_, let time): return own.map { min($0, time) } ?? time
    case .ready: return own
    case .closed: return nil
    }
  }

  func close() {
    // Written while there is room for it; an answer to the portal may be among it.
    try? connection?.process()
    phase = .closed
  }

  /// Connects, reads and writes, as far as that goes without waiting.
  func step() {
    do throws(BusError) {
      if case .resting(let time) = phase {
        guard time <= .now else { return }
        let limit = monitor.options.callTimeout
        guard let connection = try BusConnection(kind, at: address, timeout: limit) else { return }
        phase = .connecting(connection, until: .now + monitor.options.callTimeout)
      }
      try connection?.process()
      if case .connecting(let connection, let time) = phase {
        if connection.isReady {
          phase = .ready(connection)
          delay = monitor.options.reconnectDelays.lowerBound
          for service in services { service.link.busIsReady(connection, for: service) }
          try connection.process()
        } else if time <= .now {
          throw .timedOut("the greeting of the \(kind.rawValue) bus")
        }
      }
    } catch {
      lose(error)
    }
  }

  private func lose(_ error: BusError) {
    let reason = "the \(kind.rawValue) bus: \(error)"
    if case .ready = phase { monitor.report(incident: reason) }
    phase = .resting(until: .now + delay)
    delay = min(delay * 2, monitor.options.reconnectDelays.upperBound)
    for service in services { service.link.busWasLost(reason) }
  }
}
