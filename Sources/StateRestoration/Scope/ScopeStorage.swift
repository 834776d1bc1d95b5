internal import Observation
internal import Synchronization

/// The values of one scope, behind a lock: what is set on any thread is read on any other.
///
/// Nodes belong to the main actor. What other threads add or remove waits here until the scope is asked for its children, which
/// the next capture does.
final class ScopeStorage: Observable, Sendable {
  private struct State {
    var slots: [String: ScopeSlot] = [:]
    /// The keys that were set or removed since the scope has last looked, in order.
    var unsettled: [String] = []
    /// Those of them that were removed.
    var removed: Set<String> = []
    var listeners: [Int: (key: String, body: @Sendable () -> Void)] = [:]
    var listenerCount = 0
    /// What the coordinator says of the stored state; nil before one has met the scope.
    var access: CoordinatorAccess?
  }

  private let state = Mutex(State())
  private let registrar = ObservationRegistrar()
  /// What is observed when keys come and go.
  private var keys: Int { 0 }

  /// What the coordinator says of the stored state; nil before one has met the scope.
  var access: CoordinatorAccess? { state.withLock { $0.access } }

  /// Belongs to a coordinator's hierarchy from now on.
  func join(_ access: CoordinatorAccess) { state.withLock { $0.access = access } }

  /// The slot of a key; nil if nobody has used the key.
  func slot(_ key: String) -> ScopeSlot? { state.withLock { $0.slots[key] } }

  /// The keys in use that begin with a text, those that only the stored state has included, in order.
  func keys(withPrefix prefix: String) -> [String] {
    state.withLock { $0.slots.keys.filter { $0.hasPrefix(prefix) } }.sorted()
  }

  /// The slot of a key, made at first use.
  func requireSlot(_ key: String) -> ScopeSlot {
    state.withLock { state in
      if let slot = state.slots[key] { return slot }
      let slot = ScopeSlot()
      state.slots[key] = slot
      return slot
    }
  }

  /// Has whoever observes this be told when keys come or go.
  func noteKeysAreRead() { registrar.access(self, keyPath: \.keys) }

  /// Says that a key was set or removed, so that the scope looks at it.
  func unsettle(_ key: String, isRemoved: Bool = false) {
    registrar.withMutation(of: self, keyPath: \.keys) {
      state.withLock { state in
        state.unsettled.append(key)
        if isRemoved { state.removed.insert(key) }
      }
    }
    ChangesElsewhere.note { registrar.withMutation(of: self, keyPath: \.keys) {} }
  }

  /// Takes the keys that were set or removed since this was last asked, once each, and whether they were removed meanwhile.
  func takeUnsettled() -> [(key: String, isRemoved: Bool)] {
    state.withLock { state in
      guard !state.unsettled.isEmpty else { return [] }
      defer { (state.unsettled, state.removed) = ([], []) }
      var seen: Set<String> = []
      return state.unsettled.filter { seen.insert($0).inserted }.map { ($0, state.removed.contains($0)) }
    }
  }

  /// Calls a function at every change of a key's value, until that is cancelled.
  func listen(toKey key: String, _ body: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.listenerCount += 1
      state.listeners[state.listenerCount] = (key, body)
      return state.listenerCount
    }
  }

  /// Ends listening.
  func cancel(_ listener: Int) { _ = state.withLock { $0.listeners.removeValue(forKey: listener) } }

  /// Tells listeners of a change; on the thread that has made it, and with no lock held.
  func tellListeners(ofKey key: String) {
    let bodies = state.withLock { state in
      state.listeners.isEmpty ? [] : state.listeners.sorted { $0.key < $1.key }.filter { $0.value.key == key }
    }
    for listener in bodies { listener.value.body() }
  }
}

/// Whether a coordinator's stored state can be read, for threads that are not the main actor's.
final class CoordinatorAccess: Sendable {
  /// What becomes of a question for something that is not there.
  enum Phase: Sendable {
    /// It is not stored.
    case open
    /// The device is locked.
    case locked
    /// The last restoration could not reach the state.
    case unavailable
  }

  private let state = Mutex(Phase.open)
  @MainActor weak var coordinator: RestorationCoordinator?

  var phase: Phase {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
