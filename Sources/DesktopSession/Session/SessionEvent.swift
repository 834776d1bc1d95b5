/// A change of the desktop session, on its way from the thread of the buses to the main actor.
enum SessionEvent: Sendable, Equatable {
  case lock
  case unlock
  case blanked(Bool)
  /// The machine is about to sleep; the ticket lets go of the inhibitor.
  case sleeping(InhibitorTicket)
  case woke
  /// The machine is about to be switched off.
  case shuttingDown(InhibitorTicket)
  /// The session may end; the ticket answers the question.
  case queryEnd(QueryTicket)
  case ending
  case standing(DesktopSessionDriver.Report.Service, DesktopSessionDriver.Report.Standing)
  case inhibitor(isHeld: Bool)
  case incident(String)
}

/// Names one announcement of a sleep or a shutdown.
struct InhibitorTicket: Sendable, Hashable {
  var number: UInt64
}

/// Names one question about the end of the session.
struct QueryTicket: Sendable, Hashable {
  var number: UInt64
}
