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

  /// What is printed.
  package func text(isJSON: Bool) -> String {
    guard isJSON else { return lines.map { $0 + "\n" }.joined() }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(json) else { return "null\n" }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}
