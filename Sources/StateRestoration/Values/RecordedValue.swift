internal import FoundationShim
internal import RestorationArchive

/// One value as it is stored: decoded on any thread, as any type, and as often as somebody asks.
struct RecordedValue: Sendable {
  /// Where the value is.
  enum Source: Sendable {
    /// Under a key of a record, in the tables of its archive.
    case record(any StateRecord, key: String)
    /// In bytes of its own, as an `ArchiveEncoder` made them.
    case encoded(Data)
  }

  let source: Source
  /// The object whose state it is; nil when nobody asked for it.
  var path: RestorationPath?
  /// Notes the stored fields that the type of the value does not know; nil where nobody asks for them.
  var unknown: Unknown?

  /// Names of fields, for the time of one reading.
  ///
  /// `@unchecked Sendable`: made, used and read within one call, on one thread.
  final class Unknown: @unchecked Sendable {
    fileprivate let fields = UnknownFields()
    var names: [String] { fields.names }
  }

  /// Decodes the value; nil only if nothing is stored.
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws(RestorationError) -> Value? {
    do {
      switch source {
      case .record(let record, let key):
        if let value = try record.decodeIfPresent(type, forKey: key, noting: unknown?.fields) { return value }
        guard record.contains(key) else { return nil }
      case .encoded(let bytes):
        return try ArchiveDecoder().decode(type, from: bytes, noting: unknown?.fields)
      }
    } catch {
      throw Self.unreadable(as: type, path, reportedKey, error)
    }
    return Self.stored(nilAs: type)
  }

  /// A stored nil as a value of a type: a value of an optional type, and nothing for others.
  static func stored<Value>(nilAs type: Value.Type) -> Value? { (type as? any OptionalValue.Type)?.absent(as: type) }

  /// The error of a stored value that is of another type.
  static func unreadable(
    as type: Any.Type, _ path: RestorationPath?, _ key: String?, _ cause: any Error
  ) -> RestorationError {
    RestorationError(
      .unreadable, "The stored value is not \(type): a value of another type needs another key, or a migration.",
      path: path, key: key, cause: cause)
  }

  /// Decodes the value, in the form that an older version stored say; throws if nothing is stored.
  func decode<Value: Decodable>(_ type: Value.Type) throws(RestorationError) -> Value {
    guard let value = try decodeIfPresent(type) else {
      throw RestorationError(.keyNotFound, "The object stored no state.", path: path)
    }
    return value
  }

  /// Decodes the value; fields that are missing in it are taken from another one.
  func decode<Value: Codable>(_ type: Value.Type, completingFrom launch: Value) throws(RestorationError) -> Value {
    do throws(RestorationError) {
      return try decode(type)
    } catch {
      guard LaunchValue.missingKey(in: error) != nil,
        let value = try? LaunchValue.completing(from: launch, { try decode(CompletedValue<Value>.self) })
      else { throw error }
      return value.value
    }
  }

  /// Whether nil is stored, whatever the type of the value.
  func storesNil() throws(RestorationError) -> Bool {
    if case .record(let record, let key) = source {
      guard record.contains(key) else { return false }
      do {
        return try record.decodeIfPresent(AnyStored.self, forKey: key) == nil
      } catch {
        throw RestorationError(.unreadable, "The stored value can't be read.", path: path, cause: error)
      }
    }
    return try decode(AnyStored?.self) == nil
  }

  private var reportedKey: String? {
    if case .record(_, let key) = source { key } else { nil }
  }
}

/// Reads anything but nil.
private struct AnyStored: Decodable { init(from decoder: any Decoder) {} }

/// A type that nil is a value of.
protocol OptionalValue { static func absent<Value>(as type: Value.Type) -> Value? }

extension Optional: OptionalValue {
  static func absent<Value>(as type: Value.Type) -> Value? { ([Self.none] as? [Value])?.first }
}
