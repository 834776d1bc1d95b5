/// Where incidents are written, from any thread.
public struct LifecycleLog: Sendable {
  /// Writes one incident; called from any thread, at once.
  public let write: @Sendable (LifecycleIncident) -> Void

  /// Makes a log from a function that may be called from any thread.
  public init(_ write: @escaping @Sendable (LifecycleIncident) -> Void) { self.write = write }

  /// Writes nothing; the delegate still gets every incident.
  public static let none = LifecycleLog { _ in }
}
