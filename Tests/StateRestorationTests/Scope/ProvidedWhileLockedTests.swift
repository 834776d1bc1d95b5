import StateRestoration
import TestTraits
import Testing

/// What is provided while the stored value can't be read is no edit, until it changes.
@MainActor @Suite(.tags(.threads)) struct ProvidedWhileLockedTests {
  /// A launch on a device that is locked since a draft was stored, after the turn that found it so.
  private func locked(_ kind: StoreKind) async throws -> (Bench, RestorationCoordinator, RestorationScope) {
    let bench = try await Bench(kind)
    let first = RestorationScope()
    let storing = bench.launch()
    _ = try await storing.restore(into: first)
    first.setValue("stored", forKey: "draft")
    _ = try await storing.preserve(first)
    try await bench.lock()
    let (coordinator, scope) = (bench.launch(), RestorationScope())
    _ = try await coordinator.restore(into: scope)
    await coordinator.endTurn()
    return (bench, coordinator, scope)
  }

  /// What the next launch gives.
  private func expectNextDraft(_ bench: Bench, is draft: String) async throws {
    let (coordinator, scope) = (bench.launch(), RestorationScope())
    _ = try await coordinator.restore(into: scope)
    #expect(try scope.value(ofType: String.self, forKey: "draft") == draft)
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `the unlock brings the stored value back unless the provided one has changed`(
    on kind: StoreKind, hasChanged: Bool
  ) async throws {
    let (bench, coordinator, scope) = try await locked(kind)
    var draft = ""
    #expect(throws: RestorationError.self) { try scope.consume(String.self, forKey: "draft") }
    // Provided anew each time that it is drawn.
    for _ in 0..<2 {
      scope.provide(forKey: "draft") { draft }
      _ = try await coordinator.preserve()
    }
    if hasChanged {
      draft = "typed"
      scope.provide(forKey: "draft") { draft }
      _ = try await coordinator.preserve()
    }
    try await bench.unlock(coordinator)
    _ = try await coordinator.preserve()
    try await expectNextDraft(bench, is: hasChanged ? "typed" : "stored")
  }

  @Test func `a provided key has no value where nothing is stored, and none while locked`() async throws {
    let (coordinator, scope) = (Bench().launch(), RestorationScope())
    scope.provide(forKey: "draft") { "provided" }
    _ = try await coordinator.restore(into: scope)
    #expect(try scope.consume(String.self, forKey: "draft") == nil)
    #expect(throws: RestorationError.self) { try scope.value(ofType: Int.self, forKey: "draft") }

    let (bench, lockedCoordinator, lockedScope) = try await locked(.memory)
    lockedScope.provide(forKey: "draft") { "provided" }
    let error = #expect(throws: RestorationError.self) { try lockedScope.value(ofType: String.self, forKey: "draft") }
    #expect(error?.code == .locked)
    try await bench.unlock(lockedCoordinator)
    #expect(try lockedScope.consume(String.self, forKey: "draft") == "stored")
  }

  @Test(arguments: StoreKind.allCases)
  func `a change after the unlock takes the place of the stored value, taken back too`(
    on kind: StoreKind
  ) async throws {
    let (bench, coordinator, scope) = try await locked(kind)
    var draft = ""
    scope.provide(forKey: "draft") { draft }
    try await bench.unlock(coordinator)
    for next in ["typed", ""] {
      draft = next
      _ = try await coordinator.preserve()
    }
    try await expectNextDraft(bench, is: "")
  }

  @Test(arguments: StoreKind.allCases)
  func `what the unlock brought back can be consumed`(on kind: StoreKind) async throws {
    let (bench, coordinator, scope) = try await locked(kind)
    scope.provide(forKey: "draft") { "" }
    _ = try await coordinator.preserve()
    try await bench.unlock(coordinator)
    #expect(try scope.consume(String.self, forKey: "draft") == "stored")
    scope.provide(forKey: "draft") { "newer" }
    _ = try await coordinator.preserve()
    try await expectNextDraft(bench, is: "newer")
  }

  @Test(arguments: StoreKind.allCases)
  func `a provider in the place of a value of this run is an edit`(on kind: StoreKind) async throws {
    let (bench, coordinator, scope) = try await locked(kind)
    scope.setValue("typed", forKey: "draft")
    _ = try await coordinator.preserve()
    scope.provide(forKey: "draft") { "typed" }
    _ = try await coordinator.preserve()
    try await bench.unlock(coordinator)
    _ = try await coordinator.preserve()
    try await expectNextDraft(bench, is: "typed")
  }
  @Test(arguments: StoreKind.allCases)
  func `a change is read at once: the key is provided from then on, and not stored`(on kind: StoreKind) async throws {
    let (bench, coordinator, scope) = try await locked(kind)
    var draft = ""
    scope.provide(forKey: "draft") { draft }
    _ = try await coordinator.preserve()
    try await bench.unlock(coordinator)
    #expect(try scope.value(ofType: String.self, forKey: "draft") == "stored")
    draft = "typed"
    #expect(try scope.value(ofType: String.self, forKey: "draft") == nil)
    #expect(try scope.consume(String.self, forKey: "draft") == nil)
    _ = try await coordinator.preserve()
    try await expectNextDraft(bench, is: "typed")
  }
}
