public import Observation

/// Values under keys that come back, without classes: what a declarative toolkit needs to remember what it shows.
///
/// A scope is a controller like any other: the root of a session, or a child anywhere. Values and nested scopes are nodes below
/// it, so that budgets, versions, reports and carrying over hold for them. Read when the session is open, the coordinator has
/// restored, and as often as you like: nothing waits.
///
/// ```swift
/// let scope = RestorationScope("window")
/// let session = try await RestorationSession.open(at: .applicationState("com.example.notes"), root: scope)
/// let draft = scope.value(forKey: "draft", default: "")
/// scope.setValue(draft + "!", forKey: "draft")
/// ```
@Observable @MainActor public final class RestorationScope: RestorableController {
  /// The name among its siblings.
  @ObservationIgnored public let restorationIdentifier: RestorationIdentifier?

  /// The values and nested scopes that were used in this run.
  public private(set) var restorationChildren: [any RestorableController] = []

  @ObservationIgnored private var members: [RestorationIdentifier: any RestorableController] = [:]
  /// The objects that have left in this turn: one that comes at the address of one that died would be taken for it.
  @ObservationIgnored private var departed: [any RestorableController] = []
  @ObservationIgnored private weak var parent: RestorationScope?
  @ObservationIgnored private weak var knownCoordinator: RestorationCoordinator?

  /// Makes a scope with a name among its siblings.
  public init(_ name: RestorationIdentifier = "scope") { restorationIdentifier = name }

  /// The value under a key; nil only if nothing is stored.
  ///
  /// Of a key that is provided it is the stored value that came back after an unlock, until the provided one changes; else nil.
  ///
  /// - Throws: ``RestorationError/Code/locked`` while the device is locked, ``RestorationError/Code/deviceNotOpened`` when the last
  ///   restoration could not reach the state, ``RestorationError/Code/unreadable`` when the value that is stored can't be read as
  ///   this type, or is below state that did not come back; it stays stored until another value is set.
  public func value<Value: Codable & Sendable>(
    ofType type: Value.Type = Value.self, forKey key: RestorationIdentifier
  ) throws(RestorationError) -> Value? {
    switch members[key] {
    case let known as StoredValue<Value?>: return known.value
    case let known as ProvidedEntry<Value>:
      if let stored = known.stored { return stored }
      try requireUnlocked(key)
      return nil
    case _?: throw ofAnotherType(key)
    case nil: break
    }
    // Whoever observes this is told when the key comes.
    _ = restorationChildren.count
    guard let coordinator else { return nil }
    if coordinator.restored == nil, coordinator.lastReport?.outcome == .unavailable {
      throw RestorationError(
        .deviceNotOpened, "What is stored could not be reached; restore again, then read again.", path: place(of: key))
    }
    guard let place = place(of: key) else { return nil }
    try requireUnlocked(key)
    guard coordinator.hasUnreadValue(at: place) else {
      guard coordinator.withholdsValue(at: place) else { return nil }
      throw RestorationError(.unreadable, "The state that the stored value belongs to was not restored.", path: place)
    }
    let entry = StoredValue<Value?>(key, nil)
    list(entry, as: key)
    let report = coordinator.restore(entry, at: place)
    if entry.value == nil { remove(key) }
    if case .notRestored(let reason)? = report?.result {
      // Another type may be asked for before the entry dies.
      if let turn = coordinator.restored, let index = coordinator.storedPlace(at: place),
        turn.object(at: index) === entry
      {
        turn.fail(index, reason)
      }
      throw RestorationError(.unreadable, "What is stored under the key was not given: \(reason).", path: place)
    }
    return entry.value
  }

  private func requireUnlocked(_ key: RestorationIdentifier) throws(RestorationError) {
    guard coordinator?.standing == .locked else { return }
    throw RestorationError(
      .locked, "The device is locked; read again after the unlock, when the coordinator has restored.",
      path: place(of: key))
  }

  /// The value under a key, or a default if there is none, or it can't be read now.
  public func value<Value: Codable & Sendable>(
    forKey key: RestorationIdentifier, default fallback: @autoclosure () -> Value
  ) -> Value {
    do throws(RestorationError) {
      return try value(ofType: Value.self, forKey: key) ?? fallback()
    } catch {
      return fallback()
    }
  }

