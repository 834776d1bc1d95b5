internal import DataProtection

/// What is said of what was saved while locked and can't be read, by a report as by a receipt.
enum UnreadablePending {
  /// One of those that are there.
  static func one(_ problem: ProtectionError) -> String {
    "something that was saved while locked could not be read: \(problem)"
  }

  /// All there is.
  static func all(_ error: ProtectionError) -> String { "what was saved while locked could not be read: \(error)" }
}
