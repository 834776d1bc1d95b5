internal import FoundationShim

/// Gives one object's stored values back, by key, while the method that it was given to runs.
///
/// A throwing read distinguishes "nothing was stored" from "could not read it": `nil` always means the first. A read after
/// that method has returned throws an error that says so; ``contains(_:)`` is false then.
@MainActor public final class RestorationDecoder {
  /// Finds the restored object of a reference.
  package typealias Resolver = @MainActor (RestorationPath) -> (any RestorableObject)?

  /// What the archive says of itself: versions, time of saving, idiom.
  public let context: RestorationArchive.Context

  private let resolve: Resolver?
  private var isValid = true

  /// The key that was read first, mostly the only one.
  private var firstReadKey: String?
  /// The other keys that were read; the rest is reported as unread.
  private var otherReadKeys: Set<String> = []

  /// Whether to look for stored fields of values that their types do not know.
  var namesUnknownFields = false
  /// The fields that were found.
  private var unknownFields: [String] = []

  /// The delegate that turned out to have no `makeController(at:coder:)` of its own.
  package var delegateWithoutMaker: ObjectIdentifier?

  /// The keys of references whose object was not restored.
  package private(set) var unresolvedKeys: [String] = []

  /// The stored state of one object.
  package struct Stored {
    package var record: any StateRecord
    package var path: RestorationPath
    package var version: StateVersion?
    package var model: ModelIdentifier?

    package init(
      _ record: any StateRecord, at path: RestorationPath, version: StateVersion? = nil, model: ModelIdentifier? = nil
    ) {
      (self.record, self.path, self.version, self.model) = (record, path, version, model)
    }
  }

  private var stored: Stored

  /// Where the object is; the empty path for the whole program's own state.
  public var path: RestorationPath { stored.path }

  /// The version of the class when the state was preserved; nil for the program's own state.
  public var storedVersion: StateVersion? { stored.version }

  /// The model object that the state belongs to, so that a factory can make the controller for it.
  public var modelIdentifier: ModelIdentifier? { stored.model }

  private var record: any StateRecord { stored.record }

  /// Makes a decoder of one record; without a resolver, references can't be read yet.
  package init(_ stored: Stored, context: RestorationArchive.Context, resolve: Resolver? = nil) {
    self.stored = stored
    self.context = context
    self.resolve = resolve
  }

  /// Begins another record, with a decoder that no code of the program has seen and that resolves nothing.
  func begin(_ stored: Stored) {
    self.stored = stored
    firstReadKey = nil
    if !otherReadKeys.isEmpty { otherReadKeys = [] }
    if !unknownFields.isEmpty { unknownFields = [] }
    isValid = true
  }

  /// Whether something is stored under a key.
  public func contains(_ key: String) -> Bool {
    isValid && !ReservedKey.isReserved(key) && record.contains(key)
  }

