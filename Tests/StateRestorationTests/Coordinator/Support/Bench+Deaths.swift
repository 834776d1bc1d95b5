import StateRestoration
import StateRestorationTesting
import Synchronization

extension Bench {
  /// Restores, and leaves what a process leaves that dies at a line of the journal.
  func die(restoring root: Screen, at moment: String, of journal: Journal) async throws {
    try await die(at: moment, of: journal) { _ = try await launch().restore(into: root) }
  }

  /// Leaves what a process leaves that dies at a line of the journal, which a body leads to.
  func die(at moment: String, of journal: Journal, _ body: () async throws -> Void) async throws {
    var left: (marker: MemoryStore.Marker?, markers: [UInt64: MemoryStore.Ended])?
    journal.onLine = { [store, process] line in
      guard line == moment else { return }
      left = store.state.withLock { ($0.marker, $0.markers) }
      process?.fileSystem.die()
    }
    try await body()
    journal.onLine = nil
    if let left { store.state.withLock { ($0.marker, $0.markers) = left } }
    try await kill()
  }
}
