public import Observation

/// Values under keys that come back, without classes: what a toolkit, or a small program, needs to remember what it shows.
///
/// A scope is a controller like any other: the root of a session, or a child anywhere. Values and nested scopes are nodes below
/// it, so that budgets, versions, reports and carrying over hold for them.
///
/// ```swift
/// let scope = RestorationScope("window")
/// let draft = scope.value("draft", default: "")
/// try await RestorationSession.run(at: .applicationState("com.example.notes"), root: scope) { _ in
///   draft.value += "!"
/// }
/// ```
///
/// A ``StoredValue`` is for code of the main actor. The methods that aren't isolated are for everybody else, and for the storage
/// protocols of toolkits: they may be called on any thread, ask no more of a value than `Codable`, encode it where it is set, and
/// give back what was set before, also before it is saved. All of them lead to the same values.
///
/// Keys that nobody uses in a run keep their values.
///
/// A value has the limits of every object's state, as it is a node. From ``RestorationConfiguration/nodeByteBudget`` on, 64 KiB, a
/// save warns and stores it. Over ``RestorationConfiguration/archiveByteBudget``, 64 MiB for all values together, a save leaves out
/// the lowest priorities and says so. A value has at most ``RestorationConfiguration/valueDepthLimit`` levels, and a hierarchy
/// 1 023: a save reports what lies deeper, and does not store it.
@Observable @MainActor public final class RestorationScope: RestorationParent {
  /// The name among its siblings.
  @ObservationIgnored public let restoration: RestorationIdentity

  private var children: [any RestorableController]
  @ObservationIgnored private let storage = ScopeStorage()
  @ObservationIgnored private var members: [String: any RestorableController] = [:]
  /// The objects that have left in this turn: one that comes at the address of one that died would be taken for it.
  @ObservationIgnored private var departed: [any RestorableController] = []
  @ObservationIgnored private weak var parent: RestorationScope?
  @ObservationIgnored private weak var knownCoordinator: RestorationCoordinator?

  /// Makes a scope with a name among its siblings.
  ///
  /// - Parameters:
  ///   - name: Its identifier.
  ///   - members: Controllers that stand in it beside its values, each with an identifier that is no key.
  public init(_ name: RestorationIdentifier = "scope", _ members: any RestorableController...) {
    restoration = RestorationIdentity(name)
    children = members
    for member in members {
      if let name = member.restoration.identifier { self.members[name.rawValue] = member }
    }
  }

  /// Whether an object is a scope, which runs no code of the program's while it is restored.
  static func isScope(_ object: any RestorableObject) -> Bool { type(of: object) == RestorationScope.self }

  /// The values, nested scopes and other controllers in it.
  public var restorationChildren: [any RestorableController] {
    storage.noteKeysAreRead()
    settle()
    return children
  }

  // MARK: - On the main actor

  /// The value under a key, to be read, assigned and observed.
  ///
  /// The default itself is not preserved: a later version may have another one.
  public func value<Value: Codable & Sendable>(_ key: String, default fallback: Value) -> StoredValue<Value> {
    StoredValue(key, in: self, storage.requireSlot(key), default: fallback)
  }

  /// The scope of a name below this one, with keys of its own.
  ///
  /// On the main actor alone, as it makes a controller of the hierarchy. Other threads may use the scope that it gives.
  ///
  /// Traps when a value was set under the name in this run. A value that was stored under it is given up.
  public func scope(_ name: String) -> RestorationScope {
    settle()
    if let known = members[name] {
      if let scope = known as? RestorationScope { return scope }
      if let entry = known as? ScopeEntry, case .stored = entry.slot.value {
        entry.slot.set(.absent)
        remove(name)
      } else {
        preconditionFailure("“\(name)” is the key of a value in this scope; name the nested scope otherwise.")
      }
    }
    let scope = makeScope(name)
    if let coordinator, let place = place(of: name), coordinator.standing != .locked {
      coordinator.restore(scope, at: place)
    }
    return scope
  }

