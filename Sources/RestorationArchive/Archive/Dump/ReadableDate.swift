package import FoundationEssentials

extension Date {
  /// A moment for people and programs, as ISO 8601 has it; moments that no calendar has are told in seconds.
  package var readable: String {
    let seconds = timeIntervalSinceReferenceDate
    // From the year 1 to the year 9999; a file can hold any number, and a calendar would trap on some.
    guard (-63_113_904_000...252_423_993_599).contains(seconds) else { return "\(seconds) s since 2001" }
    return formatted(.iso8601)
  }
}
