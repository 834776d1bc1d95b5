/// State with a history: how older versions of it, as stored, become today's.
///
/// For the ``StatefulObject/RestorableState`` of a class, the value of a ``StoredValue`` and those of a ``RestorationScope``.
///
/// ```swift
/// nonisolated struct EditorState: VersionedState {
///   var draft = ""
///   var caret = 0
///
///   static var stateVersion: StateVersion { 2 }
///   static var migrations: StateMigrations<EditorState> {
///     StateMigrations(from: 1) { (old: EditorState1) in EditorState(draft: old.text) }
///   }
/// }
/// ```
///
/// State of another type is of version 1. The numbers are checked when the class is registered or first seen.
public protocol VersionedState: Codable, Sendable {
  /// Today's version; raise it when the meaning of what is stored changes.
  static var stateVersion: StateVersion { get }

  /// The steps from older versions; see ``StateMigrations``.
  static var migrations: StateMigrations<Self> { get }
}

/// A value that may be absent has the history of the value.
extension Optional: VersionedState where Wrapped: VersionedState {
  /// The version of the value.
  public static var stateVersion: StateVersion { Wrapped.stateVersion }

  /// The same steps as for the value; nil stays nil.
  public static var migrations: StateMigrations<Wrapped?> {
    StateMigrations<Wrapped?>(
      routes: Wrapped.migrations.routes.map { route in
        MigrationRoute(from: route.from) { stored in try stored.storesNil() ? nil : route.read(stored) }
      })
  }
}

/// The histories of the types of state.
enum StateHistory {
  /// Today's version of a type.
  static func version<Value>(of type: Value.Type) -> StateVersion {
    (type as? any VersionedState.Type)?.stateVersion ?? 1
  }

  /// The migrations of a type.
  static func migrations<Value: Codable & Sendable>(of type: Value.Type) -> StateMigrations<Value> {
    guard let type = type as? any VersionedState.Type else { return .none }
    func open<Versioned: VersionedState>(_ type: Versioned.Type) -> StateMigrations<Value>? {
      type.migrations as? StateMigrations<Value>
    }
    return open(type) ?? .none
  }

  /// Reads a stored value of some version as one of today's.
  ///
  /// - Parameter decode: How to read one of today's version.
  /// - Throws: `newerVersion`, `noMigration`, `migrationFailed`, or what decoding throws.
  static func read<Value: Decodable>(
    _ stored: RecordedValue, of version: StateVersion, _ decode: (RecordedValue) throws(RestorationError) -> Value
  ) throws(RestorationError) -> Value {
    let known = self.version(of: Value.self)
    if version == known { return try decode(stored) }
    guard version < known else {
      throw RestorationError(
        .newerVersion, "The value has version \(version), but \(Value.self) knows versions up to \(known); it is kept.",
        path: stored.path)
    }
    func migrate<Versioned: VersionedState>(_ type: Versioned.Type) throws -> Value? {
      try type.migrations.migrate(from: version, stored) as? Value
    }
    return try migrated(stored, from: version, to: known) {
      try (Value.self as? any VersionedState.Type).flatMap { try migrate($0) }
    }
  }

  /// Brings a stored value of an older version up to today's.
  ///
  /// - Parameter steps: Takes all steps of the migration; nil if none begins at the version.
  /// - Throws: `noMigration`, `migrationFailed`, or what decoding throws.
  static func migrated<Value>(
    _ stored: RecordedValue, from version: StateVersion, to known: StateVersion, by steps: () throws -> Value?
  ) throws(RestorationError) -> Value {
    do {
      if let value = try steps() { return value }
    } catch let error as RestorationError {
      throw error
    } catch {
      throw RestorationError(
        .migrationFailed, "A step of the migration from version \(version) to \(known) refused the value.",
        path: stored.path, cause: error)
    }
    throw RestorationError(
      .noMigration,
      "The value has version \(version), and no migration of \(Value.self) begins there; "
        + "begin with StateMigrations(from: \(version)).",
      path: stored.path)
  }
}
