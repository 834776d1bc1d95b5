/// Where the coordinator says what it does: levels and paths, never values.
///
/// Adopt it to join a program's own logging. Called on any thread; it must not block.
public protocol RestorationLog: Sendable {
  /// Takes one message. It names paths, counts and outcomes, and never holds state.
  func log(_ level: RestorationLogLevel, _ message: @autoclosure () -> String)
}

/// How much a log message matters, in ascending order.
public enum RestorationLogLevel: Sendable, Hashable, Comparable, CaseIterable {
  /// Single steps.
  case debug
  /// A save or a restoration, in one line.
  case info
  /// Something did not come back or was not preserved.
  case warning
  /// A save or a restoration failed.
  case error
}

/// A log that writes warnings and errors to standard error: the default.
///
/// They name paths, counts and reasons, never values. A program that draws on its terminal gives a log of its own.
package struct StandardErrorLog: RestorationLog {
  /// Creates the log.
  package init() {}

  /// Writes a warning or an error as one line.
  package func log(_ level: RestorationLogLevel, _ message: @autoclosure () -> String) {
    guard level >= .warning else { return }
    HostProcess.writeToStandardError("state restoration: \(level): \(message())")
  }
}

/// A log that says nothing.
public struct SilentRestorationLog: RestorationLog {
  /// Creates a silent log.
  public init() {}

  /// Ignores the message without building it.
  public func log(_ level: RestorationLogLevel, _ message: @autoclosure () -> String) {}
}
