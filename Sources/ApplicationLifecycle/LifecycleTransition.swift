/// One change of state, with the kind of change it is.
///
/// `Docs/Lifecycle.md` lists every pair of states with the manners that are legal for it.
package struct LifecycleTransition: Sendable, Hashable, CustomStringConvertible {
  /// What kind of change a transition is; two kinds of one pair run different steps.
  package enum Manner: String, Sendable, Hashable, Codable, CaseIterable {
    /// The ordinary way.
    case usual

    /// The device goes to sleep: the device locks, and `didEnterBackground` still sees `inactive`.
    case asleep

    /// An end the program is told of, with `willTerminate`.
    case announced

    /// An end the program is not told of: kill, crash, force quit, reboot, memory pressure, watchdog.
    case unannounced
  }

  /// The state before.
  package let from: Lifecycle.State

  /// The state after.
  package let to: Lifecycle.State

  /// The kind of change.
  package let manner: Manner

  /// Describes a change; whether it is legal is the machine's to say.
  package init(from: Lifecycle.State, to: Lifecycle.State, manner: Manner = .usual) {
    self.from = from
    self.to = to
    self.manner = manner
  }

  /// Both states, and the manner where it is not the usual one.
  package var description: String {
    manner == .usual ? "\(from) → \(to)" : "\(from) → \(to) (\(manner.rawValue))"
  }
}
