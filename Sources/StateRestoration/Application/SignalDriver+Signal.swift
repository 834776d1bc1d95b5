extension SignalDriver {
  /// A signal that a driver turns into a request.
  public enum Signal: Int32, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The terminal was closed.
    case hangUp = 1

    /// Ctrl-C.
    case interrupt = 2

    /// Ctrl-\.
    case quit = 3

    /// Somebody asks the program to end.
    case terminate = 15

    /// `fg`, or the end of a stop from outside.
    case resume = 18

    /// Ctrl-Z.
    case terminalStop = 20

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
