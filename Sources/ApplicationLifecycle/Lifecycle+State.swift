extension Lifecycle {
  /// Where a program is in its life; exactly one of these holds at a time.
  public enum State: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing runs: not launched yet, or ended.
    case notRunning

    /// In the foreground without input: just launched, interrupted, or on the way in or out.
    case inactive

    /// In the foreground, with input.
    case active

    /// Running without a window, for a limited time.
    case background

    /// In memory, not running; the end comes without notice.
    case suspended

    /// Whether the program's code runs in this state.
    package var isRunning: Bool { self != .notRunning && self != .suspended }

    /// Whether the program is in the foreground in this state.
    package var isForeground: Bool { self == .inactive || self == .active }
  }
}
