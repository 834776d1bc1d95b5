extension DesktopSessionDriver {
  /// The desktop services a driver has reached, and the incidents so far.
  public struct Report: Sendable, Hashable, CustomStringConvertible {
    /// A service that announces changes of the session.
    public enum Service: String, Sendable, Hashable, CaseIterable {
      /// logind or elogind, on the system bus: sleep, shutdown, the session's lock.
      case logind
      /// The desktop portal, on the session bus: the end of the session.
      case portal
      /// The screen saver, on the session bus.
      case screenSaver
      /// GNOME's screen saver, on the session bus.
      case gnomeScreenSaver
    }

    /// How a service stands.
    public enum Standing: Sendable, Hashable, CustomStringConvertible {
      /// Nobody has answered yet.
      case connecting
      /// It is not there, or failed; the text says why. It is tried again.
      case absent(String)
      /// Its announcements arrive; the text says for what.
      case connected(String)

      /// Whether announcements arrive.
      package var isConnected: Bool { if case .connected = self { true } else { false } }

      /// The standing in words.
      public var description: String {
        switch self {
        case .connecting: "connecting"
        case .absent(let reason): "absent: \(reason)"
        case .connected(let detail): "connected\(detail.isEmpty ? "" : ": \(detail)")"
        }
      }
    }

    /// How each service stands.
    public internal(set) var services: [Service: Standing] = [:]
    /// Whether the system waits for this program before it sleeps.
    package internal(set) var holdsInhibitor = false
    /// Whether the session's screen is locked, as far as is known.
    package internal(set) var isScreenLocked = false
    /// Where the device's keys are kept, one line for each kind.
    public internal(set) var custody: [String] = []
    /// The last thirty things that went wrong, oldest first.
    public internal(set) var incidents: [String] = []
    /// How many there were.
    package internal(set) var incidentCount = 0

    /// Makes an empty report.
    init() {}

    /// Everything, a line each.
    public var description: String {
      var lines = Service.allCases.compactMap { service in services[service].map { "\(service) \($0)" } }
      lines.append(holdsInhibitor ? "the system waits for this program before it sleeps" : "no inhibitor is held")
      lines += custody
      lines += incidents
      if incidentCount > incidents.count { lines.append("and \(incidentCount - incidents.count) incidents before") }
      return lines.joined(separator: "\n")
    }

    mutating func add(incident: String) {
      incidentCount += 1
      incidents.append(incident)
      if incidents.count > 30 { incidents.removeFirst() }
    }
  }
}
