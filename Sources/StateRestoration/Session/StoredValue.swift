public import Observation

/// One value that is preserved under a name, without a class of your own.
///
/// It can be the root of a session, a member of a ``StoredGroup``, or a child of any controller. Changes are noticed, and it
/// can be observed.
///
/// ```swift
/// let draft = StoredValue("draft", "")
/// ```
@Observable @MainActor public final class StoredValue<Value: Codable & Sendable>: StatefulController {
  /// The value: the one given at first, until another is restored or assigned.
  public var value: Value

  /// The name among its siblings.
  @ObservationIgnored public let restorationIdentifier: RestorationIdentifier?

  /// Names a value, and says what it is until another is restored.
  public init(_ name: RestorationIdentifier, _ value: Value) {
    restorationIdentifier = name
    self.value = value
  }

  /// The version of the value's type, if that is a ``VersionedValue``; else 1.
  public static var stateVersion: StateVersion { ValueHistory<Value>.version }

  /// The migrations of the value's type, if that is a ``VersionedValue``.
  public static var migrations: StateMigrations<Value> { ValueHistory<Value>.migrations }

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
        MigrationRoute(from: route.from) { coder in try coder.storesNil() ? nil : route.read(coder) }
      })
  }
}

/// The history of a value's type.
enum ValueHistory<Value: Codable & Sendable> {
  static var version: StateVersion { (Value.self as? any VersionedValue.Type)?.stateVersion ?? 1 }

  static var migrations: StateMigrations<Value> {
    guard let type = Value.self as? any VersionedValue.Type else { return .none }
    func open<Versioned: VersionedValue>(_ type: Versioned.Type) -> StateMigrations<Value>? {
      type.migrations as? StateMigrations<Value>
    }
    return open(type) ?? .none
  }
}