  /// Settles the conflict of a value of which several are stored: older ones lie beside the one that the key has.
  ///
  /// That happens when the user has changed it while it could not be read; see
  /// ``RestorationCoordinator/settleConflict(of:_:)``.
  ///
  /// ```swift
  /// scope.settleConflict(ofKey: "draft") { (older: [String]) in draft.value += older.joined() }
  /// ```
  ///
  /// The older values go with the next save, unless one of them can't be read as this type. Where the newest can't, nothing is
  /// settled: then the key has an older one.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - body: Reads the older values, the oldest first, migrated where they are older.
  /// - Returns: False when the key has no conflict that this run's restoration knows of; the body is not called then.
  @discardableResult
  public func settleConflict<Value: Codable & Sendable>(
    ofKey key: String, _ body: ([Value]) throws -> Void
  ) rethrows -> Bool {
    settle()
    guard let coordinator, let entry = members[key] as? ScopeEntry else { return false }
    if entry.slot.isUnasked || entry.slot.isRejected { _ = try? entry.slot.read(as: Value.self) }
    guard !entry.slot.isRejected else { return false }
    var isWhole = true
    let isSettled = try coordinator.settleConflict(of: entry, unless: { !isWhole }) { coders in
      var values: [Value] = []
      for coder in coders {
        let slot = ScopeSlot()
        if let stored = try? coder.takeScopeValue() { slot.give(stored) }
        if let value = (try? slot.read(as: Value.self)) ?? nil { values.append(value) } else { isWhole = false }
      }
      try body(values)
    }
    if isSettled { entry.slot.giveOlder([]) }
    return isSettled
  }

  // MARK: - On any thread

  /// The value under a key; nil only if there is none.
  ///
  /// Before a session has restored the scope there is none that was not set in this run. Where several are stored, it is the newest
  /// that can be read as this type.
  ///
  /// Each call decodes the value, unless a ``StoredValue`` has it already as this type: it has read or assigned it. Read a large
  /// value once, and again when ``listenToChanges(ofKey:_:)`` tells. The disk is not read.
  ///
  /// - Throws: ``RestorationError/Code/locked`` while the device is locked, ``RestorationError/Code/deviceNotOpened`` when the last
  ///   restoration could not reach the state, ``RestorationError/Code/unreadable`` and the codes of versions when the value can't
  ///   be read as this type, or was not given; then it stays stored beside one that is set.
  nonisolated public func value<Value: Decodable>(
    ofType type: Value.Type = Value.self, forKey key: String
  ) throws(RestorationError) -> Value? {
    do throws(RestorationError) {
      if let value = try storage.slot(key)?.read(as: type) { return value }
    } catch {
      throw located(error, key)
    }
    storage.noteKeysAreRead()
    if let reason = reasonForAbsence(of: key) { throw located(reason, key) }
    return nil
  }

  /// Sets the value of a key; the next save preserves it.
  ///
  /// - Throws: ``RestorationError/Code/notEncodable``, also for an empty key; the key keeps what it had.
  nonisolated public func setValue<Value: Encodable>(_ value: Value, forKey key: String) throws(RestorationError) {
    func ask<Known: Decodable>(_ slot: ScopeSlot, _ type: Known.Type) { _ = try? slot.read(as: type) }
    if let slot = storage.slot(key), slot.isUnasked, let type = Value.self as? any Decodable.Type { ask(slot, type) }
    let bytes: ScopeValue
    do throws(RestorationError) {
      if key.isEmpty { throw RestorationError(.notEncodable, "a value needs a key that is not empty") }
      bytes = .encoded(try ScopeValue.encode(value), StateHistory.version(of: Value.self))
    } catch {
      throw located(error, key)
    }
    set(bytes, at: key, in: storage.requireSlot(key))
  }

  /// Forgets the value of a key, or the nested scope of that name with everything in it: the next save removes it.
  ///
  /// Listeners of the key are told, also where it had no value. While the device is locked only values of this run can be forgotten.
  nonisolated public func removeValue(forKey key: String) {
    storage.slot(key)?.set(.absent)
    storage.unsettle(key, isRemoved: true)
    settleIfOnMainActor(edited: nil)
    storage.tellListeners(ofKey: key)
  }

  /// Forgets the values of all keys that begin with a text: those of an element that the program has deleted, say.
  ///
  /// Also those that nobody has used in this run. Nested scopes stay, whatever their names: remove each by
  /// ``removeValue(forKey:)``. While the device is locked only values of this run can be forgotten.
  ///
  /// It may be called on any thread, and nothing throws. Keys go one after another, in order, and the listeners of each are told
  /// before the next one goes. A key that another thread adds meanwhile may stay. An empty text removes all values.
  nonisolated public func removeValues(forKeysWithPrefix prefix: String) {
    for key in storage.keys(withPrefix: prefix) { removeValue(forKey: key) }
  }

