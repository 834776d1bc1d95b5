import FoundationShim
import RestorationArchive

/// How text looks: colours on a terminal, plain elsewhere; and nothing in it that a terminal would obey.
package struct InspectStyle: Sendable, Hashable {
  /// Whether colours are used.
  package var hasColours: Bool

  /// Makes a style.
  package init(hasColours: Bool) { self.hasColours = hasColours }

  /// Names: identifiers and files.
  package func name(_ text: String) -> String { coloured(text, "1") }

  /// What explains: types and sizes.
  package func detail(_ text: String) -> String { coloured(text, "2") }

  /// Good news.
  package func good(_ text: String) -> String { coloured(text, "32") }

  /// Bad news.
  package func bad(_ text: String) -> String { coloured(text, "31") }

  /// Remarks.
  package func notice(_ text: String) -> String { coloured(text, "33") }

  private func coloured(_ text: String, _ code: String) -> String {
    let safe = Self.safe(text)
    return hasColours && !safe.isEmpty ? "\u{1B}[\(code)m\(safe)\u{1B}[0m" : safe
  }

  /// Text without control and format characters, which could move a terminal's cursor or reverse a line.
  package static func safe(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    return text.unicodeScalars.map { isUnsafe($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
  }

  /// Whether a terminal could obey the character, or be confused by it.
  static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // The joiner of emoji sequences is a format character that does no harm.
    case .format: scalar.value != 0x200D
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

/// A moment for people and programs, as ISO 8601 has it.
func readable(_ date: Date) -> String { date.readable { $0.formatted(.iso8601) } }

/// Byte counts for people.
func readable(bytes count: Int) -> String {
  if count < 10_000 { return "\(count) B" }
  if count < 10_000_000 { return "\(count / 1_000) kB" }
  return "\(count / 1_000_000) MB"
}
