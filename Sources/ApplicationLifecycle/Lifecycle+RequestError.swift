extension Lifecycle {
  /// Why the life cycle refused a request, or did not finish one.
  public struct RequestError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of refusal; more may come, so a `switch` needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
      /// The code's name.
      public let description: String

      private init(_ description: String) { self.description = description }

      /// The two states have no such transition; nothing has changed.
      public static let illegalTransition = Code("illegalTransition")

      /// A budget ran out, and the watchdog ended the program.
      public static let watchdog = Code("watchdog")

      /// The program was killed before the request was done.
      public static let killed = Code("killed")

      /// A background task was ended that is not open.
      package static let backgroundTaskNotOpen = Code("backgroundTaskNotOpen")

      /// The work of a request waited for another request, which would wait for the first one's end.
      public static let waitsForItself = Code("waitsForItself")

      /// The time for background tasks is over.
      public static let backgroundTimeOver = Code("backgroundTimeOver")

      /// The program is told of its end, and gets no more time in the background.
      public static let terminating = Code("terminating")

      /// Background tasks are begun by running programs only.
      package static let notRunning = Code("notRunning")
    }

    /// What kind of refusal it is.
    public let code: Code

    /// The state in which the request was made, where there is one.
    package let from: Lifecycle.State?

    /// The state that was asked for, where there is one.
    package let to: Lifecycle.State?

    /// The failure, and the remedy.
    public let message: String

    /// Makes an error from its facts.
    package init(code: Code, from: Lifecycle.State? = nil, to: Lifecycle.State? = nil, message: String) {
      self.code = code
      self.from = from
      self.to = to
      self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
  }
}

extension Lifecycle.RequestError {
  static func illegal(_ transition: LifecycleTransition, exitsOnSuspend: Bool) -> Lifecycle.RequestError {
    let manner = transition.manner == .usual ? "" : ", \(transition.manner.rawValue)"
    let reason =
      exitsOnSuspend ? " A program with exitsOnSuspend has neither background nor suspended." : ""
    return Lifecycle.RequestError(
      code: .illegalTransition, from: transition.from, to: transition.to,
      message: "There is no transition from \(transition.from) to \(transition.to)\(manner).\(reason)")
  }

  static func waitingForItself(_ request: LifecycleRequest, in state: Lifecycle.State) -> Lifecycle.RequestError {
    Lifecycle.RequestError(
      code: .waitsForItself, from: state, to: request.destination,
      message: "The work of the request under way waits for \(request), which waits for that work: "
        + "make the request in a task of its own.")
  }

  static func illegal(_ request: LifecycleRequest, in state: Lifecycle.State, to: Lifecycle.State)
    -> Lifecycle.RequestError
  {
    Lifecycle.RequestError(
      code: .illegalTransition, from: state, to: to,
      message: "\(request) leads to \(to) and can't be served while \(state).")
  }
}