  /// The value stored under a key; throws if there is none or if it is of another type.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(RestorationError) -> Value {
    guard let value = try decodeIfPresent(type, forKey: key) else {
      throw RestorationError(
        .keyNotFound, "Nothing is stored under the key; use decodeIfPresent(_:forKey:) if it may be absent.",
        path: path, key: key)
    }
    return value
  }

  /// The value stored under a key; nil only if nothing was stored.
  public func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type = Value.self, forKey key: String
  ) throws(RestorationError) -> Value? {
    try checkValidity(key)
    guard !ReservedKey.isReserved(key) else { return nil }
    return try read(type, forKey: key)
  }

  /// The restored object that a reference leads to; nil if none was stored or its object was not restored.
  public func reference<Object>(
    to type: Object.Type = Object.self, forKey key: String
  ) throws(RestorationError) -> Object? {
    let resolve = try resolver(for: key)
    guard let stored = try decodeIfPresent(RestorationPath?.self, forKey: key) ?? nil else { return nil }
    guard let object = resolve(stored) else {
      unresolvedKeys.append(key)
      return nil
    }
    return try cast(object, to: type, key: key)
  }

  /// The restored objects that a list of references leads to, in order; those not restored are left out.
  public func references<Object>(
    to type: Object.Type = Object.self, forKey key: String
  ) throws(RestorationError) -> [Object] {
    let resolve = try resolver(for: key)
    var objects: [Object] = []
    for stored in try decodeIfPresent([RestorationPath?].self, forKey: key) ?? [] {
      if let object = stored.flatMap(resolve) {
        objects.append(try cast(object, to: type, key: key))
      } else if unresolvedKeys.last != key {
        unresolvedKeys.append(key)
      }
    }
    return objects
  }

  /// Ends the decoder's life.
  package func finish() {
    isValid = false
  }

  /// Reads any key, the framework's own included.
  func read<Value: Decodable>(
    _ type: Value.Type, forKey key: String, noting unknown: UnknownFields? = nil
  ) throws(RestorationError) -> Value? {
    do throws(ArchiveError) {
      if let value = try record.decodeIfPresent(type, forKey: key, noting: unknown) {
        noteReading(key)
        return value
      }
    } catch {
      noteReading(key)
      throw RecordedValue.unreadable(as: type, path, key, error)
    }
    // A key that is not there was not read.
    guard record.contains(key) else { return nil }
    noteReading(key)
    return RecordedValue.stored(nilAs: type)
  }

  /// Reads any key, and notes the fields of the stored value that its type does not know.
  func readNotingFields<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(RestorationError) -> Value? {
    let unknown = UnknownFields()
    defer { unknownFields += key == ReservedKey.state ? unknown.names : unknown.names.map { "\(key).\($0)" } }
    return try read(type, forKey: key, noting: unknown)
  }

  private func noteReading(_ key: String) {
    if firstReadKey == nil { firstReadKey = key } else if firstReadKey != key { otherReadKeys.insert(key) }
  }

  /// The one value of a ``StatefulObject``, for migrations; it counts as read.
  var recordedState: RecordedValue {
    noteReading(ReservedKey.state)
    return RecordedValue(source: .record(record, key: ReservedKey.state), path: path)
  }

  /// What a value of a scope has stored, to be decoded when somebody says as what; it counts as read.
  func takeScopeValue() throws(RestorationError) -> ScopeValue {
    for key in record.keys { noteReading(key) }
    let version = try read(UInt32.self, forKey: ReservedKey.version).map { StateVersion(rawValue: $0) } ?? 1
    let bytes = try read(Data.self, forKey: ReservedKey.encodedState)
    guard bytes != nil || hasState else { return .refused }
    let source = bytes.map { RecordedValue.Source.encoded($0) } ?? .record(record, key: ReservedKey.state)
    return .stored(RecordedValue(source: source, path: path), version)
  }

  /// Notes fields of the object's value that its type does not know.
  func noteUnknown(_ fields: [String]) { unknownFields += fields }

  /// Whether the record has the one value of a ``StatefulObject``.
  var hasState: Bool { record.contains(ReservedKey.state) }

  /// The keys that nobody has read so far, and the fields of values that their types do not know.
  package var unreadKeys: [String] {
    guard (firstReadKey == nil ? 0 : 1) + otherReadKeys.count < record.keyLimit else { return unknownFields }
    return record.keys.filter { $0 != firstReadKey && !otherReadKeys.contains($0) } + unknownFields
  }

  private func checkValidity(_ key: String) throws(RestorationError) {
    guard isValid else {
      throw RestorationError(
        .coderUsedTooLate, "The decoder was used after the method it was given to returned; read within the method.",
        path: path, key: key)
    }
  }

  private func resolver(for key: String) throws(RestorationError) -> Resolver {
    try checkValidity(key)
    guard let resolve else {
      throw RestorationError(
        .referencesNotReady, "Not every object exists yet; read references in decodeRestorableState(with:).",
        path: path,
        key: key)
    }
    return resolve
  }

  private func cast<Object>(
    _ object: any RestorableObject, to type: Object.Type, key: String
  ) throws(RestorationError) -> Object {
    guard let object = object as? Object else {
      throw RestorationError(
        .referenceOfAnotherClass, "The reference leads to a \(Swift.type(of: object)), not a \(type).", path: path,
        key: key)
    }
    return object
  }
}
