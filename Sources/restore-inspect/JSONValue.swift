/// A JSON value, for output only; keys are printed in the order of the alphabet.
package enum JSONValue: Sendable, Hashable, Encodable {
  /// Nothing.
  case null
  /// A truth value.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A number with a fraction; infinities and NaN go out as strings.
  case number(Double)
  /// A text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Values by key.
  case object([String: JSONValue])

  /// Writes the value as its JSON counterpart.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value) where value.isFinite: try container.encode(value)
    case .number(let value): try container.encode("\(value)")
    case .string(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let values): try container.encode(values)
    }
  }

  /// A count.
  package static func count(_ value: Int) -> JSONValue { .integer(Int64(value)) }

  /// A text, or nothing.
  package static func optional(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
}
