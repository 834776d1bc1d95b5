import FaultyFileSystem
import Testing

@testable import DataProtection

extension TestWorld {
  /// Runs a body again and again, each time in a new world, with something else done to the files at one later call of the file
  /// system, until the body makes no more calls.
  ///
  /// - Parameters:
  ///   - prepare: Makes the files.
  ///   - interruption: Runs once, in the middle of the body, with files of another opening.
  ///   - body: The files whose calls are interrupted, those of the other opening, and the number of the call.
  static func interrupt(
    _ prepare: (ProtectedFiles) async throws -> Void,
    with interruption: @escaping @Sendable (ProtectedFiles) -> Void,
    _ body: (ProtectedFiles, ProtectedFiles, Int) async throws -> Void
  ) async throws {
    for step in 1... {
      let world = TestWorld()
      let other = try await world.open().files()
      try await prepare(other)
      let faulty = FaultyFileSystem(world.memory)
      let files = try await world.open(through: faulty).files()
      let start = faulty.callCount
      let hasRun = SharedFlag()
      faulty.onCall { number, _ in
        guard number == start + step, !hasRun.isSet else { return }
        hasRun.set()
        interruption(other)
      }
      try await body(files, other, step)
      guard hasRun.isSet else {
        #expect(step > 10)
        return
      }
    }
  }
}
