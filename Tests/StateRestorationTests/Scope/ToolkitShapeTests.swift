import Observation
import StateRestoration
import StateRestorationTesting
import Testing

/// The three shapes in which toolkits ask for stored values fit a scope.
@MainActor @Suite struct ToolkitShapeTests {
  /// Runs a launch whose root is a scope.
  private func launch(_ bench: Bench, _ body: (RestorationScope, RestorationCoordinator) async throws -> Void)
    async throws
  {
    let coordinator = bench.launch()
    let scope = RestorationScope()
    _ = try await coordinator.restore(into: scope)
    try await body(scope, coordinator)
    _ = try await coordinator.preserve()
  }

  // MARK: - A provider that throws, and tells of changes

  @MainActor protocol PersistenceProvider {
    func persistValue<Value: Codable & Sendable>(_ value: Value, forKey key: String) throws
    func retrieveValue<Value: Codable & Sendable>(ofType type: Value.Type, forKey key: String) -> Value?
    func listenToChanges(ofKey key: String, _ body: @escaping @Sendable () -> Void)
  }

  struct ScopeProvider: PersistenceProvider {
    let scope: RestorationScope

    func persistValue<Value: Codable & Sendable>(_ value: Value, forKey key: String) throws {
      scope.setValue(value, forKey: RestorationIdentifier(key))
    }

    func retrieveValue<Value: Codable & Sendable>(ofType type: Value.Type, forKey key: String) -> Value? {
      (try? scope.value(ofType: type, forKey: RestorationIdentifier(key))) ?? nil
    }

    func listenToChanges(ofKey key: String, _ body: @escaping @Sendable () -> Void) {
      withObservationTracking {
        _ = try? scope.value(ofType: String.self, forKey: RestorationIdentifier(key))
      } onChange: {
        body()
      }
    }
  }

  @Test func `a provider with a type, a key and listeners fits`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      let provider = ScopeProvider(scope: scope)
      let journal = Journal()
      provider.listenToChanges(ofKey: "name") { MainActor.assumeIsolated { journal.add("changed") } }
      try provider.persistValue("Ada", forKey: "name")
      #expect(journal.lines == ["changed"])
      #expect(provider.retrieveValue(ofType: String.self, forKey: "name") == "Ada")
      #expect(provider.retrieveValue(ofType: Int.self, forKey: "age") == nil)
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(ScopeProvider(scope: scope).retrieveValue(ofType: String.self, forKey: "name") == "Ada")
    }
  }

  // MARK: - A store of values by key

  @MainActor struct DefaultsStore {
    let scope: RestorationScope
    let coordinator: RestorationCoordinator

    func value(forKey key: String) -> String? {
      (try? scope.value(ofType: String.self, forKey: RestorationIdentifier(key))) ?? nil
    }
    func setValue(_ value: String, forKey key: String) { scope.setValue(value, forKey: RestorationIdentifier(key)) }
    func removeValue(forKey key: String) { scope.forget(RestorationIdentifier(key)) }
    func synchronize() async -> Bool {
      switch try? await coordinator.preserve() {
      case .preserved, .unchanged: true
      default: false
      }
    }
  }

  @Test func `a store that is synchronised fits`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, coordinator) async throws in
      let store = DefaultsStore(scope: scope, coordinator: coordinator)
      store.setValue("dark", forKey: "theme")
      store.setValue("small", forKey: "size")
      #expect(await store.synchronize())
      store.removeValue(forKey: "size")
      #expect(store.value(forKey: "size") == nil)
      #expect(await store.synchronize())
    }
    try await launch(bench) { (scope, coordinator) async throws in
      let store = DefaultsStore(scope: scope, coordinator: coordinator)
      #expect(store.value(forKey: "theme") == "dark" && store.value(forKey: "size") == nil)
    }
  }

  // MARK: - A property wrapper with a key

  @MainActor enum Current { static var scope = RestorationScope() }

  @MainActor @propertyWrapper struct State<Value: Codable & Sendable> {
    private let initial: Value
    private let key: RestorationIdentifier
    private let scope = Current.scope

    init(wrappedValue: Value, _ key: String) {
      initial = wrappedValue
      self.key = RestorationIdentifier(key)
    }

    var wrappedValue: Value {
      get { scope.value(forKey: key, default: initial) }
      nonmutating set { scope.setValue(newValue, forKey: key) }
    }
  }

  @MainActor struct Counter {
    @State("count") var count = 0
  }

  @Test func `a property wrapper with a key fits`() async throws {
    let bench = Bench()
    for round in 0..<3 {
      try await launch(bench) { (scope, _) async throws in
        Current.scope = scope
        let counter = Counter()
        #expect(counter.count == round)
        counter.count += 1
      }
    }
  }
}
