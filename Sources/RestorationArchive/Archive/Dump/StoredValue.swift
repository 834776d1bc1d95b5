package import FoundationEssentials

extension RestorationArchive {
  /// A stored value as the bytes tell of it, without the type that was encoded: for looking into archives.
  ///
  /// What was one type may look like another: an enumeration like its raw value, a URL like whatever it encodes.
  package indirect enum StoredValue: Hashable, Sendable {
    /// Nothing, stored as such.
    case null
    /// A Boolean.
    case bool(Bool)
    /// An integer of any width, in decimal.
    case integer(String)
    /// A floating-point number of any width.
    case number(Double)
    /// A text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A moment.
    case date(Date)
    /// A universally unique identifier.
    case uuid(String)
    /// Values under keys, in their stored order.
    case object([Field])
    /// Values in order.
    case array([StoredValue])

    /// A value under a key.
    package struct Field: Hashable, Sendable {
      /// The key.
      package var key: String
      /// The value.
      package var value: StoredValue
    }

    /// What it is and how big, without saying what it holds.
    package var redactedDescription: String {
      switch self {
      case .null: "null"
      case .bool: "Boolean"
      case .integer: "integer"
      case .number: "number"
      case .string(let text): "text of \(text.utf8.count) bytes"
      case .data(let data): "data of \(data.count) bytes"
      case .date: "date"
      case .uuid: "UUID"
      case .object(let fields): "\(fields.count) fields"
      case .array(let elements): "\(elements.count) elements"
      }
    }
  }
}

extension RestorationArchive.Record {
  /// The record's values as the bytes tell of them, under their keys.
  package func storedValues() throws(ArchiveError) -> [RestorationArchive.StoredValue.Field] {
    do {
      return try decoder?.storedValues() ?? []
    } catch {
      var located = error
      located.path = path
      throw located
    }
  }
}