  /// The keys that have a value, in order: those that are stored and that nobody has used in this run included.
  ///
  /// Before a session has restored the scope, and while the device is locked, these are the ones that were set in this run.
  /// Names of nested scopes are not among them.
  nonisolated public var keys: [String] {
    storage.noteKeysAreRead()
    return storage.keys(withPrefix: "").filter { storage.slot($0)?.isAbsent == false }
  }

  /// Calls a function whenever the value of a key has changed: it was set, removed, or restored.
  ///
  /// It is called on the thread that has made the change, after it, before the call that makes it returns. It may read and set
  /// values; setting the value of the same key calls it again, at once.
  ///
  /// - All listeners of a key are told, in the order in which they began, the one included whose own code has made the change. One
  ///   that begins or ends while others are told counts from the next change on.
  /// - A value that is set is told also if it equals the one before.
  /// - Restoring tells on the main thread, at launch and after an unlock, for each key that it gives a stored value, also one that
  ///   can't be read as its type. Other objects may not have their state then, and calls that block are refused.
  /// - A key that is given no stored value is not told by restoring. To learn that an unlock is over, use
  ///   ``RestorationSession/protectedDataDidChange``.
  /// - Two threads that set the same key tell at the same time, in any order: read the value, don't count calls.
  ///
  /// - Returns: What ends it; it goes on if nobody calls that.
  @discardableResult
  nonisolated public func listenToChanges(
    ofKey key: String, _ body: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    let listener = storage.listen(toKey: key, body)
    return { [weak storage] in storage?.cancel(listener) }
  }

  /// Sets a value, on any thread.
  nonisolated func set(_ value: ScopeValue, at key: String, in slot: ScopeSlot) {
    if slot.set(value) { storage.unsettle(key) }
    settleIfOnMainActor(edited: key)
    storage.tellListeners(ofKey: key)
  }

  nonisolated private func settleIfOnMainActor(edited key: String?) {
    guard HostProcess.isOnMainActor else { return }
    MainActor.assumeIsolated {
      settle()
      // In the turn that restores it as well.
      if let key, let entry = members[key] { noteEdit(entry) }
    }
  }

  /// Why a key without a value may have one that can't be read now.
  nonisolated private func reasonForAbsence(of key: String) -> RestorationError? {
    switch storage.access?.phase {
    case .locked?:
      return RestorationError(
        .locked, "The device is locked; read again after the unlock, when the coordinator has restored.")
    case .unavailable?: return Self.unavailable
    case .open?, nil: break
    }
    guard HostProcess.isOnMainActor else { return nil }
    return MainActor.assumeIsolated {
      guard let coordinator else { return nil }
      if coordinator.accessPhase == .unavailable { return Self.unavailable }
      guard let place = place(of: key) else { return nil }
      if members[key] is RestorationScope {
        return RestorationError(.unreadable, "The key is the name of a scope; use another one for the value.")
      }
      guard coordinator.hasUnreadValue(at: place) || coordinator.withholdsValue(at: place) else { return nil }
      return RestorationError(
        .unreadable, "The state that the stored value belongs to was not restored; the report says why.")
    }
  }

  nonisolated private static var unavailable: RestorationError {
    RestorationError(.deviceNotOpened, "What is stored could not be reached; restore again, then read again.")
  }

  /// An error with the key, and the path where that can be found out.
  nonisolated private func located(_ error: RestorationError, _ key: String) -> RestorationError {
    var error = error
    error.key = nil
    if HostProcess.isOnMainActor { error.path = MainActor.assumeIsolated { place(of: key) } }
    if error.path == nil { error.key = key }
    return error
  }

  // MARK: - Nodes

