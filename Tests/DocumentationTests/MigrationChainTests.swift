import Testing

/// A chain of migrations with a missing or a wrong step must not compile.
@Suite struct MigrationChainTests {
  private static let states = """
    import StateRestoration
    nonisolated struct V1: Codable, Sendable { var text = "" }
    nonisolated struct V2: Codable, Sendable { var text = "", caret = 0 }
    nonisolated struct V3: Codable, Sendable { var draft = "" }
    nonisolated func migrations() -> StateMigrations<V3> { chain() }

    """

  @Test func `an unbroken chain compiles`() async throws {
    let errors = try await typecheck(
      """
      nonisolated func chain() -> StateMigrations<V3> {
        StateMigrations(from: 1) { (old: V1) in V2(text: old.text) }
          .then { V3(draft: $0.text) }
      }
      """)
    #expect(errors == [])
  }

  @Test(arguments: [
    // The second step does not begin where the first has come to.
    """
    nonisolated func chain() -> StateMigrations<V3> {
      StateMigrations(from: 1) { (old: V1) in V2(text: old.text) }
        .then { (old: V1) in V3(draft: old.text) }
    }
    """,
    // The chain ends before it has come to today's state.
    """
    nonisolated func chain() -> StateMigrations<V3> {
      StateMigrations(from: 1) { (old: V1) in V2(text: old.text) }
    }
    """,
    // The steps are in the wrong order.
    """
    nonisolated func chain() -> StateMigrations<V3> {
      StateMigrations(from: 1) { (old: V2) in V3(draft: old.text) }
        .then { (old: V1) in V2(text: old.text) }
    }
    """,
  ])
  func `a broken chain is an error of the compiler, in the chain`(_ chain: String) async throws {
    let errors = try await typecheck(chain)
    #expect(!errors.isEmpty)
    let first = Self.states.split(separator: "\n", omittingEmptySubsequences: false).count
    #expect(errors.allSatisfy { $0 >= first }, "errors at \(errors), the chain begins at \(first)")
  }

  @Test func `a chain of many steps compiles at once`() async throws {
    var states = "import StateRestoration\n"
    for version in 1...8 {
      states += "nonisolated struct S\(version): Codable, Sendable { var text = \"\", zoom = 1.0 }\n"
    }
    let steps = (3...8).map { "    .then { S\($0)(text: $0.text + \"!\", zoom: $0.zoom * 2 + 1) }" }
    let chain = ["  StateMigrations(from: 1) { (old: S1) in S2(text: old.text) }"] + steps
    let function = "nonisolated func chain() -> StateMigrations<S8> {\n\(chain.joined(separator: "\n"))\n}\n"
    let (failures, output) = try await Compiler.failures(of: ["Chain": states + function])
    #expect(failures.isEmpty, "\(output)")
  }

  /// The lines at which the compiler finds errors.
  private func typecheck(_ chain: String) async throws -> [Int] {
    let (failures, output) = try await Compiler.failures(of: ["Chain": Self.states + chain])
    #expect(failures.allSatisfy { $0.program == "Chain" }, "an error that is not in the chain: \(output)")
    return failures.map(\.line)
  }
}
