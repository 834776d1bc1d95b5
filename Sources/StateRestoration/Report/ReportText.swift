/// Formatting shared by reports and receipts.
enum ReportText {
  /// A byte count with a unit that keeps it short.
  static func bytes(_ count: Int) -> String {
    if count < 10_000 { return "\(count) B" }
    if count < 10_000_000 { return "\(count / 1_000) kB" }
    return "\(count / 1_000_000) MB"
  }

  /// A duration in the unit that keeps it short.
  static func duration(_ value: Duration) -> String {
    // Not by its components: a decoded report can hold a duration whose seconds no `Int64` holds.
    let microseconds = value.attoseconds / 1_000_000_000_000
    if microseconds < 10_000 { return "\(microseconds) µs" }
    if microseconds < 10_000_000 { return "\(microseconds / 1_000) ms" }
    return "\(microseconds / 1_000_000) s"
  }

  /// "1 node", "2 nodes".
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
