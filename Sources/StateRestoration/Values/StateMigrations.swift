/// How older states of a class become today's, as a chain of steps whose types the compiler checks.
///
/// ```swift
/// static var stateVersion: StateVersion { 3 }
/// static var migrations: StateMigrations<EditorState> {
///   StateMigrations(from: 1) { (old: EditorState1) in EditorState2(text: old.text, caret: 0) }
///     .then { EditorState(draft: $0.text, caret: $0.caret) }
/// }
/// ```
///
/// Each step leads from one version to the next one, so that none can be left out. A step that doesn't fit its
/// neighbours, or a chain that doesn't end in the state's type, doesn't compile. Whether it ends in `stateVersion` is
/// checked when the class is registered or first seen.
public struct StateMigrations<State: Sendable>: Sendable {
  /// The ways from each older version, the oldest first.
  let routes: [MigrationRoute<State>]

  /// No steps: only state of the current version is read.
  public static var none: StateMigrations { StateMigrations(routes: []) }

  init(routes: [MigrationRoute<State>]) { self.routes = routes }

  /// Begins with the step from the oldest version that is still read.
  ///
  /// Keep the types of old states around: they are what the archives hold.
  ///
  /// - Parameters:
  ///   - version: The version that the step begins with; it ends with the next one.
  ///   - step: Makes the newer state of the older; an error refuses the state, which is kept and reported.
  public init<Old: Decodable & Sendable>(
    from version: StateVersion, _ step: @escaping @Sendable (_ old: Old) throws -> State
  ) {
    routes = [MigrationRoute(from: version) { try step($0.decode(Old.self)) }]
  }

  /// Goes on from where the chain has come to, with the step to the next version.
  ///
  /// - Parameter step: Makes the newer state of the older; an error refuses the state, which is kept and reported.
  public func then<Next>(_ step: @escaping @Sendable (_ old: State) throws -> Next) -> StateMigrations<Next>
  where State: Decodable {
    guard let last = routes.last else {
      preconditionFailure("A chain of migrations begins with StateMigrations(from:); nothing can follow none.")
    }
    let further = MigrationRoute<Next>(from: last.from.next) { try step($0.decode(State.self)) }
    return StateMigrations<Next>(routes: routes.map { $0.appending(step) } + [further])
  }

  /// The flaw of a chain that should end in a version; nil if there is none.
  func flaw(endingIn version: StateVersion) -> String? {
    guard let end = routes.last?.from.next, end != version else { return nil }
    return "end in version \(end), but stateVersion is \(version)"
  }

  /// Decodes a state of an older version and takes it all the way; nil if no step begins there.
  func migrate(from version: StateVersion, _ stored: @autoclosure () -> RecordedValue) throws -> State? {
    try routes.first { $0.from == version }?.read(stored())
  }
}

/// The way from one old version to the end of a chain.
struct MigrationRoute<Result: Sendable>: Sendable {
  let from: StateVersion
  let read: @Sendable (RecordedValue) throws -> Result

  /// The same way and one step further.
  func appending<Next>(_ step: @escaping @Sendable (Result) throws -> Next) -> MigrationRoute<Next> {
    let read = read
    return MigrationRoute<Next>(from: from) { try step(read($0)) }
  }
}
