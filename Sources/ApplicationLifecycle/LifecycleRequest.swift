/// What a driver asks of the life cycle; the machine answers with a route of transitions.
package enum LifecycleRequest: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// Launch into the foreground.
  case launch

  /// Launch into the background, for an event.
  case launchInBackground

  /// An interruption is over.
  case becomeActive

  /// An interruption begins.
  case resignActive

  /// Leave the foreground.
  case enterBackground

  /// Stop running, in memory.
  case suspend

  /// Run again without a window, for an event.
  case wake

  /// Come to the foreground.
  case enterForeground

  /// Open a URL, in the foreground.
  case open

  /// The device goes to sleep.
  case sleep

  /// End, with notice to the program if it runs.
  case terminate

  /// End without notice.
  case kill

  /// The request's name as it is written in `Docs/Lifecycle.md`.
  package var description: String { rawValue }
}
