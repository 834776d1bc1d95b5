package import FoundationShim

/// A stored value of any type, as far as its form tells it.
///
/// Archives say of every value whether it is a number, a string, a list and so on, so that values can be read without
/// the types they were made of. A moment is stored as a number: its seconds since 2001-01-01 00:00 UTC.
package indirect enum InspectedValue: Decodable, Sendable, Hashable {
  /// Nothing.
  case null
  /// A truth value.
  case bool(Bool)
  /// A whole number, in digits.
  case integer(String)
  /// A number with a fraction.
  case number(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data([UInt8])
  /// A UUID.
  case uuid(UUID)
  /// A list.
  case array([InspectedValue])
  /// Values by key, in the stored order.
  case object([Field])
  /// Something of another form.
  case unknown

  /// One value of an object.
  package struct Field: Sendable, Hashable {
    /// The key.
    package let key: String
    /// The value.
    package let value: InspectedValue
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads a value of any form.
  package init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      self = .object(
        try container.allKeys.map { key in
          Field(key: key.stringValue, value: try container.decode(InspectedValue.self, forKey: key))
        })
    } else if var container = try? decoder.unkeyedContainer() {
      var values: [InspectedValue] = []
      while !container.isAtEnd {
        values.append(
          try container.decodeNil() ? .null : try container.decode(InspectedValue.self))
      }
      self = .array(values)
    } else {
      self = InspectedValue(single: try decoder.singleValueContainer())
    }
  }

  private init(single container: any SingleValueDecodingContainer) {
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer("\(value)")
    } else if let value = try? container.decode(UInt64.self) {
      self = .integer("\(value)")
    } else if let value = try? container.decode(Int128.self) {
      self = .integer("\(value)")
    } else if let value = try? container.decode(UInt128.self) {
      self = .integer("\(value)")
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(Float.self) {
      self = .number(Double(value))
    } else if let value = try? container.decode(UUID.self) {
      self = .uuid(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Data.self) {
      self = .data([UInt8](value))
    } else {
      self = .unknown
    }
  }

  /// The form and the size, without any of the content; keys count as content, for they may come from data.
  package var redacted: String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .integer: "integer"
    case .number: "number"
    case .string(let text): "string, \(text.utf8.count) bytes"
    case .data(let bytes): "data, \(bytes.count) bytes"
    case .uuid: "UUID"
    case .array(let values): "list of \(values.count)"
    case .object(let fields): "keyed, \(fields.count) values"
    case .unknown: "unknown"
    }
  }

  /// The content in one line.
  package var revealed: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let digits): digits
    case .number(let value): "\(value)"
    case .string(let text): "\"\(text)\""
    case .data(let bytes): "data \(hexadecimal(bytes.prefix(64)))\(bytes.count > 64 ? "… (\(bytes.count) bytes)" : "")"
    case .uuid(let value): value.uuidString
    case .array(let values): "[\(values.map(\.revealed).joined(separator: ", "))]"
    case .object(let fields): "{\(fields.map { "\($0.key): \($0.value.revealed)" }.joined(separator: ", "))}"
    case .unknown: "unknown"
    }
  }

  /// The content, or its form and size, as JSON.
  package func json(reveals: Bool) -> JSONValue {
    guard reveals else { return .string(redacted) }
    switch self {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .integer(let digits): return Int64(digits).map(JSONValue.integer) ?? .string(digits)
    case .number(let value): return .number(value)
    case .array(let values): return .array(values.map { $0.json(reveals: true) })
    case .object(let fields):
      return .object(
        Dictionary(fields.map { ($0.key, $0.value.json(reveals: true)) }, uniquingKeysWith: { first, _ in first }))
    case .string(let text): return .string(text)
    case .data(let bytes): return .string(hexadecimal(bytes))
    default: return .string(revealed)
    }
  }
}

/// Bytes as lowercase hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { byte in
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }.joined()
}
