/// Where incidents are written, from any thread.
package struct LifecycleLog: Sendable {
  /// Writes one incident; called from any thread, at once.
  package let write: @Sendable (Lifecycle.Incident) -> Void

  /// Makes a log from a function that may be called from any thread.
  package init(_ write: @escaping @Sendable (Lifecycle.Incident) -> Void) { self.write = write }
}
