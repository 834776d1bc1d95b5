/// How older states of a class become today's, as a chain of steps whose types the compiler checks.
///
/// ```swift
/// static var stateVersion: StateVersion { 3 }
/// static var migrations: StateMigrations<EditorState> {
///   StateMigration(from: 1) { (old: EditorState1) in EditorState2(text: old.text, caret: 0) }
///   StateMigration(from: 2) { (old: EditorState2) in EditorState(draft: old.text, caret: old.caret) }
/// }
/// ```
///
/// A step that doesn't fit its neighbours, or a chain that doesn't end in the state's type, doesn't compile. The
/// version numbers are checked when the class is registered or first seen.
@resultBuilder public struct StateMigrations<State: Sendable>: Sendable {
  let routes: [MigrationRoute<State>]

  /// No steps: only state of the current version is read.
  public static var none: StateMigrations { StateMigrations(routes: []) }

  /// The flaw in the numbers of a chain that should end in a version; nil if there is none.
  func flaw(endingIn version: StateVersion) -> String? {
    let steps = routes.map(\.from)
    var expected = steps.first
    for step in steps {
      if step != expected { return "a step begins with version \(step) where \(expected ?? 1) was expected" }
      expected = step.next
    }
    if let expected, expected != version {
      return "the last step ends in version \(expected), but stateVersion is \(version)"
    }
    return nil
  }

  /// Decodes a state of an older version and takes it all the way; nil if no step begins there.
  func migrate(from version: StateVersion, _ stored: @autoclosure () -> RecordedValue) throws -> State? {
    try routes.first { $0.from == version }?.read(stored())
  }
}

// A chain is made step by step: each one's result is the next one's input, or nothing compiles.
extension StateMigrations {
  /// Begins with the first step.
  public static func buildPartialBlock<From, To>(first: StateMigration<From, To>) -> StateMigrations<To> {
    StateMigrations<To>(routes: [route(of: first)])
  }

  /// Passes on migrations made elsewhere, such as ``StateMigrations/none``.
  public static func buildPartialBlock<Result>(first: StateMigrations<Result>) -> StateMigrations<Result> {
    first
  }

  /// Adds a step that begins where the chain has come to.
  public static func buildPartialBlock<Middle, To>(
    accumulated: StateMigrations<Middle>, next: StateMigration<Middle, To>
  ) -> StateMigrations<To> {
    StateMigrations<To>(routes: accumulated.routes.map { $0.appending(next) } + [route(of: next)])
  }

  private static func route<From, To>(of step: StateMigration<From, To>) -> MigrationRoute<To> {
    MigrationRoute(from: step.from) { try step.transform($0.decode(From.self)) }
  }
}

/// The way from one old version to the end of a chain.
struct MigrationRoute<Result: Sendable>: Sendable {
  let from: StateVersion
  let read: @Sendable (RecordedValue) throws -> Result

  /// The same way and one step further.
  func appending<Next>(_ step: StateMigration<Result, Next>) -> MigrationRoute<Next> where Result: Decodable {
    let read = read
    return MigrationRoute<Next>(from: from) { try step.transform(read($0)) }
  }
}
