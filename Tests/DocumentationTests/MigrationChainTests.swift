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
      @StateMigrations<V3> nonisolated func chain() -> StateMigrations<V3> {
        StateMigration(from: 1) { (old: V1) in V2(text: old.text) }
        StateMigration(from: 2) { (old: V2) in V3(draft: old.text) }
      }
      """)
    #expect(errors == [])
  }

  @Test(arguments: [
    // The second step does not begin where the first has come to.
    """
    @StateMigrations<V3> nonisolated func chain() -> StateMigrations<V3> {
      StateMigration(from: 1) { (old: V1) in V2(text: old.text) }
      StateMigration(from: 2) { (old: V1) in V3(draft: old.text) }
    }
    """,
    // The chain ends before it has come to today's state.
    """
    @StateMigrations<V3> nonisolated func chain() -> StateMigrations<V3> {
      StateMigration(from: 1) { (old: V1) in V2(text: old.text) }
    }
    """,
    // The steps are in the wrong order.
    """
    @StateMigrations<V3> nonisolated func chain() -> StateMigrations<V3> {
      StateMigration(from: 2) { (old: V2) in V3(draft: old.text) }
      StateMigration(from: 1) { (old: V1) in V2(text: old.text) }
    }
    """,
  ])
  func `a broken chain is an error of the compiler, in the chain`(_ chain: String) async throws {
    let errors = try await typecheck(chain)
    #expect(!errors.isEmpty)
    let first = Self.states.split(separator: "\n", omittingEmptySubsequences: false).count
    #expect(errors.allSatisfy { $0 >= first }, "errors at \(errors), the chain begins at \(first)")
  }

  /// The lines at which the compiler finds errors.
  private func typecheck(_ chain: String) async throws -> [Int] {
    let (failures, output) = try await Compiler.failures(of: ["Chain": Self.states + chain])
    #expect(failures.allSatisfy { $0.program == "Chain" }, "an error that is not in the chain: \(output)")
    return failures.map(\.line)
  }
}
