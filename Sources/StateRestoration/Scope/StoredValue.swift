public import Observation

/// One value that is preserved under a name, without a class of your own.
///
/// It can be the root of a session, a child of any controller, or one of the values of a ``RestorationScope``, which makes it:
/// ``RestorationScope/value(_:default:)``. Changes are noticed, and it can be observed.
///
/// ```swift
/// let draft = StoredValue("draft", "")
/// ```
@Observable @MainActor public final class StoredValue<Value: Codable & Sendable>: StatefulController {
  /// The name among its siblings.
  @ObservationIgnored public let restorationIdentifier: RestorationIdentifier?

  /// The value of one that belongs to no scope; else what it is while the scope has none.
  private var own: Value
  /// Where the scope keeps the value; nil for one that belongs to none.
  @ObservationIgnored private let place: (scope: RestorationScope, key: String, slot: ScopeSlot)?

  /// Names a value, and says what it is until another is restored.
  public init(_ name: RestorationIdentifier, _ value: Value) {
    restorationIdentifier = name
    own = value
    place = nil
  }

  init(_ key: String, in scope: RestorationScope, _ slot: ScopeSlot, default fallback: Value) {
    restorationIdentifier = RestorationIdentifier(key)
    own = fallback
    place = (scope, key, slot)
  }

  /// The value: the one given at first, until another is restored or assigned.
  ///
  /// A scope's value is the default as well while the device is locked, and when the stored value can't be read as this type;
  /// ``RestorationScope/value(ofType:forKey:)`` tells these apart.
  public var value: Value {
    get {
      let own = own
      guard let slot = place?.slot else { return own }
      do throws(RestorationError) {
        return try slot.read(as: Value.self, completingFrom: own) ?? own
      } catch {
        return own
      }
    }
    set {
      guard let (scope, key, slot) = place else {
        own = newValue
        return
      }
      scope.set(.copied(newValue, ValueHistory.version(of: Value.self)), at: key, in: slot)
    }
  }

  /// The version of the value's type, if that is a ``VersionedValue``; else 1.
  public static var stateVersion: StateVersion { ValueHistory.version(of: Value.self) }

  /// The migrations of the value's type, if that is a ``VersionedValue``.
  public static var migrations: StateMigrations<Value> { ValueHistory.migrations(of: Value.self) }

  /// The value, as the framework reads and assigns it.
  public var restorableState: Value {
    get { value }
    set { value = newValue }
  }
}

/// A value with a history: how older versions of it, as stored, become today's.
///
/// For the values of ``StoredValue`` and ``RestorationScope``.
public protocol VersionedValue: Codable, Sendable {
  /// Today's version; raise it when the meaning of the stored value changes.
  static var stateVersion: StateVersion { get }

  /// The steps from older versions; see ``StateMigrations``.
  @StateMigrationsBuilder static var migrations: StateMigrations<Self> { get }
}

/// A value that may be absent has the history of the value.
extension Optional: VersionedValue where Wrapped: VersionedValue {
  /// The version of the value.
  public static var stateVersion: StateVersion { Wrapped.stateVersion }

  /// The same steps as for the value; nil stays nil.
  public static var migrations: StateMigrations<Wrapped?> {
    return StateMigrations(
      routes: Wrapped.migrations.routes.map { route in
        MigrationRoute(from: route.from) { stored in try stored.storesNil() ? nil : route.read(stored) }
      })
  }
}

/// The histories of the types of values.
enum ValueHistory {
  /// Today's version of a type.
  static func version<Value>(of type: Value.Type) -> StateVersion {
    (type as? any VersionedValue.Type)?.stateVersion ?? 1
  }

  /// The migrations of a type.
  static func migrations<Value: Codable & Sendable>(of type: Value.Type) -> StateMigrations<Value> {
    guard let type = type as? any VersionedValue.Type else { return .none }
    func open<Versioned: VersionedValue>(_ type: Versioned.Type) -> StateMigrations<Value>? {
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
    func migrate<Versioned: VersionedValue>(_ type: Versioned.Type) throws -> Value? {
      try type.migrations.migrate(from: version, stored) as? Value
    }
    do {
      if let type = Value.self as? any VersionedValue.Type, let value = try migrate(type) { return value }
    } catch let error as RestorationError {
      throw error
    } catch {
      throw RestorationError(
        .migrationFailed, "A step of the migration from version \(version) to \(known) refused the value.",
        path: stored.path, cause: error)
    }
    throw RestorationError(
      .noMigration, "The value has version \(version), and no migration of \(Value.self) begins there.",
      path: stored.path)
  }
}
