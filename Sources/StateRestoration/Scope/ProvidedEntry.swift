/// A value that a scope asks for at every save.
@MainActor final class ProvidedEntry<Value: Codable & Sendable>: StatefulController {
  let restorationIdentifier: RestorationIdentifier?
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

  static var stateVersion: StateVersion { ValueHistory<Value?>.version }
  static var migrations: StateMigrations<Value?> { ValueHistory<Value?>.migrations }
}
