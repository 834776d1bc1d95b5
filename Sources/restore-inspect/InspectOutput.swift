import Foundation

/// What one command has to say: the same facts as text and as JSON, and how the tool ends.
package struct InspectOutput: Sendable {
  /// The text, line by line, in the style it was made with.
  package var lines: [String]

  /// The same as a value.
  package var json: JSONValue

  /// How the tool ends.
  package var code: InspectExitCode

  /// Makes an output.
  package init(lines: [String], json: JSONValue, code: InspectExitCode = .success) {
    self.lines = lines
    self.json = json
    self.code = code
  }

  /// The number of the JSON's form; raised when a program that reads it would have to change.
  package static let format = 1

  /// JSON in which a terminal finds nothing to obey: characters that could are written by their numbers.
  private static func escaped(_ json: String) -> String {
    let isHarmless: (Unicode.Scalar) -> Bool = { $0.isASCII && $0.value != 0x7F || !InspectStyle.isUnsafe($0) }
    if json.unicodeScalars.allSatisfy(isHarmless) { return json }
    // Outside of strings JSON has only ASCII.
    return json.unicodeScalars.map { scalar in
      if isHarmless(scalar) { return String(scalar) }
      return String(scalar).utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }.joined()
  }

  /// The printed text.
  package func text(isJSON: Bool) -> String {
    guard isJSON else { return lines.map { $0 + "\n" }.joined() }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    var value = json
    if case .object(var members) = json {
      members["format"] = .count(Self.format)
      value = .object(members)
    }
    guard let data = try? encoder.encode(value) else { return "null\n" }
    return Self.escaped(String(decoding: data, as: UTF8.self)) + "\n"
  }
}
