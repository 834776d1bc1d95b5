extension Lifecycle {
  /// A signal of the process that becomes a request to the life cycle.
  public enum Signal: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The terminal was closed.
    case hangUp

    /// Ctrl-C.
    case interrupt

    /// Ctrl-\.
    case quit

    /// Somebody asks the program to end.
    case terminate

    /// `fg`, or the end of a stop from outside.
    case resume

    /// Ctrl-Z.
    case terminalStop

    /// Whether the signal asks for the end of the program.
    package var isEnd: Bool { self == .hangUp || self == .interrupt || self == .quit || self == .terminate }

    /// The signal's name in `signal.h`.
    public var description: String {
      switch self {
      case .hangUp: "SIGHUP"
      case .interrupt: "SIGINT"
      case .quit: "SIGQUIT"
      case .terminate: "SIGTERM"
      case .resume: "SIGCONT"
      case .terminalStop: "SIGTSTP"
      }
    }
  }
}
