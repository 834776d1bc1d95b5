internal import Observation

/// What a scope has under a key.
@MainActor protocol ScopeMember: RestorableController {
  /// Why the stored value of the key could not be given; nil when it could, or there was nothing.
  var failure: RestorationError? { get set }
}

/// A value that a scope keeps.
@Observable @MainActor final class ScopeEntry<Value: Codable & Sendable>: StatefulController, ScopeMember {
  @ObservationIgnored let restorationIdentifier: RestorationIdentifier?
  @ObservationIgnored var failure: RestorationError?

  /// Nil until a value was set or restored.
  var restorableState: Value?

  init(_ key: RestorationIdentifier) { restorationIdentifier = key }

  static var stateVersion: StateVersion { ValueHistory<Value>.version }
  static var migrations: StateMigrations<Value?> { return ValueHistory<Value>.migrations.optional }

  func set(_ value: Value) {
    failure = nil
    restorableState = value
  }
}

/// A value that a scope asks for at every save.
@MainActor final class ProvidedEntry<Value: Codable & Sendable>: StatefulController, ScopeMember {
  let restorationIdentifier: RestorationIdentifier?
  var failure: RestorationError?
  private let provider: () -> Value?

  /// The provided value; the program consumes the stored one before it provides anew.
  var restorableState: Value? {
    get { provider() }
    set {}
  }

  init(_ key: RestorationIdentifier, _ provider: @escaping () -> Value?) {
    restorationIdentifier = key
    self.provider = provider
  }

  static var stateVersion: StateVersion { ValueHistory<Value>.version }
  static var migrations: StateMigrations<Value?> { return ValueHistory<Value>.migrations.optional }
}

/// Something stored that nobody reads, on its way out.
@MainActor final class UnreadEntry: RestorableController {
  let restorationIdentifier: RestorationIdentifier?

  init(_ key: RestorationIdentifier) { restorationIdentifier = key }
}

extension StateMigrations {
  /// The same steps to a state that may be absent.
  fileprivate var optional: StateMigrations<State?> {
    StateMigrations<State?>(
      routes: routes.map { route in MigrationRoute(from: route.from) { try route.read($0) } })
  }
}