  /// Brings the nodes up to date with what was set and removed, on whatever thread.
  private func settle() {
    for (key, isRemoved) in storage.takeUnsettled() {
      guard let slot = storage.slot(key), !slot.isAbsent else {
        if isRemoved { forget(key) }
        continue
      }
      let isBeside = slot.takeIsBeside()
      switch members[key] {
      case let entry as ScopeEntry:
        guard isBeside else { continue }
        // It leaves the key to another entry, and the stored value where it is.
        coordinator?.tree.node(of: entry)?.leavesState = true
      case nil, is RestorationScope: break
      case let other?:
        preconditionFailure(
          "“\(key)” is the identifier of a \(type(of: other)) in this scope; use another key for the value.")
      }
      remove(key)
      noteEdit(makeEntry(key, slot))
    }
  }

  /// A node for something that is stored below this scope, and that nobody has asked for: a value or a nested scope.
  func makeMember(_ name: RestorationIdentifier, of recorded: RestorationIdentity.ClassTag?) -> (
    any RestorableController
  )? {
    guard members[name.rawValue] == nil else { return nil }
    switch recorded {
    case Self.className: return makeScope(name.rawValue)
    case ScopeEntry.className:
      let slot = storage.requireSlot(name.rawValue)
      slot.give(.refused)
      return makeEntry(name.rawValue, slot)
    default: return nil
    }
  }

  private func makeEntry(_ key: String, _ slot: ScopeSlot) -> ScopeEntry {
    let entry = ScopeEntry(key, slot) { [storage] in storage.tellListeners(ofKey: key) }
    slot.noteLosses { [weak self] loss in
      if HostProcess.isOnMainActor {
        MainActor.assumeIsolated { self?.note(loss, of: key) }
      } else {
        Task { @MainActor in self?.note(loss, of: key) }
      }
    }
    list(entry, as: key)
    return entry
  }

  private func note(_ loss: ScopeSlot.Loss, of key: String) {
    if let entry = members[key] as? ScopeEntry { coordinator?.note(loss, of: entry) }
  }

  private func makeScope(_ name: String) -> RestorationScope {
    let scope = RestorationScope(RestorationIdentifier(name))
    scope.parent = self
    list(scope, as: name)
    return scope
  }

  private static let className = ClassPlan.name(of: RestorationScope.self)

  // MARK: - Places

  /// Belongs to a coordinator's hierarchy.
  func join(_ access: CoordinatorAccess) { storage.join(access) }

  /// The coordinator that preserves this scope; nil before it has restored or saved.
  private var coordinator: RestorationCoordinator? {
    if let coordinator = storage.access?.coordinator ?? parent?.coordinator ?? knownCoordinator { return coordinator }
    knownCoordinator = RestorationCoordinator.preserving(self)
    return knownCoordinator
  }

  /// Where the scope is; nil before its coordinator has met it.
  private var path: RestorationPath? {
    if let parent, let name = restoration.identifier { return parent.path?.appending(name) }
    return coordinator?.currentPath(of: self)
  }

  private func place(of key: String) -> RestorationPath? { path?.appending(RestorationIdentifier(key)) }

  /// The value of an edit is newer than what is stored, though no capture has met its object.
  private func noteEdit(_ member: any RestorableController) {
    guard let tree = coordinator?.tree, tree.node(of: member) == nil else { return }
    tree.given.noteEdit(member)
  }

  private func list(_ member: any RestorableController, as key: String) {
    members[key] = member
    children.append(member)
    (member as? ScopeEntry)?.slot.noteListed(true)
  }

  private func remove(_ key: String) {
    guard let member = members.removeValue(forKey: key) else { return }
    if let index = children.lastIndex(where: { $0 === member }) { children.remove(at: index) }
    (member as? ScopeEntry)?.slot.noteListed(false)
    departed.append(member)
    guard departed.count == 1 else { return }
    if let coordinator { coordinator.turns.perform { self.departed = [] } } else { Task { departed = [] } }
  }

  /// Removes what a key has, and everything that is stored for it.
  private func forget(_ key: String) {
    remove(key)
    guard let coordinator, let place = place(of: key), coordinator.standing != .locked else { return }
    guard !coordinator.tree.isCapturing else {
      // Unless it was set again by then.
      Task { if members[key] == nil { forget(key) } }
      return
    }
    coordinator.forgetAll(at: place)
  }
}

extension ScopeEntry {
  /// What an archive calls the class of a scope's values: they are the same as a ``StoredValue`` that stands alone.
  static let className: RestorationIdentity.ClassTag = "StoredValue"
}
