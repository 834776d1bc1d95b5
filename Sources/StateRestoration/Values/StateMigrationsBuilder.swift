/// Chains migrations so that each step's result is the next one's input, or nothing compiles.
@resultBuilder public enum StateMigrationsBuilder {
  /// Begins with the first step.
  public static func buildPartialBlock<From, To>(first: StateMigration<From, To>) -> StateMigrations<To> {
    StateMigrations(routes: [route(of: first)])
  }

  /// Passes on migrations made elsewhere, such as ``StateMigrations/none``.
  public static func buildPartialBlock<State>(first: StateMigrations<State>) -> StateMigrations<State> { first }

  /// Adds a step that begins where the chain has come to.
  public static func buildPartialBlock<Middle, To>(
    accumulated: StateMigrations<Middle>, next: StateMigration<Middle, To>
  ) -> StateMigrations<To> {
    StateMigrations(routes: accumulated.routes.map { $0.appending(next) } + [route(of: next)])
  }

  private static func route<From, To>(of step: StateMigration<From, To>) -> MigrationRoute<To> {
    MigrationRoute(from: step.from) { try step.transform($0.decode(From.self)) }
  }
}
