internal import RestorationArchive

/// A value that a scope asks for at every save.
@MainActor final class ProvidedEntry<Value: Codable & Sendable>: StatefulController {
  let restorationIdentifier: RestorationIdentifier?
  /// Asked at every save.
  var provider: () -> Value?
  /// Whether the stored value goes before the provided one until that changes: nobody could read it before.
  private var yields: Bool
  private var held: Value??
  /// What was provided when the stored value came.
  private var baseline: Digest?
  private var digests = DigestMaker()

  /// The stored value, while it goes before the provided one.
  var stored: Value?? {
    guard let held else { return nil }
    if digest(of: provider()) == baseline { return held }
    (self.held, yields) = (nil, false)
    return nil
  }

  /// The provided value, unless that is no edit and the stored one has come.
  var restorableState: Value? {
    get { stored ?? provider() }
    set {
      guard yields else { return }
      (held, baseline) = (.some(newValue), digest(of: provider()))
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
