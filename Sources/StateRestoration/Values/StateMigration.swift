/// One step of a class's history: how state of one version becomes state of the next.
///
/// The versions count up by one; the types are checked by the compiler, each step's result being the next one's input.
public struct StateMigration<From: Decodable & Sendable, To: Sendable>: Sendable {
  /// The version that the step begins with; it ends with the next one.
  package let from: StateVersion

  /// Makes the newer state of the older; an error refuses the state, which is kept and reported.
  package let transform: @Sendable (From) throws -> To

  /// Describes a step.
  ///
  /// Keep the types of old states around: they are what the archives hold.
  public init(from: StateVersion, _ transform: @escaping @Sendable (From) throws -> To) {
    self.from = from
    self.transform = transform
  }
}
