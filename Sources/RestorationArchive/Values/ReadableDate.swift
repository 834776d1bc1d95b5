package import FoundationShim

extension Date {
  /// A moment for people and programs as a calendar has it; those that no calendar has are told in seconds.
  ///
  /// - Parameter text: Writes a moment between the year 1 and the year 9999.
  package func readable(_ text: (Date) -> String = { $0.description }) -> String {
    let seconds = timeIntervalSinceReferenceDate
    // A file can hold any number, and a calendar would trap on some.
    guard (-63_113_904_000...252_423_993_599).contains(seconds) else { return "\(seconds) s since 2001" }
    return text(self)
  }
}
