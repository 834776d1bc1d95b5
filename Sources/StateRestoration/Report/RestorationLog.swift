/// Where the coordinator says what it does: levels and paths, never values.
///
/// Make one to join a program's own logging:
///
/// ```swift
/// configuration.log = RestorationLog { level, message in
///   if level >= .warning { logger.warning(message()) }
/// }
/// ```
public struct RestorationLog: Sendable {
  /// How much a message matters, in ascending order.
  public enum Level: Sendable, Hashable, Comparable, CaseIterable {
    /// Single steps.
    case debug
    /// A save or a restoration, in one line.
    case info
    /// Something did not come back or was not preserved.
    case warning
    /// A save or a restoration failed.
    case error
  }

  private let take: @Sendable (Level, () -> String) -> Void

  /// Makes a log of a closure, which takes one message at a time.
  ///
  /// A message that the closure doesn't ask for is not built. It names paths, counts and outcomes, and never holds state. The closure is called on any thread and must not block.
  public init(_ take: @escaping @Sendable (_ level: Level, _ message: () -> String) -> Void) { self.take = take }

  /// Writes warnings and errors to standard error: the default.
  ///
  /// They name paths, counts and reasons, never values. A program that draws on its terminal gives a log of its own.
  public static let standardError = RestorationLog { level, message in
    guard level >= .warning else { return }
    HostProcess.writeToStandardError("state restoration: \(level): \(message())")
  }

  /// Says nothing.
  public static let silent = RestorationLog { _, _ in }

  /// Says one message, as the framework does.
  public func log(_ level: Level, _ message: @autoclosure () -> String) { take(level, message) }
}
