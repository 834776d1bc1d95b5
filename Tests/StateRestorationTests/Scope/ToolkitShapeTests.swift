import Patience
import StateRestoration
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

/// The three shapes in which toolkits ask for stored values fit a scope: not isolated, string-keyed, over plain `Codable`.
@MainActor @Suite(.tags(.threads)) struct ToolkitShapeTests {
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

  /// A value as views have them: neither `Sendable` nor a value type.
  final class Marker: Codable {
    var line: Int
    init(line: Int) { self.line = line }
  }

  // MARK: - A provider that throws, and tells of changes

  nonisolated protocol PersistenceProvider: Sendable {
    func persistValue(_ value: some Codable, forKey key: String) throws
    func retrieveValue<Value: Codable>(ofType type: Value.Type, forKey key: String) throws -> Value?
    func listenToChanges(ofKey key: String, _ body: @escaping @Sendable () -> Void)
  }

  nonisolated struct ScopeProvider: PersistenceProvider {
    let scope: RestorationScope

    func persistValue(_ value: some Codable, forKey key: String) throws { try scope.setValue(value, forKey: key) }

    func retrieveValue<Value: Codable>(ofType type: Value.Type, forKey key: String) throws -> Value? {
      try scope.value(ofType: type, forKey: key)
    }

    func listenToChanges(ofKey key: String, _ body: @escaping @Sendable () -> Void) {
      scope.listenToChanges(ofKey: key, body)
    }
  }

  @Test func `a provider with a type, a key and listeners fits`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, coordinator) async throws in
      let provider = ScopeProvider(scope: scope)
      let heard = Mutex<[String?]>([])
      provider.listenToChanges(ofKey: "name") {
        let name = (try? provider.retrieveValue(ofType: String.self, forKey: "name")) ?? nil
        heard.withLock { $0.append(name) }
      }
      try provider.persistValue("Ada", forKey: "name")
      try provider.persistValue(Marker(line: 12), forKey: "marker")
      // Told at once, on the thread that has made the change.
      #expect(heard.withLock { $0 } == ["Ada"])
      #expect(try provider.retrieveValue(ofType: Marker.self, forKey: "marker")?.line == 12)
      #expect(try provider.retrieveValue(ofType: Int.self, forKey: "age") == nil)
      #expect(throws: RestorationError.self) { try provider.retrieveValue(ofType: Int.self, forKey: "name") }
    }
    let (coordinator, scope) = (bench.launch(), RestorationScope())
    let heard = Atomic(0)
    let cancel = scope.listenToChanges(ofKey: "name") { heard.wrappingAdd(1, ordering: .relaxed) }
    _ = try await coordinator.restore(into: scope)
    #expect(heard.load(ordering: .relaxed) == 1)
    cancel()
    let provider = ScopeProvider(scope: scope)
    #expect(try provider.retrieveValue(ofType: String.self, forKey: "name") == "Ada")
    #expect(try provider.retrieveValue(ofType: Marker.self, forKey: "marker")?.line == 12)
    try provider.persistValue("Grace", forKey: "name")
    #expect(heard.load(ordering: .relaxed) == 1)
  }

  @Test func `listeners are told in order of every change, and of each key that goes`() async throws {
    let bench = Bench()
    try await launch(bench) { (scope, _) async throws in
      let heard = Mutex<[String]>([])
      scope.listenToChanges(ofKey: "note1/text") {
        heard.withLock { $0.append("a") }
        // It is called again, within this call.
        let text = (try? scope.value(ofType: String.self, forKey: "note1/text")) ?? nil
        if text == "short" { try? scope.setValue("longer", forKey: "note1/text") }
      }
      scope.listenToChanges(ofKey: "note1/text") { heard.withLock { $0.append("b") } }
      scope.listenToChanges(ofKey: "note1/caret") { heard.withLock { $0.append("caret") } }
      scope.listenToChanges(ofKey: "note10/text") { heard.withLock { $0.append("other") } }
      try scope.setValue("short", forKey: "note1/text")
      #expect(heard.withLock { $0 } == ["a", "a", "b", "b"])
      try scope.setValue("longer", forKey: "note1/text")
      try scope.setValue(1, forKey: "note1/caret")
      try scope.setValue("kept", forKey: "note10/text")
      scope.scope("note1/pane").value("width", default: 0).value = 3
      heard.withLock { $0 = [] }
      scope.removeValues(forKeysWithPrefix: "note1/")
      #expect(heard.withLock { $0 } == ["caret", "a", "b"])
      #expect(scope.keys == ["note10/text"])
      #expect(scope.scope("note1/pane").value("width", default: 0).value == 3)
    }
  }

  // MARK: - A store of values by key

  nonisolated protocol KeyValueStore: Sendable {
    func value<Value: Decodable>(forKey key: String) -> Value?
    func setValue(_ value: some Encodable, forKey key: String)
    func removeValue(forKey key: String)
    func synchronize() async -> Bool
  }

  nonisolated struct ScopeStore: KeyValueStore {
    let scope: RestorationScope
    let save: @MainActor @Sendable () async throws -> Void

    func value<Value: Decodable>(forKey key: String) -> Value? { try? scope.value(forKey: key) }
    func setValue(_ value: some Encodable, forKey key: String) { try? scope.setValue(value, forKey: key) }
    func removeValue(forKey key: String) { scope.removeValue(forKey: key) }
    func synchronize() async -> Bool { (try? await save()) != nil }
  }

  @Test func `a store that is synchronised fits`() async throws {
    let bench = Bench()
    func store(_ scope: RestorationScope, _ coordinator: RestorationCoordinator) -> ScopeStore {
      ScopeStore(scope: scope) { _ = try await coordinator.preserve() }
    }
    try await launch(bench) { (scope, coordinator) async throws in
      let store = store(scope, coordinator)
      await Task.detached {
        store.setValue("dark", forKey: "theme")
        store.setValue("small", forKey: "size")
        let theme: String? = store.value(forKey: "theme")
        #expect(theme == "dark")
      }.value
      #expect(await store.synchronize())
      await Task.detached { store.removeValue(forKey: "size") }.value
      let size: String? = store.value(forKey: "size")
      #expect(size == nil)
      #expect(await store.synchronize())
    }
    try await launch(bench) { (scope, coordinator) async throws in
      let store = store(scope, coordinator)
      let (theme, size): (String?, String?) = (store.value(forKey: "theme"), store.value(forKey: "size"))
      #expect(theme == "dark" && size == nil)
    }
  }

  // MARK: - A property wrapper that is told how to write

  @propertyWrapper nonisolated struct State<Value> {
    private let writeValue: (Value) -> Void
    var wrappedValue: Value { didSet { writeValue(wrappedValue) } }

    init(wrappedValue: Value, writeValue: @escaping (Value) -> Void) {
      self.wrappedValue = wrappedValue
      self.writeValue = writeValue
    }
  }

  nonisolated struct Counter {
    @State var count: Int

    init(in scope: RestorationScope) {
      _count = State(wrappedValue: (try? scope.value(forKey: "count")) ?? 0) {
        try? scope.setValue($0, forKey: "count")
      }
    }
  }

  @Test func `a property wrapper that is told how to write fits`() async throws {
    let bench = Bench()
    for round in 0..<3 {
      try await launch(bench) { (scope, _) async throws in
        var counter = Counter(in: scope)
        #expect(counter.count == round)
        counter.count += 1
      }
    }
  }

  // MARK: - Threads

  @Test(arguments: StoreKind.allCases)
  func `what other threads set and remove is saved, and read at once`(on kind: StoreKind) async throws {
    let bench = try await Bench(kind)
    try await launch(bench) { (scope, coordinator) async throws in
      try scope.setValue(0, forKey: "gone")
      try await withThrowingTaskGroup { group in
        for thread in 0..<4 {
          group.addTask {
            for number in 0..<50 {
              let key = "\(thread).\(number % 10)"
              try scope.setValue(number, forKey: key)
              #expect(try scope.value(forKey: key) == number)
            }
            if thread == 0 { scope.removeValue(forKey: "gone") }
          }
        }
        for _ in 0..<5 { _ = try await coordinator.preserve() }
        try await group.waitForAll()
      }
    }
    try await launch(bench) { (scope, _) async throws in
      for thread in 0..<4 {
        for number in 0..<10 { #expect(try scope.value(forKey: "\(thread).\(number)") == 40 + number) }
      }
      #expect(try scope.value(ofType: Int.self, forKey: "gone") == nil)
    }
  }

  @Test func `a key that is removed and set again on another thread has the value, stored or not`() async throws {
    let bench = Bench()
    try await launch(bench) { scope, _ in for key in ["a", "b"] { try scope.setValue("stored", forKey: key) } }
    try await launch(bench) { (scope, coordinator) async throws in
      try await Task.detached {
        for key in ["a", "b", "c"] {
          scope.removeValue(forKey: key)
          if key != "b" { try scope.setValue("again", forKey: key) }
        }
      }.value
      for _ in 0..<3 { _ = try await coordinator.preserve() }
    }
    try await launch(bench) { (scope, _) async throws in
      #expect(["a", "b", "c"].map { scope.value($0, default: "").value } == ["again", "", "again"])
    }
  }

  @Test func `a change on another thread is preserved by itself`() async throws {
    let bench = Bench()
    bench.configuration.clock = ContinuousClock()
    let (coordinator, scope) = (bench.launch(), RestorationScope())
    _ = try await coordinator.restore(into: scope)
    coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(1))
    await Task.detached { #expect(throws: Never.self) { try scope.setValue("typed", forKey: "draft") } }.value
    func isStored() -> Bool { (try? bench.newestReader().node(at: ["scope", "draft"])) != nil }
    try await waitUntil("a save") { isStored() }
  }

  @Test func `another thread hears of the lock, and not of nothing`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let before = RestorationScope()
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: before)
    try before.setValue("stored", forKey: "draft")
    try await session.close()
    device.reboot()
    let scope = RestorationScope()
    let locked = try await RestorationSession.open(on: try await device.startProcess().device, root: scope)
    let code = await Task.detached { () -> RestorationError.Code? in
      do throws(RestorationError) {
        _ = try scope.value(ofType: String.self, forKey: "draft")
        return nil
      } catch {
        return error.code
      }
    }.value
    #expect(code == .locked)
    _ = try await locked.unlock(passcode: "1234")
    #expect(await Task.detached { try? scope.value(ofType: String.self, forKey: "draft") }.value == "stored")
    try await locked.close()
  }
}
