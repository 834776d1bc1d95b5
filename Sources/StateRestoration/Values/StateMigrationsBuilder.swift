/// Chains migrations so that each step's result is the next one's input, or nothing compiles.
@resultBuilder public enum StateMigrationsBuilder {
  /// A chain so far, which has come as far as one type of state.
  public struct Chain<State: Sendable>: Sendable {
    let routes: [MigrationRoute<State>]
    let steps: [StateVersion]
  }

  /// Begins with the first step.
  public static func buildPartialBlock<From, To>(first: Migration<From, To>) -> Chain<To> {
    Chain(routes: [route(of: first)], steps: [first.from])
  }

  /// Adds a step that begins where the chain has come to.
  public static func buildPartialBlock<Middle, To>(
    accumulated: Chain<Middle>, next: Migration<Middle, To>
  ) -> Chain<To> {
    Chain(
      routes: accumulated.routes.map { $0.appending(next) } + [route(of: next)],
      steps: accumulated.steps + [next.from])
  }

  /// Passes on migrations made elsewhere, such as ``StateMigrations/none``.
  public static func buildPartialBlock<State>(first: StateMigrations<State>) -> StateMigrations<State> { first }

  /// Ends a chain, which must have come to the type of the state.
  public static func buildFinalResult<State>(_ chain: Chain<State>) -> StateMigrations<State> {
    StateMigrations(routes: chain.routes, steps: chain.steps)
  }

  /// Passes on migrations made elsewhere.
  public static func buildFinalResult<State>(_ migrations: StateMigrations<State>) -> StateMigrations<State> {
    migrations
  }

  private static func route<From, To>(of step: Migration<From, To>) -> MigrationRoute<To> {
    MigrationRoute(from: step.from) { try step.transform($0.storedState(From.self)) }
  }
}