  /// Keeps a value under a key; it is preserved with the next save.
  public func setValue<Value: Codable & Sendable>(_ value: Value, forKey key: RestorationIdentifier) {
    if let known = members[key] as? StoredValue<Value?> {
      known.value = value
      // In the turn that restores it as well.
      coordinator?.tree.given.noteEdit(known)
    } else {
      replace(key, by: StoredValue<Value?>(key, value), isEdit: true)
    }
  }

  /// The value under a key, which is forgotten by that: whoever wants it preserved again sets or provides it.
  ///
  /// Throws what ``value(ofType:forKey:)`` does, and forgets nothing then.
  public func consume<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, forKey key: RestorationIdentifier
  ) throws(RestorationError) -> Value? {
    let value = try value(ofType: type, forKey: key)
    if value != nil { forget(key) }
    return value
  }

  /// Has every save ask for a value, until the key is forgotten; nil keeps nothing under it.
  ///
  /// A save that comes by itself asks when something observable that the closure has read changes. While the device is
  /// locked, and before restoring, a value that is provided first is no edit until it changes: the stored one comes back, and
  /// can be consumed.
  public func provide<Value: Codable & Sendable>(
    forKey key: RestorationIdentifier, _ provider: @escaping () -> Value?
  ) {
    if let known = members[key] as? ProvidedEntry<Value> {
      known.provider = provider
      return known.invalidateRestorableState()
    }
    let yields = members[key] == nil && (coordinator == nil || coordinator?.standing == .locked)
    replace(key, by: ProvidedEntry(key, yields: yields, provider), isEdit: !yields)
  }

  /// Forgets the kept, provided or stored value of a key: the next save removes it.
  ///
  /// While the device is locked only values of this run can be forgotten.
  public func forget(_ key: RestorationIdentifier) {
    remove(key)
    guard let coordinator, let place = place(of: key), coordinator.standing != .locked else { return }
    coordinator.forgetAll(at: place)
  }

  /// The scope of a name below this one, with keys of its own.
  ///
  /// Traps when a value has the name. A value that was stored under it is given up.
  public func scope(_ name: RestorationIdentifier) -> RestorationScope {
    if let known = members[name] {
      guard let scope = known as? RestorationScope else {
        preconditionFailure("“\(name)” is the key of a value in this scope; name the nested scope otherwise.")
      }
      return scope
    }
    let scope = RestorationScope(name)
    scope.parent = self
    list(scope, as: name)
    if let coordinator, let place = place(of: name), coordinator.standing != .locked {
      coordinator.restore(scope, at: place)
    }
    return scope
  }

  // MARK: - Nodes

  /// The coordinator that preserves this scope; nil before it has restored or saved.
  private var coordinator: RestorationCoordinator? {
    if let coordinator = parent?.coordinator ?? knownCoordinator { return coordinator }
    knownCoordinator = RestorationCoordinator.preserving(self)
    return knownCoordinator
  }

  /// Where the scope is; nil before its coordinator has met it.
  private var path: RestorationPath? {
    if let parent, let name = restorationIdentifier { return parent.path?.appending(name) }
    return coordinator?.currentPath(of: self)
  }

  private func place(of key: RestorationIdentifier) -> RestorationPath? { path?.appending(key) }

  private func list(_ member: any RestorableController, as key: RestorationIdentifier) {
    members[key] = member
    restorationChildren.append(member)
  }

  /// Lists another member; the value of an edit is newer than what is stored.
  private func replace(_ key: RestorationIdentifier, by member: any RestorableController, isEdit: Bool) {
    remove(key)
    list(member, as: key)
    if isEdit { coordinator?.tree.given.noteEdit(member) }
  }

  private func remove(_ key: RestorationIdentifier) {
    guard let member = members.removeValue(forKey: key) else { return }
    if let index = restorationChildren.lastIndex(where: { $0 === member }) { restorationChildren.remove(at: index) }
    departed.append(member)
    guard departed.count == 1 else { return }
    if let coordinator { coordinator.turns.perform { self.departed = [] } } else { Task { departed = [] } }
  }

  private func ofAnotherType(_ key: RestorationIdentifier) -> RestorationError {
    RestorationError(
      .unreadable, "The key has a value of another type in this run; use one type for a key.", path: place(of: key))
  }
}
