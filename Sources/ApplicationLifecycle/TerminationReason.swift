/// Why a program ends.
package enum TerminationReason: String, Sendable, Hashable, CaseIterable {
  /// It was asked to end, and is told so if it runs.
  case requested

  /// The user ended it by force: no notice, and its state is deleted.
  case forceQuit

  /// It was killed from outside; its state stays.
  case killed

  /// The system needed memory while it was suspended.
  case memoryPressure

  /// The device restarted.
  case reboot

  /// It failed.
  case crash

  /// A budget ran out.
  case watchdog

  /// Background tasks were not ended in time.
  case backgroundTimeExpired
}
