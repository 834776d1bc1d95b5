internal import RestorationArchive

/// A value that a scope asks for at every save.
@MainActor final class ProvidedEntry<Value: Codable & Sendable>: StatefulController {
  let restorationIdentifier: RestorationIdentifier?
  /// Asked at every save.
  var provider: () -> Value?
  /// Whether the stored value goes before the provided one until that changes: nobody could read it before.
  private var yields: Bool
  /// The stored value, while it goes before the provided one.
  private(set) var stored: Value??
  /// What was provided when the stored value came.
  private var baseline: Digest?
  private var digests = DigestMaker()

  /// The provided value, unless that is no edit and the stored one has come.
  var restorableState: Value? {
    get {
      let value = provider()
      guard let stored else { return value }
      if digest(of: value) == baseline { return stored }
      (self.stored, yields) = (nil, false)
      return value
    }
    set {
      guard yields else { return }
      (stored, baseline) = (.some(newValue), digest(of: provider()))
    }
  }

  init(_ key: RestorationIdentifier, yields: Bool, _ provider: @escaping () -> Value?) {
    restorationIdentifier = key
    self.yields = yields
    self.provider = provider
  }

  private func digest(of value: Value?) -> Digest? {
    try? digests.digest([RestorationArchive.Entry(key: ReservedKey.state, value: value)])
  }

  static var stateVersion: StateVersion { ValueHistory<Value?>.version }
  static var migrations: StateMigrations<Value?> { ValueHistory<Value?>.migrations }
}
