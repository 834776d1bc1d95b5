import StateRestoration
import Testing

/// A scope can be used in the hooks of the first restoration: its coordinator has met it by then.
@MainActor @Suite struct ScopeInHooksTests {
  private let bench = Bench()

  /// A launch that uses the scope below its root when everything has been restored.
  private func launch(
    whenFinished use: ((RestorationScope) throws -> Void)? = nil
  ) async throws -> (coordinator: RestorationCoordinator, root: Screen, scope: RestorationScope) {
    let scope = RestorationScope()
    let root = Screen("root", children: [scope])
    let coordinator = bench.launch()
    var isUsed = false
    root.onFinish = { [unowned scope] in
      isUsed = true
      #expect(throws: Never.self) { try use?(scope) }
    }
    _ = try await coordinator.restore(into: root)
    #expect(isUsed || use == nil)
    return (coordinator, root, scope)
  }

  /// A run that stores what a closure sets.
  private func store(_ set: (RestorationScope) throws -> Void) async throws {
    let (coordinator, root, scope) = try await launch()
    try set(scope)
    _ = try await coordinator.preserve(root)
  }

  /// The draft that the next launch reads.
  private func nextDraft() async throws -> String? {
    let (coordinator, root, scope) = try await launch()
    defer { withExtendedLifetime((coordinator, root)) {} }
    return try scope.value(ofType: String.self, forKey: "draft")
  }

  @Test func `a stored value is read, and again later`() async throws {
    try await store { try $0.setValue("stored", forKey: "draft") }
    var found: String?
    let (coordinator, root, scope) = try await launch { found = try $0.value(ofType: String.self, forKey: "draft") }
    #expect(found == "stored")
    #expect(try scope.value(ofType: String.self, forKey: "draft") == "stored")
    withExtendedLifetime((coordinator, root)) {}
  }

  @Test func `a value that is made of the stored one is saved`() async throws {
    try await store { try $0.setValue("precious", forKey: "draft") }
    let (coordinator, root, _) = try await launch { scope in
      try scope.setValue(scope.value("draft", default: "").value + ", new", forKey: "draft")
    }
    _ = try await coordinator.preserve(root)
    #expect(try await nextDraft() == "precious, new")
  }

  @Test func `a value that is forgotten does not come back`() async throws {
    try await store { try $0.setValue("secret", forKey: "draft") }
    let (coordinator, root, _) = try await launch { $0.removeValue(forKey: "draft") }
    _ = try await coordinator.preserve(root)
    #expect(try await nextDraft() == nil)
  }

  @Test func `a scope within that is opened has its values`() async throws {
    try await store { try $0.scope("pane").setValue("stored", forKey: "zoom") }
    let (coordinator, root, scope) = try await launch { _ = $0.scope("pane") }
    #expect(try scope.scope("pane").value(ofType: String.self, forKey: "zoom") == "stored")
    withExtendedLifetime((coordinator, root)) {}
  }

  @Test(arguments: 1...3)
  func `a value that is set is saved, however many saves follow`(saves: Int) async throws {
    try await store { try $0.setValue("stored", forKey: "draft") }
    let (coordinator, root, scope) = try await launch { try $0.setValue("set", forKey: "draft") }
    #expect(try scope.value(ofType: String.self, forKey: "draft") == "set")
    for number in 0..<saves {
      root.text = "\(number)"
      _ = try await coordinator.preserve(root)
    }
    #expect(try await nextDraft() == "set")
  }
}
